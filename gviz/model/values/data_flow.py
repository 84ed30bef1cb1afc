"""The way of data through a graph: who wrote what each node is given, and who is given it next.

Memory is cut at all ends of what nodes are given, and followed through the order in which the copy
ran them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np
import numpy.typing as npt

from gviz.dataclass import dataclass
from gviz.model.values.given_memory import Direction, GivenMemory
from gviz.stats import distinct_values

#: In place of a writer: no node wrote it before.
_NOBODY = -1


@dataclass(frozen=True, slots=True)
class DataFlow:
    """Places in a list of memory, which stand for the node that is given it.

    Attributes
    ----------
    sources
        Of each, those of earlier nodes that wrote it last, or may have.
    readers
        Of each that may be written, those of later nodes that are given it before it is written
        anew.
    inputs
        Memory that is read, or left as it was, and that no earlier node may have written.
    unread
        Memory that is written, and that no later node is given: output of the graph.
    lost
        Memory that is written over before any node is given it.
    """

    sources: tuple[tuple[int, ...], ...]
    readers: tuple[tuple[int, ...], ...]
    inputs: tuple[int, ...]
    unread: tuple[int, ...]
    lost: tuple[int, ...]


def trace_data(given: Sequence[GivenMemory]) -> DataFlow:
    """Return the way of data; ``given`` in the order in which nodes ran."""
    edges = distinct_values(np.array([a for m in given for a in (m.address, m.end)], np.uint64))
    writer = np.full(len(edges), _NOBODY, np.int64)
    sources: list[tuple[int, ...]] = [()] * len(given)
    readers: list[list[int]] = [[] for _ in given]
    inputs: list[int] = []
    lost: set[int] = set()
    for places in _by_node(given):
        parts = [_part(edges, given[at]) for at in places]
        for at, part in zip(places, parts, strict=True):
            found = distinct_values(writer[part])
            sources[at] = tuple(found[found != _NOBODY].tolist())
            if not given[at].may_be_read:
                continue
            for source in sources[at]:
                readers[source].append(at)
            if (found == _NOBODY).any() and _is_input(given[at]):
                inputs.append(at)
        # Through a pointer to const it is another argument of the node that wrote.
        for at, part in sorted(
            zip(places, parts, strict=True), key=lambda x: given[x[0]].direction != Direction.READ
        ):
            if given[at].may_be_written:
                if given[at].direction == Direction.WRITTEN:
                    lost |= {s for s in sources[at] if not readers[s] and given[s].is_written}
                writer[part] = at
    unread = tuple(
        at
        for at, memory in enumerate(given)
        if memory.is_written and not readers[at] and (writer[_part(edges, memory)] == at).all()
    )
    kept = tuple(
        at
        for at in sorted(lost)
        if not readers[at] and (writer[_part(edges, given[at])] != at).all()
    )
    return DataFlow(tuple(sources), tuple(map(tuple, readers)), tuple(inputs), unread, kept)


def _is_input(memory: GivenMemory) -> bool:
    """Return whether what was there before is what its node reads, as far as that is known."""
    if memory.direction == Direction.UNKNOWN:
        return not memory.is_changed
    return memory.direction == Direction.READ


def _by_node(given: Sequence[GivenMemory]) -> Iterator[list[int]]:
    for _, places in groupby(range(len(given)), lambda at: given[at].place):
        yield list(places)


def _part(edges: npt.NDArray[np.uint64], memory: GivenMemory) -> slice:
    ends = np.array([memory.address, memory.end], np.uint64)
    first, stop = np.searchsorted(edges, ends).tolist()
    return slice(first, stop)
