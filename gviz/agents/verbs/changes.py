"""``compare``: two recordings; ``verify_fix``: whether a change made launches faster."""

from __future__ import annotations

from gviz.agents.answer import NextStep, VerbAnswer
from gviz.agents.question import Question
from gviz.agents.verb import Parameter, Verb
from gviz.checks import judge_fix
from gviz.comparison import RequestedPair, compare_recordings
from gviz.report import diff_documents, fix_document

_GRAPHS = 2
_BEFORE = Parameter("baseline", "string", "recording before the change", is_required=True)
_AFTER = Parameter("candidate", "string", "recording after the change", is_required=True)
_GRAPH = Parameter(
    "graph",
    "integer",
    "number of a graph of the baseline; default: the one whose launches took longest together",
)


def _sides(question: Question) -> dict[str, object]:
    return {"baseline": question.text("baseline"), "candidate": question.text("candidate")}


def _compare(question: Question) -> VerbAnswer:
    paths = [question.file(side)[1] for side in ("baseline", "candidate")]
    graph_id = question.integer("graph")
    requested = None if graph_id is None else RequestedPair(graph_id, None)
    opened = question.recordings.opened
    with opened(paths[0]) as before, opened(paths[1]) as after:
        found = compare_recordings(before, after, requested)
    documents = diff_documents(found, 1 if requested else _GRAPHS)
    steps = [NextStep("verify_fix", "whether launches became faster", _sides(question))]
    return VerbAnswer(documents, steps=question.steps_of(*steps))


def _verify_fix(question: Question) -> VerbAnswer:
    (baseline, before_path), (candidate, after_path) = map(question.file, _sides(question))
    requested = RequestedPair(question.graph_id("baseline"), None)
    opened = question.recordings.opened
    with opened(before_path) as before, opened(after_path) as after:
        found = judge_fix(before, after, requested)
    about = {"graph": found.graph.before_graph_id}
    steps = [
        NextStep("compare", "what changed in the graph", _sides(question) | about),
        NextStep("overview", "what is left to change", {"recording": candidate}),
    ]
    document = fix_document(found, baseline, candidate)
    return VerbAnswer((document,), steps=question.steps_of(*steps))


COMPARE = Verb(
    "compare",
    "What changed from one recording to another: nodes, edges, times, and whether that is noise.",
    (_BEFORE, _AFTER, _GRAPH),
    _compare,
)
VERIFY_FIX = Verb(
    "verify_fix",
    "Whether a change made the launches of a graph faster: faster, the same, slower, or cannot "
    "tell, with the 95% interval of the change.",
    (_BEFORE, _AFTER, _GRAPH),
    _verify_fix,
)
