"""Expected costs of a graph's calls by this GPU's launch costs, beside what they took here.

The launch costs are lines that ``gviz bench`` fitted: cost = fixed + per node x nodes, of empty
kernels driven from native code. What a program takes more is its framework's, its nodes'
parameters', or the recording's own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

from gviz.analysis.launch_costs import FORK_JOIN, STRAIGHT_LINE, CostLine, LaunchCosts
from gviz.analysis.results.first_calls import first_launches
from gviz.analysis.results.repayments import (
    NO_SETUP,
    SetupCost,
    launches_to_pay_back,
    setup_cost,
)
from gviz.analysis.results.stream_gain import StreamResult, stream_result
from gviz.analysis.subject import GraphSubject
from gviz.cuda import WHOLE_ONLY
from gviz.dataclass import dataclass
from gviz.model import state_of
from gviz.stats import CuptiState, Evidence, NotComputed, figure

#: Lengths of the table, as shares of the graph's own.
_LENGTHS = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, 16)


@dataclass(frozen=True, slots=True)
class CostSource:
    """The launch costs that were used."""

    gpu: str = figure("stated", "the GPU that they were measured on")
    driver_version: str | None = figure("stated", "version of CUDA of its driver")
    path: str = figure("stated", "recording that holds them")
    origin: str = figure(
        "stated", "given (named, or in this recording), kept in the user's folder, or bundled"
    )
    fits: str = figure("stated", "same (GPU and driver), same GPU, another driver, or another GPU")
    description: str = figure("stated", "the same in words")


@dataclass(frozen=True, slots=True)
class ExpectedCall:
    """Host time of one call, as the launch costs have it and as it was."""

    name: str = figure(
        "stated", "capture, instantiation, upload, first launch call, or launch call"
    )
    expected_ns: float = figure(
        "estimated", "by the line, for as many nodes: of empty kernels, so the least"
    )
    residual_fraction: float = figure(
        "derived", "how far the line is from what it was fitted to, root mean square"
    )
    is_extrapolated: bool = figure("stated", "the line was fitted to smaller or larger graphs only")
    measured_ns: float | None = figure(
        "measured",
        "median here, launch calls that waited for a full queue left out; null: not seen, or of "
        "no call it is known that it did not wait",
    )
    measured_count: int = figure("measured", "calls behind it")
    with_node_times: bool = figure(
        "stated", "all measured calls were made with node times on, which lengthens them"
    )


@dataclass(frozen=True, slots=True)
class LengthTable:
    """Break-even of shorter and longer graphs of the same nodes; columns of one length."""

    node_count: tuple[int, ...] = figure("stated", "nodes; the graph's own number is among them")
    setup_ns: tuple[float, ...] = figure("estimated", "what making such a graph would cost")
    host_saved_ns: tuple[float, ...] = figure("estimated", "host time that a launch would save")
    host_launches: tuple[int | None, ...] = figure(
        "estimated", "launches that pay back the setup by host time; null: none do"
    )
    elapsed_saved_ns: tuple[float, ...] | None = figure(
        "estimated", "time that a launch would save; null: no stream side was recorded"
    )
    elapsed_launches: tuple[int | None, ...] | None = figure(
        "estimated", "launches that pay back the setup by elapsed time; null as above"
    )
    stream_is_measured: bool = figure(
        "stated",
        "the stream side's host time is this recording's; else the line's, of empty kernels "
        "launched from native code: at least so much",
    )
    stream_evidence: Evidence | None = figure(
        "stated", "what its times rest on; null: no stream side was recorded"
    )


@dataclass(frozen=True, slots=True)
class ExpectedCost:
    """Expected cost of a graph's calls on this GPU."""

    topology: str = figure("stated", "shape of the lines for launches, the nearest measured")
    width: int = figure("stated", "branches side by side in that shape")
    parallelism: float | None = figure(
        "derived", "nodes over the longest chain's, by which the shape was chosen; null: unknown"
    )
    calls: tuple[ExpectedCall, ...] = figure("estimated", "call by call")
    by_length: LengthTable | NotComputed = figure(
        "estimated", "break-even of shorter and longer graphs of the same nodes"
    )
    evidence: Evidence = figure("stated", "what the measured calls rest on")


