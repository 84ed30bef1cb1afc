"""Layers of the model that a graph runs, named and numbered, and the layer of each node.

A layer is what NVTX ranges number ("layer 0" to "layer 15"), or one of the equal blocks that the
work repeats. Blocks are named after the class whose code made them, where Python stacks tell. Nodes
of autograd are in the layer of the operation of the forward pass, by PyTorch's sequence numbers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from gviz.analysis.repeats import outermost_repeats
from gviz.analysis.subject import GraphSubject
from gviz.dataclass import dataclass
from gviz.model import ForwardOperations, GraphTree, range_texts
from gviz.recording import rows
from gviz.stats import UNKNOWN, BoolArray, IntArray, NotComputed, group_rows

LayerSource = Literal["ranges", "repeats"]

#: Equal blocks that are layers: fewer may be equal by chance.
_LEAST_REPEATS = 3
#: Share of the nodes that must be in layers: below that they are details of something else.
_LEAST_SHARE = 0.25
_NUMBER = re.compile(r"\d+")
#: Words of ranges that number layers, rather than parts of one or batches.
_LAYER_WORD = re.compile(r"layer|block|stage|module|encoder|decoder|\bh\b", re.IGNORECASE)
#: A module's class, and its method: frames of functions inside functions are no modules'.
_METHOD = re.compile(r"^(?:.*\.)?([A-Za-z_]\w*)\.[A-Za-z_]\w*$")
#: What stands between the name of layers and their number.
_AROUND_NUMBER = " ._-:#[(/"
#: PyTorch's base class of all modules, whose frames are around each module's own.
EVERY_MODULE = "Module"
_NO_NAME = "layer"


@dataclass(frozen=True, slots=True)
class ModelLayers:
    """Layers of a model.

    Attributes
    ----------
    kind
        What they are: ``layer``, or the class that made them, such as ``TransformerEncoderLayer``.
    numbers
        int64, ascending: the number of each layer; of blocks that repeat, from 0.
    of_node
        int64, one a node of the graph: the place of its layer in ``numbers``; -1: it is in none.
    is_inferred
        bool, one a node: its layer follows from the order of blocks. It was made by another
        thread, such as autograd's, which comes to the layers last to first, or in another repeat
        of as many blocks.
    is_of_forward
        bool, one a node: its layer is that of the operation of the forward pass that it is the
        backward pass of.
    source
        What tells the layers: NVTX ranges, or repeats of equal blocks.
    """

    kind: str
    numbers: IntArray
    of_node: IntArray
    is_inferred: BoolArray
    is_of_forward: BoolArray
    source: LayerSource

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the layers' names, such as ``layer 5``."""
        return tuple(f"{self.kind} {number}" for number in self.numbers.tolist())


def find_model_layers(subject: GraphSubject) -> ModelLayers | NotComputed:
    """Return the layers of the model that a graph runs; compute them by ``subject.once``."""
    graph = subject.graph
    paths = subject.recording.fetch_nvtx_paths(subject.row.run_id)
    found = range_layers(graph, paths)
    if found is None and subject.why_no_edges is None:
        blocks = [blocks for _, blocks in subject.once(outermost_repeats)]
        found = repeat_layers(graph, blocks)
        if found is not None:
            found = _named(subject, found, blocks)
    if found is None:
        return NotComputed(
            subject.why_no_edges or "no NVTX range is numbered, and no block of nodes repeats often"
        )
    return found


# -- ranges ------------------------------------------------------------------------------


