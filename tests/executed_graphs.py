"""Graphs and launches for tests of the analysis: built directly, played at random."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st

from gviz.analysis.launch.holds import HeldLaunch, hold_launch
from gviz.analysis.launch.unrolled import Unroller
from gviz.cuda.node_type import EdgeType, NodeType, not_timed_reason
from gviz.model.executed_graph import ExecutedGraph, Level, NodeRow
from gviz.model.graph_spans import LaunchSpans
from gviz.recording import rows


def node_row(number: int, kind: NodeType = NodeType.KERNEL, **columns: Any) -> NodeRow:
    """Return a node's row; a kernel has a grid of 16 blocks of which 16 fit a multiprocessor."""
    values: dict[str, Any] = dict.fromkeys(NodeRow._fields)
    values |= {
        "node_id": number,
        "exec_node_id": number,
        "type": int(kind),
        "name": f"node{number}",
        "device_id": 0,
        "not_timed_reason": not_timed_reason(kind),
    }
    if kind == NodeType.KERNEL:
        values |= dict.fromkeys(("grid_y", "grid_z", "block_x", "block_y", "block_z"), 1)
        values |= {"grid_x": 16, "max_blocks_per_multiprocessor": 16, "priority": 0}
    return NodeRow(**(values | columns))


@dataclass
class Body:
    """One level of a graph for :func:`build_graph`."""

    nodes: list[NodeRow]
    edges: Sequence[tuple[int, int] | tuple[int, int, int]] = ()
    bodies: dict[int, list[Body]] = field(default_factory=dict)


def build_graph(top: Body) -> ExecutedGraph:
    """Return a graph; edges are (dependency, dependent[, type]) by index within their level."""
    nodes: list[NodeRow] = []
    levels: list[Level] = []
    edges: list[tuple[int, int, int]] = []
    waiting: list[tuple[Body, int]] = [(top, -1)]
    for body, holder in waiting:
        first = len(nodes)
        nodes += body.nodes
        repeats = holder >= 0 and nodes[holder].type == NodeType.CONDITIONAL
        levels.append(Level(len(levels) + 1, first, len(body.nodes), holder, repeats, True))
        for a, b, *kind in body.edges:
            edges.append((first + a, first + b, kind[0] if kind else EdgeType.DEFAULT))
        waiting += [(b, first + at) for at, inner in body.bodies.items() for b in inner]
    table = np.array(edges, np.int64).reshape(len(edges), 3)
    return ExecutedGraph(
        graph=rows.Graph(graph_id=1, run_id=1, name="test", origin="capture", topology_id=1),
        levels=tuple(levels),
        nodes=tuple(nodes),
        level=np.repeat(np.arange(len(levels)), [level.count for level in levels]),
        tail=table[:, 0],
        head=table[:, 1],
        edge_type=table[:, 2],
    )


def spans_of(found: Sequence[tuple[int, int, int, int, int]]) -> LaunchSpans:
    """Return spans given as (node, iteration, start, duration, queue), in any order."""
    ordered = sorted(found, key=lambda s: (s[2], s[2] + s[3], s[0]))
    node, turn, start, duration, queue = np.array(ordered, np.int64).reshape(-1, 5).T
    return LaunchSpans(node, turn, start, start + duration, queue)


def held_launch(graph: ExecutedGraph, spans: LaunchSpans) -> HeldLaunch:
    """Return a launch with what held its executions back."""
    unrolled = Unroller(graph).unroll(spans)
    return hold_launch(unrolled, unrolled.vertex_of(graph, spans.node, spans.iteration), spans)


@dataclass(frozen=True)
class Played:
    """A graph of one level and one launch of it."""

    graph: ExecutedGraph
    spans: LaunchSpans

    @property
    def held(self) -> HeldLaunch:
        return held_launch(self.graph, self.spans)


#: Kinds that tests draw nodes from: with a time, and without.
KINDS = (NodeType.KERNEL, NodeType.MEMCPY, NodeType.MEMSET, NodeType.EMPTY, NodeType.HOST)


@st.composite
def played_launches(draw: st.DrawFn, *, skew: bool = True) -> Played:
    """Draw a DAG and a launch of it that its dependencies and queues allow.

    With ``skew`` a start may lie a little before the end of a dependency, as clocks do.
    """
    count = draw(st.integers(1, 12))
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=count, max_size=count))
    pairs = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1))
    found = {(min(p), max(p)) for p in draw(st.lists(pairs, max_size=24)) if p[0] != p[1]}
    edges = [
        (a, b, int(EdgeType.PROGRAMMATIC if both_kernels and draw(st.booleans()) else 0))
        for a, b in sorted(found)
        for both_kernels in [kinds[a] == kinds[b] == NodeType.KERNEL]
    ]
    graph = build_graph(Body([node_row(i, kind) for i, kind in enumerate(kinds)], edges))
    spans: list[tuple[int, int, int, int, int]] = []
    end, free = [0] * count, {0: 0, 1: 0, 2: 0}
    for node in range(count):
        before = [(a, kind) for a, b, kind in edges if b == node]
        ready = max((spans_start(spans, a) if kind else end[a] for a, kind in before), default=0)
        if not_timed_reason(kinds[node]) is not None or draw(st.integers(0, 9)) == 0:
            end[node] = max((end[a] for a, _ in before), default=0)  # no time, or a record lost
            continue
        queue = draw(st.integers(0, 2))
        gap = draw(st.integers(-100 if skew and before else 0, 2_000))
        start = max(ready + gap, free[queue], 0)
        duration = draw(st.integers(0, 5_000))
        spans.append((node, 0, start, duration, queue))
        end[node] = free[queue] = start + duration
    return Played(graph, spans_of(spans))


def spans_start(spans: Sequence[tuple[int, int, int, int, int]], node: int) -> int:
    """Return when a node started; 0 if it has no span."""
    return next((s[2] for s in spans if s[0] == node), 0)
