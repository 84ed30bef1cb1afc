"""Evidence of the times of a graph's nodes: what results about its launches inherit."""

from __future__ import annotations

import numpy as np

from gviz.analysis.subject import GraphSubject
from gviz.cuda import NodeType
from gviz.stats import BoolArray, CuptiState, Evidence, IntArray, distinct_values


def span_evidence(subject: GraphSubject) -> Evidence:
    """Return what the times of the median launch rest on."""
    launches, contradicted = subject.timed_launches, subject.contradicted
    covered = subject.once(timed_nodes).mean(axis=1) if len(subject.once(expected_nodes)) else [1.0]
    return Evidence(
        how="derived",
        n=fewest_launches(subject),
        coverage_fraction=float(min(covered, default=1.0)),
        contradiction_count=contradicted.contradiction_count,
        worst_contradiction_ns=float(contradicted.most_ns.max(initial=0)),
        exchangeable_count=subject.graph.nodes.exchangeable_count(),
        state=CuptiState.RECORDED if launches else None,
        is_cold=bool(launches) and all(x.row.ordinal == 0 for x in launches),
    )


def fewest_launches(subject: GraphSubject) -> int:
    """Return in how many of the timed launches each node was timed; the fewest behind copies."""
    launches = subject.timed_launches
    if not subject.is_timed_by_copy:
        return len(launches)
    count = np.zeros(len(subject.graph), np.int64)
    for launch in launches:
        count[distinct_values(launch.spans.node)] += 1
    return int(count[count > 0].min(initial=len(launches)))


def expected_nodes(subject: GraphSubject) -> IntArray:
    """Return the nodes that every launch runs and that are timed; none where that depends."""
    graph = subject.graph
    # An instrumented copy may time a part of the nodes in each launch.
    depends = subject.is_timed_by_copy or any(x.parent < 0 for x in graph.levels[1:])
    if depends or (graph.types == NodeType.CONDITIONAL).any():
        return np.zeros(0, np.int64)
    return np.flatnonzero(graph.nodes.texts("not_timed_reason").codes < 0)


def timed_nodes(subject: GraphSubject) -> BoolArray:
    """Return which of the expected nodes have a time, one row a launch with node times."""
    expected, launches = subject.once(expected_nodes), subject.timed_launches
    found = np.zeros((len(launches), len(expected)), bool)
    for row, launch in zip(found, launches, strict=True):
        ran = np.zeros(len(subject.graph), bool)
        ran[launch.spans.node] = True
        row[:] = ran[expected]
    return found
