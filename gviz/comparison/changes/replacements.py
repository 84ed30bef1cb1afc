"""Kernels that another took the place of, with the nodes that vanished and came around them.

The time of a kernel says nothing of another's: where one fused kernel stands for four, it is longer
than the one that it is paired with, and the launch is shorter. So a replaced kernel is compared
together with the nodes without a partner that it hangs together with by edges.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from gviz.comparison.changes.durations import NodeDurations, add_up
from gviz.comparison.changes.groups import Groups
from gviz.comparison.pairing import ComparedGraph
from gviz.cuda import NodeType
from gviz.dataclass import dataclass
from gviz.stats import BoolArray, IntArray


@dataclass(frozen=True, slots=True)
class Replacement:
    """Nodes of both graphs that are compared as a whole.

    Attributes
    ----------
    pairs
        int64: places of the partners among the pairs that run another kernel, ascending. The
        first stands for all.
    before, after
        int64 node indices: these partners, and the nodes without a partner around them.
    name
        What was replaced by what.
    """

    pairs: IntArray
    before: IntArray
    after: IntArray
    name: str


def find_replacements(
    first: ComparedGraph, second: ComparedGraph, pairs: IntArray
) -> tuple[Replacement, ...]:
    """Return the replacements between two graphs, in order of their first pair.

    Parameters
    ----------
    pairs
        int64 of shape (k, 2): indices of partners.
    """
    replaced = np.flatnonzero(~_run_the_same(first, second, pairs))
    if not len(replaced):
        return ()
    sets = _Sets(len(first) + len(second))
    for offset, side, graph in ((0, 0, first), (len(first), 1, second)):
        is_alone = np.ones(len(graph), bool)
        is_alone[pairs[:, side]] = False
        belongs = is_alone.copy()
        belongs[pairs[replaced, side]] = True
        tail, head = _neighbours(graph)
        # Two replaced kernels in a row are two replacements, unless something vanished between.
        joins = belongs[tail] & belongs[head] & (is_alone[tail] | is_alone[head])
        sets.join(
            zip((tail[joins] + offset).tolist(), (head[joins] + offset).tolist(), strict=True)
        )
    ends = pairs[replaced] + np.array([0, len(first)])
    sets.join(map(tuple, ends.tolist()))
    members: dict[int, list[int]] = {}
    for node in range(len(first) + len(second)):
        members.setdefault(sets.find(node), []).append(node)
    of_set: dict[int, list[int]] = {}
    for pair in replaced.tolist():
        of_set.setdefault(sets.find(int(pairs[pair, 0])), []).append(pair)
    found = []
    for root, mine in of_set.items():
        nodes = np.array(members[root], np.int64)
        before, after = nodes[nodes < len(first)], nodes[nodes >= len(first)] - len(first)
        titles = first.title[int(pairs[mine[0], 0])], second.title[int(pairs[mine[0], 1])]
        name = " → ".join(map(_with_others, titles, (len(before), len(after))))
        found.append(Replacement(np.array(mine, np.int64), before, after, name))
    return tuple(found)


def _run_the_same(first: ComparedGraph, second: ComparedGraph, pairs: IntArray) -> BoolArray:
    """Return which pairs are of one kind and, if kernels, of the same name shown."""
    one, two = pairs[:, 0], pairs[:, 1]
    same: BoolArray = first.type[one] == second.type[two]
    names = (first.title[a] == second.title[b] for a, b in pairs.tolist())
    same &= np.fromiter(names, bool, len(pairs)) | (first.type[one] != NodeType.KERNEL)
    return same


def _neighbours(graph: ComparedGraph) -> tuple[IntArray, IntArray]:
    if graph.edges_known:
        return graph.source, graph.target
    order = np.arange(len(graph))
    return order[:-1], order[1:]


def _with_others(title: str, count: int) -> str:
    return title if count == 1 else f"{title} + {count - 1:,} more"


class _Sets:
    """Disjoint sets of numbers, joined by pairs."""

    def __init__(self, count: int) -> None:
        self._above = list(range(count))

    def join(self, pairs: Iterable[Sequence[int]]) -> None:
        """Put both numbers of each pair into one set."""
        for a, b in pairs:
            self._above[self.find(b)] = self.find(a)

    def find(self, number: int) -> int:
        """Return the number that stands for a number's set."""
        above = self._above
        while above[number] != number:
            above[number] = number = above[above[number]]
        return number


def replaced_by_name(found: Sequence[Replacement]) -> Groups:
    """Return replacements of one name as one group."""
    by_name: dict[str, list[Replacement]] = {}
    for replacement in found:
        by_name.setdefault(replacement.name, []).append(replacement)
    return Groups(
        tuple(by_name),
        tuple(np.concatenate([r.before for r in mine]) for mine in by_name.values()),
        tuple(np.concatenate([r.after for r in mine]) for mine in by_name.values()),
    )


def paired_durations(
    before: NodeDurations,
    after: NodeDurations,
    pairs: IntArray,
    replacements: Sequence[Replacement],
) -> tuple[NodeDurations, NodeDurations]:
    """Return the durations of pairs on both sides, one column a pair.

    The first pair of a replacement has the sum over its nodes, its others have none.
    """
    sides = (before, pairs[:, 0], [r.before for r in replacements]), (
        after, pairs[:, 1], [r.after for r in replacements]
    )  # fmt: skip
    one, two = (_paired(*side, replacements) for side in sides)
    return one, two


def _paired(
    durations: NodeDurations,
    nodes: IntArray,
    groups: Sequence[IntArray],
    replacements: Sequence[Replacement],
) -> NodeDurations:
    launches, typical = durations.launches[:, nodes], durations.typical[nodes]
    sums = add_up(durations, groups)
    for i, replacement in enumerate(replacements):
        launches[:, replacement.pairs] = np.nan
        typical[replacement.pairs] = np.nan
        launches[:, replacement.pairs[0]] = sums.launches[:, i]
        typical[replacement.pairs[0]] = sums.typical[i]
    return NodeDurations(launches, typical, durations.methods)
