"""Python stacks as columns: frames, and their locations with the text of the line.

Lines are read while folding: reading them in the watched process would slow it.
"""

from __future__ import annotations

import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gviz.recording import rows
from gviz.runs import Rows, blank_rows, integers


def fold_stacks(
    stacks: Mapping[int, Sequence[Sequence[Any]]], last_moment_ns: int
) -> tuple[Rows, Rows]:
    """Return columns of rows.StackFrame, and of rows.Location: equal frames have one.

    Parameters
    ----------
    stacks
        By number, frames from the innermost: file, line, function and the line's text or None.
    last_moment_ns
        As of :class:`SourceLines`.
    """
    numbers: dict[tuple[Any, ...], int] = {}
    location_id = integers(
        numbers.setdefault(tuple(frame), len(numbers) + 1)
        for frames in stacks.values()
        for frame in frames
    )
    depths = [len(frames) for frames in stacks.values()]
    found = blank_rows(
        rows.StackFrame,
        len(location_id),
        stack_id=np.repeat(integers(stacks), depths),
        depth=np.concatenate([np.arange(0), *map(np.arange, depths)]),
        location_id=location_id,
    )
    sources = SourceLines(last_moment_ns)
    locations = blank_rows(
        rows.Location,
        len(numbers),
        location_id=np.arange(1, len(numbers) + 1),
        file=[file for file, *_ in numbers],
        line=integers(line for _, line, *_ in numbers),
        function=[function for _, _, function, _ in numbers],
        source=[source or sources.line(file, line) for file, line, _, source in numbers],
    )
    return found, locations


class SourceLines:
    """Lines of Python files as they were when the program ran.

    Parameters
    ----------
    last_moment_ns
        A file changed after this time (nanoseconds since the epoch) may read differently from
        what ran: its lines are not given.
    """

    def __init__(self, last_moment_ns: int) -> None:
        self._last_moment_ns = last_moment_ns
        self._files: dict[str, list[str]] = {}

    def line(self, file: str, number: int) -> str | None:
        """Return a line without its indentation, or None where it cannot be known."""
        if file not in self._files:
            self._files[file] = self._read(Path(file))
        lines = self._files[file]
        return lines[number - 1].strip() or None if 0 < number <= len(lines) else None

    def _read(self, path: Path) -> list[str]:
        try:
            found = path.stat()
            # A program may be read from a pipe, as of a shell's <(...).
            if not stat.S_ISREG(found.st_mode) or found.st_mtime_ns > self._last_moment_ns:
                return []
            return path.read_text("utf-8", "replace").splitlines()
        except OSError:
            return []
