"""``ranks``: how far the ranks of a job are apart."""

from __future__ import annotations

from collections.abc import Iterator

from gviz.agents.answer import NextStep, VerbAnswer
from gviz.agents.question import Question
from gviz.agents.verb import Verb
from gviz.agents.verbs.parameters import RECORDING
from gviz.comparison import CollectiveSkew, NodeSkew, Skew, read_skew
from gviz.report import skew_document


def _ranks(question: Question) -> VerbAnswer:
    skew = question.recordings.once(question.file()[1], ("ranks",), read_skew)
    steps = question.steps(*_lead_on(skew))
    return VerbAnswer((skew_document(skew),), steps=steps)


def _lead_on(skew: Skew) -> Iterator[NextStep]:
    """Yield the steps to the nodes that are slowest on one rank, and to the longest waits."""
    for graph in skew.graphs:
        slow = next((node for node in graph.nodes if node.significant), None)
        if slow is not None and (about := _place(slow, slow.slowest)):
            yield NextStep("locate", "the line of the node that is slowest on one rank", about)
            yield NextStep("explain", "that node on that rank", about)
        awaited = graph.collectives[0] if graph.collectives else None
        if awaited is not None and (about := _place(awaited, awaited.last)):
            yield NextStep("neighbours", "what the awaited rank does before", about)
    yield NextStep("overview", "the graphs and findings of each rank")


def _place(found: NodeSkew | CollectiveSkew, rank: int) -> dict[str, object] | None:
    """Return the arguments that name a node on a rank; None: it is not there."""
    graph_id, node_id = found.graph_ids[rank], found.node_ids[rank]
    if graph_id is None or node_id is None:
        return None
    return {"graph": graph_id, "node": node_id}


RANKS = Verb(
    "ranks",
    "Which rank of a job is slow, in which nodes, and who waits for whom in collectives; of a "
    "recording with several runs.",
    (RECORDING,),
    _ranks,
)