def cost_source(costs: LaunchCosts) -> CostSource:
    """Return which launch costs these are."""
    return CostSource(
        gpu=costs.gpu,
        driver_version=costs.driver_version,
        path=str(costs.path),
        origin=costs.origin,
        fits=costs.fits,
        description=costs.describe(),
    )


def expected_cost(subject: GraphSubject, costs: LaunchCosts | None) -> ExpectedCost | NotComputed:
    """Return what a graph's calls should cost."""
    if costs is None:
        return NotComputed("there are no launch costs; 'gviz bench' measures them on this GPU")
    if subject.is_whole_only:
        return NotComputed(WHOLE_ONLY)
    if not len(subject.graph):
        return NotComputed("the graph has no nodes")
    lines = _Lines(subject, costs)
    calls = tuple(lines.calls())
    if not calls:
        return NotComputed(f"{costs.describe()} lack host times of graphs: the bench was cut short")
    return ExpectedCost(
        topology=lines.topology,
        width=lines.width,
        parallelism=lines.parallelism,
        calls=calls,
        by_length=lines.by_length(),
        evidence=_evidence(subject, calls),
    )


def _evidence(subject: GraphSubject, calls: Sequence[ExpectedCall]) -> Evidence:
    (run,) = (x for x in subject.recording.fetch_runs() if x.run_id == subject.row.run_id)
    count = int(subject.launches.has_call.sum())
    return Evidence(
        how="estimated",
        n=count,
        state=state_of(run, node_times=all(call.with_node_times for call in calls)),
        is_cold=count == 1,
    )


