"""Work of one kind that stands as one item inside long blocks: nodes one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile

import numpy as np

from gviz.layout.folds.fold import Fold, build_fold, invert
from gviz.stats import BoolArray, IntArray

#: So many nodes can be read side by side: of more, chains stand together.
MOST_READ = 60
#: Blocks, and stretches between repeats, of fewer nodes stay as they are.
LEAST_LONG = 12


class Chains:
    """Chains of work of one kind in an order of nodes.

    A chain is nodes of which each depends on the one before it in the order and on nothing else,
    and nothing else on that.

    Parameters
    ----------
    tail, head
        int64 node indices of each edge.
    order
        Every node index once, dependencies first.
    kind
        int64, one a node: its kind of work; -1: it is in no chain.
    names
        One a node, for titles; None: there are none.
    """

    def __init__(
        self,
        tail: IntArray,
        head: IntArray,
        order: IntArray,
        kind: IntArray,
        names: Sequence[str] | None,
    ) -> None:
        count = len(order)
        place = invert(order)
        alone = np.bincount(tail, minlength=count)[tail] == 1
        alone &= np.bincount(head, minlength=count)[head] == 1
        is_link = alone & (kind[tail] == kind[head]) & (kind[tail] >= 0)
        is_link &= place[head] == place[tail] + 1
        self._order, self._names, self._place = order, names, place
        #: Of each place: whether the next one goes on with its chain.
        self._goes_on = np.zeros(count, bool)
        self._goes_on[place[tail[is_link]]] = True

    def around(self, folds: Sequence[Fold]) -> tuple[Fold, ...]:
        """Return the outermost folds with the chains of long stretches between large ones."""
        found: list[Fold] = []
        between: list[Fold] = []
        start = 0
        for fold in folds:
            if len(fold.nodes) < LEAST_LONG:
                between.append(fold)
                continue
            first = int(self._place[fold.nodes[0]])
            found += [*self.inside(start, first, between), fold]
            start, between = first + len(fold.nodes), []
        return (*found, *self.inside(start, len(self._order), between))

    def inside(self, start: int, end: int, repeats: Sequence[Fold]) -> tuple[Fold, ...]:
        """Return the folds of a block from one place to before another.

        Parameters
        ----------
        repeats
            Those inside that repeat; a chain holds them whole, or ends before them.
        """
        if end - start < LEAST_LONG:
            return tuple(repeats)
        goes_on = self._goes_on[start:end].copy()
        goes_on[-1] = False
        spans = []
        for fold in repeats:
            first = int(self._place[fold.nodes[0]]) - start
            last = first + len(fold.nodes) - 1
            spans.append((first, last))
            if not goes_on[first:last].all():
                goes_on[max(first - 1, 0) : last + 1] = False
        chains = list(self._chains(start, goes_on, list(zip(spans, repeats, strict=True))))
        held = {id(fold) for chain in chains for fold in chain.children}
        return self._sorted([*chains, *(fold for fold in repeats if id(fold) not in held)])

    def _chains(
        self, start: int, goes_on: BoolArray, repeats: Sequence[tuple[tuple[int, int], Fold]]
    ) -> Iterator[Fold]:
        first = 0
        for last in np.flatnonzero(~goes_on).tolist():
            inner = tuple(fold for (a, b), fold in repeats if first <= a and b <= last)
            nodes = self._order[start + first : start + last + 1]
            # A repeat alone has its own name.
            if len(nodes) > 1 and not (len(inner) == 1 and len(inner[0].nodes) == len(nodes)):
                yield build_fold("chain", self._title(nodes), nodes, inner)
            first = last + 1

    def _title(self, nodes: IntArray) -> str:
        if self._names is None:
            return f"{len(nodes)} nodes"
        different = list(dict.fromkeys(self._names[node] for node in nodes.tolist()))
        words = zip(*(name.split(" ") for name in different), strict=False)
        shared = [each[0] for each in takewhile(lambda each: len(set(each)) == 1, words)]
        return f"{len(nodes)} × {' '.join(shared)}" if shared else ", ".join(different)

    def _sorted(self, folds: Sequence[Fold]) -> tuple[Fold, ...]:
        return tuple(sorted(folds, key=lambda fold: int(self._place[fold.nodes[0]])))
