"""``what_if``: what a launch would take with edits to its graph."""

from __future__ import annotations

from gviz.agents.answer import NextStep, VerbAnswer
from gviz.agents.question import Question
from gviz.agents.verb import Parameter, Verb
from gviz.agents.verbs.parameters import GRAPH, RECORDING
from gviz.report import what_if_document
from gviz.whatif import EditKind, ask_recording, parse_edits

_FORMS = {
    EditKind.OFF: "PATTERN each: these nodes take no time",
    EditKind.SCALE: "PATTERN=FACTOR each: these nodes take so many times their time",
    EditKind.CUT: "A:B each: nodes B no longer wait for nodes A",
    EditKind.FUSE: "A-B each: these nodes and what lies between become one kernel",
    EditKind.ORDER: "one: priority",
    EditKind.DELAY: "PATTERN=TIME each, as 12=2us: a pause stands behind these nodes",
}


def _what_if(question: Question) -> VerbAnswer:
    edits = list(parse_edits({kind.value: list(question.texts(kind.value)) for kind in EditKind}))
    graph_id = question.graph_id()
    with question.opened() as recording:
        found = ask_recording(recording, graph_id, edits)
    steps = [NextStep("findings", "what to change", {"graph": graph_id})]
    if edits:
        ranking = {"graph": graph_id}
        steps.insert(0, NextStep("what_if", "which parts are worth most", ranking))
    return VerbAnswer(
        (what_if_document(found),), steps=question.steps(*steps), pages=question.pages(graph_id)
    )


WHAT_IF = Verb(
    "what_if",
    "What a launch would take with edits made together, computed without a GPU, with the range "
    "that is left open; without edits, which parts of the launch are worth most. A PATTERN is a "
    "node's number or a shell pattern of names of nodes, families, kinds, layers or NVTX ranges.",
    (RECORDING, GRAPH, *(Parameter(kind.value, "texts", form) for kind, form in _FORMS.items())),
    _what_if,
)
