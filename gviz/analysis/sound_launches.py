"""Launches as arrays, without times that step back: a long run has 100,000 of them."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np

from gviz.dataclass import dataclass
from gviz.recording import rows
from gviz.stats import BoolArray, IntArray

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gviz.recording import Recording

#: Stands for a number that is not recorded: no time of a recording is that early.
UNKNOWN = -(2**62)

_COLUMNS = (
    *("launch_id", "graph_id", "graph_exec_id", "ordinal", "stream_id", "node_level"),
    *("host_start_ns", "host_end_ns", "gpu_start_ns", "gpu_end_ns"),
)


@dataclass(frozen=True, slots=True)
class SoundLaunches:
    """Graph launches that have a row: int64 arrays of one length; UNKNOWN where NULL.

    Attributes
    ----------
    launch_id, graph_id, graph_exec_id, ordinal, stream_id, node_level
        As in table launch.
    host_start_ns, host_end_ns, gpu_start_ns, gpu_end_ns
        Likewise; both UNKNOWN where the end lies before the start.
    backward_calls, backward_spans
        Launches whose times of the call, and whose times on the GPU, were left out for that.
    """

    launch_id: IntArray
    graph_id: IntArray
    graph_exec_id: IntArray
    ordinal: IntArray
    stream_id: IntArray
    node_level: IntArray
    host_start_ns: IntArray
    host_end_ns: IntArray
    gpu_start_ns: IntArray
    gpu_end_ns: IntArray
    backward_calls: int = 0
    backward_spans: int = 0

    def __len__(self) -> int:
        return len(self.launch_id)

    @property
    def has_call(self) -> BoolArray:
        """True where both times of the call are known."""
        known: BoolArray = (self.host_start_ns != UNKNOWN) & (self.host_end_ns != UNKNOWN)
        return known

    @property
    def call_ns(self) -> IntArray:
        """Host time of each call; UNKNOWN where one of its times is."""
        return np.where(self.has_call, self.host_end_ns - self.host_start_ns, UNKNOWN)

    @property
    def early_count(self) -> int:
        """Launches whose first node starts before the call was entered."""
        known = (self.host_start_ns != UNKNOWN) & (self.gpu_start_ns != UNKNOWN)
        return int((known & (self.gpu_start_ns < self.host_start_ns)).sum())

    def one_before(self) -> IntArray:
        """Return the place of the launch before each on its stream; -1: it is the first."""
        order = np.argsort(self.stream_id, kind="stable")
        same = self.stream_id[order[1:]] == self.stream_id[order[:-1]]
        before = np.full(len(self), -1, np.int64)
        before[order[1:][same]] = order[:-1][same]
        return before

    def take(self, chosen: BoolArray | IntArray) -> SoundLaunches:
        """Return some of them, in the order that they are chosen in."""
        columns = {f.name: getattr(self, f.name)[chosen] for f in fields(self)[:-2]}
        return SoundLaunches(**columns)


def read_sound_launches(recording: Recording, graph_id: int) -> SoundLaunches:
    """Return the launches of a graph that have a row, in time order."""
    key: dict[str, int | str] = {"graph_id": graph_id, "side": "graph"}
    found = recording.fetch_arrays(rows.Launch, key, _COLUMNS)
    order = np.argsort(found.integers("ordinal"), kind="stable")
    columns = {name: found.integers(name, UNKNOWN)[order] for name in _COLUMNS}
    return SoundLaunches(
        **columns,
        backward_calls=_leave_out(columns["host_start_ns"], columns["host_end_ns"]),
        backward_spans=_leave_out(columns["gpu_start_ns"], columns["gpu_end_ns"]),
    )


def join_launches(parts: Sequence[SoundLaunches]) -> SoundLaunches:
    """Return the launches of several graphs, one graph behind the other; at least one graph."""
    columns = {
        f.name: np.concatenate([getattr(part, f.name) for part in parts])
        for f in fields(SoundLaunches)[:-2]
    }
    return SoundLaunches(
        **columns,
        backward_calls=sum(part.backward_calls for part in parts),
        backward_spans=sum(part.backward_spans for part in parts),
    )


def _leave_out(start_ns: IntArray, end_ns: IntArray) -> int:
    """Make both times UNKNOWN where they step back; return how often they do."""
    backward = (end_ns != UNKNOWN) & (end_ns < start_ns)
    start_ns[backward] = end_ns[backward] = UNKNOWN
    return int(backward.sum())
