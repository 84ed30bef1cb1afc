"""The break-even of a graph: when it has paid back its making, and what its calls should cost."""

from __future__ import annotations

from gviz.analysis import BreakEven, ExpectedCall, ExpectedCost, LengthTable, PayBack, SetupCost
from gviz.report.analysis.comparison_section import interval
from gviz.report.document import (
    Block,
    Content,
    Drawing,
    Section,
    bounded,
    column,
    not_computed,
    ns,
    numbers,
    resting_on,
    say,
    section,
    share,
    table,
    times,
)
from gviz.stats import NotComputed
from gviz.text import MISSING, counted, integer

_NEVER = "never"


def break_even(found: BreakEven) -> list[Block]:
    """Return the setup, the launches that pay it back, and the curve."""
    seen = counted(round(found.launches_seen), "time")
    columns = [
        column("Measured by"), numbers("A launch saves"), numbers("95% interval", detail=True),
        numbers("Paid back after"), numbers("At the ends of the interval"),
    ]  # fmt: skip
    rows = [
        _pay_back("Elapsed time", found.elapsed, found),
        ["Host time in calls", MISSING, MISSING, "not known", MISSING]
        if isinstance(found.host, NotComputed)
        else _pay_back("Host time in calls", found.host, found),
    ]
    return [
        table("When the graph has paid back what making it cost", columns, rows),
        say(f"Each executable was launched {seen} in this run (median, measured)."),
        not_computed(found.host, "Host time in calls")
        if isinstance(found.host, NotComputed)
        else say("Host time is without what calls wait for a full queue.", note=True, detail=True),
        Drawing("break_even"),
        _setup(found.setup),
    ]


def _pay_back(name: str, found: PayBack, of: BreakEven) -> list[Content]:
    saved = resting_on(ns(found.saved.mean_ns, interval=found.saved.interval), of.evidence)
    ends = MISSING
    if found.saved.interval.low is not None:
        fewest = _NEVER if found.fewest is None else integer(found.fewest)
        ends = f"{fewest} to {_launches(found.most)}"
    after = _launches(found.launches)
    # A part of the setup is not known, or a launch saves at most so much.
    is_more = of.setup.first_launch_ns is None or of.evidence.is_at_most
    if is_more and found.launches is not None:
        after = f"at least {after}"
    return [name, saved, interval(saved), after, ends]


def _launches(count: int | None) -> str:
    return _NEVER if count is None else counted(count, "launch", "launches")


def _setup(found: SetupCost) -> Section:
    rows: list[list[Content]] = [
        ["Capture", ns(found.capture_ns, "measured")],
        ["Instantiation, median", ns(found.instantiate_ns, "measured")],
        ["Upload, median", ns(found.upload_ns, "measured") if found.upload_ns else "none"],
        [
            "First launch call, more than later ones",
            "not known"
            if found.first_launch_ns is None
            else ns(found.first_launch_ns, n=found.first_launch_count),
        ],
        [
            "All together" if found.first_launch_ns is not None else "All that is known together",
            ns(found.total_ns),
        ],
    ]
    if found.own_ns:
        rows.insert(-1, ["Of gviz's own callbacks, taken off", ns(found.own_ns, "measured")])
    elif found.own_ns is None:
        rows.insert(-1, ["gviz's own callbacks, still in these times", "not recorded"])
    label = f"Setup, of {counted(found.executable_count, 'executable')}"
    listed = table(label, [column("Step"), numbers("Host time")], rows, in_line=True)
    return section("setup", "What making it costs the host", listed)


def expected_cost(found: ExpectedCost) -> list[Block]:
    """Return what calls took beside what they must, and break-even of other lengths."""
    columns = [
        column("Call"), numbers("Measured", "Host time, median"),
        numbers("At least", "By the lines of the launch costs, of empty kernels"),
        numbers("Ratio"),
        numbers("Line's error", "Root mean square against what it was fitted to", detail=True),
        column("Note"),
    ]  # fmt: skip
    many = "branches that join" if found.topology == "fork-join" else found.topology
    shape = "a straight line" if found.width == 1 else f"{many}, {found.width} wide"
    heading = "Shorter and longer graphs of the same nodes"
    return [
        table("What calls take and must", columns, [_call(x) for x in found.calls]),
        say(
            "At least: what a graph of as many empty kernels costs, launched from native code, in "
            f"the nearest shape measured ({shape}). More is the framework's, the nodes' kinds and "
            "parameters, or the recording's own.",
            note=True,
        ),
        section("lengths", heading, *_lengths(found.by_length)),
    ]


def _call(found: ExpectedCall) -> list[Content]:
    notes = []
    if found.with_node_times:
        notes.append("lengthened by node times")
    if found.is_extrapolated:
        notes.append("beyond the lengths measured")
    ratio = None
    if found.measured_ns is not None and found.expected_ns:
        ratio = found.measured_ns / found.expected_ns
    return [
        found.name.capitalize(), ns(found.measured_ns, "measured", n=found.measured_count or None),
        ns(found.expected_ns, "estimated"), times(ratio, "estimated"),
        share(found.residual_fraction), "; ".join(notes),
    ]  # fmt: skip


def _lengths(found: LengthTable | NotComputed) -> list[Block]:
    if isinstance(found, NotComputed):
        return [not_computed(found)]
    elapsed = found.elapsed_launches is not None and found.elapsed_saved_ns is not None
    columns = [
        column("Graph of"), numbers("Setup", detail=True),
        numbers("Host time saved per launch", detail=True),
        numbers("Paid back by host time after", detail=elapsed),
    ]  # fmt: skip
    if elapsed:
        columns += [
            numbers("Elapsed time saved per launch", detail=True),
            numbers("Paid back by elapsed time after"),
        ]
    rows = []
    for at, count in enumerate(found.node_count):
        row: list[Content] = [counted(count, "node"), ns(found.setup_ns[at], "estimated")]
        row += _repaid(found, found.host_saved_ns[at], found.host_launches[at])
        if found.elapsed_launches is not None and found.elapsed_saved_ns is not None:
            row += _repaid(found, found.elapsed_saved_ns[at], found.elapsed_launches[at])
        rows.append(row)
    basis = (
        "What was measured here grows as the lines of the launch costs do."
        if found.stream_is_measured
        else "No eager side was recorded: stream calls cost what their line says, the least that "
        "they can."
    )
    label = "Launches that pay back a shorter or longer graph of such nodes"
    by = "elapsed" if elapsed else "host"
    listed = table(f"{label}, by {by} time", columns, rows, in_line=True)
    return [listed, say(f"{basis} All of it is estimated.", note=True, detail=True)]


def _repaid(found: LengthTable, saved_ns: float, launches: int | None) -> list[Content]:
    """Return what a launch saves, and the launches that pay back the setup."""
    saved, evidence = ns(saved_ns, "estimated"), found.stream_evidence
    after = _launches(launches)
    if evidence is None:
        return [saved, after]
    is_more = evidence.is_at_most and launches is not None
    return [bounded(saved, evidence), f"at least {after}" if is_more else after]
