"""Graph launches as they come: rows with spans, rows without, and bins for those after."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gviz.spool.records import PackedRecords, table
from gviz.spool.records import format as f
from gviz.spool.streams.launch_bins import LaunchBins
from gviz.spool.streams.passed_launches import PassedLaunches
from gviz.spool.streams.retention import Retention, RowChoice
from gviz.stats import IntArray, distinct_values

#: A launch without spans. -1: not known; gpu times 0 likewise.
LAUNCH = np.dtype(
    [
        ("exec_id", "<i8"), ("correlation", "<i8"), ("host_start_ns", "<i8"),
        ("host_duration_ns", "<i8"), ("event_duration_ns", "<i8"), ("gpu_start_ns", "<i8"),
        ("gpu_end_ns", "<i8"), ("thread_id", "<i8"), ("stream_id", "<i8"), ("node_level", "<i8"),
    ]
)  # fmt: skip
#: Calls taken in before they are looked at.
_BATCH = 8_192
#: Event times that never come (the events were lost) are waited for so long.
_MOST_PENDING = 100_000


class _Awaited(NamedTuple):
    """A launch without spans whose time between events is still to come."""

    block: int
    place: int
    exec_id: int
    node_level: int
    start_ns: int


class LaunchStream:
    """Takes LAUNCH and LAUNCH_TIME records in; holds what is kept of them.

    Attributes
    ----------
    rows
        LAUNCH records of launches whose spans are rows; failed calls have none.
    row_times
        By token, GPU time between events of these (ns).
    plain
        Launches that have a row without spans, in order of arrival (dtype LAUNCH); complete once
        :meth:`finish` was called.
    bins
        Launches after those.
    counts
        Launches without spans, by executable.
    last_call_ns, last_gpu_ns
        The latest end of a call, and of a node of a launch without spans.
    bounds
        By executable, host start of its first and of its last launch.
    passed
        Launches of which only the number is known.
    streamed_from
        By executable, host start of its first launch that is recorded but has no spans.
    """

    def __init__(self, limits: Retention, timed_nodes: Callable[[int], int]) -> None:
        self.limits = limits
        self.rows = PackedRecords(table.LAUNCH)
        self.row_times: dict[int, int] = {}
        self.plain = np.zeros(0, LAUNCH)
        self.bins = LaunchBins()
        self.counts: Counter[int] = Counter()
        self.passed = PassedLaunches()
        self.without_nodes: Counter[int] = Counter()
        self.streamed_from: dict[int, int] = {}
        self.bounds: dict[int, tuple[int, int]] = {}
        self.last_call_ns = 0
        self.last_gpu_ns = 0
        self._choice = RowChoice(limits, timed_nodes)
        self._calls = bytearray()
        self._times: list[tuple[int, int]] = []
        self._row_tokens: set[int] = set()
        self._pending: dict[int, _Awaited] = {}
        self._early: dict[int, int] = {}
        self._open: deque[npt.NDArray[np.void]] = deque()
        self._fill = 0  # launches in the last open block
        self._sealed = 0  # blocks no longer open
        self._kept: list[npt.NDArray[np.void]] = []  # of sealed blocks, what has a row
        self._plain_count = 0  # launches, from the first block's first, that have a row
        self._keys: tuple[IntArray, IntArray] | None = None

    def __len__(self) -> int:
        return len(self.rows) + self.counts.total()

    # -- taking in -------------------------------------------------------------------------

    def add(self, payload: bytes) -> None:
        """Take the payload of a LAUNCH record in."""
        if len(payload) != table.LAUNCH.size:
            raise ValueError(f"a launch of {len(payload)} bytes")
        self._calls += payload
        if len(self._calls) >= _BATCH * table.LAUNCH.size:
            self.settle()

    def add_time(self, token: int, duration_ns: int) -> None:
        """Take the GPU time between the events around a launch in."""
        self._times.append((token, duration_ns))
        if len(self._times) >= _BATCH:
            self.settle()

    def add_passed(self, exec_id: int, count: int, to_ns: int) -> None:
        """Take the number of launches in that were not recorded, none later than ``to_ns``."""
        self.passed.add(exec_id, count, to_ns)
        self.bins.count(exec_id, count, to_ns)

    def settle(self) -> None:
        """Sort everything taken in so far."""
        if self._calls:
            calls = np.frombuffer(bytes(self._calls), table.LAUNCH.dtype)
            self._calls.clear()
            self._take(calls[(calls["result"] == 0) & (calls["exec_id"] != 0)])
        times, self._times = self._times, []
        for token, duration in times:
            self._give_time(token, duration)

    @property
    def overfull(self) -> bool:
        """Return whether blocks are to be sealed, once the records that came so far are sorted."""
        return len(self._open) > self.limits.open_blocks

    def seal(self) -> None:
        """Seal the oldest blocks: their launches become rows, or are binned."""
        while self.overfull:
            self._seal()

    def finish(self) -> None:
        """Seal all that is open; nothing may be taken in any more."""
        self.settle()
        while self._open:
            self._seal()
        self.plain = np.concatenate([self.plain, *self._kept])
        self._kept.clear()

    def _take(self, calls: npt.NDArray[np.void]) -> None:
        if not len(calls):
            return
        self._keys = None
        self.last_call_ns = max(self.last_call_ns, int(calls["end_ns"].max()))
        recorded = (calls["flags"] & f.LAUNCH_NODE_LEVEL) != 0
        exec_id = calls["exec_id"].astype(np.int64)
        self._widen(exec_id, calls["start_ns"].astype(np.int64))
        row = self._choice.choose(exec_id, recorded)
        room = max(0, self.limits.row_launches - len(self))
        self._plain_count += int((~row[:room]).sum())
        self.rows.extend(calls[row])
        tokens = calls["token"][row]
        for token in tokens[tokens != 0].tolist():
            self._row_tokens.add(token)
            if token in self._early:
                self.row_times[token] = self._early.pop(token)
        self._take_columns(calls[~row], recorded[~row])

    def _widen(self, exec_id: IntArray, start_ns: IntArray) -> None:
        """Note the first and the last of each executable's calls."""
        order = np.lexsort((start_ns, exec_id))
        execs, first = np.unique(exec_id[order], return_index=True)
        last = np.append(first[1:], len(order)) - 1
        starts = start_ns[order]
        for key, least, most in zip(
            execs.tolist(), starts[first].tolist(), starts[last].tolist(), strict=True
        ):
            known = self.bounds.get(key, (least, most))
            self.bounds[key] = (min(known[0], least), max(known[1], most))

    def _take_columns(self, calls: npt.NDArray[np.void], recorded: npt.NDArray[np.bool_]) -> None:
        found = np.zeros(len(calls), LAUNCH)
        for name in ("exec_id", "correlation", "thread_id", "stream_id"):
            found[name] = calls[name]
        found["stream_id"][calls["stream_id"] == f.NO_STREAM] = -1
        found["host_start_ns"] = calls["start_ns"]
        found["host_duration_ns"] = calls["end_ns"].astype(np.int64) - calls["start_ns"].astype(
            np.int64
        )
        found["event_duration_ns"] = -1
        found["node_level"] = recorded
        execs, counts = np.unique(found["exec_id"], return_counts=True)
        self.counts.update(dict(zip(execs.tolist(), counts.tolist(), strict=True)))
        for exec_id, i in zip(*_first_of(found["exec_id"], recorded), strict=True):
            self.streamed_from.setdefault(exec_id, int(found["host_start_ns"][i]))
        token = calls["token"].astype(np.int64)
        at = 0
        while at < len(found):
            if not self._open or self._fill == self.limits.block_launches:
                self._open.append(np.zeros(self.limits.block_launches, LAUNCH))
                self._fill = 0
            count = min(len(found) - at, self.limits.block_launches - self._fill)
            self._open[-1][self._fill : self._fill + count] = found[at : at + count]
            number = self._sealed + len(self._open) - 1
            self._await(token[at : at + count], found[at : at + count], number, self._fill)
            self._fill += count
            at += count

    def _await(
        self, token: IntArray, launches: npt.NDArray[np.void], block: int, place: int
    ) -> None:
        for i in np.flatnonzero(token).tolist():
            launch, number = launches[i], int(token[i])
            self._pending[number] = _Awaited(
                block, place + i, int(launch["exec_id"]), int(launch["node_level"]),
                int(launch["host_start_ns"]),
            )  # fmt: skip
            if number in self._early:
                self._give_time(number, self._early.pop(number))
        while len(self._pending) > _MOST_PENDING:
            del self._pending[next(iter(self._pending))]

    def _give_time(self, token: int, duration_ns: int) -> None:
        if token in self._row_tokens:
            self._row_tokens.discard(token)
            self.row_times[token] = duration_ns
            return
        found = self._pending.pop(token, None)
        if found is None:
            self._early[token] = duration_ns
            while len(self._early) > _MOST_PENDING:
                del self._early[next(iter(self._early))]
            return
        if found.block >= self._sealed:
            block = self._open[found.block - self._sealed]
            block["event_duration_ns"][found.place] = duration_ns
        elif found.block < len(self._kept) and found.place < len(self._kept[found.block]):
            self._kept[found.block]["event_duration_ns"][found.place] = duration_ns
        else:
            one = (found.exec_id, found.node_level, found.start_ns, duration_ns)
            self.bins.add("event", *np.array(one, np.int64).reshape(4, 1))

    # -- facts from activities -----------------------------------------------------------------

    def keys(self) -> tuple[IntArray, IntArray]:
        """Return executable << 32 | correlation of every row and open launch, and its place.

        Ascending. A place is a number for :meth:`widen`, or -1 - index in :attr:`rows`.
        """
        if self._keys is None:
            own = self.rows.to_array()
            rows = own["exec_id"].astype(np.int64) << 32 | own["correlation"]
            open_ = self._open_launches()
            keys = open_["exec_id"] << 32 | open_["correlation"]
            places = np.concatenate((-1 - np.arange(len(rows)), np.arange(len(keys))))
            places[len(rows) :] += self._sealed * self.limits.block_launches
            whole = np.concatenate((rows, keys))
            order = np.argsort(whole, kind="stable")
            self._keys = whole[order], places[order]
        return self._keys

    def _open_launches(self) -> npt.NDArray[np.void]:
        if not self._open:
            return np.zeros(0, LAUNCH)
        return np.concatenate([*list(self._open)[:-1], self._open[-1][: self._fill]])

    def widen(self, places: IntArray, start_ns: IntArray, end_ns: IntArray) -> None:
        """Let launches begin and end on the GPU no later and no earlier than these nodes of them.

        Parameters
        ----------
        places
            Of launches that are still open, as :meth:`keys` gives them; they may repeat.
        """
        if not len(places):
            return
        self.last_gpu_ns = max(self.last_gpu_ns, int(end_ns.max()))
        at = places - self._sealed * self.limits.block_launches
        for number, block in enumerate(self._open):
            mine = np.flatnonzero(at // self.limits.block_launches == number)
            place = at[mine] % self.limits.block_launches
            earliest = np.where(block["gpu_start_ns"] == 0, np.iinfo(np.int64).max,
                                block["gpu_start_ns"])  # fmt: skip
            np.minimum.at(earliest, place, start_ns[mine])
            block["gpu_start_ns"][place] = earliest[place]
            np.maximum.at(block["gpu_end_ns"], place, end_ns[mine])

    def clear(self, places: IntArray) -> None:
        """Forget when these launches began and ended on the GPU."""
        at = places - self._sealed * self.limits.block_launches
        for place in at[at >= 0].tolist():
            number, inner = divmod(place, self.limits.block_launches)
            for name in ("gpu_start_ns", "gpu_end_ns"):
                self._open[number][name][inner] = 0

    @property
    def first_open(self) -> int:
        """The place of the first launch that is still open."""
        return self._sealed * self.limits.block_launches

    # -- sealing -------------------------------------------------------------------------------

    def _seal(self) -> None:
        """Keep the launches of the oldest open block that have a row, and bin the others."""
        self._keys = None
        block = self._open.popleft()
        if not self._open:
            block, self._fill = block[: self._fill], 0
        for exec_id in distinct_values(block["exec_id"][_without(block)]).tolist():
            mine = (block["exec_id"] == exec_id) & _without(block)
            self.without_nodes[exec_id] += int(mine.sum())
        kept = max(0, self._plain_count - self._sealed * self.limits.block_launches)
        if kept:
            self._kept.append(block[:kept].copy())
        self._bin(block[kept:])
        self._sealed += 1

    def _bin(self, block: npt.NDArray[np.void]) -> None:
        gpu = np.where(block["gpu_start_ns"] > 0, block["gpu_end_ns"] - block["gpu_start_ns"], -1)
        for measure, duration in (
            ("host", block["host_duration_ns"]),
            ("event", block["event_duration_ns"]),
            ("gpu", gpu),
        ):
            known = block[duration >= 0]
            self.bins.add(
                measure, known["exec_id"], known["node_level"], known["host_start_ns"],
                duration[duration >= 0],
            )  # fmt: skip


def _without(block: npt.NDArray[np.void]) -> npt.NDArray[np.bool_]:
    found: npt.NDArray[np.bool_] = (block["node_level"] == 1) & (block["gpu_start_ns"] == 0)
    return found


def _first_of(exec_id: IntArray, chosen: npt.NDArray[np.bool_]) -> tuple[list[int], list[int]]:
    """Return each executable among the chosen and the index of its first."""
    at = np.flatnonzero(chosen)
    execs, first = np.unique(exec_id[at], return_index=True)
    return execs.tolist(), at[first].tolist()
