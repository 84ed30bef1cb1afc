"""``values``: what the memory of nodes held, where NaN begin, what varies, which nodes may race."""

from __future__ import annotations

from collections.abc import Iterator

from gviz.agents.answer import NextStep, VerbAnswer
from gviz.agents.question import Question
from gviz.agents.verb import Parameter, Verb
from gviz.agents.verbs.parameters import GRAPH, RECORDING
from gviz.analysis import GraphData, GraphSubject, read_graph_data, read_node_data
from gviz.errors import UsageError
from gviz.report import graph_values_document, node_values_document
from gviz.stats import NotComputed

#: Findings to which steps lead.
_LED_TO = 3


def _values(question: Question) -> VerbAnswer:
    number = question.integer("node")
    with question.subject() as subject:
        title = f"graph {subject.row.graph_id} ({subject.title})"
        return (
            _of_graph(question, subject, title)
            if number is None
            else _of_node(question, subject, number, title)
        )


def _of_graph(question: Question, subject: GraphSubject, title: str) -> VerbAnswer:
    found = read_graph_data(subject)
    if isinstance(found, NotComputed):
        raise UsageError(f"no values of {title} are known: {found.not_computed}")
    return VerbAnswer(
        (graph_values_document(found, title),),
        steps=question.steps(*_lead_on(found)),
        pages=question.pages(found.graph_id),
    )


def _lead_on(found: GraphData) -> Iterator[NextStep]:
    for one in found.findings[:_LED_TO]:
        for node in one.nodes[:1]:
            about = {"graph": node.graph_id, "node": node.node_id}
            if node.graph_id == found.graph_id:
                yield NextStep("values", f"the node of finding {one.kind}", about)
            yield NextStep("locate", "the line of the program that made it", about)
    yield NextStep("findings", "what makes the graph slow", {"graph": found.graph_id})


def _of_node(question: Question, subject: GraphSubject, number: int, title: str) -> VerbAnswer:
    graph_id = subject.row.graph_id
    node = subject.graph.index_of(number)
    if node is None:
        raise UsageError(f"graph {graph_id} has no node {number}; path and layer name nodes")
    found = read_node_data(subject, node)
    name = f"node {number} of {title}"
    if isinstance(found, NotComputed):
        raise UsageError(f"no values of {name} are known: {found.not_computed}")
    about = {"graph": graph_id, "node": number}
    steps = (
        NextStep("neighbours", "what it waits for, and what waits for it", about),
        NextStep("locate", "the line of the program that made it", about),
    )
    return VerbAnswer(
        (node_values_document(found, name),),
        steps=question.steps(*steps),
        pages=question.pages(graph_id, number),
    )


VALUES = Verb(
    "values",
    "What the memory of nodes held: where NaN and infinite elements begin, what varies between "
    "launches, which nodes may race; of one node what went in and came out. Of recordings made "
    "with 'gviz run --values'.",
    (RECORDING, GRAPH, Parameter("node", "integer", "a node's number; default: the whole graph")),
    _values,
)