class _Lines:
    """The lines that fit one graph."""

    def __init__(self, subject: GraphSubject, costs: LaunchCosts) -> None:
        self._subject, self._costs = subject, costs
        self.count = len(subject.graph)
        self.parallelism = _parallelism(subject)
        self.topology, self.width = _nearest_shape(self.parallelism or 1.0, costs)

    def _launch(self, who: str, quantity: str = "host") -> CostLine | None:
        return self._costs.line(who, quantity, self.topology, self.width)

    def _life(self, who: str) -> CostLine | None:
        return self._costs.line(who, "host")

    def calls(self) -> list[ExpectedCall]:
        """Return the calls of which the costs have a line."""
        subject = self._subject
        setup = setup_cost(subject)
        made: tuple[float | None, ...] = (None, None, None)
        if setup is not None:
            made = (setup.capture_ns, setup.instantiate_ns, setup.upload_ns)
        firsts = list(first_launches(subject))
        uploaded = any(e.upload_start_ns is not None for e in subject.execs)
        first = self._life("first launch after upload") if uploaded else self._launch("first")
        launch, with_times = _launch_call(subject)
        first_ns = median(x.first_ns for x in firsts) if firsts else None
        # The first launches of a run lie in a window of node times.
        first_timed = bool(subject.launches.node_level[:1].any())
        executables = 0 if setup is None else setup.executable_count
        uploads = sum(e.upload_start_ns is not None for e in subject.execs)
        later = len(subject.call_times.alone_ns)
        found = (
            ("capture", self._life("capture"), made[0], 1, False),
            ("instantiation", self._life("instantiate"), made[1], executables, False),
            ("upload", self._life("upload"), made[2], uploads, False),
            ("first launch call", first, first_ns, len(firsts), first_timed),
            ("launch call", self._launch("relaunch"), launch, later, with_times),
        )
        return [
            ExpectedCall(
                name=name,
                expected_ns=max(line.cost_ns(self.count), 0.0),
                residual_fraction=line.residual_fraction,
                is_extrapolated=not line.covers(self.count),
                measured_ns=None if measured is None else float(measured),
                measured_count=0 if measured is None else count,
                with_node_times=with_node_times and measured is not None,
            )
            for name, line, measured, count, with_node_times in found
            if line is not None
        ]

    def by_length(self) -> LengthTable | NotComputed:
        """Return the break-even of other lengths."""
        setup = setup_cost(self._subject)
        if setup is None:
            return NotComputed(NO_SETUP)
        launch, _ = _launch_call(self._subject)
        stream, again = self._launch("stream"), self._launch("relaunch")
        if launch is None:
            return NotComputed(self._subject.call_times.method)
        if stream is None or again is None:
            return NotComputed("the launch costs lack launches by stream, or of graphs")
        compared = self._subject.once(stream_result)
        by_stream = None if isinstance(compared, NotComputed) else compared
        counts = sorted({max(1, round(self.count * share)) for share in _LENGTHS})
        setups = [self._setup_ns(setup, n) for n in counts]
        saved = [
            self._stream_host_ns(stream, by_stream, n) - again.rescale_ns(launch, self.count, n)
            for n in counts
        ]
        elapsed = self._elapsed(by_stream, counts)
        return LengthTable(
            node_count=tuple(counts),
            setup_ns=tuple(setups),
            host_saved_ns=tuple(saved),
            host_launches=tuple(map(launches_to_pay_back, setups, saved)),
            elapsed_saved_ns=elapsed,
            elapsed_launches=None
            if elapsed is None
            else tuple(map(launches_to_pay_back, setups, elapsed)),
            stream_is_measured=by_stream is not None,
            stream_evidence=None if by_stream is None else by_stream.headline.evidence,
        )

    def _setup_ns(self, setup: SetupCost, count: int) -> float:
        """Return what was measured, part by part as its line grows; in proportion without one."""
        parts = (
            (setup.capture_ns, self._life("capture")),
            (setup.instantiate_ns, self._life("instantiate")),
            (setup.upload_ns, self._life("upload")),
            (setup.first_launch_ns, self._launch("first")),
        )
        return sum(
            ns * count / self.count if line is None else line.rescale_ns(ns, self.count, count)
            for ns, line in parts
            if ns is not None
        )

    def _stream_host_ns(self, line: CostLine, found: StreamResult | None, count: int) -> float:
        host_ns = None if found is None else found.headline.eager_host_ns
        if host_ns is None:
            return max(line.cost_ns(count), 0.0)
        return line.rescale_ns(host_ns, self.count, count)

    def _elapsed(self, found: StreamResult | None, counts: list[int]) -> tuple[float, ...] | None:
        stream, again = self._launch("stream", "finish"), self._launch("relaunch", "finish")
        if found is None or stream is None or again is None:
            return None
        sides = ((stream, found.headline.eager_ns), (again, found.headline.graph_ns))
        a, b = ([x.rescale_ns(ns, self.count, n) for n in counts] for x, ns in sides)
        return tuple(x - y for x, y in zip(a, b, strict=True))


def _launch_call(subject: GraphSubject) -> tuple[float | None, bool]:
    """Return the median launch call without waiting, and whether node times were on for it."""
    found = subject.call_times
    return found.median_ns, found.state == CuptiState.RECORDED


def _parallelism(subject: GraphSubject) -> float | None:
    """Return nodes over the longest chain's of the outermost level; None: edges are not known."""
    if subject.why_no_edges or not subject.graph.levels[0].count:
        return None
    row = subject.level_rows[0]
    return len(row) / (int(row.max()) + 1)


def _nearest_shape(parallelism: float, costs: LaunchCosts) -> tuple[str, int]:
    """Return the topology and width measured that come nearest, by ratio; rather one that joins."""
    shapes = [s for s in costs.topologies("relaunch", "host") if s[1] > 1 or s[0] == STRAIGHT_LINE]
    if not shapes:
        return STRAIGHT_LINE, 1
    # A capture must join its streams, so of equal widths the shape with joins is nearer.
    return min(shapes, key=lambda s: (abs(math.log(s[1] / parallelism)), s[0] != FORK_JOIN))
