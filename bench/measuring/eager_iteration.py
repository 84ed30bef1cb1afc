"""Longer eager iterations than the recordings of tests have."""

from __future__ import annotations

import sqlite3
from pathlib import Path


def lengthen_eager_iteration(path: Path, times: int) -> None:
    """Make an eager iteration so many times as long; the work added matches no node."""
    with sqlite3.connect(path) as db:
        names = [row[1] for row in db.execute("PRAGMA table_info(stream_operation)")]
        (count, length) = db.execute(
            "SELECT count(*), max(host_end_ns) - min(host_start_ns) FROM stream_operation"
        ).fetchone()
        changed = {name: f"{name} + n * {length}" for name in names if name.endswith("start_ns")}
        changed |= {"host_end_ns": f"host_end_ns + n * {length}", "node_id": "NULL"}
        changed["operation_id"] = f"operation_id + n * {count}"
        columns = ", ".join(changed.get(name, name) for name in names)
        db.execute(
            f"WITH RECURSIVE step(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM step "
            f"WHERE n < {times - 1}) INSERT INTO stream_operation SELECT {columns} "
            f"FROM stream_operation, step WHERE operation_id <= {count}"
        )
        db.execute(
            f"UPDATE launch SET span_count = span_count * {times}, "
            f"gpu_end_ns = gpu_end_ns + {(times - 1) * length} WHERE side = 'stream'"
        )
