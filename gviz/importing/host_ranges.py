"""Ranges of the host, nested thread by thread."""

from __future__ import annotations

import bisect
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


class OpenPaths:
    """Which path was open on a thread at a moment.

    Parameters
    ----------
    ranges
        Ranges by start, each with the index of its path.
    first_path
        Id of the path of index 0.
    """

    def __init__(self, ranges: Sequence[tuple[HostRange, int]], first_path: int) -> None:
        self._first_path = first_path
        #: By thread: moments at which the innermost open path changes, and which it is then.
        self._changes: dict[int, tuple[list[int], list[int | None]]] = {}
        open_ranges: dict[int, list[tuple[int, int]]] = {}
        for entry, path in ranges:
            moments, paths = self._changes.setdefault(entry.thread_id, ([], []))
            stack = open_ranges.setdefault(entry.thread_id, [])
            _close(stack, entry.start_ns, moments, paths)
            stack.append((entry.end_ns, path))
            moments.append(entry.start_ns)
            paths.append(path)
        for thread_id, stack in open_ranges.items():
            _close(stack, None, *self._changes[thread_id])

    def path_at(self, thread_id: int, time_ns: int) -> int | None:
        """Return the id of the path that was open on a thread; None: none was."""
        moments, paths = self._changes.get(thread_id, ((), ()))
        at = bisect.bisect_right(moments, time_ns) - 1
        path = paths[at] if at >= 0 else None
        return None if path is None else self._first_path + path


def _close(
    stack: list[tuple[int, int]],
    until_ns: int | None,
    moments: list[int],
    paths: list[int | None],
) -> None:
    """Close the ranges that end until a moment, all of them without one."""
    while stack and (until_ns is None or stack[-1][0] <= until_ns):
        end, _ = stack.pop()
        # One that ends after its parent ends with it, see nest_ranges.
        moments.append(max(end, moments[-1]))
        paths.append(stack[-1][1] if stack else None)


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
