"""Values of two recordings compared: the first node that outputs something else, and its inputs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gviz.analysis import GraphSubject, NodeRef, graph_values, node_place, values_read
from gviz.comparison.diff import RequestedPair, pair_recordings
from gviz.comparison.graph_diff import ComparedRun, node_partners, read_compared_run
from gviz.comparison.graph_pairs import GraphPair
from gviz.cuda import ElementType
from gviz.dataclass import dataclass
from gviz.errors import RecordingError
from gviz.model import Direction, GivenMemory, GraphValues, MemoryContents, read_eager_values
from gviz.recording import load_contents
from gviz.stats import NotComputed, figure
from gviz.system import NO_PROGRESS, Progress

if TYPE_CHECKING:
    from gviz.recording import Recording

#: Raised when a key of the JSON goes away or changes its meaning; new keys do not raise it.
VALUES_DIFF_VERSION = 1
#: Shares of reading both sides, and of comparing them.
_STEPS = (0.4, 0.4, 0.2)
#: Nodes without a partner that are named.
_NAMED = 20
#: What numbers may differ by, relative to the greatest, and still be close: some roundings of the
#: type, whose last bit is 2**-10 of a half, 2**-7 of a bfloat16, 2**-23 of a float.
_TOLERANCES = {
    ElementType.HALF: 2.0**-8,
    ElementType.BFLOAT16: 2.0**-5,
    ElementType.FLOAT: 2.0**-17,
    ElementType.DOUBLE: 2.0**-46,
    ElementType.FP8_E4M3: 2.0**-2,
    ElementType.FP8_E5M2: 2.0**-1,
}


class ValueLikeness(StrEnum):
    """Likeness of the contents of memory to other contents."""

    EQUAL = "bit-equal"
    CLOSE = "close"
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class ValueChange:
    """Memory that held something else, before a node or after it."""

    before: NodeRef = figure("stated", "the node before")
    after: NodeRef = figure("derived", "its partner")
    position: int = figure("measured", "argument of both that leads to it")
    parameter: str | None = figure("derived", "its type and name; null: nothing tells them")
    likeness: str = figure(
        "derived",
        "close: least, greatest, mean and counts are alike within some roundings of the type; "
        "different: they are not, or the type is not known",
    )
    element: str = figure("derived", "what it holds; byte: not known")
    tolerance: float | None = figure(
        "stated",
        "what close allows, as a share of the greatest; null: only bit-equal counts",
    )
    different_count: int | None = figure(
        "measured", "elements that are not bit-equal; null: contents were not kept on both sides"
    )
    largest_difference: float | None = figure(
        "measured", "the largest between two finite elements, likewise; null: not known"
    )
    not_loaded: str | None = figure(
        "measured", "why contents that were kept cannot be compared; null: nothing is wrong"
    )
    before_hash: str = figure("measured", "64 bits of what it held, in hexadecimal")
    after_hash: str = figure("measured", "and after")
    before_mean: float | None = figure("measured", "mean of its finite elements; null: not known")
    after_mean: float | None = figure("measured", "and after")
    before_writers: tuple[NodeRef, ...] = figure(
        "derived", "of memory that a node is given: earlier nodes that wrote it, or may have"
    )
    after_writers: tuple[NodeRef, ...] = figure("derived", "and after")


@dataclass(frozen=True, slots=True)
class FirstDifference:
    """The first node, in the order in which the copy ran, that outputs something else."""

    outputs: tuple[ValueChange, ...] = figure("derived", "what it left, as far as it is not equal")
    inputs: tuple[ValueChange, ...] = figure(
        "derived", "what it was given, as far as that was compared and is not equal"
    )
    not_compared_count: int = figure(
        "derived", "ranges that it was given and that reach further on one side; 0: all are known"
    )
    layer: str | None = figure("derived", "its layer of the model; null: not known")
    line: str | None = figure(
        "measured", "line of the program's own Python that made it; null: not known"
    )


@dataclass(frozen=True, slots=True)
class GraphValuesDiff:
    """Values of a graph before and after."""

    before_graph_id: int = figure("stated", "the graph before")
    after_graph_id: int = figure("derived", "its partner")
    name: str = figure("stated", "its name before")
    equal_count: int = figure("derived", "ranges of memory that nodes left bit-equal")
    close_count: int = figure("derived", "that they left close")
    different_count: int = figure("derived", "that they left different")
    not_compared_count: int = figure(
        "derived", "that could not be compared: they reach further on one side, or are not there"
    )
    inputs: tuple[ValueChange, ...] = figure(
        "derived", "memory that nodes read, that no node of the graph wrote, and that differs"
    )
    first: FirstDifference | None = figure("derived", "null: all outputs are bit-equal")
    first_beyond: FirstDifference | None = figure(
        "derived", "the first with an output that is not even close; null: there is none"
    )
    only_before: tuple[NodeRef, ...] = figure(
        "derived", f"nodes without a partner that ran before the first difference, {_NAMED} at most"
    )
    only_after: tuple[NodeRef, ...] = figure("derived", "and after")


@dataclass(frozen=True, slots=True)
class ValuesDiff:
    """Values of two recordings."""

    values_diff_version: int = figure("stated", "version of these keys")
    graphs: tuple[GraphValuesDiff | NotComputed, ...] = figure(
        "derived", "pairs of graphs, in order of the first recording"
    )


def compare_values(
    first: Recording,
    second: Recording,
    requested: RequestedPair | None = None,
    progress: Progress = NO_PROGRESS,
) -> ValuesDiff:
    """Return where the values of two recordings, or of two graphs of one, part.

    Parameters
    ----------
    progress
        Told which graph is looked at, and the share that is done.

    Raises
    ------
    RecordingError
        As of :func:`gviz.comparison.diff.compare_recordings`.
    """
    paired = pair_recordings(first, second, requested)
    found = []
    of_runs = list(zip(paired.runs, paired.graphs, strict=True))
    for ((before, after), pairs), part in progress.each(of_runs, lambda runs: runs[0][0].name):
        sides = read_compared_run(first, before), read_compared_run(second, after)
        each = part.each(pairs, lambda pair: f"graph {pair.first}")
        found += [compare_graph_values(*sides, pair, own) for pair, own in each]
    return ValuesDiff(VALUES_DIFF_VERSION, tuple(found))


def likeness_of(one: MemoryContents, two: MemoryContents, element: ElementType) -> ValueLikeness:
    """Return how contents of one size are to each other."""
    if one.hash == two.hash:
        return ValueLikeness.EQUAL
    tolerance = _TOLERANCES.get(element)
    if tolerance is None or (one.nan_count, one.infinite_count) != (
        two.nan_count,
        two.infinite_count,
    ):
        return ValueLikeness.DIFFERENT
    numbers = ((one.least, two.least), (one.greatest, two.greatest), (one.mean, two.mean))
    known = [(a, b) for a, b in numbers if a is not None and b is not None]
    size = max((abs(x) for pair in known for x in pair), default=math.inf)
    near = all(abs(a - b) <= tolerance * size for a, b in known)
    return ValueLikeness.CLOSE if known and near else ValueLikeness.DIFFERENT


class _Elements(NamedTuple):
    """Difference of kept contents: elements, the largest finite one; or why it is not known."""

    different: int | None = None
    largest: float | None = None
    not_loaded: str | None = None


def _differing(one: Path | None, two: Path | None) -> _Elements:
    """Return how kept contents differ; hashes and statistics do not need them."""
    if one is None or two is None:
        return _Elements()
    try:
        before, after = load_contents(one), load_contents(two)
    except RecordingError as error:
        return _Elements(not_loaded=str(error))
    if (before.dtype, before.size) != (after.dtype, after.size):
        return _Elements(not_loaded=f"{one} and {two} hold different types or numbers of elements")
    bits = f"u{before.dtype.itemsize}"
    differing = before.view(bits) != after.view(bits)
    pairs = [side[differing].astype(np.float64) for side in (before, after)]
    finite = np.isfinite(pairs[0]) & np.isfinite(pairs[1])
    largest = float(np.abs(pairs[0] - pairs[1])[finite].max()) if finite.any() else None
    return _Elements(int(differing.sum()), largest)


class _Side(NamedTuple):
    subject: GraphSubject
    values: GraphValues

    def writers(self, memory: GivenMemory) -> tuple[NodeRef, ...]:
        """Return the nodes that wrote what memory held before its node."""
        return tuple(map(self.subject.ref, self.values.writers(memory)))


class _Pair(NamedTuple):
    """The same memory of partners."""

    one: GivenMemory
    two: GivenMemory

    @property
    def is_written(self) -> bool:
        return self.one.may_be_written or self.two.may_be_written

    def left(self) -> ValueLikeness:
        """Return how what the nodes left there is to each other."""
        return likeness_of(self.one.after, self.two.after, self.one.element)

    def given(self) -> ValueLikeness:
        return likeness_of(self.one.before, self.two.before, self.one.element)


def compare_graph_values(
    before: ComparedRun, after: ComparedRun, pair: GraphPair, progress: Progress = NO_PROGRESS
) -> GraphValuesDiff | NotComputed:
    """Return where the values of a pair of graphs part."""
    subjects = before.subject(pair.first), after.subject(pair.second)
    steps = progress.steps(_STEPS, subjects[0].title)
    sides = [_Side(subject, steps.run(subject.once, graph_values)) for subject in subjects]
    for side, name in zip(sides, ("before", "after"), strict=True):
        if side.values.graph_exec_id is None:
            return NotComputed(f"{name}: no values of graph {side.subject.row.graph_id} were read")
    partners = _created_alike(subjects) or node_partners(before, after, pair)
    return _Comparison(sides[0], sides[1], partners).to_diff()


def _created_alike(
    subjects: tuple[GraphSubject, GraphSubject],
) -> dict[tuple[int, int], tuple[int, int]] | None:
    """Return partners by the order of creation; None: that is of other work, or there are bodies.

    An input that is taken from elsewhere changes edges, by which equal nodes are told apart else.
    """
    if any(len(subject.graph.levels) > 1 for subject in subjects):
        return None
    one, two = (_created(subject) for subject in subjects)
    if [node[:2] for node in one] != [node[:2] for node in two]:
        return None
    return {a[2]: b[2] for a, b in zip(one, two, strict=True)}


def _created(subject: GraphSubject) -> list[tuple[int, str, tuple[int, int]]]:
    """Return kind, name and key of nodes in the order in which they were created."""
    nodes, graph_id = subject.graph.nodes, subject.row.graph_id
    found = zip(
        nodes.integers("node_id").tolist(),
        nodes.integers("type").tolist(),
        nodes.listed("name"),
        strict=True,
    )
    return [(kind, name or "", (graph_id, node_id)) for node_id, kind, name in sorted(found)]


def compare_eager_values(subject: GraphSubject) -> ValuesDiff | NotComputed:
    """Return where the values of a graph part from those of the same work by stream calls.

    The calls are before, the graph is after: each call is the node that the capture made of it.
    """
    eager = read_eager_values(subject.recording, subject.graph)
    if not eager.given:
        return NotComputed(
            "the same work by stream calls was not read: 'gviz.compare_stream(work, values=True)' "
            "reads it, in a program that 'gviz run --values' started"
        )
    values = values_read(subject)
    if isinstance(values, NotComputed):
        return values
    nodes = {(memory.graph_id, memory.node_id) for memory in eager.given}
    sides = _Side(subject, eager), _Side(subject, values)
    found = _Comparison(*sides, {node: node for node in nodes}).to_diff()
    return ValuesDiff(VALUES_DIFF_VERSION, (found,))


class _Comparison:
    """Two graphs with values, and which node of one is which of the other."""

    def __init__(
        self, one: _Side, two: _Side, partners: Mapping[tuple[int, int], tuple[int, int]]
    ) -> None:
        self._one, self._two = one, two
        nodes = {(m.graph_id, m.node_id): m.node for m in two.values.given}
        own = {m.node: (m.graph_id, m.node_id) for m in one.values.given}
        known = {*partners.values()}
        self._partner = {
            node: nodes[partners[key]] for node, key in own.items() if partners.get(key) in nodes
        }
        self._paired = (
            {node for node, key in own.items() if key in partners},
            {node for key, node in nodes.items() if key in known},
        )
        self._missing = 0
        self._apart: dict[int, int] = {}
        self._pairs = {node: list(self._of_node(node)) for node in one.values.by_node}

    def _of_node(self, node: int) -> Iterator[_Pair]:
        """Yield the same memory of a node and its partner, as far as it reaches equally far."""
        given = self._two.values.by_node.get(self._partner.get(node, -1), ())
        known = {memory.key[1:]: memory for memory in given}
        for memory in self._one.values.by_node[node]:
            other = known.get(memory.key[1:])
            if other is not None and other.bytes == memory.bytes:
                yield _Pair(memory, other)
            elif not memory.start:
                self._missing += memory.may_be_written
                self._apart[node] = self._apart.get(node, 0) + memory.may_be_read

    def to_diff(self) -> GraphValuesDiff:
        """Return what differs."""
        left = [
            (pair, pair.left()) for own in self._pairs.values() for pair in own if pair.is_written
        ]
        count = {kind: sum(found == kind for _, found in left) for kind in ValueLikeness}
        first = self._first(left, (ValueLikeness.CLOSE, ValueLikeness.DIFFERENT))
        beyond = self._first(left, (ValueLikeness.DIFFERENT,))
        return GraphValuesDiff(
            before_graph_id=self._one.subject.row.graph_id,
            after_graph_id=self._two.subject.row.graph_id,
            name=self._one.subject.title,
            equal_count=count[ValueLikeness.EQUAL],
            close_count=count[ValueLikeness.CLOSE],
            different_count=count[ValueLikeness.DIFFERENT],
            not_compared_count=self._missing,
            inputs=tuple(self._inputs()),
            first=None if first is None else self._difference(first),
            first_beyond=None if beyond is None else self._difference(beyond),
            only_before=self._lone(0, first),
            only_after=self._lone(1, first),
        )

    @staticmethod
    def _first(
        left: Sequence[tuple[_Pair, ValueLikeness]], kinds: Sequence[ValueLikeness]
    ) -> _Pair | None:
        return next((pair for pair, likeness in left if likeness in kinds), None)

    def _inputs(self) -> Iterator[ValueChange]:
        """Yield what differs of memory that no node of either graph wrote before."""
        inputs = {self._one.values.given[at].key for at in self._one.values.flow.inputs}
        for own in self._pairs.values():
            for pair in own:
                if pair.one.key not in inputs or pair.given() == ValueLikeness.EQUAL:
                    continue
                # Of what a node wrote a part of, it is not known which part differs.
                if not self._one.writers(pair.one) and not self._two.writers(pair.two):
                    yield self._change(pair, pair.given(), after=False)

    def _difference(self, first: _Pair) -> FirstDifference:
        own = self._pairs[first.one.node]
        layer, line = node_place(self._one.subject, first.one.node)
        return FirstDifference(
            outputs=tuple(
                self._change(pair, pair.left(), after=True)
                for pair in own
                if pair.is_written and pair.left() != ValueLikeness.EQUAL
            ),
            inputs=tuple(
                self._change(pair, pair.given(), after=False)
                for pair in own
                if self._is_given(pair) and pair.given() != ValueLikeness.EQUAL
            ),
            not_compared_count=self._apart.get(first.one.node, 0),
            layer=layer,
            line=line,
        )

    def _is_given(self, pair: _Pair) -> bool:
        """Return whether what memory held before is input: read, or written in this launch."""
        if pair.one.direction == Direction.WRITTEN:
            return False
        is_left = pair.one.direction == Direction.UNKNOWN and not pair.is_written
        return pair.one.direction == Direction.READ or is_left or bool(self._one.writers(pair.one))

    def _change(self, pair: _Pair, likeness: ValueLikeness, *, after: bool) -> ValueChange:
        one, two = pair
        held = (one.after, two.after) if after else (one.before, two.before)
        elements = _differing(
            self._one.values.kept_file(one, held[0]), self._two.values.kept_file(two, held[1])
        )
        return ValueChange(
            before=self._one.subject.ref(one.node),
            after=self._two.subject.ref(two.node),
            position=one.position,
            parameter=one.parameter_text,
            likeness=str(likeness),
            element=one.element.text,
            tolerance=_TOLERANCES.get(one.element),
            different_count=elements.different,
            largest_difference=elements.largest,
            not_loaded=elements.not_loaded,
            before_hash=held[0].hash_text,
            after_hash=held[1].hash_text,
            before_mean=held[0].mean,
            after_mean=held[1].mean,
            before_writers=() if after else self._one.writers(one),
            after_writers=() if after else self._two.writers(two),
        )

    def _lone(self, at: int, first: _Pair | None) -> tuple[NodeRef, ...]:
        """Return nodes of a side without a partner that ran before the first difference."""
        side = (self._one, self._two)[at]
        end = math.inf if first is None else first[at].place
        lone = [
            node
            for node, given in side.values.by_node.items()
            if node not in self._paired[at] and given[0].place < end
        ]
        return tuple(map(side.subject.ref, lone[:_NAMED]))
