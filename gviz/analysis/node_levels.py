"""Levels that a launch's time is broken down by: phase, layers, layer, module, operation, family.

Phases and operations are NVTX ranges, layers those of the model (see
:mod:`gviz.analysis.model_layers`). A range around all that was timed says nothing and is left out.
What is around the ranges that number layers is the phase, what is inside them the operation.
Elsewhere the first range is the phase; the second one, such as the method of an optimizer, stands
where layers do.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from gviz.analysis.launch import NodeGroups
from gviz.analysis.model_layers import ModelLayers, find_model_layers
from gviz.analysis.model_modules import ModelModules, find_model_modules
from gviz.analysis.subject import GraphSubject
from gviz.dataclass import dataclass
from gviz.layout import INFERRED, name_layers
from gviz.model import SEPARATOR, GraphTree, range_texts, short_range
from gviz.recording import rows
from gviz.stats import BoolArray, IntArray, NotComputed, distinct_values, group_rows

#: Stands for the phase of nodes that were made in no range, where others have one.
NO_RANGE = "(no range)"
_NUMBER = re.compile(r"\d+")
#: What stands between the name of layers and their number.
_AROUND_NUMBER = " ._-:#[(/"
#: Layers are called inferred where those of more of their nodes are.
_MOSTLY = 0.5


@dataclass(frozen=True, slots=True)
class _Place:
    """Place of a node in the ranges; each text may be empty."""

    phase: str = ""
    section: str = ""
    operation: str = ""


def node_levels(subject: GraphSubject) -> tuple[NodeGroups, ...]:
    """Return the levels of a graph that tell something, the coarsest first.

    phase, layers (all together), layer, module, operation, family; the last is always there. Where
    times and dependencies contradict each other only families are left: nodes of one name may have
    each other's times.
    """
    named = subject.named_families
    families = NodeGroups("family", named.labels, named.code)
    if subject.why_contradicted:
        return (families,)
    layers = subject.once(find_model_layers)
    known = None if isinstance(layers, NotComputed) else layers
    paths = subject.recording.fetch_nvtx_paths(subject.row.run_id)
    places, code = _places(subject.graph, paths, subject.spans.node, known)
    phase = _named(places, code, "phase")
    sections, each = _sections(places, code, phase.code, known)
    inside = _modules(find_model_modules(subject, known), len(subject.graph))
    levels = (phase, sections, each, inside, _named(places, code, "operation"))
    return (*(level for level in levels if not level.is_empty), families)


def _modules(modules: ModelModules | None, count: int) -> NodeGroups:
    """Return the modules inside layers; none where ranges tell them, which are operations."""
    if modules is None or modules.source == "ranges":
        return NodeGroups("module", ("",), np.zeros(count, np.int64))
    labels = modules.inside()
    known = {label: at for at, label in enumerate(dict.fromkeys(("", *labels)))}
    place = np.array([*(known[label] for label in labels), 0], np.int64)
    return NodeGroups("module", tuple(known), place[modules.code])


def find_phases(
    graph: GraphTree,
    paths: Mapping[int, rows.NvtxPath],
    timed: IntArray,
    layers: ModelLayers | None,
) -> NodeGroups:
    """Return the phases of a graph's nodes, as the breakdown has them.

    ``timed``: the nodes that have times; a range around all of them is no phase.
    """
    places, code = _places(graph, paths, timed, layers)
    return _named(places, code, "phase")


def _places(
    graph: GraphTree,
    paths: Mapping[int, rows.NvtxPath],
    timed: IntArray,
    layers: ModelLayers | None,
) -> tuple[list[_Place], IntArray]:
    """Return the places that nodes have, and which of them each node has."""
    none = min(paths, default=0) - 1
    ids, code = group_rows(graph.nodes.integers("nvtx_path_id", none))
    texts = [range_texts(paths, path_id) for path_id in ids.tolist()]
    used = [texts[at] for at in distinct_values(code[timed]).tolist()]
    around = _common(used)
    inner = [text[around:] for text in texts]
    kind = layers.kind if layers is not None and layers.source == "ranges" else None
    depths = [None if kind is None else _depth_of_layer(text, kind) for text in inner]
    # Beside outermost layers there is no phase.
    has_phases = 0 not in depths and any(inner)
    return [_place(*one, has_phases) for one in zip(inner, depths, strict=True)], code


def _common(texts: Sequence[Sequence[str]]) -> int:
    """Return how many outermost ranges all texts have in common."""
    depth = 0
    while texts and all(len(t) > depth and t[depth] == texts[0][depth] for t in texts):
        depth += 1
    return depth


def _depth_of_layer(text: Sequence[str], kind: str) -> int | None:
    """Return the place of the outermost range in a path that numbers a layer; None: none does."""
    for at, part in enumerate(text):
        before = {part[: x.start()].rstrip(_AROUND_NUMBER) for x in _NUMBER.finditer(part)}
        if kind in before or "" in before:
            return at
    return None


def _place(text: Sequence[str], depth: int | None, has_phases: bool) -> _Place:
    if depth is not None:
        return _Place(SEPARATOR.join(text[:depth]), "", SEPARATOR.join(text[depth + 1 :]))
    phase = (text[0] if text else NO_RANGE) if has_phases else ""
    inner = text[1:] if has_phases else text
    section = short_range(inner[0]) if inner else ""
    return _Place(phase, section, SEPARATOR.join(inner[1:]))


def _named(places: Sequence[_Place], code: IntArray, name: str) -> NodeGroups:
    labels = [getattr(place, name) for place in places]
    known = {label: at for at, label in enumerate(dict.fromkeys(labels))}
    place = np.array([known[label] for label in labels], np.int64)
    return NodeGroups(name, tuple(known), place[code])


def _inferred(layers: ModelLayers, chosen: BoolArray) -> str:
    """Return a mark for layers that follow from the order of equal blocks, not from ranges."""
    if layers.source == "repeats" or layers.is_inferred[chosen].mean() > _MOSTLY:
        return INFERRED
    return ""


def _sections(
    places: Sequence[_Place], code: IntArray, phase: IntArray, layers: ModelLayers | None
) -> tuple[NodeGroups, NodeGroups]:
    """Return sections of phases, where a phase's layers are one together, and each layer."""
    found = _named(places, code, "section")
    if layers is None:
        return NodeGroups("layers", found.labels, found.code), NodeGroups("layer", ("",), code * 0)
    labels, of_section = list(found.labels), found.code.copy()
    has_layer = layers.of_node >= 0
    has_none = np.array([not label for label in labels], bool)[of_section]
    for one in distinct_values(phase).tolist():
        of_phase = has_layer & has_none & (phase == one)
        numbers = layers.numbers[distinct_values(layers.of_node[of_phase])].tolist()
        if numbers:
            of_section[of_phase] = len(labels)
            labels.append(name_layers(layers.kind, numbers) + _inferred(layers, of_phase))
    each = NodeGroups("layer", ("", *layers.names), layers.of_node + 1, is_in_order=True)
    return NodeGroups("layers", tuple(labels), of_section), each
