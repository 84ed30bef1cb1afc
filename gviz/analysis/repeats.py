"""Repeats of a graph: equal blocks of nodes that follow each other, as layers of a model do."""

from __future__ import annotations

import numpy as np

from gviz.analysis.subject import GraphSubject
from gviz.layout import find_repeated_blocks
from gviz.model import SHAPE, GraphTree, TreeLevel, distinct
from gviz.stats import IntArray


def outermost_repeats(subject: GraphSubject) -> tuple[tuple[TreeLevel, IntArray], ...]:
    """Return the outermost repeats of each level: int64 node indices, one row a block.

    The graph must have recorded edges (:attr:`GraphSubject.why_no_edges`).
    """
    labels = _labels(subject.graph)
    found: list[tuple[TreeLevel, IntArray]] = []
    for level in subject.graph.levels:
        edges = subject.edges.of(level)
        order = np.lexsort((np.arange(level.count), subject.level_rows[level.at]))
        blocks = find_repeated_blocks(edges.source, edges.target, order, labels[level.part])
        found += [(level, level.first + of_one) for of_one in blocks]
    return tuple(found)


def _labels(graph: GraphTree) -> IntArray:
    """Return a number for each node, equal for nodes that do equal work (int64)."""
    names = graph.nodes.texts("name").codes.astype(np.int64)
    shape = (graph.nodes.integers(column, -1) for column in SHAPE)
    return distinct((graph.types, names, *shape))[1]
