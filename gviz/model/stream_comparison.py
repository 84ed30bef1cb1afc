"""One piece of work done both ways: by stream calls and as a graph (``gviz.compare_stream``)."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import TYPE_CHECKING

from gviz.dataclass import dataclass
from gviz.errors import RecordingError
from gviz.model.alternation import Alternation
from gviz.recording import Recording
from gviz.stats import CuptiState, Interval
from gviz.text import counted, duration, percent, rounded

if TYPE_CHECKING:
    from gviz.recording import rows


@dataclass(frozen=True, slots=True)
class SideTimes:
    """Times of one side; None: not measured, see the notes.

    Attributes
    ----------
    gpu_ns
        Between an event before the work and one after it, on an idle GPU, without node times
        being recorded (measured, mean).
    host_ns
        From the call's entry to its return (measured, mean over the same repetitions).
    recorded_ns
        First node's start to last node's end, node times being recorded (measured, median).
    idle_fraction
        Share of ``recorded_ns`` in which no node ran, 0..1 (derived).
    recorded_count
        Repetitions with node times.
    """

    gpu_ns: float | None = None
    host_ns: float | None = None
    recorded_ns: float | None = None
    idle_fraction: float | None = None
    recorded_count: int = 0


@dataclass(frozen=True, slots=True)
class StreamComparison:
    """The result of :func:`gviz.compare_stream`.

    Attributes
    ----------
    name
        What the work is called in the recording.
    framework
        Who captured it: torch or cupy.
    path
        The recording; None where nothing was recorded.
    node_count
        Nodes of the graph; None where nothing was recorded.
    graph, stream
        Times of one graph launch, and of the same work by stream calls.
    agrees
        Whether both gave the same results; None where that cannot be judged (the notes say why).
    differences
        One sentence a result that differs.
    notes
        What one must know to read the numbers.
    alternation
        What the graph saves, with its interval, and whether CUPTI was in the process.
    """

    name: str
    framework: str
    path: Path | None
    node_count: int | None
    graph: SideTimes
    stream: SideTimes
    agrees: bool | None
    differences: tuple[str, ...]
    notes: tuple[str, ...]
    alternation: Alternation | None = None

    @property
    def speedup(self) -> float | None:
        """GPU time by stream calls over GPU time as a graph (derived)."""
        if not self.graph.gpu_ns or self.stream.gpu_ns is None:
            return None
        return self.stream.gpu_ns / self.graph.gpu_ns

    def __str__(self) -> str:
        nodes = "" if self.node_count is None else f", {self.node_count:,} nodes"
        rows = [
            ("", "graph", "stream"),
            ("GPU time", _time(self.graph.gpu_ns), _time(self.stream.gpu_ns)),
            ("host time", _time(self.graph.host_ns), _time(self.stream.host_ns)),
            ("with node times", _time(self.graph.recorded_ns), _time(self.stream.recorded_ns)),
            ("idle inside", _share(self.graph.idle_fraction), _share(self.stream.idle_fraction)),
        ]
        lines = [f"{self.name} ({self.framework}{nodes})"]
        lines += [f"  {label:<16}{graph:>14}{stream:>14}" for label, graph, stream in rows]
        if self.speedup is not None:
            lines.append(f"  as a graph the GPU takes 1/{rounded(self.speedup)} of the time")
        if self.alternation is not None:
            lines += _saved(self.alternation)
        verdict = {True: "agree", False: "DIFFER", None: "could not be compared"}[self.agrees]
        lines.append(f"  results {verdict}")
        lines += [f"    {difference}" for difference in self.differences]
        lines += [f"  note: {note}" for note in self.notes]
        if self.path is not None:
            lines.append(f"  recording: {self.path}")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class RecordedSides:
    """The recorded times of a graph and of the same work by stream calls."""

    node_count: int
    graph: SideTimes
    stream: SideTimes


def read_sides(path: Path, name: str) -> RecordedSides | None:
    """Return what a recording says about the graph called ``name``, or None if it has none."""
    try:
        recording = Recording(path)
    except RecordingError:
        return None
    with recording:
        found = [g for g in recording.fetch_graphs() if g.name == name and g.origin != "body"]
        if not found:
            return None
        graph = found[0]
        return RecordedSides(
            node_count=len(recording.fetch_nodes(graph.graph_id)),
            graph=_side(recording, graph.graph_id, "graph"),
            stream=_side(recording, graph.graph_id, "stream"),
        )


def _side(recording: Recording, graph_id: int, side: str) -> SideTimes:
    launches = recording.fetch_launches_with_spans(graph_id, side)
    # The first launch of a graph uploads it, and the first call may compile or allocate.
    later = [x for x in launches if x.ordinal > 0] or launches
    # A copy is as long as its events make it.
    later = [x for x in later if not x.is_by_copy]
    lengths, idle = [], []
    for launch in later:
        if launch.gpu_start_ns is None or launch.gpu_end_ns is None:
            continue
        length = launch.gpu_end_ns - launch.gpu_start_ns
        busy = busy_ns(_intervals(recording, launch))
        lengths.append(length)
        if length:
            idle.append(1 - busy / length)
    return SideTimes(
        recorded_ns=statistics.median(lengths) if lengths else None,
        idle_fraction=statistics.median(idle) if idle else None,
        recorded_count=len(lengths),
    )


def _intervals(recording: Recording, launch: rows.Launch) -> list[tuple[int, int]]:
    if launch.side == "stream":
        operations = recording.fetch_stream_operations(launch.launch_id)
        return [(op.start_ns, op.start_ns + op.duration_ns) for op in operations]
    spans = recording.fetch_spans(launch.launch_id)
    ends = spans.start_ns + spans.duration_ns
    return list(zip(spans.start_ns.tolist(), ends.tolist(), strict=True))


def busy_ns(intervals: list[tuple[int, int]]) -> int:
    """Return the length of the union of intervals (start, end).

    Examples
    --------
    >>> busy_ns([(0, 10), (5, 12), (20, 21)])
    13
    """
    total, reached = 0, None
    for start, end in sorted(intervals):
        if reached is None or start > reached:
            total += end - start
            reached = end
        elif end > reached:
            total += end - reached
            reached = end
    return total


def _saved(found: Alternation) -> list[str]:
    """Return what the graph saves, with its interval, and how that was measured."""
    lines = [
        f"  the graph saves {duration(one.saved_ns)} {of}{interval_text(one.interval)}"
        for one, of in ((found.elapsed, "per launch"), (found.host, "of the host's time"))
    ]
    count = counted(found.elapsed.count, "launch", "launches")
    state = "plain" if found.state is CuptiState.PLAIN else "CUPTI attached"
    return [*lines, f"  {count} and eager iterations, timed alternately in one process, {state}"]


def interval_text(found: Interval) -> str:
    """Return an interval with its width, as the end of a sentence; empty: there is none."""
    if found.low is None or found.high is None:
        return ""
    ends = f"{duration(found.low)} to {duration(found.high)}"
    return f", 95% interval {ends}, {duration(found.high - found.low)} wide"


def _time(ns: float | None) -> str:
    return "not measured" if ns is None else duration(ns)


def _share(value: float | None) -> str:
    return "not measured" if value is None else percent(value)
