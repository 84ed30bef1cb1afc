"""The numbers that rows get when a recording is written."""

from __future__ import annotations

from dataclasses import field

from gviz.dataclass import dataclass


@dataclass(slots=True)
class IdCounter:
    """Ids from 1, unique in a file, whatever runs it holds."""

    _next: dict[str, int] = field(default_factory=dict)

    def take(self, table: str, count: int = 1) -> int:
        """Return the first of ``count`` new ids of a table."""
        first = self._next.get(table, 1)
        self._next[table] = first + count
        return first
