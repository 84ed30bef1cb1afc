"""Source lines of stacks, read while folding: reading them in the watched process would slow it."""

from __future__ import annotations

from pathlib import Path


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
            if path.stat().st_mtime_ns > self._last_moment_ns:
                return []
            return path.read_text("utf-8", "replace").splitlines()
        except OSError:
            return []
