"""Operations outside graphs that repeat as eager iterations, of captured work or of none.

Operations are taken in the order of their calls, over all threads: a framework's backward pass
runs on a thread of its own. Equal ones have kind, name, launch shape and size alike, so passes
over batches of different sizes are different iterations.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import numpy as np

from gviz.analysis.launch_costs import find_repetition
from gviz.analysis.run_subject import RunSubject
from gviz.analysis.stream_operations import EQUAL
from gviz.cuda import NodeType
from gviz.dataclass import dataclass
from gviz.families import family_of
from gviz.model import distinct
from gviz.recording import rows
from gviz.stats import BoolArray, IntArray

#: Stands for a value that is not known.
UNKNOWN = -1
#: Kinds of iterations that are looked for in a run, at most.
_MOST_KINDS = 16
#: A single operation again and again is no iteration.
_FEWEST_OPERATIONS = 2
#: Iterations of fewer operations together repeat by chance: among 200,000 of 50 kinds one pair of
#: pairs does, and no pair of four in a row.
_FEWEST_TOGETHER = 8
_COLUMNS = ("launch_id", "start_ns", "duration_ns", "host_start_ns", "host_end_ns", "thread_id")


@dataclass(frozen=True, slots=True)
class Operations:
    """Operations outside graphs in order of their calls; int64 arrays of one length.

    Attributes
    ----------
    launch
        The iteration of a graph's work that each was matched into; -1: none.
    start_ns, duration_ns
        On the GPU.
    called_ns, returned_ns, thread
        Of the call; -1 where it is not known.
    token
        Equal numbers are equal operations.
    blocks
        Thread blocks of a kernel; 0 for others.
    is_collective
        bool: it waits for other processes.
    """

    launch: IntArray
    start_ns: IntArray
    duration_ns: IntArray
    called_ns: IntArray
    returned_ns: IntArray
    thread: IntArray
    token: IntArray
    blocks: IntArray
    is_collective: BoolArray

    def __len__(self) -> int:
        return len(self.launch)


@dataclass(frozen=True, slots=True)
class EagerIterations:
    """Iterations of equal operations.

    Attributes
    ----------
    iterations
        int64 indices into the operations, one array an iteration, in time order.
    """

    iterations: tuple[IntArray, ...]

    @property
    def settled(self) -> tuple[IntArray, ...]:
        """The iterations without the first, which loads modules, where there are others."""
        return self.iterations[1:] or self.iterations


def read_operations(run: RunSubject) -> Operations:
    """Return the operations outside graphs of a run."""
    found = run.stream_operations
    launch, start, duration, called, returned, thread = (
        found.integers(name, UNKNOWN) for name in _COLUMNS
    )
    name = found.texts("name")
    text = name.codes.astype(np.int64)
    collective = np.array([family_of(value).is_collective for value in name.values], bool)[text]
    first, which = distinct([text, *(found.integers(name, UNKNOWN) for name in EQUAL)])
    token = np.argsort(np.argsort(first))[which]  # by what comes first
    grid = (np.maximum(found.integers(f"grid_{axis}", 1), 1) for axis in "xyz")
    blocks = np.where(found.integers("type") == NodeType.KERNEL, prod(grid), 0)
    backward = returned < called
    called[backward] = returned[backward] = UNKNOWN
    # What ends before it starts is no record of anything; without times of calls: as they ran.
    order = np.lexsort((start, np.where(called < 0, start, called)))
    order = order[duration[order] >= 0]
    return Operations(
        launch=launch[order],
        start_ns=start[order],
        duration_ns=duration[order],
        called_ns=called[order],
        returned_ns=returned[order],
        thread=thread[order],
        token=token[order],
        blocks=blocks[order],
        is_collective=collective[order],
    )


def captured_iterations(
    operations: Operations, launches: list[rows.Launch]
) -> EagerIterations | None:
    """Return the complete passes over a graph's work; None: there are none.

    Parameters
    ----------
    launches
        The graph's stream side, in time order.
    """
    found = [np.flatnonzero(operations.launch == x.launch_id) for x in launches]
    most = max(map(len, found), default=0)
    complete = [x for x in found if len(x) == most]
    return EagerIterations(tuple(complete)) if most else None


def free_iterations(operations: Operations) -> list[EagerIterations]:
    """Return the eager iterations among operations that are no graph's, in time order.

    What was matched into a graph's iterations parts the rest: none reaches across. Those without a
    kernel, such as the loading of weights, are left out.
    """
    free = operations.launch == UNKNOWN
    waiting = [(a, b) for a, b in _stretches(free) if b - a >= _FEWEST_TOGETHER]
    found: list[tuple[int, EagerIterations]] = []
    while waiting and len(found) < _MOST_KINDS:
        begin, end = waiting.pop(0)
        repetition = find_repetition(operations.token[begin:end])
        if repetition is None or repetition.period < _FEWEST_OPERATIONS:
            continue
        if repetition.period * repetition.count < _FEWEST_TOGETHER:
            continue
        first = begin + repetition.first
        bounds = [repetition.bounds(n) for n in range(repetition.count)]
        each = tuple(np.arange(begin + a, begin + b) for a, b in bounds)
        if operations.blocks[each[0]].any():
            found.append((first, EagerIterations(each)))
        last = begin + bounds[-1][1]
        waiting += [(a, b) for a, b in ((begin, first), (last, end)) if b - a >= _FEWEST_TOGETHER]
    return [repetition for _, repetition in sorted(found, key=lambda x: x[0])]


def _stretches(free: BoolArray) -> Iterator[tuple[int, int]]:
    """Yield where runs of True begin and end."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], free.view(np.int8), [0]))))
    yield from zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)


class RangeNames:
    """NVTX ranges of a run, by the time and thread of calls."""

    def __init__(self, run: RunSubject) -> None:
        self._paths = run.recording.fetch_nvtx_paths(run.run.run_id)
        names = ("nvtx_path_id", "start_ns", "end_ns", "thread_id")
        found = run.recording.fetch_arrays(rows.NvtxRange, {"run_id": run.run.run_id}, names)
        columns = [found.integers(name, UNKNOWN) for name in names]
        # Of a range without its text only times were recorded: the one around it gives the name.
        usable = (columns[2] != UNKNOWN) & np.isin(columns[0], list(self._paths))
        self._path, self._start, self._end, self._thread = (c[usable] for c in columns)

    def of(self, operations: Operations, chosen: IntArray) -> str | None:
        """Return the text of the innermost range around all calls chosen; None: there is none.

        It is of the thread that made the first call: others may help within.
        """
        called, returned = operations.called_ns[chosen], operations.returned_ns[chosen]
        if not len(chosen) or called.min() < 0:
            return None
        inside = (self._start <= called.min()) & (self._end >= returned.max())
        at = np.flatnonzero(inside & (self._thread == operations.thread[chosen[0]]))
        if not len(at):
            return None
        innermost = int(at[np.argmin((self._end - self._start)[at])])
        return self._paths[int(self._path[innermost])].text
