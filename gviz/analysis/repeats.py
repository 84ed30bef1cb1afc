"""Repeats of a graph: equal blocks of nodes that follow each other, as layers of a model do."""

from __future__ import annotations

import numpy as np

from gviz.analysis.subject import GraphSubject
from gviz.layout import Fold, find_repeats
from gviz.model import SHAPE, GraphTree, TreeLevel, distinct
from gviz.stats import IntArray


def outermost_repeats(subject: GraphSubject) -> tuple[tuple[TreeLevel, Fold], ...]:
    """Return the outermost repeats of each level; their nodes are numbered from its first one.

    The graph must have recorded edges (:attr:`GraphSubject.why_no_edges`).
    """
    labels = _labels(subject.graph)
    found: list[tuple[TreeLevel, Fold]] = []
    for level in subject.graph.levels:
        edges = subject.edges.of(level)
        order = np.lexsort((np.arange(level.count), subject.level_rows[level.at]))
        folds = find_repeats(edges.source, edges.target, order, labels[level.part].tolist()).folds
        found += [(level, fold) for fold in folds]
    return tuple(found)


def _labels(graph: GraphTree) -> IntArray:
    """Return a number for each node, equal for nodes that do equal work (int64)."""
    names = graph.nodes.texts("name").codes.astype(np.int64)
    shape = (graph.nodes.integers(column, -1) for column in SHAPE)
    return distinct((graph.types, names, *shape))[1]
