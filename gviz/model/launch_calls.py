"""Launch calls on the host: those that took what the call takes, and those that waited for a queue.

A program that launches faster than the GPU runs fills a queue. From then on a call returns only
when a launch before it has ended, and its length is the GPU's. Which calls those are shows in the
launches in flight when a call was entered, and in those that ended before it returned.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gviz.dataclass import dataclass
from gviz.model.launch_time import state_of, taken_in
from gviz.model.tree import Keep, build_anew
from gviz.recording import rows
from gviz.stats import BoolArray, CuptiState, FloatArray, IntArray, distinct_values

if TYPE_CHECKING:
    from gviz.recording import Recording

#: Stands for a number that is not recorded.
_UNKNOWN = -(2**62)
#: A call that waited is longer than the others by this factor. In the bundled training step calls
#: that need not wait are within 1.2 of their median, those that wait from 5.6 on.
_LONGER = 1.5
#: A queue of one launch is never full: the call before would have waited as well.
_LEAST_IN_FLIGHT = 2
#: Of the calls at a depth at which the queue is full this share waits, at least: all but those
#: that came just as one ended. Where fewer do, something else held the long ones up.
_MOST_WAIT = 0.5
_COLUMNS = (
    *("launch_id", "graph_id", "graph_exec_id", "ordinal", "stream_id", "node_level"),
    *("host_start_ns", "host_end_ns", "gpu_start_ns", "gpu_end_ns", "event_duration_ns"),
)


@dataclass(frozen=True, slots=True)
class LaunchCalls:
    """Launch calls of a run that have a row and both times, in their order; arrays of one length.

    Attributes
    ----------
    launch_id, graph_id, graph_exec_id, ordinal, node_level
        int64, as in table launch.
    call_ns
        int64: from the entry to the return.
    in_flight
        int64: launches before it on its stream that had not ended when it was entered.
    waited
        bool: it waited for room in the queue.
    is_known
        bool: whether it did is known. False where every call alike had launches ending in it.
    is_judged
        bool: False where nothing says how long launches before it took on the GPU. Such a call is
        taken not to have waited, and its figure says so.
    """

    launch_id: IntArray
    graph_id: IntArray
    graph_exec_id: IntArray
    ordinal: IntArray
    node_level: IntArray
    call_ns: IntArray
    in_flight: IntArray
    waited: BoolArray
    is_known: BoolArray
    is_judged: BoolArray

    def __len__(self) -> int:
        return len(self.launch_id)

    @property
    def is_alone(self) -> BoolArray:
        """True for calls that took what the call takes, and no waiting."""
        return self.is_known & ~self.waited


@dataclass(frozen=True, slots=True)
class CallTimes:
    """The host time of a graph's launch call.

    Attributes
    ----------
    alone_ns
        int64: calls that did not wait, those that were disturbed least.
    looked_at
        Calls alike, those that waited included.
    waited_ns
        int64: what each call that waited took beyond the median of ``alone_ns`` (derived).
    in_flight
        From so many launches in flight on the queue was full; None: no call waited.
    state
        CUPTI's state meanwhile.
    is_cold
        It is the first call, which uploads: there is no other.
    is_judged
        Whether calls waited could be told.
    """

    alone_ns: IntArray
    looked_at: int
    waited_ns: FloatArray
    in_flight: int | None
    state: CuptiState
    is_cold: bool = False
    is_judged: bool = True

    @property
    def median_ns(self) -> float | None:
        """The median call; None: not known."""
        return float(np.median(self.alone_ns)) if len(self.alone_ns) else None

    @property
    def method(self) -> str:
        """The way it was measured, as a sentence fragment."""
        if not len(self.alone_ns):
            return "not known: of no launch call it is known that it did not wait for the queue"
        found = f"{self.way}, median of {len(self.alone_ns):,}"
        if not self.is_judged:
            return f"{found}; whether calls waited for a full queue is not known"
        return f"{found}; {self.waiting}, left out" if self.waiting else found

    @property
    def way(self) -> str:
        """The part of the method by which figures of two runs can be compared."""
        return f"measured: the launch call without waiting, {taken_in(self.state)}"

    @property
    def waiting(self) -> str:
        """The number of calls that waited, and when they do; empty: none did."""
        if not len(self.waited_ns):
            return ""
        return (
            f"{len(self.waited_ns):,} of {self.looked_at:,} calls waited for a full queue "
            f"({self.in_flight} launches in flight)"
        )


def read_launch_calls(recording: Recording, run_id: int, keep: Keep = build_anew) -> LaunchCalls:
    """Return the launch calls of a run; ``keep`` remembers them for its other graphs."""
    return keep(("launch calls", run_id), lambda: _read(recording, run_id))


def call_times(recording: Recording, graph_id: int, keep: Keep = build_anew) -> CallTimes:
    """Return the host time of a graph's launch call, from the calls disturbed least.

    Those of launches without node times, the first left out; else those with, likewise; else the
    first.
    """
    run_id = recording.fetch_graph(graph_id).run_id
    run = next(run for run in recording.fetch_runs() if run.run_id == run_id)
    calls = read_launch_calls(recording, run_id, keep)
    mine = calls.graph_id == graph_id
    later, plain = mine & (calls.ordinal > 0), calls.node_level == 0
    chosen = next(
        (some for some in (later & plain, later, mine) if some.any()), np.zeros(len(calls), bool)
    )
    found = times_of(calls, chosen, state_of(run, node_times=not bool((chosen & plain).any())))
    return replace(found, is_cold=not later.any())


def times_of(calls: LaunchCalls, chosen: BoolArray, state: CuptiState) -> CallTimes:
    """Return the host time of some calls, all of one graph and state."""
    alone = calls.call_ns[chosen & calls.is_alone]
    waited = chosen & calls.waited
    usual = float(np.median(alone)) if len(alone) else 0.0
    return CallTimes(
        alone_ns=alone,
        looked_at=int(chosen.sum()),
        waited_ns=(calls.call_ns[waited] - usual).astype(np.float64),
        in_flight=int(calls.in_flight[waited].min()) if waited.any() else None,
        state=state,
        is_judged=bool(calls.is_judged[chosen].all()),
    )


def _read(recording: Recording, run_id: int) -> LaunchCalls:
    key: dict[str, int | str] = {"run_id": run_id, "side": "graph"}
    found = recording.fetch_arrays(rows.Launch, key, _COLUMNS)
    table = {name: found.integers(name, _UNKNOWN) for name in _COLUMNS}
    called, returned = table["host_start_ns"], table["host_end_ns"]
    order = np.argsort(called, kind="stable")
    order = order[(called != _UNKNOWN)[order] & (returned >= called)[order]]
    table = {name: values[order] for name, values in table.items()}
    took = _gpu_ns(table)
    count = len(order)
    in_flight = np.zeros(count, np.int64)
    ended_in = np.zeros(count, bool)
    is_timed = np.ones(count, bool)
    for mine in _groups(table["stream_id"]):
        ends = _ends(table, took, mine)
        place = np.arange(len(mine))
        # Launches before it that had ended when it was entered, and when it returned.
        before, after = (
            np.minimum(np.searchsorted(ends, table[name][mine], side="right"), place)
            for name in ("host_start_ns", "host_end_ns")
        )
        in_flight[mine] = place - before
        ended_in[mine] = after > before
        is_timed[mine] = np.concatenate(([True], np.logical_and.accumulate(took[mine] >= 0)[:-1]))
    call_ns = table["host_end_ns"] - table["host_start_ns"]
    waited, is_known = np.zeros(count, bool), np.ones(count, bool)
    kind = table["graph_id"] * 2 + table["node_level"]
    for mine in _groups(kind):
        waited[mine], known = _judge(
            call_ns[mine], in_flight[mine], ended_in[mine], table["ordinal"][mine]
        )
        is_known[mine] = known
    return LaunchCalls(
        launch_id=table["launch_id"],
        graph_id=table["graph_id"],
        graph_exec_id=table["graph_exec_id"],
        ordinal=table["ordinal"],
        node_level=table["node_level"],
        call_ns=call_ns,
        in_flight=in_flight,
        waited=waited & is_timed,
        is_known=is_known | ~is_timed,
        is_judged=is_timed,
    )


def _gpu_ns(table: dict[str, IntArray]) -> IntArray:
    """Return how long each launch took on the GPU, as others of its kind did; -1: not known."""
    begin, end = table["gpu_start_ns"], table["gpu_end_ns"]
    spans = np.where((begin != _UNKNOWN) & (end >= begin), end - begin, -1)
    took = np.where(table["event_duration_ns"] >= 0, table["event_duration_ns"], spans)
    for kind in (table["graph_id"] * 2 + table["node_level"], table["graph_id"]):
        for mine in _groups(kind):
            missing = mine[took[mine] < 0]
            if 0 < len(missing) < len(mine):
                took[missing] = np.median(took[mine][took[mine] >= 0]).astype(np.int64)
    return took


def _ends(table: dict[str, IntArray], took: IntArray, mine: IntArray) -> IntArray:
    """Return when the launches of a stream ended (ascending), measured or estimated.

    A launch without node times begins when it is called, or when the one before has ended.
    """
    begin, end = table["gpu_start_ns"][mine], table["gpu_end_ns"][mine]
    length = np.maximum(took[mine], 0)
    earliest = np.where(begin != _UNKNOWN, begin, table["host_start_ns"][mine])
    total = np.cumsum(length)
    estimated = total + np.maximum.accumulate(earliest - (total - length))
    found: IntArray = np.maximum.accumulate(np.where(end != _UNKNOWN, end, estimated))
    return found


def _judge(
    call_ns: IntArray, in_flight: IntArray, ended_in: BoolArray, ordinal: IntArray
) -> tuple[BoolArray, BoolArray]:
    """Return which calls of one kind waited, and of which it is known whether they did."""
    may_wait = ended_in & (in_flight >= _LEAST_IN_FLIGHT)
    usual = call_ns[~may_wait & (ordinal > 0)]
    if not len(usual):
        # All that is known is that these had to wait no longer than they took.
        return np.zeros(len(call_ns), bool), ~may_wait
    long = may_wait & (call_ns > _LONGER * np.median(usual))
    for depth in distinct_values(in_flight[long]).tolist():
        deep = in_flight >= depth
        if long[deep].mean() >= _MOST_WAIT:
            return long & deep, np.ones(len(call_ns), bool)
    return np.zeros(len(call_ns), bool), np.ones(len(call_ns), bool)


def _groups(keys: IntArray) -> Iterator[IntArray]:
    """Yield the places of equal keys, ascending."""
    order = np.argsort(keys, kind="stable")
    if len(order):
        yield from np.split(order, np.flatnonzero(np.diff(keys[order])) + 1)
