"""The sides of a timeline as arrays, whole or as a window of them, and the payload they make."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gviz.app.views.labels import labels_of
from gviz.app.views.timeline.timeline_window import (
    Part,
    ViewWindow,
    Whole,
    join_parts,
    thin,
    thin_calls,
    thin_gaps,
)
from gviz.app.views.wire import Arrays, Strings, pack
from gviz.stats import IntArray

#: Up to so many spans a timeline is sent whole, about 4 MB; more only for the window shown.
SENT_WHOLE = 100_000


def is_sent_whole(span_count: int) -> bool:
    """Return whether a timeline of so many spans is sent whole."""
    return span_count <= SENT_WHOLE


class SideArrays(NamedTuple):
    """One side of the timeline, with the strings that its arrays number.

    ``arrays`` are those of one launch; of stacked launches the spans are in ``rows`` instead.
    """

    name: str
    header: dict[str, Any] | None
    arrays: Arrays
    strings: list[str]
    rows: Sequence[Part] | None = None

    def after(self, count: int) -> SideArrays:
        """Return the side with its strings behind so many others."""
        by = {n: a + count if n.endswith("_name") else a for n, a in self.arrays.items()}
        return self._replace(arrays=by)

    def parts(self) -> Sequence[Part]:
        """Return the spans."""
        return [Whole(self.name, self.arrays)] if self.rows is None else self.rows

    def whole(self) -> Arrays:
        """Return the payload's arrays of all spans, gaps and calls."""
        return self.arrays if self.rows is None else join_parts(self.rows)


def read_arrays(
    name: str, side: Callable[[Strings], tuple[dict[str, Any] | None, Arrays]]
) -> SideArrays:
    """Return a side from what reads its header and arrays."""
    strings = Strings()
    header, arrays = side(strings)
    return SideArrays(name, header, arrays, strings.to_list())


def nested_arrays(*trees: tuple[IntArray, npt.NDArray[Any]]) -> Arrays:
    """Return which nodes are nested in which, of trees by their parents and nodes' numbers.

    A number that several trees have is there once, in what the last of them says it is in.
    """
    inner = [(numbers, parents, np.flatnonzero(parents >= 0)) for parents, numbers in trees]
    node = np.concatenate([numbers[at] for numbers, _, at in inner])
    if not len(node):
        return {}
    parent = np.concatenate([numbers[parents[at]] for numbers, parents, at in inner])
    last = np.sort(len(node) - 1 - np.unique(node[::-1], return_index=True)[1])
    return {
        "nested_node": node[last].astype(np.uint32),
        "nested_parent": parent[last].astype(np.uint32),
    }


def pack_sides(
    header: Mapping[str, Any],
    sides: Mapping[str, SideArrays],
    window: ViewWindow,
    nested: Arrays,
    *,
    whole: bool = False,
) -> bytes:
    """Return the payload of a timeline.

    Parameters
    ----------
    header
        Its fields beside the strings, which those of the sides make up in order.
    sides
        By name; strings of later ones are numbered behind those before (:meth:`SideArrays.after`).
    window
        What is sent where there are more spans than :data:`SENT_WHOLE`.
    nested
        ``nested_node`` and ``nested_parent``, if there are any.
    whole
        Send all spans, however many.
    """
    found = dict(header)
    strings = [text for side in sides.values() for text in side.strings]
    if whole or is_sent_whole(sum(s.header["count"] for s in sides.values() if s.header)):
        arrays = {name: array for s in sides.values() for name, array in s.whole().items()}
    else:
        arrays, found["detail"] = _thinned(sides, window, strings)
    names = [arrays[name] for side in sides if (name := f"{side}_name") in arrays]
    labels = labels_of(strings, names)
    return pack({**found, "strings": strings, "labels": labels}, arrays | nested)


def _thinned(
    sides: Mapping[str, SideArrays], window: ViewWindow, strings: list[str]
) -> tuple[Arrays, dict[str, Any]]:
    """Return the arrays of a window and its fields of the header; adds strings of calls."""
    shown = {name: side for name, side in sides.items() if side.header}
    total = max(side.header["total_ns"] for side in shown.values() if side.header)
    arrays: Arrays = {}
    buckets = {}
    for name, side in shown.items():
        arrays |= thin_calls(name, side.arrays, window, total, strings)
        spans, buckets[name] = thin(name, side.parts(), window, total)
        arrays |= spans | thin_gaps(name, side.arrays, window, total, buckets[name])
    begin, finish = window.ends(total)
    return arrays, {
        "from_ns": begin,
        "to_ns": finish,
        "bucket_ns": buckets,
        "rows": [window.first_row, window.last_row],
    }
