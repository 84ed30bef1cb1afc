"""Recordings, read by plain SQL: for those whose raw trace is not kept."""

from __future__ import annotations

import sqlite3
from collections.abc import Hashable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from oracle.raw import Work

_KINDS = {0: "kernel", 1: "memcpy", 2: "memset", 3: "host"}
_PROGRAMMATIC = 1
#: A node by its level and its id there.
LevelNode = tuple[int, int]


@dataclass(frozen=True, slots=True)
class RecordedGraph:
    """A graph that could be launched.

    Attributes
    ----------
    nodes
        Of its outermost level, in order of their ids.
    edges
        Likewise: tail, head, and whether programmatic.
    has_bodies
        Its nodes hold other graphs.
    launches
        Of each launch whose spans are kept, by its id: what ran, by node and iteration.
    """

    graph_id: int
    nodes: list[LevelNode]
    edges: list[tuple[LevelNode, LevelNode, bool]]
    has_bodies: bool
    launches: dict[int, dict[Hashable, Work]]


def read_recording(path: Path) -> list[RecordedGraph]:
    """Return the graphs of a recording that have launches with spans."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        tops = database.execute(
            "SELECT graph_id, topology_id FROM graph WHERE parent_graph_id IS NULL"
        ).fetchall()
        return [_graph(database, *row) for row in tops]


def _graph(database: sqlite3.Connection, graph_id: int, topology_id: int | None) -> RecordedGraph:
    nodes = [
        (graph_id, node)
        for (node,) in database.execute(
            "SELECT node_id FROM node WHERE graph_id = ? ORDER BY node_id", (graph_id,)
        )
    ]
    edges = [
        ((graph_id, tail), (graph_id, head), type_ == _PROGRAMMATIC)
        for tail, head, type_ in database.execute(
            "SELECT from_node, to_node, type FROM edge WHERE topology_id = ?", (topology_id,)
        )
    ]
    (bodies,) = database.execute(
        "SELECT count(*) FROM graph WHERE parent_graph_id = ?", (graph_id,)
    ).fetchone()
    launches: dict[int, dict[Hashable, Work]] = {}
    for (
        launch,
        correlation,
        begin,
        level,
        node,
        turn,
        start,
        took,
        stream,
        device,
        kind,
    ) in database.execute(
        "SELECT launch_id, launch.correlation_id, launch.gpu_start_ns, span.graph_id, "
        "span.node_id, iteration, start_ns, duration_ns, span.stream_id, node.device_id, "
        "node.type FROM span JOIN launch USING (launch_id) "
        "JOIN node ON node.graph_id = span.graph_id AND node.node_id = span.node_id "
        "WHERE launch.graph_id = ? AND launch.side = 'graph'",
        (graph_id,),
    ):
        work = Work(
            _KINDS.get(kind, "other"), "", begin + start, begin + start + took, device or 0,
            stream, correlation or 0,
        )  # fmt: skip
        launches.setdefault(launch, {})[level, node, turn] = work
    return RecordedGraph(graph_id, nodes, edges, bool(bodies), launches)
