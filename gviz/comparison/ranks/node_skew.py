"""Nodes, collectives and bodies of a graph over ranks, as results have them."""

from __future__ import annotations

import numpy as np

from gviz.comparison.ranks.rank_graph import RankGraph, RankLevel
from gviz.comparison.ranks.result import BodySkew, CollectiveSkew, NodeSkew
from gviz.comparison.ranks.skew import RankSpread, median, range_of, spread_of, waits_of
from gviz.stats import FALSE_DISCOVERIES, IntArray, adjusted, distinct_values


def node_skews(graph: RankGraph, ranks: int) -> tuple[NodeSkew, ...]:
    """Return the nodes with times on two ranks or more, collectives left out, the slowest first.

    Parameters
    ----------
    ranks
        Their number, those that lack the graph counted.
    """
    spreads = []
    for level in graph.levels:
        if not len(level.executions.launch):
            continue
        which = np.flatnonzero(~level.is_collective)
        executions = level.executions
        durations = executions.durations[:, :, which]
        spreads.append((level, which, spread_of(durations, executions.launch_means(which))))
    # Judged together: a graph's false discoveries are counted over all its levels.
    rates = adjusted(np.concatenate([spread.probability for _, _, spread in spreads]))
    found, at = [], 0
    for level, which, spread in spreads:
        mine = rates[at : at + len(which)]
        found += _level_nodes(graph, ranks, level, which, spread, mine.tolist())
        at += len(which)
    return tuple(sorted(found, key=lambda n: (not n.significant, n.median_ns - n.high_ns)))


def _level_nodes(
    graph: RankGraph,
    ranks: int,
    level: RankLevel,
    which: IntArray,
    spread: RankSpread,
    rates: list[float],
) -> list[NodeSkew]:
    pairs, executions = level.pairs, level.executions
    start_spread = range_of(median(executions.starts[:, :, which], 1))
    compared = (~np.isnan(executions.durations[:, :, which])).sum(axis=1).max(axis=0)
    found = []
    for place, node in enumerate(which.tolist()):
        if spread.slowest[place] < 0:
            continue
        times = spread.medians[:, place]
        found.append(
            NodeSkew(
                name=pairs.first.title[node],
                context=pairs.first.context[node],
                body=pairs.body,
                graph_ids=_graph_ids(graph, level, ranks),
                node_ids=_node_ids(graph, level, node, ranks),
                execution_count=int(compared[place]),
                low_ns=float(np.nanmin(times)),
                median_ns=float(np.nanmedian(times)),
                high_ns=float(np.nanmax(times)),
                slowest=graph.sides[int(spread.slowest[place])].rank,
                slowest_fraction=float(spread.slowest_fraction[place]),
                rate=known(rates[place]),
                significant=bool(rates[place] <= FALSE_DISCOVERIES),
                start_spread_ns=float(start_spread[place]),
            )
        )
    return found


def collective_skews(graph: RankGraph, ranks: int) -> tuple[CollectiveSkew, ...]:
    """Return the collectives with times on two ranks or more, the longest wait first."""
    levels = [level for level in graph.levels if len(level.executions.launch)]
    found = [c for level in levels for c in _level_collectives(graph, ranks, level)]
    return tuple(sorted(found, key=lambda c: -max(w or 0.0 for w in c.waited_ns)))


def _level_collectives(graph: RankGraph, ranks: int, level: RankLevel) -> list[CollectiveSkew]:
    pairs, executions = level.pairs, level.executions
    which = np.flatnonzero(level.is_collective)
    durations = executions.durations[:, :, which]
    waits, last, fraction = waits_of(durations)
    absolute = executions.starts[:, :, which] + graph.start_ns[:, executions.launch, None]
    arrival = median(range_of(absolute), 0)
    compared = (~np.isnan(durations)).sum(axis=1).max(axis=0)
    found = []
    for place, node in enumerate(which.tolist()):
        if np.isnan(waits[:, place]).sum() > len(waits) - 2:
            continue
        by_rank = {s.rank: w for s, w in zip(graph.sides, waits[:, place].tolist(), strict=True)}
        found.append(
            CollectiveSkew(
                name=pairs.first.title[node],
                context=pairs.first.context[node],
                body=pairs.body,
                graph_ids=_graph_ids(graph, level, ranks),
                node_ids=_node_ids(graph, level, node, ranks),
                execution_count=int(compared[place]),
                arrival_ns=known(arrival[place]),
                waited_ns=tuple(known(by_rank.get(number, np.nan)) for number in range(ranks)),
                last=graph.sides[int(last[place])].rank,
                last_fraction=float(fraction[place]),
            )
        )
    return found


def body_skews(graph: RankGraph, ranks: int) -> tuple[BodySkew, ...]:
    """Return the bodies of the first rank: on which ranks they are, and what is compared."""
    return tuple(_body(graph, ranks, level) for level in graph.levels[1:])


def _body(graph: RankGraph, ranks: int, level: RankLevel) -> BodySkew:
    executions = level.executions
    iterations: list[float | None] = [None] * ranks
    for side, of_side in zip(graph.sides, executions.iterations, strict=True):
        ran = of_side[of_side > 0]
        if len(ran):
            iterations[side.rank] = float(np.median(ran))
    return BodySkew(
        body=level.pairs.body,
        graph_ids=_graph_ids(graph, level, ranks),
        turns=tuple(iterations),
        launch_count=len(distinct_values(executions.launch)),
        left_out_count=int(executions.uneven.sum()),
        reason=_why_left_out(level),
    )


def _why_left_out(level: RankLevel) -> str | None:
    """Return why not all of a body is compared; None: all is."""
    executions, pairs = level.executions, level.pairs
    if not pairs.is_shared:
        return "no other rank has it"
    reasons = []
    if None in pairs.graph_ids:
        reasons.append("not every rank has it")
    if executions.uneven.any():
        reasons.append(
            f"in {int(executions.uneven.sum())} of {len(executions.uneven)} launches ranks ran it, "
            "or what is around it, different numbers of times: which of their executions belong "
            "together is not known"
        )
    elif not len(executions.launch):
        reasons.append("nothing in it was timed in these launches")
    return "; ".join(reasons) or None


def _graph_ids(graph: RankGraph, level: RankLevel, ranks: int) -> tuple[int | None, ...]:
    row: list[int | None] = [None] * ranks
    for side, graph_id in zip(graph.sides, level.pairs.graph_ids, strict=True):
        row[side.rank] = graph_id
    return tuple(row)


def _node_ids(graph: RankGraph, level: RankLevel, node: int, ranks: int) -> tuple[int | None, ...]:
    """Return a node of the first rank in the graph of each rank; None where it is not there."""
    row: list[int | None] = [None] * ranks
    for at, side in enumerate(graph.sides):
        row[side.rank] = level.pairs.node_id(at, node)
    return tuple(row)


def known(number: float) -> float | None:
    """Return a number; None for NaN."""
    return None if np.isnan(number) else float(number)
