"""A part of the timeline at the resolution of a screen, where the whole would be too much."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from gviz.app.views.wire import Arrays
from gviz.dataclass import dataclass
from gviz.stats import FloatArray, MergedSpans, merge_gaps, merge_spans

#: Up to so many spans inside a window go as they are: about 1 MB.
EXACT_SPANS = 25_000
#: Pixels of a window that gives none: a pane on a common screen.
DEFAULT_WIDTH = 1_000
#: Rows of stacked launches in a window that gives none: more than are seen at first.
DEFAULT_ROWS = 48
#: Beyond what any recording has: a millennium, and a launch each nanosecond of two seconds.
_MOST_NS, _MOST_ROW = 3e19, 1 << 31


@dataclass(frozen=True, slots=True)
class ViewWindow:
    """The part that a view requests.

    Attributes
    ----------
    from_ns, to_ns
        On the timeline's axis; None: all of it.
    width
        Pixels over which that is drawn.
    first_row, last_row
        Rows of stacked launches, the last not included.
    node_ids
        Nodes whose spans are sent as they are, wherever in time: the selected ones.
    """

    from_ns: float | None = None
    to_ns: float | None = None
    width: int = DEFAULT_WIDTH
    first_row: int = 0
    last_row: int = DEFAULT_ROWS
    node_ids: tuple[int, ...] = ()

    def ends(self, total_ns: float) -> tuple[float, float]:
        """Return where it begins and ends on an axis of this length."""
        begin = 0.0 if self.from_ns is None else self.from_ns
        return begin, total_ns if self.to_ns is None else self.to_ns


def parse_window(fields: Mapping[str, str]) -> ViewWindow | None:
    """Return the window of ``from=&to=&width=&rows=A-B&node=N,N``; None where it is malformed."""
    try:
        first, _, last = fields.get("rows", f"0-{DEFAULT_ROWS}").partition("-")
        nodes = fields.get("node", "")
        found = ViewWindow(
            from_ns=float(fields["from"]),
            to_ns=float(fields["to"]),
            width=min(20_000, max(16, int(fields["width"]))),
            first_row=min(max(0, int(first)), _MOST_ROW),
            last_row=min(int(last), int(first) + 512, _MOST_ROW),
            node_ids=tuple(n for n in map(int, filter(None, nodes.split(","))) if 0 <= n < 1 << 32)[
                :100
            ],
        )
    except (KeyError, ValueError):
        return None
    assert found.from_ns is not None
    assert found.to_ns is not None
    # Not even NaN is less.
    return found if -_MOST_NS < found.from_ns <= found.to_ns < _MOST_NS else None


class Part(Protocol):
    """Some spans of a side, by start: all of them, or those of a launch among several."""

    @property
    def start_ns(self) -> FloatArray:
        """After the side's zero (float64)."""

    @property
    def duration_ns(self) -> npt.NDArray[Any]:
        """One a span."""

    @property
    def lane(self) -> npt.NDArray[Any]:
        """One a span."""

    def of_nodes(self, node_ids: Sequence[int]) -> npt.NDArray[np.bool_]:
        """Return which spans are of the nodes of these numbers."""

    def take(self, chosen: npt.NDArray[np.intp]) -> Arrays:
        """Return the payload's arrays of some spans."""


@dataclass(frozen=True, slots=True)
class Whole:
    """All spans of a side whose arrays are those of the payload."""

    side: str
    arrays: Arrays

    @property
    def start_ns(self) -> FloatArray:
        """After the side's zero (float64)."""
        return self.arrays[f"{self.side}_start_ns"].astype(np.float64, copy=False)

    @property
    def duration_ns(self) -> npt.NDArray[Any]:
        """One a span."""
        return self.arrays[f"{self.side}_duration_ns"]

    @property
    def lane(self) -> npt.NDArray[Any]:
        """One a span."""
        return self.arrays[f"{self.side}_lane"]

    def of_nodes(self, node_ids: Sequence[int]) -> npt.NDArray[np.bool_]:
        """Return which spans are of the nodes of these numbers."""
        return np.isin(self.arrays[f"{self.side}_node_id"], np.array(node_ids, np.uint32))

    def take(self, chosen: npt.NDArray[np.intp]) -> Arrays:
        """Return the payload's arrays of some spans."""
        columns = [n for n in self.arrays if _is_of_spans(self.side, n)]
        return {name: self.arrays[name][chosen] for name in columns}


def join_parts(parts: Sequence[Part]) -> Arrays:
    """Return the payload's arrays of all spans of parts, one part after the other."""
    found = [part.take(np.arange(len(part.start_ns))) for part in parts]
    return {name: np.concatenate([part[name] for part in found]) for name in found[0]}


def thin(
    side: str, parts: Sequence[Part], window: ViewWindow, total_ns: float
) -> tuple[Arrays, float]:
    """Return what a window needs of a side's spans, and its bucket (ns; 0: spans as they are).

    Spans shorter than a bucket are merged, those outside left out. ``_merged`` (spans behind an
    entry) and ``_slowest_ns`` (duration of the longest of them, whose name, node and type it
    carries) are added; ``_duration_ns`` is the extent.
    """
    begin, finish = window.ends(total_ns)
    kept = [_in_window(part, window, begin, finish) for part in parts]
    few = sum(map(_length, kept)) <= EXACT_SPANS
    bucket = 0.0 if few else max(0.0, (finish - begin) / window.width)
    thinned = [
        _merge(side, part, chosen, window.node_ids, bucket)
        for part, chosen in zip(parts, kept, strict=True)
    ]
    found = {name: np.concatenate([part[name] for part in thinned]) for name in thinned[0]}
    # Lanes are in order; the view expects order of start.
    order = np.argsort(found[f"{side}_start_ns"], kind="stable")
    return {name: array[order] for name, array in found.items()}, bucket


