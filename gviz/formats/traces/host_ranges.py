"""Ranges of the host as paths: stacks of open ranges, thread by thread."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from gviz.dataclass import dataclass
from gviz.model import enclosing
from gviz.stats import IntArray


@dataclass(frozen=True, slots=True)
class Nested:
    """Ranges by start, and the paths that they open.

    Attributes
    ----------
    ranges
        Of dtype RANGE.
    path
        Index of each range's path.
    path_parent, path_name
        Of each path: index of the path without its innermost range (-1: none), and the name
        of that range.
    """

    ranges: npt.NDArray[np.void]
    path: IntArray
    path_parent: list[int]
    path_name: list[int]

    def outermost(self) -> dict[int, int]:
        """Return the paths that nothing is around, by the number of their name."""
        pairs = enumerate(zip(self.path_parent, self.path_name, strict=True))
        return {name: path for path, (parent, name) in pairs if parent < 0}


def nest_ranges(ranges: npt.NDArray[np.void], alone: Iterable[int] = ()) -> Nested:
    """Return ranges of any order (dtype RANGE) with their paths, see :func:`enclosing`.

    Names in ``alone`` have a path of their own in any case, which nothing is around.
    """
    ranges = ranges.take(np.lexsort((-ranges["end_ns"], ranges["start_ns"])))
    around = enclosing(ranges["thread_id"], ranges["start_ns"], ranges["end_ns"])
    numbers: dict[tuple[int, int], int] = {}
    path: list[int] = []
    for parent, name in zip(around.tolist(), ranges["name"].tolist(), strict=True):
        outer = path[parent] if parent >= 0 else -1
        path.append(numbers.setdefault((outer, name), len(numbers)))
    for name in alone:
        numbers.setdefault((-1, name), len(numbers))
    parents, names = [p for p, _ in numbers], [n for _, n in numbers]
    return Nested(ranges, np.array(path, np.int64), parents, names)
