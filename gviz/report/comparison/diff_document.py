"""Documents of two recordings compared: verdicts, what changed by size, then details."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gviz.comparison import Diff, GraphDiff, RunDiff, RunRef
from gviz.report.comparison.diff_verdict import diff_verdict, names_of
from gviz.report.comparison.launch_section import (
    circumstances_section,
    pairing_sentence,
    times_section,
    where_section,
)
from gviz.report.comparison.level_section import (
    level_section,
    lone_bodies_section,
    whole_counts,
)
from gviz.report.comparison.time_changes import (
    after,
    before,
    change_verdict,
    interval,
    node_evidence,
    shift,
)
from gviz.report.document import (
    Content,
    Document,
    Section,
    Sentence,
    Verdict,
    based,
    capitalized,
    column,
    numbers,
    say,
    section,
    table,
)


def diff_documents(diff: Diff, most_graphs: int | None) -> tuple[Document, ...]:
    """Return a document for each pair of runs.

    Parameters
    ----------
    most_graphs
        Graphs of a run that are described in full; None: all.
    """
    found = [change_document(run, most_graphs) for run in diff.runs]
    if diff.unpaired:
        alone = tuple(_unpaired(run) for run in diff.unpaired)
        found.append(Document("", (Verdict("", alone),), ()))
    return tuple(found)


def change_document(run: RunDiff, most_graphs: int | None = None) -> Document:
    """Return the document of two runs; ``most_graphs``: so many in full; None: all."""
    shown = sorted(run.graphs, key=_weight)[:most_graphs]
    rest = [graph for graph in run.graphs if graph not in shown]
    verdicts = [diff_verdict(graph, run.circumstances) for graph in shown]
    if not verdicts:
        verdicts = [Verdict("", (say("No graph of one is a graph of the other."),))]
    if len(shown) == 1:
        details = list(_based_sections(shown[0]))
    else:
        details = [
            Section(f"graph-{graph.before_graph_id}", capitalized(names_of(graph)),
                    tuple(_based_sections(graph)))
            for graph in shown
        ]  # fmt: skip
    sections = (
        *details,
        *_others(rest),
        *_one_sided(run),
        circumstances_section(run.circumstances),
    )
    title = f"{_run(run.before)} → {_run(run.after)}"
    return Document(title, tuple(verdicts), sections)


def _based_sections(graph: GraphDiff) -> Iterator[Section]:
    evidence = node_evidence(graph)
    return (based(one, evidence) for one in _graph_sections(graph))


def _graph_sections(graph: GraphDiff) -> Iterator[Section]:
    yield where_section(graph.waterfall)
    notes = [pairing_sentence(graph)]
    if len(graph.levels) > 1 or graph.bodies_removed or graph.bodies_added:
        notes.insert(0, whole_counts(graph))
    for at, level in enumerate(graph.levels):
        if at:
            ids = f"graph {level.before_graph_id} → graph {level.after_graph_id}"
            yield level_section(level, f"level-{at}", f"What changed in {ids}")
        else:
            yield level_section(level, "level-0", "What changed", *notes)
    if graph.bodies_removed or graph.bodies_added:
        yield lone_bodies_section(graph.bodies_removed, graph.bodies_added)
    yield times_section(graph)


def _weight(graph: GraphDiff) -> tuple[bool, float]:
    """Return what graphs are sorted by: what is more than noise first, the largest first."""
    return not graph.launch.significant, -abs(graph.launch.change_ns or 0.0)


def _others(rest: Sequence[GraphDiff]) -> Iterator[Section]:
    if not rest:
        return
    columns = [
        column("Graphs"), column("Name"), numbers("Before"), numbers("After"), numbers("Change"),
        numbers("95% interval"), column("Verdict"),
    ]  # fmt: skip
    rows: list[list[Content]] = [
        [
            f"{g.before_graph_id} → {g.after_graph_id}",
            g.before_name,
            before(g.launch),
            after(g.launch),
            shift(g.launch),
            interval(g.launch),
            change_verdict(g.launch),
        ]
        for g in rest
    ]
    ways = say(f"In full: --all, or --graph {rest[0].before_graph_id}.", note=True)
    heading = "Other graphs"
    yield section("others", heading, table(heading, columns, rows), ways)


def _one_sided(run: RunDiff) -> Iterator[Section]:
    sides = (("before", run.removed), ("after", run.added))
    rows: list[list[Content]] = [
        [what, f"{graph.graph_id} {graph.name}"] for what, graphs in sides for graph in graphs
    ]
    if rows:
        heading = "Graphs of one side only"
        yield section("one-sided", heading, table(heading, [column("Only"), column("Graph")], rows))


def _unpaired(run: RunRef) -> Sentence:
    return say(f"Not compared: {_run(run)}, which the other recording has no run for.")


def _run(run: RunRef) -> str:
    commit = "" if run.git_revision is None else f", commit {run.git_revision[:12]}"
    dirty = " with changes" if commit and run.git_dirty else ""
    return f"{run.path}, run {run.run_id}: {run.name}{commit}{dirty}"
