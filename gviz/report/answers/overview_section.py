"""A recording in brief: its graphs' headlines, and the findings that can bring most."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gviz.analysis import Analysis, RunAnalysis
from gviz.errors import NO_GRAPH
from gviz.report.analysis import GraphHeadline, suggestions_of
from gviz.report.document import (
    Content,
    Document,
    Line,
    Section,
    Sentence,
    Verdict,
    capitalized,
    column,
    line,
    number,
    numbers,
    say,
    section,
    table,
)
from gviz.text import counted

#: Findings of a run.
_FINDINGS = 5


def overview_document(
    title: str, found: Analysis, headlines: Mapping[int, GraphHeadline]
) -> Document:
    """Return a recording in brief.

    Parameters
    ----------
    title
        Its name.
    found
        Its analysis, of the graphs that are named.
    headlines
        Of these, by graph_id.
    """
    verdicts = [
        Verdict(
            f"graph {graph.graph_id}: {graph.title}, {counted(graph.node_count, 'node')}, "
            f"{counted(graph.launch_count, 'launch', 'launches')}",
            (Sentence(line(*(part.content for part in headlines[graph.graph_id].parts))),),
            headlines[graph.graph_id].caveats,
        )
        for run in found.runs
        for graph in run.graphs
    ]
    if not verdicts:
        verdicts = [Verdict("", (say(f"{capitalized(NO_GRAPH)}."),))]
    several = len(found.runs) > 1
    sections = [part for run in found.runs for part in _findings(run, several=several)]
    return Document(title, tuple(verdicts), tuple(sections))


def recordings_document(files: Iterable[tuple[str, int]]) -> Document:
    """Return a list of recordings; ``files``: name and size in bytes of each."""
    columns = [column("Recording"), numbers("Size")]
    rows: list[list[Content]] = [[name, number(size, unit="bytes")] for name, size in files]
    if not rows:
        return Document("", (Verdict("", (say("There is no recording here yet."),)),), ())
    heading = "Recordings"
    return Document("", (), (section("recordings", heading, table(heading, columns, rows)),))


def _findings(run: RunAnalysis, *, several: bool) -> Iterable[Section]:
    of = f" of run {run.run_id}: {run.name}" if several else ""
    left = f"{counted(run.left_out_count, 'graph')} besides, whose launches took less time."
    more = say(left) if run.left_out_count else None
    items = suggestions_of(run)
    if not items:
        if more is not None:
            yield section(f"findings-{run.run_id}", f"Graphs{of}", more)
        return
    columns = [column("Finding"), column("Gain"), column("Why")]
    rows: list[list[Content]] = [
        [one.rule, one.gain_line, line(_about(one.subject), _reason(one.reason))] for one in items
    ]
    heading = f"Findings{of}, the largest gain first"
    listed = table(heading, columns, rows, brief=_FINDINGS)
    yield section(f"findings-{run.run_id}", heading, listed, more)


def _about(subject: str) -> str:
    return f"{subject}: " if subject else ""


def _reason(reason: Line) -> Line:
    """Return what a finding is, without the numbers and names behind its colon."""
    (first, *_) = reason
    return (
        (first.partition(": ")[0].partition(". ")[0].rstrip("."),)
        if isinstance(first, str)
        else reason
    )
