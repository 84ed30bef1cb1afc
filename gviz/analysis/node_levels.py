"""Levels that a launch's time is broken down by: phase, repeated blocks, block, operation, family.

Names come from NVTX ranges. A range around all that was timed says nothing and is left out. Ranges
whose texts differ in a number, such as "layer 0" to "layer 15", are repeated blocks; what is around
them is the phase, what is inside them the operation. Where no range is numbered the first one is
the phase and the second one stands for blocks; nodes without a second one are in blocks where equal
work repeats (:func:`gviz.layout.find_repeats`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gviz.analysis.launch import NodeGroups
from gviz.analysis.repeats import outermost_repeats
from gviz.analysis.subject import GraphSubject
from gviz.cuda import NodeType, node_type_name
from gviz.families import KernelFamily, Kind
from gviz.model import SEPARATOR, distinct, range_texts
from gviz.stats import IntArray, group_rows

#: Stands for the phase of nodes that were made in no range, where others have one.
NO_RANGE = "(no range)"
_NUMBER = re.compile(r"\d+(?=\D*$)")
#: PyTorch's ranges around methods of optimizers: what stands behind the mark is the method.
_OPTIMIZER = re.compile(r"^Optimizer\.\w+#(?=.)")
#: Equal blocks that are layers: fewer may be equal by chance.
_LEAST_REPEATS = 3


@dataclass(frozen=True, slots=True)
class _Place:
    """Place of a node in the ranges; each text may be empty."""

    phase: str = ""
    blocks: str = ""
    block: str = ""
    operation: str = ""


def node_levels(subject: GraphSubject) -> tuple[NodeGroups, ...]:
    """Return the levels of a graph that tell something, the coarsest first.

    phase, blocks (all repeated ones together), block, operation, family; the last is always there.
    Where times and dependencies contradict each other only families are left: nodes of one name may
    have each other's times.
    """
    families = family_groups(subject)
    if subject.why_contradicted:
        return (families,)
    timed = np.unique(subject.spans.node)
    places, code = _places(subject, timed)
    blocks, block = _named(places, code, "blocks"), _named(places, code, "block")
    if block.is_empty:
        phase = _named(places, code, "phase").code
        blocks, block = _repeated(subject, phase, blocks)
    levels = (_named(places, code, "phase"), blocks, block, _named(places, code, "operation"))
    return (*(level for level in levels if not level.is_empty), families)


def family_groups(subject: GraphSubject) -> NodeGroups:
    """Return the families of a graph's nodes by what they are called."""
    graph, families = subject.graph, subject.families
    names = graph.nodes.texts("name")
    columns = (families.code, graph.types, names.codes.astype(np.int64))
    first, code = distinct(columns)
    kinds = np.stack(columns, axis=1)[first]
    labels = [
        family_label(families.families[family], NodeType(node_type), names.values[name])
        for family, node_type, name in kinds.tolist()
    ]
    return _groups("family", labels, code)


def family_label(family: KernelFamily, node_type: NodeType, name: str) -> str:
    """Return what a family is called: kind, types and tile; of an unknown kernel its name."""
    if family.kind is Kind.UNKNOWN:
        return name if node_type is NodeType.KERNEL else node_type_name(node_type)
    if node_type is not NodeType.KERNEL:
        return "memset" if node_type is NodeType.MEMSET else "memcpy"
    tile = "" if family.tile is None else "x".join(map(str, family.tile[:2]))
    return " ".join(filter(None, (family.kind.value, "/".join(family.data_types), tile)))


def _groups(
    name: str, labels: Sequence[str], code: IntArray, *, is_in_order: bool = False
) -> NodeGroups:
    """Return groups of labels that need not differ, by the place of each in ``labels``."""
    known: dict[str, int] = {}
    place = np.array([known.setdefault(label, len(known)) for label in labels], np.int64)
    return NodeGroups(name, tuple(known), place[code], is_in_order)


# -- ranges ------------------------------------------------------------------------------


def _places(subject: GraphSubject, timed: IntArray) -> tuple[list[_Place], IntArray]:
    """Return the places that nodes have, and which of them each node has."""
    paths = subject.recording.fetch_nvtx_paths(subject.row.run_id)
    none = min(paths, default=0) - 1
    ids, code = group_rows(subject.graph.nodes.integers("nvtx_path_id", none))
    texts = [range_texts(paths, path_id) for path_id in ids.tolist()]
    used = [texts[at] for at in np.unique(code[timed]).tolist()]
    around = _common(used)
    inner = [text[around:] for text in texts]
    numbered = _numbered([text[around:] for text in used])
    return [_place(text, numbered) for text in inner], code