#: Some spans of a part: all of them, or their places.
_Chosen = slice | npt.NDArray[np.intp]


def _chosen(mask: npt.NDArray[np.bool_]) -> _Chosen:
    """Return what a mask chooses; all of a million are not copied."""
    return slice(0, len(mask)) if mask.all() else np.flatnonzero(mask)


def _in_window(part: Part, window: ViewWindow, begin: float, finish: float) -> _Chosen:
    start = part.start_ns
    inside = (start <= finish) & (start + part.duration_ns >= begin)
    if window.node_ids:
        inside |= part.of_nodes(window.node_ids)
    return _chosen(inside)


def _length(chosen: _Chosen) -> int:
    return chosen.stop if isinstance(chosen, slice) else len(chosen)


def _merge(side: str, part: Part, chosen: _Chosen, alone: Sequence[int], bucket: float) -> Arrays:
    """Return the arrays of some spans of a part, merged but for those of nodes ``alone``."""
    start = part.start_ns[chosen]
    end = start + part.duration_ns[chosen]
    single = part.of_nodes(alone)[chosen] if alone else np.zeros(len(start), bool)
    found = merge_spans(part.lane[chosen], start, end, bucket, single)
    at = found.slowest if isinstance(chosen, slice) else chosen[found.slowest]
    arrays = part.take(at)
    arrays[f"{side}_slowest_ns"] = arrays[f"{side}_duration_ns"]
    arrays[f"{side}_start_ns"] = found.start_ns
    arrays[f"{side}_duration_ns"] = (found.end_ns - found.start_ns).astype(np.float32)
    arrays[f"{side}_merged"] = found.count.astype(np.uint32)
    return arrays


def thin_gaps(
    side: str, arrays: Arrays, window: ViewWindow, total_ns: float, bucket: float
) -> Arrays:
    """Return the gaps of a window, those shorter than a bucket joined."""
    if f"{side}_gap_start_ns" not in arrays:
        return {}
    begin, finish = window.ends(total_ns)
    start, end = arrays[f"{side}_gap_start_ns"], arrays[f"{side}_gap_end_ns"]
    kept = _chosen((start <= finish) & (end >= begin))
    first, last = merge_gaps(start[kept], end[kept], bucket)
    return {f"{side}_gap_start_ns": first, f"{side}_gap_end_ns": last}


def thin_calls(
    side: str, arrays: Arrays, window: ViewWindow, total_ns: float, strings: list[str]
) -> Arrays:
    """Return the host's calls of a window, those of operations among them, merged; adds strings."""
    begin, finish = window.ends(total_ns)
    none = np.zeros(0)
    calls = arrays.get(f"{side}_call_name", none).astype(np.int64)
    operations = arrays.get(f"{side}_name", none)
    lasting = arrays.get(f"{side}_host_duration_ns", none)
    called = arrays.get(f"{side}_host_start_ns", none)
    starts = np.concatenate([arrays.get(f"{side}_call_start_ns", none), called])
    ends = np.concatenate([arrays.get(f"{side}_call_end_ns", none), called + lasting])
    # NaN, of operations whose call is not known, is in no window.
    kept = _chosen((starts <= finish) & (ends >= begin))
    starts, ends = starts[kept], ends[kept]
    bucket = 0.0 if len(starts) <= EXACT_SPANS else (finish - begin) / window.width
    is_call = np.zeros(len(calls) + len(called), bool)
    is_call[: len(calls)] = True
    found = merge_spans(np.zeros(len(starts), np.int8), starts, ends, bucket, is_call[kept])
    at = found.slowest if isinstance(kept, slice) else kept[found.slowest]
    names = np.empty(len(at), np.int64)
    names[is_call[at]] = calls[at[is_call[at]]]
    names[~is_call[at]] = -1 - operations[at[~is_call[at]] - len(calls)].astype(np.int64)
    return {
        f"{side}_call_start_ns": found.start_ns,
        f"{side}_call_end_ns": found.end_ns,
        f"{side}_call_name": _call_names(found, names, strings),
    }


def _call_names(
    found: MergedSpans, names: npt.NDArray[Any], strings: list[str]
) -> npt.NDArray[np.uint32]:
    """Return names as indices into ``strings``; merged calls have only their number.

    ``names`` are those of the longest of each group: of an operation -1 less its name.
    """
    index: dict[str, int] = {}
    indices = []
    for name, count in zip(names.tolist(), found.count.tolist(), strict=True):
        if name >= 0:
            indices.append(name)
            continue
        text = f"{count} launch calls" if count > 1 else f"launch of {strings[-1 - name]}"
        if text not in index:
            index[text] = len(strings)
            strings.append(text)
        indices.append(index[text])
    return np.array(indices, np.uint32)


def _is_of_spans(side: str, name: str) -> bool:
    others = (f"{side}_gap_", f"{side}_call_", f"{side}_host_")
    return name.startswith(f"{side}_") and not name.startswith(others)
