"""Recorded work of launches, and which of it can have waited for which.

A piece of work has times in several launches. What all of them say together is kept as integers:
work of one stream is a lane, in which it has a place, and for each piece of work and each lane
there is a first place from which on work can have waited for it in every launch.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gviz.dataclass import dataclass
from gviz.stats import BoolArray, IntArray, distinct_values

#: Places in lanes: int32.
PlaceArray = npt.NDArray[np.int32]

#: Lanes that tables are made for: CUDA runs graphs on at most 128 hardware queues.
MOST_LANES = 256
#: A start before all others, for what has no time in a launch.
_EARLY = np.iinfo(np.int64).min // 2
_LATE = np.iinfo(np.int64).max // 2


@dataclass(frozen=True, slots=True)
class RecordedWork:
    """Work of one graph's launches.

    Attributes
    ----------
    token
        int64, one a piece of work: equal for equal kind, kernel, launch shape and size.
    start_ns, end_ns
        int64, shape (launches, work).
    timed
        bool, likewise: whether it ran in this launch.
    stream
        int64, likewise: where it ran.
    is_aligned
        Whether a column is the same node in all launches. Where the trace does not say so, each
        launch is matched by itself.
    """

    token: IntArray
    start_ns: IntArray
    end_ns: IntArray
    timed: BoolArray
    stream: IntArray
    is_aligned: bool = True

    def __len__(self) -> int:
        return len(self.token)

    def one_launch(self, launch: int) -> RecordedWork:
        """Return one launch of it."""
        part = slice(launch, launch + 1)
        return RecordedWork(
            self.token,
            self.start_ns[part],
            self.end_ns[part],
            self.timed[part],
            self.stream[part],
        )

    def usual_starts(self) -> IntArray:
        """Return each one's mean start after the first of its launch (int64, ns)."""
        begin = np.where(self.timed, self.start_ns, _LATE).min(axis=1, initial=_LATE)
        after = np.where(self.timed, self.start_ns - begin[:, None], 0)
        usual: IntArray = after.sum(axis=0) // np.maximum(self.timed.sum(axis=0), 1)
        return usual


@dataclass(frozen=True, slots=True)
class Timetable:
    """Places of work in lanes, and what can have waited for what in every launch.

    Attributes
    ----------
    lane, place
        int64, one a piece of work: its lane, and its place there. Work of a lane starts in the
        order of places in every launch.
    lane_size
        int64, one a lane.
    after, after_start
        int32, shape (work, lanes): the first place of each lane from which on work can have
        waited for the end of this one, or for its start; past the last where none can.
    before, before_start
        int32, likewise: the last place whose end, or start, this one can have waited for; -1 for
        none.
    """

    lane: IntArray
    place: IntArray
    lane_size: IntArray
    after: PlaceArray
    after_start: PlaceArray
    before: PlaceArray
    before_start: PlaceArray

    @classmethod
    def of(cls, work: RecordedWork, tolerance_ns: int) -> Timetable:
        """Return the timetable of work; readings of two lanes differ by the tolerance at most."""
        lane, place = _lanes(work)
        size = np.bincount(lane)
        after = _first_places(work, lane, place, work.end_ns, tolerance_ns)
        after_start = _first_places(work, lane, place, work.start_ns, tolerance_ns)
        return cls(
            lane=lane,
            place=place,
            lane_size=size,
            after=after,
            after_start=after_start,
            before=_last_places(after, lane, place, size),
            before_start=_last_places(after_start, lane, place, size),
        )

    def __len__(self) -> int:
        return len(self.lane)


def _lanes(work: RecordedWork) -> tuple[IntArray, IntArray]:
    """Return the lane of each piece of work and its place there."""
    streams = np.where(work.timed, work.stream, -1)
    _, lane = np.unique(streams, axis=1, return_inverse=True)
    lane = lane.reshape(-1).astype(np.int64)
    order = np.lexsort((work.usual_starts(), lane))
    both = work.timed[:, order[:-1]] & work.timed[:, order[1:]]
    steps = work.start_ns[:, order[1:]] - work.start_ns[:, order[:-1]]
    is_same = lane[order[1:]] == lane[order[:-1]]
    broken = distinct_values(lane[order[1:]][is_same & (both & (steps <= 0)).any(axis=0)])
    for number in broken.tolist():
        _split_lane(work, lane, order[lane[order] == number])
    order = np.lexsort((work.usual_starts(), lane))
    first = np.searchsorted(lane[order], np.arange(int(lane.max(initial=-1)) + 1))
    place = np.empty(len(lane), np.int64)
    place[order] = np.arange(len(lane)) - first[lane[order]]
    return lane, place


def _split_lane(work: RecordedWork, lane: IntArray, members: IntArray) -> None:
    """Give work of a stream that starts in another order in some launch lanes of its own."""
    ends: list[IntArray] = []
    numbers: list[int] = []
    for at in members.tolist():
        timed, start = work.timed[:, at], work.start_ns[:, at]
        for i, last in enumerate(ends):
            if (last[timed] < start[timed]).all():
                ends[i] = np.where(timed, start, last)
                lane[at] = numbers[i]
                break
        else:
            numbers.append(int(lane[at]) if not numbers else int(lane.max()) + 1)
            ends.append(np.where(timed, start, _EARLY))
            lane[at] = numbers[-1]


def _first_places(
    work: RecordedWork, lane: IntArray, place: IntArray, held_until: IntArray, tolerance_ns: int
) -> PlaceArray:
    """Return, for each piece of work and lane, the first place that can have waited for it."""
    count = int(lane.max(initial=-1)) + 1
    found = np.zeros((len(lane), count), np.int32)
    since = np.where(work.timed, held_until - tolerance_ns, _EARLY)
    for number in range(count):
        members = np.flatnonzero(lane == number)
        members = members[np.argsort(place[members])]
        column = found[:, number]
        for launch in range(len(since)):
            starts = work.start_ns[launch, members]
            ran = work.timed[launch, members]
            if not ran.all():
                # What did not run stands where the next that did started.
                starts = np.minimum.accumulate(np.where(ran, starts, _LATE)[::-1])[::-1]
            np.maximum(column, np.searchsorted(starts, since[launch]), out=column)
        # Work of one lane waits for what started before it, whatever the tolerance.
        column[members] = np.maximum(column[members], place[members] + 1)
    return found


def _last_places(after: PlaceArray, lane: IntArray, place: IntArray, size: IntArray) -> PlaceArray:
    """Return, for each piece of work and lane, the last place that it can have waited for."""
    found = np.empty_like(after)
    members = [np.flatnonzero(lane == number) for number in range(len(size))]
    members = [m[np.argsort(place[m])] for m in members]
    for number, rows in enumerate(members):
        # Ends need not be in order: of all from a place on, the first place after any of them.
        lowest = np.minimum.accumulate(after[rows][::-1], axis=0)[::-1]
        for other, columns in enumerate(members):
            at = np.searchsorted(lowest[:, other], place[columns], side="right")
            found[columns, number] = at - 1
    return found
