"""Executables that were instantiated again where an update of an earlier one would have done."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from gviz.cuda import NodeType
from gviz.dataclass import dataclass

#: Graphs with such nodes cannot always be updated (cuda.h, CUDA 13.0: parameters of allocation,
#: free and conditional nodes must not change), so nothing is reported about them.
_HARD_TO_UPDATE = frozenset({NodeType.MEM_ALLOC, NodeType.MEM_FREE, NodeType.CONDITIONAL})


@dataclass(frozen=True, slots=True)
class Instantiation:
    """An executable, as far as it matters here.

    Attributes
    ----------
    exec_id
        Any id.
    identity
        Equal for graphs that an update could turn into one another; see :func:`identity_of`.
        None: unknown.
    instantiated_ns
        When the call was entered; None: not seen.
    first_launch_ns, last_launch_ns
        None: never launched.
    """

    exec_id: int
    identity: Hashable | None
    instantiated_ns: int | None
    first_launch_ns: int | None
    last_launch_ns: int | None


def identity_of(
    hashes: Iterable[str], types: Iterable[int], fixed: Hashable, flags: int | None
) -> Hashable | None:
    """Return what must be equal for an update to work, or None where that cannot be decided.

    Parameters
    ----------
    hashes
        Topology hashes of all levels, in order: node types, kernel names and edges.
    types
        Node types of all levels.
    fixed
        What an update must leave alone in the nodes: devices, memory types and sizes of copies
        and memsets, cooperative launches, priorities.
    flags
        Instantiation flags.
    """
    if not _HARD_TO_UPDATE.isdisjoint(types):
        return None
    return (tuple(hashes), fixed, flags)


def updatable(instantiations: Iterable[Instantiation]) -> dict[int, int]:
    """Return, by executable, the earlier one of which an update would have done instead.

    The earlier one was launched before, and never again once the new one existed: a program that
    goes on to use both needs both.
    """
    seen: dict[Hashable, Instantiation] = {}
    found: dict[int, int] = {}
    known = [i for i in instantiations if i.identity is not None and i.instantiated_ns is not None]
    for new in sorted(known, key=lambda i: i.instantiated_ns or 0):
        old = seen.get(new.identity)
        start = new.instantiated_ns or 0
        if (
            old is not None
            and old.first_launch_ns is not None
            and old.last_launch_ns is not None
            and old.first_launch_ns < start
            and old.last_launch_ns < start
        ):
            found[new.exec_id] = old.exec_id
        seen[new.identity] = new
    return found
