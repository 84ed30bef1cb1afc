"""Tables of ranks: their launches, waits in collectives, slow nodes, bodies left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

from gviz.analysis import NodeRef
from gviz.comparison import (
    BodySkew,
    CollectiveSkew,
    GraphSkew,
    NodeSkew,
    RankRef,
    RankTime,
    Skew,
)
from gviz.model import telling_parts
from gviz.report.document import (
    Content,
    GraphLink,
    NodeLink,
    Quantity,
    RunLink,
    TableBlock,
    TableColumn,
    capitalized,
    column,
    contradictions_text,
    ns,
    number,
    numbers,
    resting_on,
    share,
    state_text,
    table,
)
from gviz.stats import Evidence, fields_of
from gviz.text import MISSING

#: Of so many ranks each is named.
_EACH_RANK = 4
#: Nodes or collectives that a table lists.
_Listed: TypeAlias = Sequence[NodeSkew] | Sequence[CollectiveSkew]


def rank_name(ref: RankRef) -> str:
    """Return ``rank 3``; of a run without a rank its own name."""
    return ref.name if ref.rank is None else f"rank {ref.rank}"


def node_link(found: NodeSkew | CollectiveSkew) -> Content:
    """Return a node of the first rank; of one that is not there its name."""
    ref = _ref(found, 0)
    return (found.name or MISSING) if ref is None else NodeLink(ref)


def longest_wait_of(found: CollectiveSkew) -> tuple[int, float]:
    """Return which rank waits longest in a collective, and how long."""
    waits = [wait or 0.0 for wait in found.waited_ns]
    return waits.index(max(waits)), max(waits)


def runs_table(skew: Skew) -> TableBlock:
    """Return the ranks of a job."""
    columns = [column("Rank"), column("Run"), column("Host"), column("GPU")]
    rows: list[list[Content]] = [
        [RunLink(rank_name(ref), ref.run_id), ref.name, ref.host or MISSING, ref.gpus or MISSING]
        for ref in skew.ranks
    ]
    return table("Ranks of the job", columns, rows)


def launches_table(graph: GraphSkew, ranks: Sequence[RankRef]) -> TableBlock:
    """Return each rank's launches of a graph."""
    meaning = {name: capitalized(doc) for name, _, doc in fields_of(RankTime)}
    columns = [
        column("Rank"), column("Graph"), numbers("Launch", meaning["launch_ns"]),
        numbers("Slowest in", meaning["slowest_count"]),
        numbers("Starts after", meaning["late_ns"]), numbers("Last in", meaning["last_count"]),
        column("Timed", meaning["evidence"]),
    ]  # fmt: skip
    by_run = {ref.run_id: ref for ref in ranks}
    rows: list[list[Content]] = [
        [
            RunLink(rank_name(by_run[time.run_id]), time.run_id),
            GraphLink(time.graph_id),
            resting_on(ns(time.launch_ns), time.evidence),
            number(time.slowest_count, "derived"),
            resting_on(ns(time.late_ns), graph.evidence),
            MISSING if time.last_count is None else number(time.last_count, "derived"),
            state_text(time.evidence) + contradictions_text(time.evidence),
        ]
        for time in graph.ranks
    ]
    return table("Launches of each rank", columns, rows)


def of_executions(found: Quantity, evidence: Evidence, node: NodeSkew | CollectiveSkew) -> Quantity:
    """Return a node's quantity with what its graph's times rest on, in so many executions."""
    return resting_on(found, replace(evidence, n=node.execution_count))


def collectives_table(graph: GraphSkew, ranks: Sequence[RankRef], most: int | None) -> TableBlock:
    """Return collectives, those with the longest waits first."""
    meaning = {name: capitalized(doc) for name, _, doc in fields_of(CollectiveSkew)}
    columns = [
        column("Collective"), column("In range", meaning["context"]),
        column("In body", meaning["body"]), column("Comes last", "Which most often takes least"),
        numbers("In", meaning["last_fraction"]), numbers("Longest wait", meaning["waited_ns"]),
        column("Of"), numbers("Arrivals apart", meaning["arrival_ns"]),
    ]  # fmt: skip
    shown = graph.collectives[:most]
    rows = [
        _collective(found, where, ranks, graph.evidence)
        for found, where in zip(shown, _ranges(shown), strict=True)
    ]
    return _of_nodes("Waits in collectives", columns, rows, shown, len(graph.collectives))


