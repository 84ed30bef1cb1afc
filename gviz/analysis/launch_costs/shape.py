"""Shapes of work that are launched as streams or captured as graphs: lists of calls."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
import numpy.typing as npt

from gviz.dataclass import dataclass

STRAIGHT_LINE = "straight line"
FORK_JOIN = "fork-join"
PARALLEL_LINES = "parallel lines"
#: Widest shape: LAB_STREAMS of collectors/launchcost/csrc/launchcost.h is one more.
MAX_WIDTH = 64


class Call(IntEnum):
    """A call into a stream; the numbers of ``enum lab_kind`` in launchcost.h."""

    EMPTY = 0
    SPIN = 1
    MEMSET = 2
    MEMCPY = 3
    RECORD = 4
    WAIT = 5


@dataclass(frozen=True, slots=True)
class Shape:
    """Work of one shape.

    Attributes
    ----------
    topology
        STRAIGHT_LINE, FORK_JOIN or PARALLEL_LINES.
    width
        Branches side by side.
    node_count
        Kernels, memsets and copies: the nodes of the captured graph.
    calls
        int32 array (calls, 3): a :class:`Call`, the stream, and the event of RECORD and WAIT.
        Stream 0 is the origin of the capture; every other stream joins it in the end.
    """

    topology: str
    width: int
    node_count: int
    calls: npt.NDArray[np.int32]


def straight_line(length: int, kinds: tuple[Call, ...] = (Call.EMPTY,)) -> Shape:
    """Return ``length`` operations one after the other; ``kinds`` alternate."""
    _check(length, 1)
    chosen = np.resize(np.array(kinds, np.int32), length)
    calls = np.zeros((length, 3), np.int32)
    calls[:, 0] = chosen
    return Shape(STRAIGHT_LINE, 1, length, calls)


def fork_join(length: int, width: int) -> Shape:
    """Return about ``length`` kernels: one, ``width`` side by side, one, ``width``...

    A join of one block is the fork of the next; the last block is whole, so there are
    1 + blocks * (width + 1) kernels, at least ``width + 2``. Streams are used again, as
    programs do, so a branch also depends on the one before it in its stream: an edge that the
    join implies.
    """
    _check(length, width)
    blocks = max(1, round((length - 1) / (width + 1)))
    calls: list[tuple[int, int, int]] = [(Call.EMPTY, 0, 0)]
    for _ in range(blocks):
        calls += _spread([[(Call.EMPTY, stream, 0)] for stream in range(width)])
        calls.append((Call.EMPTY, 0, 0))
    return Shape(FORK_JOIN, width, 1 + blocks * (width + 1), np.array(calls, np.int32))


def parallel_lines(length: int, width: int) -> Shape:
    """Return about ``length`` kernels: a single entry, then ``width`` lines side by side.

    The lines are equally long, at least one kernel each: 1 + width * line kernels.
    """
    _check(length, width)
    line = max(1, round((length - 1) / width))
    branches = [[(Call.EMPTY, stream, 0)] * line for stream in range(width)]
    calls = [(Call.EMPTY, 0, 0), *_spread(branches)]
    return Shape(PARALLEL_LINES, width, 1 + width * line, np.array(calls, np.int32))


def _spread(branches: list[list[tuple[Call, int, int]]]) -> list[tuple[int, int, int]]:
    """Return the calls of branches that wait for stream 0, and that it waits for in the end."""
    others = range(1, len(branches))
    calls: list[tuple[int, int, int]] = [(Call.RECORD, 0, 0)] if len(branches) > 1 else []
    calls += [(Call.WAIT, stream, 0) for stream in others]
    for branch in branches:
        calls += branch
    for stream in others:
        calls += [(Call.RECORD, stream, stream), (Call.WAIT, 0, stream)]
    return calls


def _check(length: int, width: int) -> None:
    if length < 1 or not 1 <= width <= MAX_WIDTH:
        raise ValueError(
            f"length {length}, width {width}: at least 1 each, at most {MAX_WIDTH} wide"
        )
