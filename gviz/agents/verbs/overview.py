"""``overview``: a recording in brief; ``findings``: what to change."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from gviz.agents.answer import NextStep, VerbAnswer
from gviz.agents.question import Question
from gviz.agents.verb import Verb
from gviz.agents.verbs.parameters import GRAPH, RECORDING
from gviz.analysis import (
    Analysis,
    Finding,
    GraphSubject,
    RunAnalysis,
    launch_breakdown,
    rank_findings,
    strip_intervals,
)
from gviz.comparison import find_ranks
from gviz.recording import Recording
from gviz.report import (
    Document,
    GraphHeadline,
    findings_document,
    headline_of,
    overview_document,
    recordings_document,
)
from gviz.stats import NotComputed

#: Graphs of a run that an overview has, and characters of it.
_GRAPHS, _CHARACTERS = 3, 4_000
#: Recordings of a list, and findings, to which steps lead.
_RECORDINGS, _EXPLAINED = 20, 3


def _overview(question: Question) -> VerbAnswer:
    files = question.recordings.files()
    if question.text("recording") is None and len(files) != 1:
        return _list(question, files)
    name, path = question.file()
    found = question.brief(path, _GRAPHS)
    headlines = question.recordings.once(path, ("headlines",), lambda r: _headlines(r, found))
    document = overview_document(name, found, headlines)
    shown = [graph.graph_id for run in found.runs for graph in run.graphs]
    pages = question.pages(shown[0]) if shown else ()
    has_ranks = len(question.recordings.once(path, ("runs",), find_ranks)) > 1
    steps = question.steps(*_lead_on(found, has_ranks=has_ranks))
    return VerbAnswer((document,), steps=steps, pages=pages)


def _list(question: Question, files: dict[str, Path]) -> VerbAnswer:
    document: Document = recordings_document([(n, p.stat().st_size) for n, p in files.items()])
    steps = [
        NextStep("overview", "this recording in brief", {"recording": name})
        for name in list(files)[:_RECORDINGS]
    ]
    steps.append(NextStep("fleet", "which ranks of the fleet are slow"))
    return VerbAnswer((document,), steps=question.steps_of(*steps))


def _headlines(recording: Recording, found: Analysis) -> dict[int, GraphHeadline]:
    devices = {run.run_id: recording.fetch_devices(run.run_id) for run in found.runs}
    headlines = {}
    for run in found.runs:
        for graph in run.graphs:
            row = recording.fetch_graph(graph.graph_id)
            subject = GraphSubject(recording, row, devices[run.run_id])
            parts = launch_breakdown(subject)
            known = None if isinstance(parts, NotComputed) else strip_intervals(subject, parts)
            headlines[graph.graph_id] = headline_of(graph, parts, known)
    return headlines


def _lead_on(found: Analysis, *, has_ranks: bool) -> Iterator[NextStep]:
    if has_ranks:
        yield NextStep("ranks", "which rank is slow, and who waits for whom")
    for run in found.runs:
        ranked = _ranked(run)
        if ranked:
            arguments = _about(run, ranked[0]) | {"finding": ranked[0].rule}
            yield NextStep("explain", "the finding that can bring most", arguments)
        for graph in run.graphs:
            about = {"graph": graph.graph_id}
            if graph.findings.findings:
                yield NextStep("findings", "all findings of this graph", about)
            yield NextStep("path", "what bounds its launches", about)


def _ranked(run: RunAnalysis) -> tuple[Finding, ...]:
    every = [one for graph in run.graphs for one in graph.findings.findings]
    return tuple(rank_findings((*every, *run.findings.findings)))


def _about(run: RunAnalysis, found: Finding) -> dict[str, object]:
    """Return the argument that names the graph of a finding, or any of its run."""
    if found.graph_id is not None:
        return {"graph": found.graph_id}
    return {"graph": run.graphs[0].graph_id} if run.graphs else {}


def _findings(question: Question) -> VerbAnswer:
    run, graph = question.analysis()
    ranked = _ranked(run)
    about: dict[str, object] = {"graph": graph.graph_id}
    steps = [
        NextStep("explain", f"finding {one.rule}", about | {"finding": str(number)})
        for number, one in enumerate(ranked[:_EXPLAINED], start=1)
    ]
    steps.append(NextStep("what_if", "which parts of the launch are worth most", about))
    document = findings_document(run, question.title(graph))
    return VerbAnswer(
        (document,), steps=question.steps(*steps), pages=question.pages(graph.graph_id)
    )


OVERVIEW = Verb(
    "overview",
    "A recording in brief: its graphs, how long a launch takes and where that goes, the findings "
    "that can bring most. Without an argument where there are several recordings: their list.",
    (RECORDING,),
    _overview,
    most_characters=_CHARACTERS,
)
FINDINGS = Verb(
    "findings",
    "What to change in a graph, the largest gain first: each with its gain, nodes, and fix.",
    (RECORDING, GRAPH),
    _findings,
)
