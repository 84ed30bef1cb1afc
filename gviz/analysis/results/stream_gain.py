"""Graph against stream: the same work both ways, and where the difference comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from gviz.analysis.evidence import span_evidence
from gviz.analysis.launch import PartSpans, TimeParts, as_columns, measure_parts
from gviz.analysis.node_ref import NodeRef
from gviz.analysis.subject import GraphSubject, TimedLaunch
from gviz.dataclass import dataclass
from gviz.model import CallTimes, GraphTree, read_alternation, times_of, waited_until
from gviz.recording import rows
from gviz.stats import (
    BoolArray,
    CuptiState,
    Evidence,
    FloatArray,
    IntArray,
    Interval,
    NotComputed,
    Spread,
    figure,
    interval_of,
    spread,
    worst_of,
)

#: Nodes of one side that are named, the longest.
_NAMED = 8
#: Stands for "no node" of the graph.
_NONE = -1


@dataclass(frozen=True, slots=True)
class GainSide:
    """Times of one side over its launches or iterations, with node times on where they have any."""

    total_ns: Spread = figure(
        "derived",
        "from the call, or the end of the launch that it waited for, to the last node's end; where "
        "is_of_plain_launches, as gpu_ns",
    )
    gpu_ns: Spread = figure(
        "derived",
        "from the first node's start to the last node's end; of plain launches between the events "
        "around them",
    )
    host_ns: Spread | None = figure(
        "measured",
        "from the entry of the first call to the return of the last; launch calls that waited for "
        "a full queue are left out, null: all did, or it is not known",
    )
    idle_fraction: Spread | None = figure(
        "derived", "share of gpu_ns in which nothing ran, 0 to 1; null of plain launches"
    )
    left_out_count: int = figure(
        "stated", "launches or iterations that are not looked at: the first, and incomplete ones"
    )
    evidence: Evidence = figure("stated", "what it rests on")


@dataclass(frozen=True, slots=True)
class Gain:
    """A part of what the graph saves, mean of a launch; below 0 it costs."""

    mean_ns: float = figure("derived", "mean of the stream side less mean of the graph side")
    interval: Interval = figure(
        "derived", "of that difference, by bootstrap where nothing else is said"
    )

    @property
    def width_ns(self) -> float | None:
        """The width of the interval; None: there is none."""
        low, high = self.interval.low, self.interval.high
        return None if low is None or high is None else high - low


@dataclass(frozen=True, slots=True)
class AlternateGain:
    """Gain of launches over the eager iterations next to them, no node times on.

    ``gviz.compare_stream`` times them so: warmed up, on an idle GPU, who is first alternating.
    """

    graph_ns: float = figure("measured", "between events around a launch, mean")
    eager_ns: float = figure("measured", "between events around an eager iteration, mean")
    saved: Gain = figure("derived", "what the graph saves; interval by Student's t")
    saved_width_ns: float | None = figure(
        "derived", "width of its interval; null with one launch and iteration"
    )
    graph_host_ns: float = figure("measured", "host's time in a launch call, mean")
    eager_host_ns: float = figure("measured", "host's time in the calls of an iteration, mean")
    host_saved: Gain = figure("derived", "what the graph saves of it; interval by Student's t")
    host_saved_width_ns: float | None = figure("derived", "width of that interval")
    evidence: Evidence = figure("stated", "what it rests on")


@dataclass(frozen=True, slots=True)
class OneSided:
    """A node, or an operation, that only one side has."""

    name: str = figure("stated", "its name")
    node: NodeRef | None = figure("stated", "the node; null: an operation outside graphs")
    mean_ns: float = figure("derived", "its time, mean of a launch or pass")


@dataclass(frozen=True, slots=True)
class StreamResult:
    """The same work as a graph and by stream calls.

    With node times on for both sides the five parts of the gain add up to saved. Node times
    lengthen the calls of both sides: alternate has what the graph saves without, where
    gviz.compare_stream measured it; else saved is an upper bound, and plain_graph_ns says what a
    launch takes without node times. Where event copies timed the nodes, the graph's side is that of
    plain launches, and saved, an upper bound too, has no parts.
    """

    is_of_plain_launches: bool = figure(
        "stated", "whether the graph's side is that of launches without node times"
    )
    graph: GainSide = figure("derived", "graph launches")
    stream: GainSide = figure("derived", "the same work by stream calls")
    coverage_fraction: float = figure(
        "derived", "share of the graph's timed nodes that the stream side has, 0 to 1"
    )
    saved: Gain = figure("derived", "what the graph saves of total_ns")
    host: Gain | NotComputed = figure(
        "derived",
        "of that: time in which the GPU waited for calls to return, before the first node and "
        "between nodes",
    )
    gaps: Gain | NotComputed = figure(
        "derived", "of that: other time in which nothing ran between nodes"
    )
    overlap: Gain | NotComputed = figure("derived", "of that: more nodes that ran side by side")
    node_time: Gain | NotComputed = figure(
        "derived", "of that: nodes of both sides that took less time"
    )
    one_sided: Gain | NotComputed = figure("derived", "of that: time of what only one side has")
    host_saved: Gain | NotComputed = figure(
        "derived", "what the graph saves of host_ns: calls, not waiting"
    )
    waited_count: int = figure(
        "derived",
        "of the graph side's launch calls those that waited for a full queue: so many launches "
        "were in flight that the call returned only when one of them had ended",
    )
    waited_ns: float | None = figure(
        "derived", "median of what these took beyond the others; null: none waited"
    )
    full_queue_launches: int | None = figure(
        "derived", "launches in flight from which on calls waited; null: none waited"
    )
    idle_without_host_fraction: float | None = figure(
        "derived",
        "what would be idle on the stream side if the GPU never waited for a call: between "
        "stream.idle_fraction and graph.idle_fraction, as in NVIDIA's 64% to 45% to 33%; null "
        "where the graph's side is that of plain launches",
    )
    only_graph: tuple[OneSided, ...] = figure(
        "derived", f"what only the graph has, the {_NAMED} longest"
    )
    only_stream: tuple[OneSided, ...] = figure(
        "derived", f"what ran between the stream calls that the graph has not, the {_NAMED} longest"
    )
    plain_graph_ns: Spread | None = figure(
        "measured", "between the events around launches without node times; null: not measured"
    )
    host_plain_ns: float | None = figure(
        "measured",
        "median launch call without node times that did not wait for a full queue; null where "
        "there is none",
    )
    host_plain_count: int = figure("measured", "calls behind it")
    plain_state: CuptiState | None = figure(
        "stated", "the state that launches without node times were in; null: there are none"
    )
    alternate: AlternateGain | NotComputed = figure(
        "derived", "what the graph saves with no node times on"
    )
    evidence: Evidence = figure("stated", "what the gain rests on: the worse of both sides")

    @property
    def headline(self) -> Headline:
        """The gain as it is said first: without node times where that was measured."""
        found = self.alternate
        if isinstance(found, NotComputed):
            return Headline(
                graph_ns=self.graph.total_ns.mean,
                eager_ns=self.stream.total_ns.mean,
                eager_host_ns=None if self.stream.host_ns is None else self.stream.host_ns.mean,
                saved=self.saved,
                host_saved=self.host_saved,
                evidence=self.evidence,
            )
        return Headline(
            graph_ns=found.graph_ns,
            eager_ns=found.eager_ns,
            eager_host_ns=found.eager_host_ns,
            saved=found.saved,
            host_saved=found.host_saved,
            evidence=found.evidence,
        )


@dataclass(frozen=True, slots=True)
class Headline:
    """The gain as it is said first, and what break-even is computed from.

    Attributes
    ----------
    graph_ns, eager_ns
        Means of a launch and of an eager iteration.
    eager_host_ns
        Mean of the host's time in the calls of an iteration; None: not known.
    saved, host_saved
        What the graph saves of them, and of the host's time in calls.
    evidence
        What that rests on.
    """

    graph_ns: float
    eager_ns: float
    eager_host_ns: float | None
    saved: Gain
    host_saved: Gain | NotComputed
    evidence: Evidence


def stream_result(subject: GraphSubject) -> StreamResult | NotComputed:
    """Return how a graph compares with the same work by stream calls."""
    if subject.why_no_times:
        return NotComputed(subject.why_no_times)
    stream_rows = subject.stream_rows
    if not stream_rows:
        return NotComputed(
            "no eager iteration of the graph's work was recorded; gviz.compare_stream makes one"
        )
    stream = _StreamSide(subject, stream_rows)
    if not stream.chosen:
        return NotComputed("no eager iteration has operations with times, and those of its calls")
    if subject.why_no_order:
        return _against_plain(subject, stream, len(stream_rows), subject.why_no_order)
    graph = _GraphSide(subject, stream.common)
    if not graph.measured:
        return NotComputed("no graph launch with node times has the time of its call")
    a, b = as_columns(stream.measured), as_columns(graph.measured)
    sides = graph.evidence(), stream.evidence()
    calls = graph.calls()
    plain = _plain_calls(subject)
    return StreamResult(
        is_of_plain_launches=False,
        graph=_side(b, calls.alone_ns, len(subject.timed_launches) - len(graph.measured), sides[0]),
        stream=_side(a, a["host_ns"], len(stream_rows) - len(stream.chosen), sides[1]),
        coverage_fraction=stream.coverage,
        saved=_gain(a["total_ns"], b["total_ns"]),
        host=_gain(a["lead_ns"] + a["host_idle_ns"], b["lead_ns"] + b["host_idle_ns"]),
        gaps=_gain(a["other_idle_ns"], b["other_idle_ns"]),
        overlap=_gain(-a["overlap_ns"], -b["overlap_ns"]),
        node_time=_gain(a["node_ns"], b["node_ns"]),
        one_sided=_gain(a["own_ns"], b["own_ns"]),
        host_saved=_gain(a["host_ns"], calls.alone_ns.astype(np.float64))
        if len(calls.alone_ns)
        else NotComputed(calls.method),
        waited_count=len(calls.waited_ns),
        waited_ns=float(np.median(calls.waited_ns)) if len(calls.waited_ns) else None,
        full_queue_launches=calls.in_flight,
        idle_without_host_fraction=float(np.mean([_idle_without_host(p) for p in stream.measured])),
        only_graph=graph.only(stream.common),
        only_stream=stream.only(),
        plain_graph_ns=_plain(subject),
        host_plain_ns=None if plain is None else plain.median_ns,
        host_plain_count=0 if plain is None else len(plain.alone_ns),
        plain_state=None if plain is None else plain.state,
        alternate=_alternate(subject),
        evidence=worst_of(sides),
    )


def _against_plain(
    subject: GraphSubject, stream: _StreamSide, iterations: int, why_no_parts: str
) -> StreamResult | NotComputed:
    """Return how plain launches compare with eager iterations, whose events lengthen these."""
    lengths = subject.plain_lengths_ns
    plain = _plain_calls(subject)
    if not len(lengths) or plain is None:
        return NotComputed("no launch without node times was timed")
    a = as_columns(stream.measured)
    evidence = Evidence("measured", len(lengths), state=plain.state)
    calls = plain.alone_ns
    no_parts = NotComputed(why_no_parts)
    graph_ns, eager_ns = spread(lengths), spread(a["gpu_ns"])
    sides = evidence, stream.evidence()
    return StreamResult(
        is_of_plain_launches=True,
        graph=GainSide(
            total_ns=graph_ns,
            gpu_ns=graph_ns,
            host_ns=spread(calls) if len(calls) else None,
            idle_fraction=None,
            left_out_count=0,
            evidence=sides[0],
        ),
        stream=GainSide(
            total_ns=eager_ns,
            gpu_ns=eager_ns,
            host_ns=spread(a["host_ns"]),
            idle_fraction=None,
            left_out_count=iterations - len(stream.chosen),
            evidence=sides[1],
        ),
        coverage_fraction=stream.coverage,
        saved=_gain(a["gpu_ns"], lengths),
        host=no_parts,
        gaps=no_parts,
        overlap=no_parts,
        node_time=no_parts,
        one_sided=no_parts,
        host_saved=_gain(a["host_ns"], calls.astype(np.float64))
        if len(calls)
        else NotComputed(plain.method),
        waited_count=len(plain.waited_ns),
        waited_ns=float(np.median(plain.waited_ns)) if len(plain.waited_ns) else None,
        full_queue_launches=plain.in_flight,
        idle_without_host_fraction=None,
        only_graph=(),
        only_stream=stream.only(),
        plain_graph_ns=graph_ns,
        host_plain_ns=plain.median_ns,
        host_plain_count=len(calls),
        plain_state=plain.state,
        alternate=_alternate(subject),
        evidence=worst_of(sides),
    )


def _alternate(subject: GraphSubject) -> AlternateGain | NotComputed:
    found = read_alternation(subject.recording, subject.row)
    if found is None:
        return NotComputed(
            "launches and eager iterations were not timed alternately without node times; "
            "gviz.compare_stream does"
        )
    elapsed, host = found.elapsed, found.host
    saved, host_saved = (Gain(x.saved_ns, x.interval) for x in (elapsed, host))
    return AlternateGain(
        graph_ns=elapsed.graph_ns,
        eager_ns=elapsed.eager_ns,
        saved=saved,
        saved_width_ns=saved.width_ns,
        graph_host_ns=host.graph_ns,
        eager_host_ns=host.eager_ns,
        host_saved=host_saved,
        host_saved_width_ns=host_saved.width_ns,
        evidence=Evidence("measured", elapsed.count, state=found.state),
    )


def _side(
    columns: Mapping[str, FloatArray],
    host_ns: IntArray | FloatArray,
    left_out: int,
    evidence: Evidence,
) -> GainSide:
    return GainSide(
        total_ns=spread(columns["total_ns"]),
        gpu_ns=spread(columns["gpu_ns"]),
        host_ns=spread(host_ns) if len(host_ns) else None,
        idle_fraction=spread(columns["idle_fraction"]),
        left_out_count=left_out,
        evidence=evidence,
    )


def _gain(stream: FloatArray, graph: FloatArray) -> Gain:
    return Gain(
        mean_ns=float(stream.mean() - graph.mean()),
        interval=interval_of(stream, graph, np.subtract),
    )


def _idle_without_host(found: TimeParts) -> float:
    whole = found.busy_ns + found.other_idle_ns
    return found.other_idle_ns / whole if whole else 0.0


def _plain(subject: GraphSubject) -> Spread | None:
    found = subject.plain_lengths_ns
    return spread(found) if len(found) else None


def _plain_calls(subject: GraphSubject) -> CallTimes | None:
    """Return the launch calls without node times; None: there are none."""
    found = subject.call_times
    return None if found.state == CuptiState.RECORDED else found


class _StreamSide:
    """The launches by stream calls: complete ones, without the first where there are others.

    The first iteration loads modules and chooses algorithms.
    """

    def __init__(self, subject: GraphSubject, launches: list[rows.Launch]) -> None:
        self._subject = subject
        timed = int((subject.graph.nodes.texts("not_timed_reason").codes < 0).sum())
        self._operations = _fetch_operations(subject)
        known = [p for p in launches if self._called(p) is not None]
        later = [p for p in known if p.ordinal > 0] or known
        complete = max((len(self._of(p)[0]) for p in later), default=0)
        self.chosen = [p for p in later if complete and len(self._of(p)[0]) == complete]
        ids = [set(self._operations.node[self._of(p)[0]].tolist()) for p in self.chosen]
        #: Node ids of the outermost level that every chosen iteration has.
        self.common = set.intersection(*ids) if ids else set()
        self.coverage = len(self.common) / timed if timed else 0.0
        calls = [(p, c) for p in self.chosen if (c := self._called(p)) is not None]
        self.measured = [self._measure(p, c) for p, c in calls]

    def evidence(self) -> Evidence:
        """Return what its times rest on."""
        return Evidence(
            how="derived",
            n=len(self.chosen),
            coverage_fraction=self.coverage,
            state=CuptiState.RECORDED,
            is_cold=all(launch.ordinal == 0 for launch in self.chosen),
            is_at_most=True,
        )

    def _of(self, launch: rows.Launch) -> tuple[IntArray, IntArray]:
        """Return the operations of an iteration, and those of nothing that ran meanwhile."""
        found = self._operations
        mine = np.flatnonzero(found.launch == launch.launch_id)
        if not len(mine):
            return mine, mine
        begin, end = found.start[mine].min(), (found.start + found.duration)[mine].max()
        inside = (found.start >= begin) & (found.start < end) & (found.launch == _NONE)
        return mine, np.flatnonzero(inside)

    def _called(self, launch: rows.Launch) -> tuple[int, int] | None:
        """Return the first call's entry and the last one's return; None: not known."""
        if launch.host_start_ns is not None and launch.host_end_ns is not None:
            return launch.host_start_ns, launch.host_end_ns
        mine, _ = self._of(launch)
        called, returned = self._operations.called[mine], self._operations.returned[mine]
        if not len(mine) or not (called > 0).all() or not (returned >= called).all():
            return None
        return int(called.min()), int(returned.max())

    def _measure(self, launch: rows.Launch, calls: tuple[int, int]) -> TimeParts:
        mine, others = self._of(launch)
        chosen = np.concatenate((mine, others))
        found = self._operations
        start = found.start[chosen]
        is_common = np.isin(found.node[chosen], list(self.common))
        is_common[len(mine) :] = False
        spans = PartSpans(start, start + found.duration[chosen], found.returned[chosen], is_common)
        # Clocks of host and GPU: an iteration does not begin after its first node.
        begin = min(calls[0], int(start.min()))
        return measure_parts(spans, begin, float(calls[1] - calls[0]))

    def only(self) -> tuple[OneSided, ...]:
        """Return what ran meanwhile that the graph does not have, summed by name."""
        total: dict[str, float] = {}
        for launch in self.chosen:
            for at in self._of(launch)[1].tolist():
                name = self._operations.name[at]
                total[name] = total.get(name, 0.0) + float(self._operations.duration[at])
        each = [OneSided(n, None, ns / len(self.chosen)) for n, ns in total.items()]
        return tuple(sorted(each, key=lambda x: -x.mean_ns)[:_NAMED])


@dataclass(frozen=True, slots=True)
class _Operations:
    """Operations outside graphs as arrays; -1 or 0 where something is not known."""

    launch: IntArray
    node: IntArray
    start: IntArray
    duration: IntArray
    called: IntArray
    returned: IntArray
    name: list[str]


def _fetch_operations(subject: GraphSubject) -> _Operations:
    found = subject.stream_operations
    start, duration = found.integers("start_ns"), found.integers("duration_ns")
    order = np.argsort(start, kind="stable")
    order = order[duration[order] >= 0]  # what ends before it starts is no record of anything
    texts = found.texts("name")
    return _Operations(
        launch=found.integers("launch_id", _NONE)[order],
        node=found.integers("node_id", _NONE)[order],
        start=start[order],
        duration=duration[order],
        called=found.integers("host_start_ns", 0)[order],
        returned=found.integers("host_end_ns", 0)[order],
        name=[texts.values[code] for code in texts.codes[order].tolist()],
    )


class _GraphSide:
    """The graph launches, without the first, which uploads, where there are others."""

    def __init__(self, subject: GraphSubject, common: set[int]) -> None:
        self._subject = subject
        pairs = zip(subject.timed_launches, subject.launches_before(), strict=True)
        timed = [(x, before) for x, before in pairs if len(x.spans)]
        chosen = [(x, before) for x, before in timed if x.row.ordinal > 0] or timed
        self._chosen = [x for x, _ in chosen]
        self._is_common = _nodes_of(subject.graph, common)
        found = [self._measure(x, before) for x, before in chosen]
        self.measured = [p for p in found if p is not None]

    def calls(self) -> CallTimes:
        """Return the host time of the calls of these launches, waiting apart."""
        calls = self._subject.launch_calls
        ids = [launch.row.launch_id for launch in self._chosen]
        return times_of(calls, np.isin(calls.launch_id, ids), CuptiState.RECORDED)

    def evidence(self) -> Evidence:
        """Return what its times rest on."""
        cold = all(launch.row.ordinal == 0 for launch in self._chosen)
        return replace(self._subject.once(span_evidence), n=len(self.measured), is_cold=cold)

    def _measure(self, launch: TimedLaunch, before: rows.Launch | None) -> TimeParts | None:
        row, spans = launch.row, launch.spans
        if row.host_start_ns is None or row.host_end_ns is None or row.gpu_start_ns is None:
            return None
        begin = waited_until(row, before)
        # Clocks of two queues: a launch does not begin after its first node.
        begin = row.host_start_ns if begin is None else min(begin, row.gpu_start_ns)
        start = spans.start_ns + row.gpu_start_ns
        found = PartSpans(
            start_ns=start,
            end_ns=spans.end_ns + row.gpu_start_ns,
            returned_ns=np.full(len(start), row.host_end_ns),
            is_common=self._is_common[spans.node],
        )
        return measure_parts(found, begin, float(row.host_end_ns - row.host_start_ns))

    def only(self, common: set[int]) -> tuple[OneSided, ...]:
        """Return the nodes that the stream side does not have."""
        graph = self._subject.graph
        total = np.zeros(len(graph))
        for launch in self._chosen:
            spans = launch.spans
            np.add.at(total, spans.node, (spans.end_ns - spans.start_ns).astype(np.float64))
        total[self._is_common] = 0.0
        longest = np.argsort(-total, kind="stable")[:_NAMED]
        count = max(len(self._chosen), 1)
        return tuple(
            OneSided(graph.nodes[n].name, self._subject.ref(n), float(total[n]) / count)
            for n in longest.tolist()
            if total[n] > 0
        )


def _nodes_of(graph: GraphTree, node_ids: set[int]) -> BoolArray:
    """Return which nodes have one of these ids in the outermost level."""
    found: BoolArray = np.isin(graph.nodes.integers("node_id"), list(node_ids))
    found &= graph.level == 0
    return found
