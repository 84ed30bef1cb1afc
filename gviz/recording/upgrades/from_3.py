"""Schema 3 to 4: spans and statistics by the key of node, launches without a row as rows.

In schema 3 ``span.node_id`` and ``node_statistics.node_id`` were ids in the executable
(``node.exec_node_id``), and ``node_statistics.graph_id`` was the graph that is launched. Launches
of long runs stood as packed columns in ``launch_block``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gviz.recording.int_column import decode
from gviz.recording.integrity import DamagedError

if TYPE_CHECKING:
    from gviz.recording.upgrades.old_tables import OldTables
    from gviz.stats import IntArray

#: What a row of span grows by: the graph of its level.
_SPAN_BYTES = 4
#: What a launch takes as a row, with its index (measured: 78 bytes).
_LAUNCH_BYTES = 120
#: Texts of measurements about the place of launches without a row, before and after.
_OLD_RULE = ". Launches without a row are in launch_block"
_NEW_RULE = ". Launches without spans have a row, or are counted in launch_bin"
_BLOBS = (
    "host_start", "host_duration", "event_duration", "gpu_start", "gpu_duration", "thread_id",
    "stream_id", "node_level",
)  # fmt: skip
_LAUNCH_COLUMNS = (
    "launch_id", "run_id", "graph_id", "graph_exec_id", "side", "ordinal", "host_start_ns",
    "host_end_ns", "thread_id", "stream_id", "correlation_id", "node_level", "gpu_start_ns",
    "gpu_end_ns", "event_duration_ns", "span_count", "ambiguous_count", "node_method",
)  # fmt: skip


def added_bytes(old: OldTables) -> int:
    """Return about how much larger this step makes a recording."""
    launches = _block_launches(old) if old.has("launch_block") else 0
    return _SPAN_BYTES * old.count("span") + _LAUNCH_BYTES * launches


def upgrade(old: OldTables) -> None:
    """Put tables as schema 4 has them in the place of those of schema 3."""
    _key_nodes(old)
    if old.has("launch_block"):
        _unpack_launches(old)
        _correct_measurements(old)


# -- nodes -------------------------------------------------------------------------------


def _key_nodes(old: OldTables) -> None:
    node, graph, launch = old.place("node"), old.place("graph"), old.place("launch")
    old.make("TABLE", "old_parent", f"AS SELECT graph_id, parent_graph_id FROM {graph}")
    old.database.execute("CREATE INDEX temp.old_child ON old_parent (parent_graph_id)")
    key = old.make(
        "TABLE",
        "old_node_key",
        "(top_id, exec_node_id, graph_id, node_id, PRIMARY KEY (top_id, exec_node_id)) "
        "WITHOUT ROWID",
    )
    # Executables of one graph may each have had a body that was known from records only, with
    # nodes of the same ids: the first of them stands for all, as readers had it.
    old.database.execute(
        "WITH RECURSIVE level(top_id, graph_id, depth) AS ("
        "SELECT graph_id, graph_id, 0 FROM temp.old_parent WHERE parent_graph_id IS NULL UNION "
        "SELECT top_id, inner_graph.graph_id, depth + 1 FROM level JOIN temp.old_parent "
        "AS inner_graph ON inner_graph.parent_graph_id = level.graph_id) "
        f"INSERT OR IGNORE INTO {key} SELECT top_id, exec_node_id, graph_id, node_id "
        f"FROM level JOIN {node} USING (graph_id) WHERE exec_node_id IS NOT NULL "
        "ORDER BY depth, graph_id, node_id"
    )
    span, statistics = old.place("span"), old.place("node_statistics")
    # A node that the recording does not have gets a negative id, which no row of node has.
    spans = old.make(
        "VIEW",
        "old_span",
        "AS SELECT span.launch_id, coalesce(key.graph_id, launch.graph_id, 0) AS graph_id, "
        "coalesce(key.node_id, -1 - span.node_id) AS node_id, "
        "span.iteration, span.start_ns, span.duration_ns, span.stream_id "
        f"FROM {span} AS span LEFT JOIN {launch} AS launch USING (launch_id) "
        f"LEFT JOIN {key} AS key "
        "ON key.top_id = launch.graph_id AND key.exec_node_id = span.node_id",
    )
    rest = ", ".join(
        f"old.{name}" for name in sorted(old.columns("node_statistics") - {"graph_id", "node_id"})
    )
    keyed = old.make(
        "VIEW",
        "old_statistics",
        "AS SELECT coalesce(key.graph_id, old.graph_id) AS graph_id, "
        f"coalesce(key.node_id, -1 - old.node_id) AS node_id, {rest} "
        f"FROM {statistics} AS old LEFT JOIN {key} AS key "
        "ON key.top_id = old.graph_id AND key.exec_node_id = old.node_id",
    )
    old.replace("span", spans, old.count("span"))
    old.replace("node_statistics", keyed, old.count("node_statistics"))


# -- launches ----------------------------------------------------------------------------


def _block_launches(old: OldTables) -> int:
    found = old.database.execute(f"SELECT total(count) FROM {old.place('launch_block')}").fetchone()
    return int(found[0])


def _unpack_launches(old: OldTables) -> None:
    had = old.columns("launch")
    columns = [name for name in _LAUNCH_COLUMNS if name in had]
    place = old.make("TABLE", "old_block_launch", f"({', '.join(columns)})")
    (following,) = old.database.execute(
        f"SELECT coalesce(max(launch_id), 0) + 1 FROM {old.place('launch')}"
    ).fetchone()
    graphs = old.database.execute(
        "SELECT DISTINCT graph_id, run_id FROM "
        f"{old.place('launch_block')} JOIN {old.place('graph_exec')} USING (graph_exec_id) "
        "ORDER BY graph_id"
    ).fetchall()
    marks = ", ".join(f":{name}" for name in columns)
    for graph_id, run_id in graphs:
        common = {
            "run_id": run_id, "graph_id": graph_id, "side": "graph", "correlation_id": None,
            "span_count": 0, "ambiguous_count": 0,
        }  # fmt: skip
        for values in _launches_of(old, graph_id):
            row = common | values | {"launch_id": following}
            old.database.execute(f"INSERT INTO {place} VALUES ({marks})", row)
            following += 1
    chosen = ", ".join(columns)
    both = old.make(
        "VIEW",
        "old_launch",
        f"AS SELECT {chosen} FROM {old.place('launch')} UNION ALL SELECT {chosen} FROM {place}",
    )
    old.replace("launch", both, old.count("launch") + _block_launches(old))


def _correct_measurements(old: OldTables) -> None:
    """Say of long runs how many launches have no row now, and where the others are."""
    had = old.place("measurement")
    place = old.make("TABLE", "old_measurement", f"AS SELECT * FROM {had}")
    old.database.execute(
        f"UPDATE {place} AS own SET value = value - (SELECT total(count) FROM "
        f"{old.place('launch_block')} JOIN {old.place('graph_exec')} AS made USING (graph_exec_id) "
        "WHERE made.run_id = own.run_id) WHERE name = 'launches_without_row'"
    )
    old.database.execute(f"DELETE FROM {place} WHERE name = 'launches_without_row' AND value <= 0")
    old.database.execute(
        f"UPDATE {place} SET method = substr(method, 1, instr(method, :old) - 1) || :new "
        "WHERE instr(method, :old) > 0",
        {"old": _OLD_RULE, "new": _NEW_RULE},
    )
    (count,) = old.database.execute(f"SELECT count(*) FROM {place}").fetchone()
    old.replace("measurement", place, count)


def _launches_of(old: OldTables, graph_id: int) -> Iterator[dict[str, int | str | None]]:
    """Yield the launches in the blocks of a graph in time order, as columns of launch."""
    import numpy as np

    parts = [np.zeros((1 + len(_BLOBS), 0), np.int64)]
    for exec_id, count, *blobs in old.database.execute(
        f"SELECT graph_exec_id, count, {', '.join(_BLOBS)} FROM {old.place('launch_block')} "
        f"JOIN {old.place('graph_exec')} USING (graph_exec_id) WHERE graph_id=? "
        "ORDER BY graph_exec_id, block",
        (graph_id,),
    ):
        stored = [decode(blob) for blob in blobs]
        if {len(values) for values in stored} != {count}:
            raise DamagedError(f"a block of {count!r:.20} launches holds others")
        parts.append(np.stack((np.full(count, exec_id, np.int64), *stored)))
    table = np.concatenate(parts, axis=1)
    table = table[:, np.argsort(table[1], kind="stable")]
    ordinals = _ordinals(old, graph_id, table[1])
    for ordinal, values in zip(ordinals.tolist(), table.T.tolist(), strict=True):
        exec_id, start, took, event_ns, gpu_start, gpu_ns, thread_id, stream_id, level = values
        timed = gpu_ns >= 0
        yield {
            "graph_exec_id": exec_id,
            "ordinal": ordinal,
            "host_start_ns": start,
            "host_end_ns": start + took,
            "thread_id": thread_id,
            "stream_id": None if stream_id < 0 else stream_id,
            "node_level": level,
            "gpu_start_ns": start + gpu_start if timed else None,
            "gpu_end_ns": start + gpu_start + gpu_ns if timed else None,
            "event_duration_ns": None if event_ns < 0 else event_ns,
            "node_method": "cupti" if timed else None,
        }


def _ordinals(old: OldTables, graph_id: int, starts: IntArray) -> IntArray:
    """Return the places of launches (by start) among all of their graph.

    Rows of launch have theirs: the launches of blocks that were called before them, and the bins
    that began before them, are counted in.
    """
    import numpy as np

    rows = old.database.execute(
        f"SELECT host_start_ns FROM {old.place('launch')} "
        "WHERE graph_id=? AND side='graph' AND host_start_ns IS NOT NULL ORDER BY host_start_ns",
        (graph_id,),
    )
    called = np.array([start for (start,) in rows], np.int64)
    found = np.arange(len(starts)) + np.searchsorted(called, starts, "right")
    bins = old.database.execute(
        f"SELECT start_ns, sum(count) FROM {old.place('launch_bin')} "
        f"JOIN {old.place('graph_exec')} USING (graph_exec_id) "
        "WHERE graph_id=? AND measure='host' GROUP BY start_ns",
        (graph_id,),
    )
    for start, count in bins:
        found[starts > start] += count
    return found
