"""From the launch time before to that after: where the change lies, drawn and as tables."""

from __future__ import annotations

from dash.development.base_component import Component

from gviz.app.components import Step, sentence, waterfall
from gviz.app.pages.report import ColumnHead, heading, number, said, table, why_not
from gviz.comparison import Waterfall, WaterfallStep
from gviz.stats import NotComputed
from gviz.text import MISSING, duration, integer, signed_duration, signed_percent

#: Kernel names told of a step; gviz diff --json has all.
_NAMED = 3
#: The axis begins this share of the way from zero to the shortest total, or before what is drawn.
_ROOM = 0.1


def launch_waterfall(found: Waterfall | NotComputed) -> list[Component]:
    """Return the waterfall of a launch's change with its numbers."""
    if isinstance(found, NotComputed):
        return [why_not(found)]
    told = [step for step in found.steps if step.change_ns]
    steps = [
        Step("Before", found.before_ns, "total"),
        *(_step(sentence(step.cause), step.change_ns) for step in told),
        Step("After", found.after_ns, "total"),
    ]
    drawn = waterfall(
        "compare",
        steps,
        label="Waterfall from the launch time before to that after",
        whole_ns=None,
        begin_ns=_begin(found),
    )
    note = "Along the critical paths of both median launches; the steps add up."
    begins = f" The axis begins at {duration(_begin(found))}." if _begin(found) else ""
    return [said(note + begins, muted=True), drawn, _table(found), *_ranges(found)]


def _step(name: str, change_ns: float) -> Step:
    return Step(name, change_ns, "gain" if change_ns < 0 else "loss")


def _begin(found: Waterfall) -> float:
    """Return where the axis begins: the changes take most of it."""
    reached = [found.before_ns]
    for step in found.steps:
        reached.append(reached[-1] + step.change_ns)
    least, most = min(reached), max(reached)
    return max(0.0, least - max(_ROOM * least, most - least))


def _table(found: Waterfall) -> Component:
    columns = [ColumnHead("Step"), number("Change"), number("Share", "Of the launch before"),
               number("Executions", "On either path"), ColumnHead("Most of it")]  # fmt: skip
    rows = [
        [
            sentence(step.cause),
            signed_duration(step.change_ns) if step.change_ns else "0",
            signed_percent(step.change_ns / found.before_ns) if step.change_ns else "",
            integer(step.node_count) if step.node_count else "",
            _parts(step),
        ]
        for step in found.steps
    ]
    return table(columns, rows, "Where the change of a launch lies")


def _parts(step: WaterfallStep) -> str:
    told = [f"{p.name}: {signed_duration(p.change_ns)}" for p in step.parts[:_NAMED]]
    more = len(step.parts) - len(told)
    return "; ".join([*told, f"{more} more"] if more > 0 else told)


def _ranges(found: Waterfall) -> list[Component]:
    if len(found.ranges) < 2:
        return []
    columns = [ColumnHead("NVTX range"), number("Before"), number("After"), number("Change")]
    rows = [
        [
            r.name or "outside of ranges",
            duration(r.before_ns),
            duration(r.after_ns),
            signed_duration(r.change_ns) if r.change_ns else "0",
        ]
        for r in sorted(found.ranges, key=lambda r: -abs(r.change_ns))
    ]
    outside = signed_duration(found.outside_ns) if found.outside_ns else "0"
    rows.append(["Outside of the median launch's nodes", MISSING, MISSING, outside])
    return [
        heading("The same by NVTX range"),
        said("On the critical paths, with the gaps before nodes; adds up.", muted=True),
        table(columns, rows, "The change of a launch by NVTX range"),
    ]
