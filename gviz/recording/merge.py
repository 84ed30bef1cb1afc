"""Merge recordings: the runs of several files in one."""

from __future__ import annotations

import os
import sqlite3
import urllib.parse
from collections.abc import Sequence
from pathlib import Path

from gviz.recording.table import Table, all_tables
from gviz.recording.writer import RecordingWriter

#: Columns that hold an id of another column's kind.
_KIND = {
    "parent_graph_id": "graph_id",
    "parent_id": "nvtx_path_id",
}
#: Ids that count within another row, or are CUDA's own: they stay as they are.
_KEPT = {"device_id", "window_id", "node_id", "parent_node_id", "exec_node_id", "process_id"}


def merge_recordings(
    sources: Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    overwrite: bool = False,
) -> Path:
    """Write the runs of several recordings, in their order, to one; return its path."""
    with RecordingWriter(output, overwrite=overwrite) as writer:
        shifts: dict[str, int] = {}
        for source in sources:
            uri = "file:" + urllib.parse.quote(str(Path(source).absolute())) + "?immutable=1"
            database = sqlite3.connect(uri, uri=True)
            try:
                shifts = _add(writer, database, shifts)
            finally:
                database.close()
    return Path(output)


def _ours() -> set[str]:
    keys = {t.primary_key[0] for t in all_tables() if t.primary_key}
    return keys - _KEPT


def _add(
    writer: RecordingWriter, database: sqlite3.Connection, shifts: dict[str, int]
) -> dict[str, int]:
    largest = dict(shifts)
    for table in all_tables():
        rows = database.execute(f"SELECT * FROM {table.name}").fetchall()
        kinds = _kinds(table)
        shifted = []
        for row in rows:
            values = list(row)
            for i, kind in enumerate(kinds):
                if kind is not None and values[i] is not None:
                    values[i] += shifts.get(kind, 0)
                    largest[kind] = max(largest.get(kind, 0), values[i])
            shifted.append(values)
        writer.insert_tuples(table.row, shifted)
    return largest


def _kinds(table: Table) -> list[str | None]:
    ours = _ours()
    names = [_KIND.get(c.name, c.name) for c in table.columns]
    return [name if name in ours else None for name in names]
