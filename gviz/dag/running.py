"""The nodes of a DAG that may be running, by what is known to have ended."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gviz.dataclass import dataclass
from gviz.stats import BoolArray, IntArray


@dataclass(frozen=True, slots=True)
class Running:
    """Nodes of a DAG in the middle of a launch, as indices in ascending order.

    Attributes
    ----------
    possible
        May be running: not known to have ended, nor to wait for what has not.
    last
        Known to have ended, and nothing behind them is.
    next
        Marked, not ended, and nothing before them is marked and not ended.
    """

    possible: IntArray
    last: IntArray
    next: IntArray


def find_running(
    node_count: int, source: IntArray, target: IntArray, ended: BoolArray, not_ended: BoolArray
) -> Running:
    """Return which nodes may be running.

    Parameters
    ----------
    node_count, source, target
        The DAG.
    ended, not_ended
        Of each node, whether it is known to have ended, or is marked and has not (bool). Of nodes
        that are neither nothing is known.
    """
    before: list[list[int]] = [[] for _ in range(node_count)]
    after: list[list[int]] = [[] for _ in range(node_count)]
    for a, b in zip(source.tolist(), target.tolist(), strict=True):
        before[b].append(a)
        after[a].append(b)
    done = _reached(before, np.flatnonzero(ended))
    over = ended | done
    waits = _reached(after, np.flatnonzero(not_ended & ~over))
    return Running(
        possible=np.flatnonzero(~over & ~waits),
        last=np.flatnonzero(ended & ~done),
        next=np.flatnonzero(not_ended & ~waits & ~over),
    )


def _reached(following: Sequence[Sequence[int]], starts: IntArray) -> BoolArray:
    """Return which nodes are reached from others, by one edge or more."""
    reached = np.zeros(len(following), bool)
    pending: list[int] = starts.tolist()
    while pending:
        for node in following[pending.pop()]:
            if not reached[node]:
                reached[node] = True
                pending.append(node)
    return reached
