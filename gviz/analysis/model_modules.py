"""Modules of the model that a graph runs, with their instances, and the module of each node.

Python stacks tell modules of PyTorch by their calls: a method that ``Module`` calls is one of a
module's class, and where in the module around it that call stands tells modules of one class
apart. The layers of :mod:`gviz.analysis.model_layers` give instances their numbers, since a loop
over layers calls all of them from one line. Without stacks, ranges that are called after modules
tell them: ``model.layers.5.mlp``. Nodes of autograd are in the module of the operation of the
forward pass, by PyTorch's sequence numbers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from gviz.analysis.model_layers import EVERY_MODULE, ModelLayers, class_of_method
from gviz.analysis.subject import GraphSubject
from gviz.dataclass import dataclass
from gviz.model import SEPARATOR, GraphTree, range_texts
from gviz.recording import rows
from gviz.stats import UNKNOWN, BoolArray, IntArray, group_rows

#: The place of a module in a model, as PyTorch writes it: names and numbers with dots between.
_PLACE = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*\.\d+(?:\.\w+)*")
#: The part of such a place up to a number.
_INSTANCE = re.compile(r"^(.+?\.\d+)(?:\.|$)")

ModuleSource = Literal["stacks", "ranges"]
#: The modules around a node, outermost first.
Modules = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ModelModules:
    """The modules that the nodes of a graph were made in.

    Attributes
    ----------
    paths
        Modules from the outermost on, each different: ``("Encoder", "EncoderLayer 5", "Linear 1")``
    code
        int64, one a node: its place in ``paths``; -1: it is in no module that is known.
    instance
        Of each path, how many of its modules lead to the innermost that has a number; 0: none has.
    is_inferred
        bool, one a node: the order of blocks tells its layer, or the operation of the forward pass
        its module.
    source
        What tells the modules.
    """

    paths: tuple[Modules, ...]
    code: IntArray
    instance: tuple[int, ...]
    is_inferred: BoolArray
    source: ModuleSource

    def instances(self) -> tuple[str, ...]:
        """Return for each path the module with a number, else the outermost."""
        return tuple(
            path[max(0, depth - 1)] for path, depth in zip(self.paths, self.instance, strict=True)
        )

    def inside(self) -> tuple[str, ...]:
        """Return for each path what is inside the module with a number; else all of it."""
        found = zip(self.paths, self.instance, strict=True)
        return tuple(SEPARATOR.join(path[depth:]) for path, depth in found)


def find_model_modules(subject: GraphSubject, layers: ModelLayers | None) -> ModelModules | None:
    """Return the modules of the model that a graph runs; None: nothing tells any."""
    graph = subject.graph
    own = _of_stacks(subject, layers)
    source: ModuleSource = "stacks" if any(own) else "ranges"
    if source == "ranges":
        own = _of_ranges(graph, subject.recording.fetch_nvtx_paths(subject.row.run_id))
    if not any(own):
        return None
    forward = graph.operations.forward.tolist()
    paths = [own[at] or (own[of] if of >= 0 else ()) for at, of in enumerate(forward)]
    if layers is not None:
        has_stack = graph.nodes.integers("stack_id", UNKNOWN) != UNKNOWN
        paths = _with_layers(paths, layers, has_stack)
    known = {path: at for at, path in enumerate(dict.fromkeys(path for path in paths if path))}
    code = np.array([known.get(path, UNKNOWN) for path in paths], np.int64)
    inferred = np.array([not path for path in own], bool)
    if layers is not None:
        inferred |= layers.is_inferred | (layers.source == "repeats")
    instance = tuple(map(_numbered, known))
    return ModelModules(tuple(known), code, instance, inferred & (code != UNKNOWN), source)


def _with_layers(
    paths: Sequence[Modules], layers: ModelLayers, has_stack: BoolArray
) -> list[Modules]:
    """Return the modules of nodes, where only a node's layer is known that of others in it.

    A stack without modules is one of something else, such as an optimizer.
    """
    around: dict[int, Modules] = {}
    of_node = layers.of_node.tolist()
    for path, place in zip(paths, of_node, strict=True):
        if place >= 0 and path and place not in around and (depth := _numbered(path)):
            around[place] = path[:depth]
    known = zip(paths, of_node, has_stack.tolist(), strict=True)
    return [path or (() if stack else around.get(place, ())) for path, place, stack in known]


def _numbered(path: Modules) -> int:
    """Return how many modules lead to the outermost with a number; 0: none has one."""
    return next((at + 1 for at, name in enumerate(path) if name[-1].isdigit()), 0)


# -- ranges ------------------------------------------------------------------------------


def _of_ranges(graph: GraphTree, paths: Mapping[int, rows.NvtxPath]) -> list[Modules]:
    """Return the modules that ranges around each node are called after."""
    none = min(paths, default=0) - 1
    ids, code = group_rows(graph.nodes.integers("nvtx_path_id", none))
    modules = [modules_of_ranges(range_texts(paths, path_id)) for path_id in ids.tolist()]
    if len({path[0] for path in modules if path}) < 2:
        return []  # one number alone tells no instances apart
    return [modules[at] for at in code.tolist()]


def modules_of_ranges(texts: Sequence[str]) -> Modules:
    """Return the modules of a path of ranges, outermost first; empty: no range is called after one.

    Examples
    --------
    >>> modules_of_ranges(["step", "model.layers.5", "model.layers.5.mlp.up", "matmul"])
    ('model.layers.5', 'mlp.up')
    """
    places = [found[0] for text in texts if (found := _PLACE.search(text))]
    if not places:
        return ()
    instance = _INSTANCE.match(places[-1])
    assert instance is not None
    inner = places[-1][instance.end(1) + 1 :]
    return (instance[1], inner) if inner else (instance[1],)


# -- stacks ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ModuleCall:
    """A call of a module: its class, and where the call stands."""

    name: str
    file: str
    line: int | None


def _of_stacks(subject: GraphSubject, layers: ModelLayers | None) -> list[Modules]:
    """Return the modules that each node was made in, by its stack; empty: it tells none."""
    ids, code = group_rows(subject.graph.nodes.integers("stack_id", UNKNOWN))
    calls = [
        () if i == UNKNOWN else module_calls(subject.recording.fetch_stack(i)) for i in ids.tolist()
    ]
    if not any(calls):
        return []
    names = _named_calls([calls[at] for at in dict.fromkeys(code.tolist())])
    numbers = np.full(len(code), UNKNOWN, np.int64)
    if layers is not None:
        in_layer = layers.of_node >= 0
        numbers[in_layer] = layers.numbers[layers.of_node[in_layer]]
    kind = "" if layers is None else layers.kind
    found: dict[tuple[int, int], Modules] = {}
    keys = list(zip(code.tolist(), numbers.tolist(), strict=True))
    for at, number in dict.fromkeys(keys):
        path = names[calls[at]]
        if number != UNKNOWN:
            path = tuple(f"{name} {number}" if name == kind else name for name in path)
        found[at, number] = path
    return [found[key] for key in keys]


def module_calls(stack: Sequence[rows.Location]) -> tuple[ModuleCall, ...]:
    """Return the calls of modules in a stack (innermost first), outermost first."""
    found: list[ModuleCall] = []
    caller: rows.Location | None = None
    is_called = False
    for frame in reversed(stack):
        name = class_of_method(frame.function)
        if name == EVERY_MODULE:
            is_called = True
            continue
        if is_called and name is not None:
            at = caller or frame
            found.append(ModuleCall(name, at.file, at.line))
        caller, is_called = frame, False
    return tuple(found)


def _named_calls(paths: Sequence[tuple[ModuleCall, ...]]) -> dict[tuple[ModuleCall, ...], Modules]:
    """Return the names of the modules of each path.

    Modules of a class that are called in several places of one module are numbered in the order in
    which these are come to.
    """
    places: dict[tuple[tuple[ModuleCall, ...], str], list[ModuleCall]] = {}
    for path in paths:
        for depth, call in enumerate(path):
            known = places.setdefault((path[:depth], call.name), [])
            if call not in known:
                known.append(call)
    return {
        path: tuple(_name(call, places[path[:depth], call.name]) for depth, call in enumerate(path))
        for path in paths
    }


def _name(call: ModuleCall, places: Sequence[ModuleCall]) -> str:
    return call.name if len(places) == 1 else f"{call.name} {places.index(call)}"
