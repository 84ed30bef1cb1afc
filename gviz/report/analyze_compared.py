"""The text of ``gviz analyze`` about stream calls: what a graph saves, and when it pays back."""

from __future__ import annotations

from collections.abc import Iterator

from gviz.analysis import BreakEven, GraphShare, PayBack, SetupCost, StreamResult
from gviz.stats import Interval, NotComputed
from gviz.text import counted, duration, percent, render_table, rounded, wrapped

#: With fewer values than this an interval is only their range.
_FEW = 5


def render_comparison(result: StreamResult, width: int) -> Iterator[str]:
    """Yield the lines about both sides and the gain between them."""
    yield from render_table(
        ["means", "graph", "stream calls", ""], _rows(result), width=width, elastic=0,
        left=frozenset({3}), indent=4,
    ).split("\n")  # fmt: skip
    passes = result.stream.total_ns.count
    few = f"; {counted(passes, 'pass', 'passes')}: a range only" if passes < _FEW else ""
    saved = f"a launch saves {_signed(result.saved.mean_ns)}{_interval(result.saved.interval)}"
    yield from wrapped(f"{saved} [derived, 95% interval by bootstrap{few}]:", width)
    parts = (
        ("waiting for calls", result.host),
        ("other gaps closed", result.gaps),
        ("overlap gained", result.overlap),
        ("node times", result.node_time),
        ("nodes of one side only", result.one_sided),
    )
    shown = [f"{name} {_signed(part.mean_ns)}" for name, part in parts if part.mean_ns]
    yield from wrapped(", ".join(shown), width, indent=6)
    yield from wrapped(
        f"of the stream side's time {percent(result.stream.idle_fraction.mean)} is idle; "
        f"{percent(result.idle_without_host_fraction)} would be if the GPU never waited for a "
        "call; "
        f"as a graph {percent(result.graph.idle_fraction.mean)} is [derived]",
        width,
    )
    yield from _one_sided(result, width)
    plain = result.plain_graph_ns
    if plain is not None:
        yield from wrapped(
            "node times, which were on for both sides, lengthen calls: a launch without them "
            f"takes {duration(plain.median)} between its events [measured], passes without them "
            "were not measured",
            width,
        )


def _rows(result: StreamResult) -> list[list[str]]:
    sides = (result.graph, result.stream)
    return [
        ["call to last node's end", *(duration(x.total_ns.mean) for x in sides), "derived"],
        ["  standard deviation", *(duration(x.total_ns.sd) for x in sides), "derived"],
        ["  99th percentile", *(duration(x.total_ns.p99) for x in sides), "derived"],
        ["host in calls", *(duration(x.host_ns.mean) for x in sides), "measured"],
        ["idle while it runs", *(percent(x.idle_fraction.mean) for x in sides), "derived"],
        ["launches, passes", *(f"{x.total_ns.count:,}" for x in sides), ""],
    ]


def _one_sided(result: StreamResult, width: int) -> Iterator[str]:
    for found, where in ((result.only_graph, "graph"), (result.only_stream, "stream side")):
        if found:
            names = ", ".join(f"{x.name} {duration(x.mean_ns)}" for x in found[:3])
            more = ", ..." if len(found) > 3 else ""
            yield from wrapped(f"only the {where} has: {names}{more} [derived]", width)
    if result.coverage_fraction < 1:
        yield from wrapped(
            f"the stream side has {percent(result.coverage_fraction)} of the graph's timed nodes",
            width,
        )


def render_break_even(result: BreakEven, width: int) -> Iterator[str]:
    """Yield the lines about when a graph has paid back what it cost."""
    setup = result.setup
    parts = [
        ("capture", setup.capture_ns),
        ("instantiation", setup.instantiate_ns),
        ("upload", setup.upload_ns),
        ("first launch", setup.first_launch_ns),
    ]
    shown = ", ".join(f"{name} {duration(ns)}" for name, ns in parts if ns)
    how = f"measured, {_own(setup)}"
    yield from wrapped(
        f"making it takes {duration(setup.total_ns)} of host time: {shown} [{how}]", width
    )
    yield from wrapped(
        f"paid back {_when(result.elapsed)} by elapsed time, {_when(result.host)} by host time "
        f"[derived]; each executable was launched {rounded(result.launches_seen)} times",
        width,
    )


def _own(setup: SetupCost) -> str:
    if setup.own_ns is None:
        return "gviz's own part in it"
    return f"less {duration(setup.own_ns)} of gviz's own"


def _when(found: PayBack) -> str:
    if found.launches is None:
        return "never"
    text = f"after {counted(found.launches, 'launch', 'launches')}"
    if found.fewest is None:
        return text
    most = f"{found.most:,}" if found.most is not None else "never"
    return f"{text} ({found.fewest:,} to {most})"


def describe_share(found: GraphShare | NotComputed) -> str:
    """Return a sentence about how much of a run lies in graphs."""
    if isinstance(found, NotComputed):
        return f"share of the run in graphs: not computed: {found.not_computed}"
    speedup = (
        f"; if launches took no time the run would be {rounded(found.most_speedup)} times as fast"
        if found.most_speedup is not None
        else ""
    )
    return (
        f"launches fill {percent(found.gpu_fraction)} of the run's {duration(found.run_ns)} on the "
        f"GPU, their calls {percent(found.host_fraction)} on the host{speedup} [estimated]"
    )


def _signed(ns: float) -> str:
    return f"-{duration(-ns)}" if ns < 0 else duration(ns)


def _interval(found: Interval) -> str:
    if found.low is None or found.high is None:
        return ""
    return f" ({_signed(found.low)} to {_signed(found.high)})"