def nodes_table(
    found: Sequence[NodeSkew], ranks: Sequence[RankRef], most: int | None, evidence: Evidence
) -> TableBlock:
    """Return nodes, those that are slowest on one rank first.

    Parameters
    ----------
    evidence
        Of their graph.
    """
    meaning = {name: capitalized(doc) for name, _, doc in fields_of(NodeSkew)}
    columns = [
        column("Node"), column("In range", meaning["context"]), column("In body", meaning["body"]),
        column("Slowest on"), numbers("Fastest", meaning["low_ns"]),
        numbers("Median", meaning["median_ns"]), numbers("Slowest", meaning["high_ns"]),
        numbers("In", meaning["slowest_fraction"]),
        numbers("Start spread", meaning["start_spread_ns"]), column("Verdict"),
    ]  # fmt: skip
    shown = found[:most]
    rows = [
        _node(node, where, ranks, evidence)
        for node, where in zip(shown, _ranges(shown), strict=True)
    ]
    if all(node.significant for node in shown):
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    return _of_nodes("Nodes by how much slower one rank is", columns, rows, shown, len(found))


def bodies_table(
    found: Sequence[BodySkew], ranks: Sequence[RankRef], most: int | None
) -> TableBlock:
    """Return bodies that are not compared in full."""
    meaning = {name: capitalized(doc) for name, _, doc in fields_of(BodySkew)}
    columns = [
        column("Body", meaning["body"]), column("Is", detail=True), column("Why"),
        column("Iterations", detail=True),
        numbers("Compared in", meaning["launch_count"], detail=True),
        numbers("Left out", meaning["left_out_count"], detail=True),
    ]  # fmt: skip
    rows: list[list[Content]] = [
        [
            body.body,
            MISSING if body.graph_ids[0] is None else GraphLink(body.graph_ids[0]),
            body.reason or MISSING,
            _iterations(body, ranks),
            number(body.launch_count),
            number(body.left_out_count),
        ]
        for body in found[:most]
    ]
    return table(
        "Bodies that are left out in part", columns, rows,
        left_out=len(found) - len(rows), row_noun=("more body", "more bodies"),
    )  # fmt: skip


def _ref(found: NodeSkew | CollectiveSkew, rank: int) -> NodeRef | None:
    graph_id, node_id = found.graph_ids[rank], found.node_ids[rank]
    if graph_id is None or node_id is None:
        return None
    return NodeRef(graph_id, node_id, found.name)


def _rank(found: NodeSkew | CollectiveSkew, at: int, ranks: Sequence[RankRef]) -> RunLink:
    return RunLink(rank_name(ranks[at]), ranks[at].run_id, node=_ref(found, at))


def _collective(
    found: CollectiveSkew, where: str, ranks: Sequence[RankRef], evidence: Evidence
) -> list[Content]:
    waiting, wait_ns = longest_wait_of(found)
    return [
        node_link(found),
        where or MISSING,
        found.body,
        _rank(found, found.last, ranks),
        of_executions(share(found.last_fraction, "estimated"), evidence, found),
        of_executions(ns(wait_ns, "estimated"), evidence, found),
        rank_name(ranks[waiting]),
        of_executions(ns(found.arrival_ns), evidence, found),
    ]


def _node(
    node: NodeSkew, where: str, ranks: Sequence[RankRef], evidence: Evidence
) -> list[Content]:
    verdict = "slower" if node.significant else "not tested" if node.rate is None else "noise"
    return [
        node_link(node),
        where or MISSING,
        node.body,
        _rank(node, node.slowest, ranks),
        of_executions(ns(node.low_ns), evidence, node),
        of_executions(ns(node.median_ns), evidence, node),
        of_executions(ns(node.high_ns), evidence, node),
        of_executions(share(node.slowest_fraction), evidence, node),
        of_executions(ns(node.start_spread_ns), evidence, node),
        verdict,
    ]


def _of_nodes(
    label: str, columns: list[TableColumn], rows: list[list[Content]], shown: _Listed, count: int
) -> TableBlock:
    """Return a table of nodes, without the column of bodies (the third) if none is in one."""
    if not any(found.body for found in shown):
        columns, rows = columns[:2] + columns[3:], [row[:2] + row[3:] for row in rows]
    return table(label, columns, rows, left_out=count - len(rows))


def _ranges(found: _Listed) -> list[str]:
    """Return what distinguishes the NVTX ranges of listed nodes."""
    return telling_parts([node.context for node in found])


def _iterations(body: BodySkew, ranks: Sequence[RankRef]) -> str:
    """Return how often each rank runs a body; of many ranks the least and the most."""
    found = zip(ranks, body.turns, strict=True)
    counts = [(rank_name(ref), count) for ref, count in found if count is not None]
    if len(counts) > _EACH_RANK:
        counts = [f(counts, key=lambda one: one[1]) for f in (min, max)]
    return ", ".join(f"{name}: {count:g}" for name, count in counts) or MISSING
