"""``explain``: a finding, a node or a gap with all that stands behind it."""

from __future__ import annotations

import re

from gviz.agents.answer import NextStep, VerbAnswer
from gviz.agents.question import Question
from gviz.agents.verb import MOST_ENTRIES, Parameter, Verb
from gviz.agents.verbs.parameters import GRAPH, RECORDING
from gviz.errors import UsageError
from gviz.report import (
    find_finding,
    finding_document,
    gap_document,
    node_document,
    summarize_node,
)

_GAP = re.compile(r"(\d{1,15})-(\d{1,15})", re.ASCII)


def _explain(question: Question) -> VerbAnswer:
    given = [name for name in ("finding", "node", "gap") if question.has(name)]
    if len(given) != 1:
        raise UsageError("give one of finding, node and gap")
    if given == ["finding"]:
        return _explain_finding(question)
    return _explain_node(question) if given == ["node"] else _explain_gap(question)


def _explain_finding(question: Question) -> VerbAnswer:
    run, graph = question.analysis()
    found = find_finding(run, question.text("finding") or "")
    refs = () if found.suggestion.nodes is None else found.suggestion.nodes.nodes
    document = finding_document(found, question.title(graph))
    steps = []
    for ref in refs[:1]:
        about = {"graph": ref.graph_id, "node": ref.node_id}
        steps.append(NextStep("locate", "the line of the program that made its first node", about))
        steps.append(NextStep("explain", "its first node", about))
    ids = [ref.node_id for ref in refs if ref.graph_id == graph.graph_id]
    if ids and len(ids) == len(refs) <= MOST_ENTRIES:
        off = {"graph": graph.graph_id, "off": list(map(str, ids))}
        steps.append(NextStep("what_if", "the launch without its nodes", off))
    pages = question.pages(graph.graph_id, *ids)
    return VerbAnswer((document,), steps=question.steps(*steps), pages=pages)


def _explain_node(question: Question) -> VerbAnswer:
    graph_id, node_id = question.graph_id(), question.integer("node") or 0
    with question.opened() as recording:
        found = summarize_node(recording, graph_id, node_id)
    about = {"graph": graph_id, "node": node_id}
    steps = [
        NextStep("neighbours", "what it waits for, and what waits for it", about),
        NextStep("locate", "the line of the program that made it", about),
    ]
    if found.statistics is not None:
        off = {"graph": graph_id, "off": [str(node_id)]}
        steps.append(NextStep("what_if", "the launch without it", off))
    return VerbAnswer(
        (node_document(found),),
        steps=question.steps(*steps),
        pages=question.pages(graph_id, node_id),
    )


def _explain_gap(question: Question) -> VerbAnswer:
    found = _GAP.fullmatch(question.text("gap") or "")
    if found is None:
        raise UsageError("gap names two nodes that follow each other on the path, as 12-15")
    before, after = int(found[1]), int(found[2])
    _, graph = question.analysis()
    document = gap_document(graph, before, after, question.title(graph))
    about: dict[str, object] = {"graph": graph.graph_id}
    steps = [NextStep("explain", "the node that the gap is in front of", about | {"node": after})]
    if before != after:
        edit = about | {"fuse": [f"{before}-{after}"]}
        steps.append(NextStep("what_if", "the launch without the gap", edit))
    pages = question.pages(graph.graph_id, before, after)
    return VerbAnswer((document,), steps=question.steps(*steps), pages=pages)


EXPLAIN = Verb(
    "explain",
    "One finding, node or gap with all that stands behind it. Give one of finding, node and gap.",
    (
        RECORDING,
        GRAPH,
        Parameter("finding", "string", "a finding's number in findings, or its rule"),
        Parameter("node", "integer", "a node's number"),
        Parameter("gap", "string", "two nodes that follow each other on the path, as 12-15"),
    ),
    _explain,
    instead=NextStep("path", "the nodes and gaps that bound a launch"),
)