def _common(texts: Sequence[Sequence[str]]) -> int:
    """Return how many outermost ranges all texts have in common."""
    depth = 0
    while texts and all(len(t) > depth and t[depth] == texts[0][depth] for t in texts):
        depth += 1
    return depth


@dataclass(frozen=True, slots=True)
class _Numbered:
    """Ranges that differ in a number: by what is around them and their text without it."""

    counts: Counter[tuple[tuple[str, ...], str]]

    def first_in(self, text: Sequence[str]) -> int | None:
        """Return the place of the outermost numbered range in a path; None: it has none."""
        places = (i for i in range(len(text)) if self.count(text, i) > 1)
        return next(places, None)

    def count(self, text: Sequence[str], at: int) -> int:
        """Return how many ranges differ from the one at a place in their number only."""
        return self.counts[tuple(text[:at]), _NUMBER.sub("#", text[at])]

    @property
    def is_outermost(self) -> bool:
        """Return whether there are such ranges that nothing is around."""
        return any(not around and count > 1 for (around, _), count in self.counts.items())


def _numbered(texts: Sequence[Sequence[str]]) -> _Numbered:
    ranges = {(tuple(t[:i]), t[i]) for t in texts for i in range(len(t)) if _NUMBER.search(t[i])}
    return _Numbered(Counter((around, _NUMBER.sub("#", text)) for around, text in ranges))


def _place(text: Sequence[str], numbered: _Numbered) -> _Place:
    at = numbered.first_in(text)
    if at is None:
        # Beside outermost blocks there is no phase.
        phase, inner = ("", text) if numbered.is_outermost else (text[:1], text[1:])
        name = "".join(phase) if text or numbered.is_outermost else NO_RANGE
        return _Place(name, _method("".join(inner[:1])), "", SEPARATOR.join(inner[1:]))
    stem = _NUMBER.sub("", text[at]).strip(" ._-:[]#")
    return _Place(
        phase=SEPARATOR.join(text[:at]),
        blocks=f"{numbered.count(text, at)} × {stem or 'block'}",
        block=text[at],
        operation=SEPARATOR.join(text[at + 1 :]),
    )


def _method(text: str) -> str:
    return _OPTIMIZER.sub("", text)


def _named(places: Sequence[_Place], code: IntArray, name: str) -> NodeGroups:
    labels = [getattr(place, name) for place in places]
    if name == "phase" and set(labels) <= {NO_RANGE}:
        labels = [""] * len(labels)
    if name == "block":
        order = sorted(range(len(labels)), key=lambda at: _in_number(labels[at]))
        rank = np.empty(len(labels), np.int64)
        rank[order] = np.arange(len(labels))
        return _groups(name, [labels[at] for at in order], rank[code], is_in_order=True)
    return _groups(name, labels, code)


def _in_number(text: str) -> tuple[str, int]:
    number = _NUMBER.search(text)
    return _NUMBER.sub("#", text), int(number[0]) if number else 0


# -- repeats -----------------------------------------------------------------------------


def _repeated(
    subject: GraphSubject, phase: IntArray, sections: NodeGroups
) -> tuple[NodeGroups, NodeGroups]:
    """Return blocks of equal work that repeats within a phase, and each of these blocks.

    Nodes of a section are in none.
    """
    labels, code = list(sections.labels), sections.code.copy()
    block_labels, block = [""], np.zeros(len(code), np.int64)
    free = np.array([not label for label in labels], bool)[code]
    for _, blocks in () if subject.why_no_edges else subject.once(outermost_repeats):
        repeats, period = blocks.shape
        if repeats < _LEAST_REPEATS or period == 1:
            continue
        inside = np.unique(phase[blocks])
        if len(inside) > 1 or not free[blocks].all():
            continue
        title = f"{repeats} × {period} nodes"
        code[blocks] = len(labels)
        block[blocks] = (len(block_labels) + np.arange(repeats))[:, None]
        labels.append(title)
        block_labels += [f"block {k + 1} of {repeats}" for k in range(repeats)]
    return (
        NodeGroups("blocks", tuple(labels), code),
        NodeGroups("block", tuple(block_labels), block, is_in_order=True),
    )
