"""The verdict on a graph over ranks: whose launches are slower, who waits, the slowest node."""

from __future__ import annotations

from collections.abc import Sequence

from gviz.analysis import NodeRef
from gviz.comparison import (
    CollectiveSkew,
    GraphSkew,
    LoneNode,
    NodeSkew,
    RankDifference,
    RankRef,
    Skew,
)
from gviz.report.document import (
    Line,
    NodeLink,
    Sentence,
    Verdict,
    caveat_text,
    contradictions_text,
    ns,
    resting_on,
    say,
    share,
    state_text,
)
from gviz.report.ranks.rank_tables import longest_wait_of, node_link, of_executions, rank_name
from gviz.text import counted


def skew_verdict(graph: GraphSkew, skew: Skew) -> Verdict:
    """Return sentences about a graph, and what is not compared."""
    ranks = skew.ranks
    return Verdict(
        f"{graph.name}, on {counted(len(graph.ranks), 'rank')}",
        (
            _launches(graph, ranks),
            _waits(graph, ranks),
            _slowest(graph, ranks),
            *(_difference(graph, one, ranks) for one in graph.differences),
        ),
        tuple(_caveats(graph, skew)),
    )


def _difference(graph: GraphSkew, one: RankDifference, ranks: Sequence[RankRef]) -> Sentence:
    first = next(rank_name(ref) for ref in ranks if ref.run_id == graph.ranks[0].run_id)
    other: list[Line] = [
        (_link(node.node), " for ", _link(node.first), _place(node.first)) for node in one.other
    ]
    parts: list[Line] = [
        (f"{says} {counted(count, 'node')} {of}: ", *_listed(nodes, count))
        for says, count, of, nodes in (
            ("has", one.more_count, f"that {first} lacks", _lone(one.more)),
            ("lacks", one.less_count, f"that {first} has", _lone(one.less)),
            ("has", one.other_count, f"in the place of another of {first}", other),
        )
        if count
    ]
    return say("The graphs differ: ", rank_name(ranks[one.rank]), " ", _joined(parts, "; "), ".")


def _lone(nodes: Sequence[LoneNode]) -> list[Line]:
    return [(_link(node), _place(node)) for node in nodes]


def _link(node: LoneNode) -> NodeLink:
    return NodeLink(NodeRef(node.graph_id, node.node_id, node.name))


def _listed(nodes: Sequence[Line], count: int) -> Line:
    rest = f" and {count - len(nodes):,} more" if count > len(nodes) else ""
    return (*_joined(nodes, ", "), rest)


def _joined(parts: Sequence[Line], by: str) -> Line:
    return tuple(piece for part in parts for piece in (by, *part))[1:]


def _launches(graph: GraphSkew, ranks: Sequence[RankRef]) -> Sentence:
    launches = counted(graph.launch_count, "launch", "launches")
    timed = [time for time in graph.ranks if time.launch_ns is not None]
    if graph.rate is None or not timed:
        return say(f"{launches} on every rank are too few to distinguish a slow rank from noise.")
    by_run = {ref.run_id: rank_name(ref) for ref in ranks}
    longest = max(timed, key=lambda time: time.launch_ns or 0.0)
    shortest = min(timed, key=lambda time: time.launch_ns or 0.0)
    lengths = (
        by_run[longest.run_id], " takes ", resting_on(ns(longest.launch_ns), longest.evidence),
        ", ", by_run[shortest.run_id], " ", resting_on(ns(shortest.launch_ns), shortest.evidence),
        f" ({state_text(graph.evidence)}, medians of {launches} on every rank)"
        f"{contradictions_text(graph.evidence)}.",
    )  # fmt: skip
    if graph.significant:
        return say("One rank's launches take longer by more than noise: ", lengths)
    return say("No rank's launches take longer by more than noise: ", lengths)


def _waits(graph: GraphSkew, ranks: Sequence[RankRef]) -> Sentence:
    if not graph.collectives:
        return say("It has no collectives, so no rank waits for another inside it.")
    worst = graph.collectives[0]
    waiting, wait_ns = longest_wait_of(worst)
    of = (
        counted(worst.execution_count, "execution")
        if worst.body
        else counted(graph.launch_count, "launch", "launches")
    )
    return say(
        f"In the median of {of}, {rank_name(ranks[waiting])} waits ",
        of_executions(ns(wait_ns, "estimated"), graph.evidence, worst),
        f" for {rank_name(ranks[worst.last])}: its longest wait, in ", node_link(worst),
        _place(worst), f"{contradictions_text(graph.evidence)}.",
    )  # fmt: skip


def _slowest(graph: GraphSkew, ranks: Sequence[RankRef]) -> Sentence:
    slow = [node for node in graph.nodes if node.significant]
    if not slow:
        return say("No node is slower on one rank by more than noise.")
    worst = slow[0]
    return say(
        "Slowest node of one rank: ", node_link(worst), _place(worst), " takes ",
        of_executions(ns(worst.high_ns), graph.evidence, worst),
        f" on {rank_name(ranks[worst.slowest])}, ",
        of_executions(ns(worst.median_ns), graph.evidence, worst),
        " in the median of the ranks; it is the slowest there in ",
        of_executions(share(worst.slowest_fraction), graph.evidence, worst),
        f" of the executions{contradictions_text(graph.evidence)}.",
    )  # fmt: skip


def _place(found: NodeSkew | CollectiveSkew | LoneNode) -> str:
    where = " in ".join(filter(None, (found.context, found.body)))
    return f" ({where})" if where else ""


def _caveats(graph: GraphSkew, skew: Skew) -> list[str]:
    found = list(skew.remarks)
    if not skew.clock.is_one:
        found.append(f"not on one clock, so starts are not compared: {skew.clock.reason}")
    if graph.evidence.contradiction_count or graph.evidence.coverage_fraction < 1:
        found.append(f"what is compared was {caveat_text(graph.evidence)}")
    runs = {time.run_id for time in graph.ranks}
    left_out = [rank_name(ref) for ref in skew.ranks if ref.run_id not in runs]
    if left_out:
        found.append(f"not on {', '.join(left_out)}, which have no such graph")
    return found