def range_layers(graph: GraphTree, paths: Mapping[int, rows.NvtxPath]) -> ModelLayers | None:
    """Return the layers that ranges number; None: none do.

    Ranges of equal text before a number are layers, wherever they nest. Of several such, those
    that are called layers or the like; then those of most numbers; then the outermost.
    """
    none = min(paths, default=0) - 1
    ids, code = group_rows(graph.nodes.integers("nvtx_path_id", none))
    texts = [range_texts(paths, path_id) for path_id in ids.tolist()]
    depths: dict[str, list[int]] = {}
    numbers: dict[str, set[int]] = {}
    for text in texts:
        for depth, part in enumerate(text):
            for kind, number in _numbered(part):
                numbers.setdefault(kind, set()).add(number)
                depths.setdefault(kind, []).append(depth)
    kinds = [kind for kind, found in numbers.items() if len(found) > 1]
    kinds.sort(key=lambda x: (not _LAYER_WORD.search(x), -len(numbers[x]), min(depths[x]), len(x)))
    for kind in kinds:
        of_text = np.array([_number_in(text, kind) for text in texts], np.int64)
        own = of_text[code]
        of_node = _like_parents(graph, _with_backward(graph.operations, own))
        if _is_enough(of_node):
            known, place = np.unique(of_node[of_node >= 0], return_inverse=True)
            of_node[of_node >= 0] = place.reshape(-1)
            name = kind.rstrip(_AROUND_NUMBER) or _NO_NAME
            of_forward = (own == UNKNOWN) & (of_node >= 0) & (graph.operations.forward >= 0)
            inferred = np.zeros(len(graph), bool)
            return ModelLayers(
                name, known.astype(np.int64), of_node, inferred, of_forward, "ranges"
            )
    return None


def _numbered(text: str) -> list[tuple[str, int]]:
    """Return what stands before each number of a range's text, with the number."""
    found = [(text[: x.start()], int(x[0])) for x in _NUMBER.finditer(text) if len(x[0]) < 10]
    return [(kind, number) for kind, number in found if kind.strip() or text.strip().isdigit()]


def _number_in(text: Sequence[str], kind: str) -> int:
    """Return the number of the outermost range of a kind in a path; -1: it has none."""
    found = (number for part in text for known, number in _numbered(part) if known == kind)
    return next(found, -1)


# -- repeats -----------------------------------------------------------------------------


def repeat_layers(graph: GraphTree, repeats: Sequence[IntArray]) -> ModelLayers | None:
    """Return the layers that equal blocks are; None: too few blocks are equal.

    The layers are the repeat of most nodes that the capturing thread made. Another repeat of as
    many blocks is of the same layers, in the same order. Where autograd's nodes have no operation
    of the forward pass, its blocks are of the layers last to first, and what it does for the first
    layer, which needs no gradient of its input, may differ.

    Parameters
    ----------
    repeats
        The outermost repeats: indices of nodes, shape (blocks, nodes of a block).
    """
    others = _by_other_threads(graph)
    folds = [x for x in repeats if x.shape[1] > 1]
    enough = [x for x in folds if len(x) >= _LEAST_REPEATS]
    if not enough:
        return None
    # Of equals the first.
    chosen = max([x for x in enough if not others[x].any()] or enough, key=lambda x: x.size)
    count = len(chosen)
    own = np.full(len(graph), UNKNOWN, np.int64)
    for blocks in folds:
        if blocks is chosen or (len(blocks) == count and not others[blocks].any()):
            own[blocks] = np.arange(count)[:, None]
    of_node = _with_backward(graph.operations, own)
    of_forward = (own == UNKNOWN) & (of_node != UNKNOWN)
    if not others[chosen].any():
        for blocks in folds:
            if others[blocks].all() and not (graph.operations.forward[blocks] >= 0).any():
                _number_backward(of_node, others, blocks, count)
    inferred = (of_node != UNKNOWN) & ~of_forward
    inferred[chosen] = False
    of_node = _like_parents(graph, of_node)
    if not _is_enough(of_node):
        return None
    return ModelLayers(_NO_NAME, np.arange(count), of_node, inferred, of_forward, "repeats")


def _by_other_threads(graph: GraphTree) -> BoolArray:
    """Return which nodes another thread made than the one that captured the graph."""
    capturing = graph.outermost.capture_thread_id
    thread = graph.nodes.integers("created_thread_id", UNKNOWN)
    found: BoolArray = (thread != UNKNOWN) & (
        thread != (thread if capturing is None else capturing)
    )
    return found


