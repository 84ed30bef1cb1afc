"""Operations of the forward pass: the nodes that each created, and autograd's nodes for it.

PyTorch gives an operation's autograd node a number. Recordings have it on the first node that the
operation created, and on the nodes that autograd created for it in the backward pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from gviz.dataclass import dataclass
from gviz.recording import rows
from gviz.stats import UNKNOWN, BoolArray, IntArray, distinct_values

if TYPE_CHECKING:
    from gviz.recording import Columns, Recording

_CREATION = ("created_ns", "created_thread_id", "autograd_name")
#: Autograd nodes of views that come after the operation whose result they are of. Other views
#: stand before the operation that reads them.
_AFTER = frozenset({"CopySlices", "AsStridedBackward0", "UnsafeViewBackward0"})


@dataclass(frozen=True, slots=True)
class ForwardOperations:
    """Operations of the forward pass, by the first node that each created.

    Attributes
    ----------
    forward
        int64, one a node: of nodes that autograd created the first node of the operation that it
        is the backward pass of; -1: no node of autograd's, or that operation is not known.
    is_exact
        bool, one a node: the numbers are equal. Else autograd's node is of a view, which launches
        nothing in the forward pass, and the operation is the one beside it; or it adds to a
        leaf's gradient, and the operation is the one that gave it.
    operation
        int64, one a node: of nodes of the forward pass the first node of the operation, with which
        counts what its thread created until the next one; -1: of none.
    """

    forward: IntArray
    is_exact: BoolArray
    operation: IntArray

    @classmethod
    def none(cls, count: int) -> ForwardOperations:
        """Return what there is of a program without autograd."""
        unknown = np.full(count, UNKNOWN, np.int64)
        return cls(unknown, np.zeros(count, bool), unknown)


def read_forward_operations(
    recording: Recording, outermost: rows.Graph, graph_ids: IntArray
) -> ForwardOperations:
    """Return the operations of a graph's nodes.

    Parameters
    ----------
    outermost
        The graph that was captured.
    graph_ids
        Its levels, in the order of the nodes.
    """
    numbers = [_fetch(recording, graph_id, ("sequence_nr",)) for graph_id in graph_ids.tolist()]
    number = np.concatenate([x.integers("sequence_nr", UNKNOWN) for x in numbers])
    if not (number != UNKNOWN).any():
        return ForwardOperations.none(len(number))
    levels = [_fetch(recording, graph_id, _CREATION) for graph_id in graph_ids.tolist()]
    created_ns, thread = (
        np.concatenate([x.integers(name, UNKNOWN) for x in levels]) for name in _CREATION[:2]
    )
    names: list[str | None] = [name for x in levels for name in x.listed("autograd_name")]
    return find_forward_operations(
        Creations(created_ns, thread, names, number), outermost.capture_thread_id
    )


def _fetch(recording: Recording, graph_id: int, names: Sequence[str]) -> Columns:
    return recording.fetch_arrays(rows.Node, {"graph_id": graph_id}, names)


@dataclass(frozen=True, slots=True)
class Creations:
    """Creations of nodes: columns of :class:`gviz.recording.rows.recorded.Node`, -1 for NULL."""

    created_ns: IntArray
    created_thread_id: IntArray
    autograd_name: Sequence[str | None]
    sequence_nr: IntArray


def find_forward_operations(made: Creations, capturing: int | None) -> ForwardOperations:
    """Return the operations of nodes by when, where and for which autograd node they were created.

    Parameters
    ----------
    made
        One a node.
    capturing
        Thread that captured the graph. Numbers are of a thread: where several created nodes of the
        forward pass, its are meant, and without it none are.
    """
    count = len(made.created_ns)
    by_autograd = np.array([name is not None for name in made.autograd_name], bool)
    is_timed = made.created_ns != UNKNOWN
    is_first = is_timed & ~by_autograd & (made.sequence_nr != UNKNOWN)
    if len(distinct_values(made.created_thread_id[is_first])) > 1:
        is_first &= made.created_thread_id == (UNKNOWN if capturing is None else capturing)
    firsts = _by_time(made, is_first)
    if not len(firsts):
        return ForwardOperations.none(count)
    backward = _by_time(made, by_autograd & is_timed)
    forward = np.full(count, UNKNOWN, np.int64)
    is_exact = np.zeros(count, bool)
    if len(backward):
        number = _carried(made, backward)
        at = _places(made, backward, number, made.sequence_nr[firsts])
        found = np.where(at >= 0, firsts[at], UNKNOWN)
        found[made.created_ns[found] > made.created_ns[backward]] = UNKNOWN
        forward[backward] = found
        is_exact[backward] = (found >= 0) & (made.sequence_nr[found] == made.sequence_nr[backward])
    return ForwardOperations(forward, is_exact, _operations(made, firsts, backward))


def _by_time(made: Creations, chosen: BoolArray) -> IntArray:
    """Return the chosen nodes in the order of their creation; of equal times by index."""
    at = np.flatnonzero(chosen)
    return at[np.argsort(made.created_ns[at], kind="stable")]


def _carried(made: Creations, backward: IntArray) -> IntArray:
    """Return the number of each of autograd's nodes; without one, of that before on its thread."""
    number = made.sequence_nr[backward]
    for thread in distinct_values(made.created_thread_id[backward]).tolist():
        own = np.flatnonzero(made.created_thread_id[backward] == thread)
        known = np.where(number[own] != UNKNOWN, np.arange(len(own)), -1)
        latest = np.maximum.accumulate(known)
        number[own] = np.where(latest >= 0, number[own[latest]], UNKNOWN)
    return number


def _places(made: Creations, backward: IntArray, number: IntArray, numbers: IntArray) -> IntArray:
    """Return the place of each number among those of operations, or beside it; -1: before all.

    ``numbers`` ascend, as those of a thread do with time.
    """
    at = np.searchsorted(numbers, number)
    is_between = numbers[np.minimum(at, len(numbers) - 1)] != number
    after = np.array([made.autograd_name[i] in _AFTER for i in backward.tolist()], bool)
    at -= is_between & (after | (at == len(numbers)))
    return np.where((number == UNKNOWN) | (number < numbers[0]), -1, at)


def _operations(made: Creations, firsts: IntArray, backward: IntArray) -> IntArray:
    """Return the first node of the operation that each node of the forward pass belongs to."""
    found = np.full(len(made.created_ns), UNKNOWN, np.int64)
    marks = np.concatenate((firsts, backward))
    marks = marks[np.argsort(made.created_ns[marks], kind="stable")]
    own = made.created_thread_id == made.created_thread_id[firsts[0]]
    own[backward] = False
    nodes = np.flatnonzero(own & (made.created_ns != UNKNOWN))
    at = np.searchsorted(made.created_ns[marks], made.created_ns[nodes], side="right") - 1
    mark = np.where(at >= 0, marks[at], UNKNOWN)
    found[nodes] = np.where(np.isin(mark, firsts), mark, UNKNOWN)
    return found
