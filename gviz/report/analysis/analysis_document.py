"""The document of an analysis: verdict, what to change, then where the time goes and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from gviz.analysis import Analysis, DeviceLaunch, GraphAnalysis, RunAnalysis
from gviz.errors import NO_GRAPH
from gviz.report.analysis.advice_section import findings_section
from gviz.report.analysis.comparison_section import comparison
from gviz.report.analysis.cost_section import break_even, expected_cost
from gviz.report.analysis.dominance_section import dominance
from gviz.report.analysis.ledger_section import ledger
from gviz.report.analysis.parallelism_section import parallelism
from gviz.report.analysis.part_gains_section import part_gains
from gviz.report.analysis.path_section import critical_path
from gviz.report.analysis.run_section import forecast, graph_share
from gviz.report.analysis.verdict import verdict_of
from gviz.report.document import (
    Block,
    Document,
    HowMark,
    KeyFigure,
    KeyFigures,
    Section,
    Verdict,
    capitalized,
    not_computed,
    ns,
    number,
    say,
    section,
)
from gviz.stats import NotComputed
from gviz.text import counted

_R = TypeVar("_R")


def analysis_documents(analysis: Analysis) -> tuple[Document, ...]:
    """Return a document for each run of a recording."""
    return tuple(run_document(run, f"{analysis.path}, run {run.run_id}: {run.name}")
                 for run in analysis.runs)  # fmt: skip


def run_document(run: RunAnalysis, title: str) -> Document:
    """Return the document of a run: of all its graphs, or of one of them alone."""
    named = len(run.graphs) > 1
    verdicts = [verdict_of(graph) for graph in run.graphs]
    if not verdicts:
        verdicts = [Verdict("", (say(f"{capitalized(NO_GRAPH)}."),))]
    details: list[Section] = []
    for graph in run.graphs:
        parts = tuple(_graph_sections(graph, run))
        heading = f"Graph {graph.graph_id}: {graph.title}"
        details += [Section(f"graph-{graph.graph_id}", heading, parts)] if named else parts
    sections = (findings_section(run), *details, *_run_sections(run))
    return Document(title, tuple(verdicts), sections)


def _graph_sections(graph: GraphAnalysis, run: RunAnalysis) -> Iterator[Section]:
    path = graph.critical_path
    observed = () if isinstance(path, NotComputed) else path.observed
    yield section("recorded", "What was recorded", _recorded(graph, run))
    yield _section("ledger", "Where a launch's time goes", graph.ledger,
                   lambda x: ledger(x, observed))  # fmt: skip
    yield _section("path", "What bounds it", path, critical_path)
    yield _section("dominance", "What dominates", graph.dominance, dominance)
    yield _section("part-gains", "What 10% off would bring", graph.part_gains, part_gains)
    yield _section("parallelism", "What could run side by side", graph.parallelism, parallelism)
    compared = graph.stream_comparison
    yield _section("stream", "Against eager", compared, comparison)
    yield _section("break-even", "When it pays back", graph.break_even, break_even,
                   detail=isinstance(compared, NotComputed))  # fmt: skip
    yield _section("costs", "What its calls cost", graph.expected_cost, expected_cost)
    yield section("device", "Could the device launch it", _device(graph.device_launch))


def _run_sections(run: RunAnalysis) -> Iterator[Section]:
    yield _section("forecast", "Will a graph help", run.forecast, forecast)
    if run.graphs:
        yield section("run", "The run as a whole", graph_share(run.graph_share))
    if run.left_out_count:
        count = counted(run.left_out_count, "more graph")
        left = f"{count} whose launches took less time (--all, or --graph ID)."
        # A page is about one graph by its address: the others have pages of their own.
        yield section("left-out", "Not in this report", say(left))


def _section(
    key: str,
    heading: str,
    found: _R | NotComputed,
    build: Callable[[_R], list[Block]],
    *,
    detail: bool = False,
) -> Section:
    blocks = [not_computed(found)] if isinstance(found, NotComputed) else build(found)
    return Section(key, heading, tuple(blocks), is_detail=detail)


def _recorded(graph: GraphAnalysis, run: RunAnalysis) -> KeyFigures:
    costs = run.launch_costs
    used = costs.not_computed if isinstance(costs, NotComputed) else costs.description
    noise = (
        "Gains below it are no findings. Half of the 95% interval of the median launch's length, "
        "at least 160 ns and 0.1% of it; of one launch it is not known, and that least counts"
    )
    return KeyFigures(
        (
            KeyFigure("Nodes", (number(graph.node_count),), "Those of bodies included"),
            KeyFigure("Launches", (number(graph.launch_count),), "Seen while gviz recorded"),
            KeyFigure("With node times", (number(graph.timed_launch_count),),
                      "Launches that are looked at"),
            KeyFigure("Noise", (ns(graph.noise_ns),), noise),
            KeyFigure("Estimated by", (used,), "Launch costs are what gviz bench measured"),
        )
    )  # fmt: skip


def _device(found: DeviceLaunch | NotComputed) -> Block:
    if isinstance(found, NotComputed):
        return not_computed(found)
    if not found.is_possible:
        return say(f"No: {'; '.join(found.broken)} ", HowMark("derived"), ".")
    unknown = f" Not recorded: {', '.join(found.unknown)}." if found.unknown else ""
    return say("Yes, as far as its nodes show ", HowMark("derived"), f".{unknown}")
