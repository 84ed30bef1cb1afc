"""A step of as many nodes as a large model has, made of the ranks' real one."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from gviz.cuda import topology_hash

#: From the end of a node to the start of the next (ns).
_GAP_NS = 1_000
#: What ids of ranges differ by from one repetition to the next.
_APART = 1_000


def widen_step(path: Path, layers: int, kernels: int) -> int:
    """Repeat the layers of a step, and in each all that is timed but its collective.

    Nodes follow each other, as on one stream. What ran before the capture is left out: none of it
    is of these nodes.

    Parameters
    ----------
    path
        A recording of one rank (``cut_rank``).
    layers
        So many times as many layers.
    kernels
        So many times as many of each kernel in a layer.

    Returns
    -------
    int
        Number of nodes.
    """
    with closing(sqlite3.connect(path)) as database:
        with database:
            _leave_out_streams(database)
            count = _place_nodes(database, layers, kernels)
            _name_layers(database)
            _repeat_rows(database)
            _repeat_spans(database)
            _connect(database, count)
        database.execute("VACUUM")
    return count


def _leave_out_streams(database: sqlite3.Connection) -> None:
    streams = "(SELECT launch_id FROM launch WHERE side = 'stream')"
    database.execute("DELETE FROM stream_operation")
    database.execute(f"DELETE FROM span WHERE launch_id IN {streams}")
    database.execute("DELETE FROM launch WHERE side = 'stream'")
    database.execute("UPDATE graph SET dot = NULL")


def _place_nodes(database: sqlite3.Connection, layers: int, kernels: int) -> int:
    """Make the table of nodes: the new one, that which it repeats, and its repetition of layers."""
    nodes = database.execute("SELECT node_id, name, exec_node_id FROM node ORDER BY node_id")
    step = [
        node_id
        for node_id, name, executed in nodes.fetchall()
        for _ in range(1 if executed is None or name.startswith("nccl") else kernels)
    ]
    places = [(old, copy) for copy in range(layers) for old in step]
    database.execute("CREATE TEMP TABLE place (new INTEGER PRIMARY KEY, old INTEGER, copy INTEGER)")
    rows = [(new, old, copy) for new, (old, copy) in enumerate(places)]
    database.executemany("INSERT INTO place VALUES (?, ?, ?)", rows)
    return len(rows)


def _name_layers(database: sqlite3.Connection) -> None:
    """Have a range for each layer; the outermost one is around all of them."""
    database.execute(f"""
        INSERT INTO nvtx_path
        SELECT nvtx_path_id + copy * {_APART}, run_id,
            CASE WHEN outer.parent_id IS NULL THEN inner.parent_id
                ELSE inner.parent_id + copy * {_APART} END,
            inner.domain,
            CASE WHEN inner.text LIKE 'layer %'
                THEN 'layer ' || (substr(inner.text, 7) + copy * 8) ELSE inner.text END
        FROM nvtx_path AS inner JOIN (
            SELECT nvtx_path_id AS id, parent_id FROM nvtx_path
        ) AS outer ON outer.id = inner.parent_id
            JOIN (SELECT DISTINCT copy FROM place WHERE copy > 0)
    """)


def _repeat_rows(database: sqlite3.Connection) -> None:
    """Repeat what is recorded of nodes."""
    changed = {
        "node_id": "place.new",
        "exec_node_id": "CASE WHEN before.exec_node_id IS NULL THEN NULL ELSE place.new END",
        "nvtx_path_id": f"before.nvtx_path_id + place.copy * {_APART}",
    }
    for table in ("node", "argument", "node_statistics", "node_parameter"):
        names = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
        columns = ", ".join(changed.get(name, f"before.{name}") for name in names)
        database.execute(f"CREATE TEMP TABLE before AS SELECT * FROM {table}")
        database.execute(f"DELETE FROM {table}")
        database.execute(
            f"INSERT INTO {table} SELECT {columns} FROM before JOIN place ON place.old = node_id"
        )
        database.execute("DROP TABLE before")


def _repeat_spans(database: sqlite3.Connection) -> None:
    database.execute("CREATE TEMP TABLE before AS SELECT * FROM span")
    database.execute("DELETE FROM span")
    database.execute(f"""
        INSERT INTO span
        SELECT launch_id, graph_id, place.new, iteration,
            sum(duration_ns + {_GAP_NS}) OVER (PARTITION BY launch_id ORDER BY place.new)
                - duration_ns,
            duration_ns, stream_id
        FROM before JOIN place ON place.old = node_id
    """)
    database.execute("""
        UPDATE launch SET span_count = (
            SELECT count(*) FROM span WHERE span.launch_id = launch.launch_id
        )
    """)


def _connect(database: sqlite3.Connection, count: int) -> None:
    """Have each node wait for the one before."""
    database.execute("DELETE FROM topology WHERE topology_id <> 1")
    database.execute("DELETE FROM edge")
    edges = [(at, at + 1, 0, 0, 0) for at in range(count - 1)]
    database.executemany("INSERT INTO edge VALUES (1, ?, ?, ?, ?, ?)", edges)
    nodes = database.execute("SELECT type, name FROM node ORDER BY node_id").fetchall()
    shape = topology_hash([t for t, _ in nodes], [n for _, n in nodes], edges)
    database.execute(
        "UPDATE topology SET hash = ?, node_count = ?, edge_count = ? WHERE topology_id = 1",
        (shape, count, count - 1),
    )
