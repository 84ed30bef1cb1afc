"""Evidence of the times of a graph's nodes: what results about its launches inherit."""

from __future__ import annotations

import numpy as np

from gviz.analysis.subject import GraphSubject
from gviz.cuda import NodeType
from gviz.stats import CuptiState, Evidence, IntArray


def span_evidence(subject: GraphSubject) -> Evidence:
    """Return what the times of the median launch rest on."""
    launches, contradicted = subject.timed_launches, subject.contradicted
    expected = expected_nodes(subject)
    covered = [float(np.isin(expected, x.spans.node).mean()) for x in launches if len(expected)]
    return Evidence(
        how="derived",
        n=len(launches),
        coverage_fraction=min(covered, default=1.0),
        contradiction_count=contradicted.contradiction_count,
        worst_contradiction_ns=float(contradicted.most_ns.max(initial=0)),
        exchangeable_count=exchangeable_count(subject),
        state=CuptiState.RECORDED if launches else None,
        is_cold=bool(launches) and all(x.row.ordinal == 0 for x in launches),
    )


def exchangeable_count(subject: GraphSubject) -> int:
    """Return how many nodes may have the times of others of their class."""
    return int((subject.graph.nodes.integers("match_class", -1) >= 0).sum())


def expected_nodes(subject: GraphSubject) -> IntArray:
    """Return the nodes that every launch runs and that are timed; none where that depends."""
    graph = subject.graph
    # An instrumented copy may time a part of the nodes in each launch.
    depends = subject.is_timed_by_copy or any(x.parent < 0 for x in graph.levels[1:])
    if depends or (graph.types == NodeType.CONDITIONAL).any():
        return np.zeros(0, np.int64)
    return np.flatnonzero(graph.nodes.texts("not_timed_reason").codes < 0)
