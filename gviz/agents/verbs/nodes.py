"""``path``, ``neighbours``, ``layer``, ``locate``: around the nodes of a graph."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from gviz.agents.answer import NextStep, VerbAnswer
from gviz.agents.question import Question
from gviz.agents.verb import Parameter, Verb
from gviz.agents.verbs.parameters import GRAPH, LEVEL, NODE, RECORDING
from gviz.analysis import work_of_layer
from gviz.report import (
    NodeSummary,
    bounds_document,
    layer_document,
    layers_document,
    node_document,
    summarize_node,
)
from gviz.stats import NotComputed

#: Neighbours and layers to which steps lead.
_LED_TO = 3


def _path(question: Question) -> VerbAnswer:
    _, graph = question.analysis()
    document = bounds_document(graph, question.title(graph))
    about: dict[str, object] = {"graph": graph.graph_id}
    steps = []
    if not isinstance(graph.ledger, NotComputed):
        for gap in graph.ledger.gaps[:1]:
            ends = f"{gap.before.node_id}-{gap.after.node_id}"
            steps.append(NextStep("explain", "the longest gap on the path", about | {"gap": ends}))
    if not isinstance(graph.critical_path, NotComputed):
        for one in graph.critical_path.faster[:1]:
            off = about | {"off": [str(one.node.node_id)]}
            steps.append(NextStep("what_if", "the launch without the path's longest node", off))
    steps.append(NextStep("findings", "what to change", about))
    return VerbAnswer(
        (document,), steps=question.steps(*steps), pages=question.pages(graph.graph_id)
    )


def _layer(question: Question) -> VerbAnswer:
    wanted = question.text("layer")
    if wanted is None:
        _, graph = question.analysis()
        document = layers_document(graph, question.title(graph))
        found = graph.dominance
        layers = found if isinstance(found, NotComputed) else found.layers
        names: list[str] = []
        if not isinstance(layers, NotComputed):
            names = [layers.name[at] for at in layers.longest_first()]
        steps = [
            NextStep("layer", "this layer node by node", {"graph": graph.graph_id, "layer": name})
            for name in names[:_LED_TO]
        ]
        return VerbAnswer((document,), steps=question.steps(*steps))
    with question.subject() as subject:
        work = work_of_layer(subject, wanted)
        graph_id, title = subject.row.graph_id, subject.title
    name = f"{question.title()}, graph {graph_id}: {title}"
    ids = [node.node_id for node in work.nodes]
    steps = []
    if work.nodes:
        longest = max(range(len(ids)), key=lambda at: work.time_ns[at])
        about = {"graph": work.nodes[longest].graph_id, "node": ids[longest]}
        steps.append(NextStep("locate", "the line that made its longest node", about))
        steps.append(NextStep("explain", "its longest node", about))
    off = {"graph": graph_id, "off": [work.name]}
    steps.append(NextStep("what_if", "the launch without this layer", off))
    return VerbAnswer(
        (layer_document(work, name),),
        steps=question.steps(*steps),
        pages=question.pages(graph_id, *ids),
    )


def _summary(question: Question) -> NodeSummary:
    with question.opened() as recording:
        return summarize_node(recording, question.graph_id(), question.integer("node") or 0)


def _about_node(question: Question, parts: Collection[str]) -> tuple[NodeSummary, VerbAnswer]:
    """Return a node, and the answer that has these sections of its document."""
    found = _summary(question)
    whole = node_document(found)
    sections = tuple(part for part in whole.sections if part.key in parts)
    document = replace(whole, verdicts=(), sections=sections)
    pages = question.pages(found.graph_id, found.node.node_id)
    return found, VerbAnswer((document,), pages=pages)


def _neighbours(question: Question) -> VerbAnswer:
    found, answer = _about_node(question, ("dependencies", "dependents"))
    beside = [*(found.dependencies or ())[:_LED_TO], *(found.dependents or ())[:_LED_TO]]
    steps = [
        NextStep("neighbours", "further on", {"graph": found.graph_id, "node": one.node_id})
        for one in beside
    ]
    return replace(answer, steps=question.steps(*steps))


def _locate(question: Question) -> VerbAnswer:
    found, answer = _about_node(question, ("origin",))
    about = {"graph": found.graph_id, "node": found.node.node_id}
    steps = (
        NextStep("explain", "all that is recorded of the node", about),
        NextStep("neighbours", "what stands beside it", about),
    )
    return replace(answer, steps=question.steps(*steps))


PATH = Verb(
    "path",
    "What bounds the launches of a graph: its critical paths, the longest nodes and gaps on them, "
    "and where the time of a launch goes.",
    (RECORDING, GRAPH),
    _path,
)
NEIGHBOURS = Verb(
    "neighbours",
    "The nodes that a node waits for, and those that wait for it.",
    (RECORDING, LEVEL, NODE),
    _neighbours,
)
LAYER = Verb(
    "layer",
    "The layers of the model that a graph runs, with their time; of one layer its nodes.",
    (RECORDING, GRAPH, Parameter("layer", "string", "name or number of a layer; default: all")),
    _layer,
    instead=NextStep("layer", "the layers that there are"),
)
LOCATE = Verb(
    "locate",
    "Where the program made a node: NVTX range, and file, line, function and source of each frame "
    "of Python, as they were when it was recorded.",
    (RECORDING, LEVEL, NODE),
    _locate,
)
