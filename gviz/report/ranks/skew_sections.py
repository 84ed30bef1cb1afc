"""The document of a job's ranks: verdict, waits, slow nodes, then each rank."""

from __future__ import annotations

from collections.abc import Iterator

from gviz.comparison import GraphSkew, Skew
from gviz.report.document import Document, Section, Verdict, ns, resting_on, say, section
from gviz.report.ranks.rank_tables import (
    bodies_table,
    collectives_table,
    launches_table,
    nodes_table,
    runs_table,
)
from gviz.report.ranks.skew_verdict import skew_verdict
from gviz.text import counted

#: Nodes and collectives of a graph that are listed unless more are requested.
MOST_NODES = 10


def skew_document(skew: Skew, most_nodes: int | None = MOST_NODES) -> Document:
    """Return the document of ranks beside each other.

    Parameters
    ----------
    most_nodes
        Nodes of a graph that are listed, and of these only those beyond noise; None: all.
    """
    verdicts = [skew_verdict(graph, skew) for graph in skew.graphs]
    if not verdicts:
        nothing = say("No graph has launches with node times on every rank.")
        verdicts = [Verdict("", (nothing,), skew.remarks)]
    details: list[Section] = []
    for graph in skew.graphs:
        parts = tuple(_graph_sections(graph, skew, most_nodes))
        key = f"graph-{graph.ranks[0].graph_id}"
        details += parts if len(skew.graphs) == 1 else [Section(key, graph.name, parts)]
    title = counted(len(skew.ranks), "rank")
    return Document(title, tuple(verdicts), (*details, _ranks(skew)))


def _graph_sections(graph: GraphSkew, skew: Skew, most: int | None) -> Iterator[Section]:
    ranks = skew.ranks
    if graph.collectives:
        waits = collectives_table(graph, ranks, most)
        yield section("waits", "Waiting in collectives", waits)
    nodes = [n for n in graph.nodes if n.significant or most is None]
    heading = "Nodes that one rank is slower in"
    if nodes:
        yield section("nodes", heading, nodes_table(nodes, ranks, most, graph.evidence))
    else:
        yield section("nodes", heading, say("None by more than noise (gviz skew --all)."))
    yield _launches(graph, skew)
    left_out = [body for body in graph.bodies if body.reason is not None]
    if left_out:
        listed = bodies_table(left_out, ranks, most)
        yield section("bodies", "Bodies not compared in full", listed)


def _launches(graph: GraphSkew, skew: Skew) -> Section:
    launches = counted(graph.launch_count, "launch", "launches")
    spread = None
    if graph.start_spread_ns is not None:
        apart = resting_on(ns(graph.start_spread_ns), graph.evidence)
        spread = say("From the first rank's start to the last one's it takes ", apart, " (median).")
    longer = "A rank that starts first has the longer launch: it waits in collectives."
    note = say(longer, note=True) if graph.collectives else None
    table = launches_table(graph, skew.ranks)
    return section("launches", f"Skew over {launches}", table, spread, note)


def _ranks(skew: Skew) -> Section:
    clock = "On one clock" if skew.clock.is_one else "Not on one clock"
    return section("ranks", "Ranks", runs_table(skew), say(f"{clock}: {skew.clock.reason}."))
