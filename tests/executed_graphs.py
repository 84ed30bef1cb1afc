"""Graphs and launches for tests of the analysis: built directly, played at random."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

from gviz.analysis.launch.holds import HeldLaunch, hold_launch
from gviz.analysis.launch.unrolled import Unroller
from gviz.cuda.node_type import EdgeType, NodeType, not_timed_reason
from gviz.model.tree.graph_tree import GraphTree, read_tree
from gviz.model.tree.launch_spans import LaunchSpans
from gviz.model.tree.tree_edges import TreeEdges, read_tree_edges
from gviz.model.tree.tree_nodes import TreeNodes, all_columns
from gviz.recording import rows
from gviz.recording.reader import Recording
from gviz.recording.writer import RecordingWriter

#: The values of a node's columns.
NodeRow = dict[str, Any]


def node_row(number: int, kind: NodeType = NodeType.KERNEL, **columns: Any) -> NodeRow:
    """Return a node's row; a kernel has a grid of 16 blocks of which 16 fit a multiprocessor."""
    values: NodeRow = dict.fromkeys(all_columns())
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
    return values | columns


@dataclass
class Body:
    """One level of a graph for :func:`build_graph`."""

    nodes: list[NodeRow]
    edges: Sequence[tuple[int, int] | tuple[int, int, int]] = ()
    bodies: dict[int, list[Body]] = field(default_factory=dict)


@dataclass(frozen=True)
class PlayedGraph:
    """A graph and its edges."""

    tree: GraphTree
    edges: TreeEdges

    @property
    def nodes(self) -> TreeNodes:
        return self.tree.nodes


def build_graph(top: Body) -> PlayedGraph:
    """Return a graph; edges are (dependency, dependent[, type]) by index within their level.

    It is written to a file and read from there. Levels are in the order of a tree: bodies of a
    node, then what is in them.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.gviz"
        with RecordingWriter(path) as writer:
            writer.insert(rows.Run(run_id=1, name="test", state="completed", source="profile"))
            _write_level(writer, top, count(1), {})
        with Recording(path) as recording:
            tree = read_tree(recording, 1, columns=all_columns())
            return PlayedGraph(tree, read_tree_edges(recording, tree))


def _write_level(
    writer: RecordingWriter, body: Body, graph_ids: Iterator[int], parent: dict[str, Any]
) -> None:
    graph_id = next(graph_ids)
    writer.insert(
        rows.Topology(
            topology_id=graph_id,
            hash=str(graph_id),
            node_count=len(body.nodes),
            edge_count=len(body.edges),
        ),
        rows.Graph(
            graph_id=graph_id,
            run_id=1,
            name="test",
            origin="body" if parent else "capture",
            topology_id=graph_id,
            **parent,
        ),
        *(rows.Node(graph_id=graph_id, **node) for node in body.nodes),
        *(
            rows.Edge(
                topology_id=graph_id,
                from_node=body.nodes[a]["node_id"],
                to_node=body.nodes[b]["node_id"],
                type=kind[0] if kind else EdgeType.DEFAULT,
                from_port=0,
                to_port=0,
            )
            for a, b, *kind in body.edges
        ),
    )
    for at, inner in body.bodies.items():
        for branch, other in enumerate(inner):
            around = {
                "parent_graph_id": graph_id,
                "parent_node_id": body.nodes[at]["node_id"],
                "branch": branch,
            }
            _write_level(writer, other, graph_ids, around)


def spans_of(found: Sequence[tuple[int, int, int, int, int]]) -> LaunchSpans:
    """Return spans given as (node, iteration, start, duration, queue), in any order."""
    ordered = sorted(found, key=lambda s: (s[2], s[2] + s[3], s[0]))
    node, iteration, start, duration, queue = np.array(ordered, np.int64).reshape(-1, 5).T
    return LaunchSpans(node, iteration, start, start + duration, queue)


def held_launch(graph: PlayedGraph, spans: LaunchSpans) -> HeldLaunch:
    """Return a launch with what held its executions back."""
    unrolled = Unroller(graph.tree, graph.edges).unroll(spans)
    vertex = unrolled.vertex_of(graph.tree, spans.node, spans.iteration)
    return hold_launch(unrolled, vertex, spans)


@dataclass(frozen=True)
class Played:
    """A graph of one level and one launch of it."""

    graph: PlayedGraph
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
    size = draw(st.integers(1, 12))
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=size, max_size=size))
    pairs = st.tuples(st.integers(0, size - 1), st.integers(0, size - 1))
    found = {(min(p), max(p)) for p in draw(st.lists(pairs, max_size=24)) if p[0] != p[1]}
    edges = [
        (a, b, int(EdgeType.PROGRAMMATIC if both_kernels and draw(st.booleans()) else 0))
        for a, b in sorted(found)
        for both_kernels in [kinds[a] == kinds[b] == NodeType.KERNEL]
    ]
    graph = build_graph(Body([node_row(i, kind) for i, kind in enumerate(kinds)], edges))
    spans: list[tuple[int, int, int, int, int]] = []
    end, free = [0] * size, {0: 0, 1: 0, 2: 0}
    for node in range(size):
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