def _number_backward(of_node: IntArray, others: BoolArray, blocks: IntArray, count: int) -> None:
    """Give autograd's blocks their layers: all, or all but the first, which comes last."""
    missing = count - len(blocks)
    if missing not in (0, 1):
        return
    of_node[blocks] = count - 1 - np.arange(len(blocks))[:, None]
    if missing:
        of_node[_rest(others, of_node, blocks)] = 0


def _rest(others: BoolArray, of_node: IntArray, blocks: IntArray) -> IntArray:
    """Return the nodes that the thread of some blocks made after them: as many as a block at most.

    None where there are fewer than half as many: then they are something else.
    """
    after = np.arange(int(blocks.max()) + 1, len(of_node))
    stop = np.flatnonzero(~others[after] | (of_node[after] != UNKNOWN))
    found = after[: stop[0]] if len(stop) else after
    period = blocks.shape[1]
    return found if period <= 2 * len(found) <= 2 * period else found[:0]


def _with_backward(operations: ForwardOperations, of_node: IntArray) -> IntArray:
    """Return layers with those of operations, where autograd's nodes for these have none.

    An operation of nodes in several layers, such as a compiled model, gives none.
    """
    found = of_node.copy()
    inside = np.flatnonzero(operations.operation >= 0)
    low = np.full(len(of_node), np.iinfo(np.int64).max)
    high = np.full(len(of_node), UNKNOWN, np.int64)
    np.minimum.at(low, operations.operation[inside], of_node[inside])
    np.maximum.at(high, operations.operation[inside], of_node[inside])
    backward = np.flatnonzero((operations.forward >= 0) & (of_node == UNKNOWN))
    forward = operations.forward[backward]
    found[backward] = np.where(low[forward] == high[forward], high[forward], UNKNOWN)
    return found


def _like_parents(graph: GraphTree, of_node: IntArray) -> IntArray:
    """Return layers with those of the nodes around, where nested nodes have none."""
    found = of_node.copy()
    for level in graph.levels[1:]:  # parents first
        if level.parent >= 0:
            part = found[level.part]
            part[part == UNKNOWN] = found[level.parent]
    return found


def _is_enough(of_node: IntArray) -> bool:
    return len(of_node) > 0 and float((of_node >= 0).mean()) >= _LEAST_SHARE


# -- names of blocks ---------------------------------------------------------------------


def _named(subject: GraphSubject, found: ModelLayers, repeats: Sequence[IntArray]) -> ModelLayers:
    """Return layers with the class whose code made their blocks, where stacks tell."""
    is_own = (found.of_node >= 0) & ~found.is_inferred & ~found.is_of_forward
    (chosen,) = (x for x in repeats if x.size and is_own[x].all())
    ids, _ = group_rows(subject.graph.nodes.integers("stack_id", UNKNOWN)[chosen[0]])
    if UNKNOWN in ids.tolist():
        return found
    stacks = [subject.recording.fetch_stack(stack_id) for stack_id in ids.tolist()]
    kind = class_of([[x.function for x in reversed(stack)] for stack in stacks])
    return found if kind is None else replace(found, kind=kind)


def class_of(stacks: Sequence[Sequence[str]]) -> str | None:
    """Return the class of the innermost method that stacks have in common, outermost first.

    None where that is a function.

    Examples
    --------
    >>> class_of([["main", "Model.step", "Layer.forward", "a"], ["main", "Model.step",
    ... "Layer.forward", "b"]])
    'Layer'
    """
    name = None
    for functions in zip(*stacks, strict=False):
        if len(set(functions)) > 1:
            break
        found = class_of_method(functions[0])
        if found is None or "<locals>" in functions[0]:
            name = None
        elif found != EVERY_MODULE:
            name = found
    return name


def class_of_method(function: str) -> str | None:
    """Return the class of a method, by its qualified name; None: it is no method's."""
    method = _METHOD.match(function)
    return None if method is None else method[1]
