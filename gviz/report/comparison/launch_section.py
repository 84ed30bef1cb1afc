"""Sections about the launch: parts of its change, whole launches, what else differs."""

from __future__ import annotations

from collections.abc import Sequence

from gviz.comparison import Circumstance, GraphDiff, TimeChange, Waterfall, WaterfallStep
from gviz.report.comparison.time_changes import (
    after,
    before,
    change_verdict,
    interval,
    launch_evidence,
    node_evidence,
    shift,
    sign,
)
from gviz.report.document import (
    Bar,
    Block,
    Content,
    Drawing,
    Section,
    Sentence,
    based_line,
    capitalized,
    change,
    column,
    joined,
    line,
    not_computed,
    ns,
    number,
    numbers,
    say,
    section,
    share,
    table,
)
from gviz.stats import NotComputed
from gviz.text import MISSING

#: Names that are given of a step; the results have all.
_NAMED = 3
#: Rows of ranges in the short form.
_BRIEF = 5
#: Why two graphs are taken for the same.
_REASONS = {
    "shape": "Taken for the same by their shape (equal node types, kernels and edges)",
    "name": "Taken for the same by their name",
    "work": "Taken for the same by their work",
    "asked": "Compared as asked",
}


def where_section(found: Waterfall | NotComputed) -> Section:
    """Return where the change of a launch lies, the largest part first."""
    heading = "Where the launch's time changed"
    if isinstance(found, NotComputed):
        return section("where", heading, not_computed(found))
    bars = [
        Bar(capitalized(s.cause), change(s.change_ns), "gain" if s.change_ns < 0 else "loss")
        for s in found.steps
        if s.change_ns
    ]
    ends = [Bar(name, ns(x, "measured"), "total")
            for name, x in (("Before", found.before_ns), ("After", found.after_ns))]  # fmt: skip
    note = "Along the critical paths of both median launches; the parts add up."
    return section(
        "where",
        heading,
        say(note, note=True, detail=True),
        Drawing("launch", (ends[0], *bars, ends[1])),
        _steps(found),
        _ranges(found),
    )


def _steps(found: Waterfall) -> Block:
    columns = [
        column("Part of the change"), numbers("Change"),
        numbers("Share", "Of the launch before", detail=True),
        numbers("Executions", "On either path"), column("Most of it"),
    ]  # fmt: skip
    shown = [step for step in found.steps if step.change_ns or step.node_count]
    rows: list[list[Content]] = [
        [
            capitalized(step.cause),
            change(step.change_ns),
            change(step.change_ns / found.before_ns, "fraction") if found.before_ns else "",
            number(step.node_count, "derived") if step.node_count else "",
            _parts(step),
        ]
        for step in sorted(shown, key=lambda step: -abs(step.change_ns))
    ]
    return table("Parts of the change of a launch", columns, rows)


def _parts(step: WaterfallStep) -> Content:
    shown = [p for p in step.parts if p.change_ns][:_NAMED]
    left = len(step.parts) - len(shown)
    named: list[Content] = [(f"{part.name} ", change(part.change_ns)) for part in shown]
    return joined([*named, f"{left:,} more"] if shown and left else named, "; ")


def _ranges(found: Waterfall) -> Section | None:
    if len(found.ranges) < 2:
        return None
    heading = "The same by NVTX range"
    columns = [column("Range"), numbers("Before"), numbers("After"), numbers("Change")]
    rows: list[list[Content]] = [
        [r.name or "outside of ranges", ns(r.before_ns), ns(r.after_ns), change(r.change_ns)]
        for r in sorted(found.ranges, key=lambda r: -abs(r.change_ns))
    ]
    outside = capitalized(found.steps[-1].cause)
    rows.append([outside, MISSING, MISSING, change(found.outside_ns)])
    note = "On the critical paths, with the gaps before nodes; adds up."
    return section(
        "where-ranges", heading, say(note, note=True, detail=True),
        table(heading, columns, rows, brief=_BRIEF),
    )  # fmt: skip


def times_section(graph: GraphDiff) -> Section:
    """Return the times of whole launches."""
    measures = (
        ("Launch on the GPU", graph.launch),
        ("Launch call on the host", graph.host),
        ("First to last node", graph.first_to_last),
        ("Structural critical path", graph.critical_path),
    )
    columns = [
        column("Median"), numbers("Before"), numbers("After"), numbers("Change"),
        numbers("95% interval"), column("Verdict"),
    ]  # fmt: skip
    launch, nodes = launch_evidence(graph), node_evidence(graph)
    known = [(name, x) for name, x in measures if isinstance(x, TimeChange)]
    rows: list[list[Content]] = [
        [
            based_line(line(cell), launch if x in (graph.launch, graph.host) else nodes)
            for cell in _time_cells(name, x)
        ]
        for name, x in known
    ]
    reasons: dict[str, list[str]] = {}
    for name, x in measures:
        if isinstance(x, NotComputed):
            reasons.setdefault(x.not_computed, []).append(name)
    untested = [say(f"{name}: not tested: {x.untested}.", note=True)
                for name, x in known if x.untested]  # fmt: skip
    missing = [not_computed(NotComputed(why), ", ".join(names)) for why, names in reasons.items()]
    methods = "; ".join(dict.fromkeys(m for _, x in known for m in x.methods))
    measured = say(f"Measured as: {methods}.", note=True, detail=True) if methods else None
    return section(
        "times", "Whole launches", table("Times of whole launches", columns, rows),
        *untested, *missing, measured,
    )  # fmt: skip


def _time_cells(name: str, found: TimeChange) -> list[Content]:
    verdict = f"{sign(found)}{change_verdict(found)}"
    return [name, before(found), after(found), shift(found), interval(found), verdict]


def circumstances_section(found: Sequence[Circumstance]) -> Section:
    """Return what differs besides the program."""
    heading = "Besides the program"
    if not found:
        nothing = say("Nothing known differs besides the program.", note=True)
        return section("besides", heading, nothing, detail=True)
    columns = [column("What"), column("Before"), column("After")]
    rows = [[capitalized(c.what), c.before or MISSING, c.after or MISSING] for c in found]
    return section("besides", heading, table(heading, columns, rows))


def pairing_sentence(graph: GraphDiff) -> Sentence:
    """Return why two graphs are compared."""
    return say(
        f"{_REASONS[graph.how]}; ", share(graph.likeness_fraction), " of their work in common.",
        note=True,
    )  # fmt: skip
