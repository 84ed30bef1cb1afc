"""Ranges of the host, nested thread by thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gviz.importing.trace import HostRange

#: Ranges nested deeper lie under the last that is kept.
_MOST_DEPTH = 100


@dataclass(frozen=True, slots=True)
class Path:
    """A stack of open ranges; ``parent``: index of the one without the innermost."""

    parent: int | None
    text: str


def nest_ranges(ranges: Sequence[HostRange]) -> tuple[list[Path], list[tuple[HostRange, int]]]:
    """Return the paths that ranges open, and the ranges by start with the index of their path.

    A range that begins in another one and ends after it is taken as inside it.
    """
    numbers: dict[tuple[int | None, str], int] = {}
    open_ranges: dict[int, list[tuple[int, int]]] = {}
    found = []
    for entry in sorted(ranges, key=lambda r: (r.start_ns, -r.end_ns)):
        stack = open_ranges.setdefault(entry.thread_id, [])
        while stack and stack[-1][0] <= entry.start_ns:
            stack.pop()
        del stack[_MOST_DEPTH:]
        parent = stack[-1][1] if stack else None
        path = numbers.setdefault((parent, entry.text), len(numbers))
        stack.append((entry.end_ns, path))
        found.append((entry, path))
    return [Path(parent, text) for parent, text in numbers], found
