"""A query in a process of its own, whose memory, files and time are bounded.

SQLite bounds a statement's time and the length of a value, not what it holds altogether: rows that
are sorted, joined or kept apart may fill memory, and then the disk.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gviz.dataclass import dataclass
from gviz.errors import GvizError, UsageError
from gviz.system import own_command, own_environment
from gviz.text import marked_data

#: Limits of a query: its time, the bytes that it may take beyond what Python does, those of a file
#: that it writes while it sorts, its rows, and the characters of a value.
SECONDS, MEMORY_BYTES, FILE_BYTES, MOST_ROWS, MOST_CHARACTERS = 10.0, 512 << 20, 64 << 20, 200, 200
#: The process may take so long to start and to end.
_AROUND_SECONDS = 20.0
#: SQLite's words for a limit of the process.
_FULL = ("disk I/O error", "disk is full", "out of memory")
_TOO_MUCH = "the query needs too much memory or room on the disk; ask for less"


@dataclass(frozen=True, slots=True)
class BoundedRows:
    """Rows as texts, cut where they are long."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    is_cut: bool


def query_bounded(path: Path, sql: str, seconds: float = SECONDS) -> BoundedRows:
    """Return the rows of one SELECT.

    Raises
    ------
    UsageError
        If it is no query, is wrong, or exceeds a limit.
    GvizError
        If the file cannot be read.
    """
    given = json.dumps({"path": str(path), "sql": sql, "seconds": seconds})
    try:
        done = subprocess.run(
            own_command("gviz.agents.bounded_query"),
            input=given.encode(),
            capture_output=True,
            env=own_environment(),
            timeout=seconds + _AROUND_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise UsageError(f"the query took longer than {seconds:g} s; ask for less") from error
    try:
        found: Mapping[str, Any] = json.loads(done.stdout)
    except ValueError as error:  # ended by a signal, or without memory to say why
        raise UsageError(_TOO_MUCH) from error
    if "refused" in found:
        raise UsageError(found["refused"])
    if "failed" in found:
        raise GvizError(found["failed"])
    return BoundedRows(found["columns"], found["rows"], found["is_cut"])


def _bound_memory() -> None:
    """Bound this process; where the system has no such limits, those of SQLite remain."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = pages * resource.getpagesize() + MEMORY_BYTES
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
    except (ImportError, OSError, ValueError):
        return


def cell_text(value: object) -> str:
    """Return a value of a row as text, cut where it is long; empty: NULL. Texts are marked."""
    if isinstance(value, str):
        return marked_data(value, MOST_CHARACTERS)
    found = value.hex() if isinstance(value, bytes) else "" if value is None else str(value)
    return found if len(found) <= MOST_CHARACTERS else f"{found[: MOST_CHARACTERS - 1]}…"


def _answer(given: Mapping[str, Any]) -> dict[str, object]:
    from gviz.recording import run_query

    _bound_memory()
    path, sql = Path(given["path"]), given["sql"]
    try:
        found = run_query(path, sql, most_rows=MOST_ROWS, seconds=given["seconds"])
        rows = [list(map(cell_text, row)) for row in found.rows]
    except UsageError as error:
        is_full = any(word in str(error) for word in _FULL)
        return {"refused": _TOO_MUCH if is_full else str(error)}
    except GvizError as error:
        return {"failed": str(error)}
    except (MemoryError, OSError):
        return {"refused": _TOO_MUCH}
    return {"columns": found.columns, "rows": rows, "is_cut": found.is_cut}


if __name__ == "__main__":
    print(json.dumps(_answer(json.load(sys.stdin))))
