"""The text of ``gviz diff``: first the times of launches, then why, then what changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gviz.comparison import (
    Diff,
    GraphDiff,
    RunDiff,
    RunRef,
    TimeChange,
    Waterfall,
    WaterfallStep,
)
from gviz.report.change import describe_noise, format_change
from gviz.report.diff_level_text import render_level, render_lone_bodies
from gviz.stats import NotComputed
from gviz.text import duration, percent, render_table, shorten, signed_duration, wrapped

#: Rows of a list that the text shows; the JSON has all.
_LISTED = 5
#: A kernel's name in running text.
_NAME = 36
#: Why two graphs are taken for the same.
_REASONS = {
    "shape": "taken for the same by their shape: equal node types, kernels and edges",
    "name": "taken for the same by their name",
    "work": "taken for the same by their work",
    "asked": "compared as asked",
}


def render_diff(diff: Diff, width: int, most_graphs: int | None) -> str:
    """Return a comparison as text, no line longer than ``width`` where that can be.

    Parameters
    ----------
    most_graphs
        Graphs of a run that are told in full; None: all.
    """
    lines: list[str] = []
    for run in diff.runs:
        lines += [""] if lines else []
        lines += _render_run(run, width, most_graphs)
    for run_ref in diff.unpaired:
        lines.append(f"not compared: {_run(run_ref)}, which the other recording has no run for")
    return "\n".join(lines)


def _render_run(run: RunDiff, width: int, most_graphs: int | None) -> Iterator[str]:
    yield f"before: {_run(run.before)}"
    yield f"after:  {_run(run.after)}"
    if run.circumstances:
        facts = (f"{c.what} {c.before or '?'} -> {c.after or '?'}" for c in run.circumstances)
        yield from wrapped(f"besides the program: {'; '.join(facts)}", width, indent=0)
    if not run.graphs:
        yield "no graph of one is a graph of the other"
    told = sorted(run.graphs, key=_weight)[:most_graphs]
    for graph in told:
        yield ""
        yield from _render_graph(graph, width)
    rest = [graph for graph in run.graphs if graph not in told]
    if rest:
        yield ""
        yield f"other graphs (--all, or --graph {rest[0].before_graph_id})"
        yield from _render_rest(rest, width)
    for what, graphs in (("before", run.removed), ("after", run.added)):
        if graphs:
            yield ""
            names = ", ".join(f"{g.graph_id} {shorten(g.name, _NAME)}" for g in graphs)
            yield from wrapped(f"only {what}: {names}", width, indent=0)


def _run(run: RunRef) -> str:
    commit = "" if run.git_revision is None else f", commit {run.git_revision[:12]}"
    dirty = " with changes" if commit and run.git_dirty else ""
    return f"{run.path}, run {run.run_id}: {run.name}{commit}{dirty}"


def _weight(graph: GraphDiff) -> tuple[bool, float]:
    """Return what graphs are told in order of: what is more than noise first, the largest first."""
    return not graph.launch.significant, -abs(graph.launch.change_ns or 0.0)


def _render_rest(graphs: Sequence[GraphDiff], width: int) -> Iterator[str]:
    rows = [
        [
            f"{g.before_graph_id} -> {g.after_graph_id}",
            g.before_name,
            *_times(g.launch),
            describe_noise(g.launch),
        ]
        for g in graphs
    ]
    head = ["graphs", "name", "before", "after", "change", ""]
    yield from render_table(
        head, rows, width=width, elastic=1, left=frozenset({0, 5}), indent=2
    ).split("\n")


def _render_graph(graph: GraphDiff, width: int) -> Iterator[str]:
    names = graph.before_name
    if graph.after_name != graph.before_name:
        names += f" -> {graph.after_name}"
    yield f"graph {graph.before_graph_id} -> graph {graph.after_graph_id}: {names}"
    yield from wrapped(
        f"{_REASONS[graph.how]}; {percent(graph.likeness_fraction)} of their work in common",
        width,
        indent=2,
    )
    yield ""
    yield "  Times"
    yield from _render_times(graph, width)
    yield ""
    yield "  Where the change of the launch comes from"
    if isinstance(graph.waterfall, NotComputed):
        yield from wrapped(f"not computed: {graph.waterfall.not_computed}", width)
    else:
        yield from _render_waterfall(graph.waterfall, width)
    for level in graph.levels:
        yield ""
        yield from render_level(level, width, named=len(graph.levels) > 1)
    if graph.bodies_removed or graph.bodies_added:
        yield ""
        yield from render_lone_bodies(graph.bodies_removed, graph.bodies_added, width)


# -- times -------------------------------------------------------------------------------


def _render_times(graph: GraphDiff, width: int) -> Iterator[str]:
    measures = (
        ("launch", graph.launch),
        ("launch call on the host", graph.host),
        ("first node's start to last node's end", graph.first_to_last),
        ("structural critical path", graph.critical_path),
    )
    known = [(name, x) for name, x in measures if isinstance(x, TimeChange)]
    rows = [[name, *_times(x), describe_noise(x)] for name, x in known]
    head = ["median", "before", "after", "change", "95% interval"]
    yield from render_table(
        head, rows, width=width, elastic=0, left=frozenset({4}), indent=4
    ).split("\n")
    reasons = [x.not_computed for _, x in measures if isinstance(x, NotComputed)]
    reasons += [f"{name}: {x.untested}" for name, x in known if x.untested]
    for reason in dict.fromkeys(reasons):
        yield from wrapped(f"not tested: {reason}", width)


def _times(change: TimeChange) -> tuple[str, str, str]:
    return duration(change.before_ns), duration(change.after_ns), format_change(change)


def _render_waterfall(found: Waterfall, width: int) -> Iterator[str]:
    rows = [["launch before", duration(found.before_ns), ""]]
    rows += [_step_row(step) for step in found.steps if step.change_ns or step.node_count]
    rows.append(["launch after", duration(found.after_ns), ""])
    yield from render_table(
        ["along the observed path", "derived", "most of it"], rows, width=width, elastic=2,
        left=frozenset({0}), indent=4,
    ).split("\n")  # fmt: skip
    ranges = sorted(found.ranges, key=lambda r: -abs(r.change_ns))
    if len(ranges) > 1:
        shown = ranges[:_LISTED]
        parts = [f"{r.name or 'no range'} {signed_duration(r.change_ns)}" for r in shown]
        more = ", ..." if len(ranges) > _LISTED else ""
        yield from wrapped(f"by NVTX range [derived]: {', '.join(parts)}{more}", width)


def _step_row(step: WaterfallStep) -> list[str]:
    count = f" ({step.node_count:,})" if step.node_count else ""
    most = step.parts[0] if step.parts and step.parts[0].change_ns else None
    largest = "" if most is None else f"{signed_duration(most.change_ns)} {most.name}"
    return [f"  {step.cause}{count}", signed_duration(step.change_ns), largest]
