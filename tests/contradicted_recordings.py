"""Recordings of a real GPU whose times contradict themselves, because a test made them so."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path


def exchange_times(
    source: Path, target: Path, *, graph_id: int = 1, launches: int | None = None
) -> Path:
    """Write a recording in which nodes of one name have each other's times.

    The node that is made first has the times of the one made last, and so on: what a match by
    names, without regard to dependencies, can give.

    Parameters
    ----------
    launches
        Of so many launches with node times alone, the last; None: of all.
    """
    shutil.copyfile(source, target)
    with closing(sqlite3.connect(target)) as database, database:
        nodes = database.execute(
            "SELECT name, node_id FROM node WHERE graph_id = ? AND not_timed_reason IS NULL "
            "ORDER BY name, node_id", (graph_id,),
        ).fetchall()  # fmt: skip
        by_name: dict[str, list[int]] = {}
        for name, node_id in nodes:
            by_name.setdefault(name, []).append(node_id)
        swapped = {
            old: new
            for ids in by_name.values()
            for old, new in zip(ids, reversed(ids), strict=True)
        }
        _renumber(database, graph_id, swapped, launches)
        if launches is None:
            _exchange_statistics(database, graph_id, swapped)
    return target


def _renumber(
    database: sqlite3.Connection, graph_id: int, nodes: Mapping[int, int], launches: int | None
) -> None:
    chosen = database.execute(
        "SELECT launch_id FROM launch WHERE graph_id = ? AND span_count > 0 "
        "ORDER BY ordinal DESC LIMIT ?", (graph_id, -1 if launches is None else launches),
    ).fetchall()  # fmt: skip
    for (launch_id,) in chosen:
        key = (launch_id, graph_id)
        # First out of the way of each other.
        database.executemany(
            "UPDATE span SET node_id = -1 - ? WHERE launch_id = ? AND graph_id = ? AND node_id = ?",
            [(new, *key, old) for old, new in nodes.items()],
        )
        database.execute(
            "UPDATE span SET node_id = -1 - node_id "
            "WHERE launch_id = ? AND graph_id = ? AND node_id < 0", key,
        )  # fmt: skip


def _exchange_statistics(
    database: sqlite3.Connection, graph_id: int, nodes: Mapping[int, int]
) -> None:
    database.executemany(
        "UPDATE node_statistics SET node_id = -1 - ? WHERE graph_id = ? AND node_id = ?",
        [(new, graph_id, old) for old, new in nodes.items()],
    )
    database.execute(
        "UPDATE node_statistics SET node_id = -1 - node_id WHERE graph_id = ? AND node_id < 0",
        (graph_id,),
    )


def start_early(source: Path, target: Path, node_id: int, by_ns: int) -> Path:
    """Write a recording in which a node starts so much earlier, and takes as much longer."""
    shutil.copyfile(source, target)
    with closing(sqlite3.connect(target)) as database, database:
        database.execute(
            "UPDATE span SET start_ns = start_ns - ?, duration_ns = duration_ns + ? "
            "WHERE graph_id = 1 AND node_id = ?", (by_ns, by_ns, node_id),
        )  # fmt: skip
    return target
