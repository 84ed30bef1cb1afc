"""One number for each node of two graphs: partners share one, on every view of the page."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gviz.comparison import ComparedLevel
from gviz.dataclass import dataclass
from gviz.model import GraphTree
from gviz.stats import IntArray


@dataclass(frozen=True, slots=True)
class UnionKeys:
    """Numbers of the nodes of both trees.

    The nodes after have their numbers on a page of their own; nodes before that have no partner
    follow.

    Attributes
    ----------
    before, after
        int64, one a node of each tree.
    """

    before: IntArray
    after: IntArray

    @classmethod
    def of(cls, before: GraphTree, after: GraphTree, levels: Sequence[ComparedLevel]) -> UnionKeys:
        """Return the numbers for two trees and what was compared of them, level by level."""
        places = [{x.graph.graph_id: x for x in tree.levels} for tree in (before, after)]
        partner = np.full(len(before.nodes), -1, np.int64)
        for level in levels:
            one, two = (at[i] for at, i in zip(places, level.graph_ids, strict=True))
            pairs = level.comparison.pairs
            partner[one.first + pairs[:, 0]] = after.key[two.first + pairs[:, 1]]
        lone = np.flatnonzero(partner < 0)
        partner[lone] = after.key.max(initial=-1) + 1 + np.arange(len(lone))
        return cls(partner, after.key)

    def of_side(self, side: int) -> IntArray:
        """Return the numbers before (0) or after (1)."""
        return self.after if side else self.before
