"""SQLite exports of Nsight Systems, read by plain SQL."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from oracle.raw import Call, Raw, Work

_KINDS = {
    "CUPTI_ACTIVITY_KIND_KERNEL": "kernel",
    "CUPTI_ACTIVITY_KIND_MEMCPY": "memcpy",
    "CUPTI_ACTIVITY_KIND_MEMSET": "memset",
}
_NODE_BITS = 32


def read_nsys(path: Path) -> Raw:
    """Return the work and the graph launches of an export of one process."""
    raw = Raw()
    with closing(sqlite3.connect(path)) as database:
        (base,) = database.execute(
            "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME"
        ).fetchone()
        texts = dict(database.execute("SELECT id, value FROM StringIds"))
        tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master")}
        for table, kind in _KINDS.items():
            if table not in tables:
                continue
            name = "demangledName" if kind == "kernel" else "NULL"
            for text, start, end, device, stream, correlation, number in database.execute(
                f"SELECT {name}, start, end, deviceId, streamId, correlationId, graphNodeId "
                f"FROM {table}"
            ):
                raw.work.append(
                    Work(
                        kind=kind,
                        name=texts[text] if kind == "kernel" else "",
                        start_ns=base + start,
                        end_ns=base + end,
                        device=device,
                        stream=stream,
                        correlation=correlation or 0,
                        node=(number >> _NODE_BITS, number & (1 << _NODE_BITS) - 1)
                        if number
                        else None,
                    )
                )
        if "CUPTI_ACTIVITY_KIND_RUNTIME" in tables:
            for start, end, correlation, number in database.execute(
                "SELECT start, end, correlationId, nameId FROM CUPTI_ACTIVITY_KIND_RUNTIME"
            ):
                if "GraphLaunch" in texts[number]:
                    raw.launches.append(Call(correlation, base + start, base + end))
    return raw
