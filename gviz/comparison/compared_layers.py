"""The layers of a model before and after, each beside its counterpart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gviz.analysis import GraphSubject, ModelLayers, find_model_layers
from gviz.comparison.comparison import GraphComparison
from gviz.comparison.level_diff import ComparedLevel
from gviz.dataclass import dataclass
from gviz.stats import IntArray, NotComputed, distinct_values


class LayerPair(NamedTuple):
    """A layer before and its counterpart, as node indices in their level, ascending.

    Attributes
    ----------
    name
        What the layer is called before, such as ``layer 5``.
    before, after
        The nodes of each.
    """

    name: str
    before: IntArray
    after: IntArray


class LayerRow(NamedTuple):
    """A node before and its partner; one of both alone has none (None)."""

    before: int | None
    after: int | None


@dataclass(frozen=True, slots=True)
class ComparedLayers:
    """The layers that both graphs have.

    Attributes
    ----------
    level
        Which of the compared levels they are in.
    blocks
        Each with its counterpart, in order of their numbers before.
    typical
        Which of these stands for all: of most nodes' count, and of these of the middle change.
    """

    level: int
    blocks: tuple[LayerPair, ...]
    typical: int


def compare_layers(
    levels: Sequence[ComparedLevel], before: GraphSubject, after: GraphSubject
) -> ComparedLayers | None:
    """Return the layers of both; None: the graph before has none, or they are in several levels."""
    layers = before.once(find_model_layers)
    if isinstance(layers, NotComputed):
        return None
    codes = [_codes(before, layers, level.graph_ids[0]) for level in levels]
    most = max(range(len(levels)), key=lambda at: int((codes[at] >= 0).sum()))
    code, comparison = codes[most], levels[most].comparison
    if not (code >= 0).any():
        return None
    there, known = after.once(find_model_layers), None
    if not isinstance(there, NotComputed):
        known = _codes(after, there, levels[most].graph_ids[1])
    blocks = tuple(
        LayerPair(name, nodes, _counterpart(comparison, nodes, known))
        for at, name in enumerate(layers.names)
        if len(nodes := np.flatnonzero(code == at))
    )
    blocks = tuple(block for block in blocks if len(block.after))
    if len(blocks) < 2:  # nothing repeats
        return None
    return ComparedLayers(most, blocks, _typical(comparison, blocks))


def _codes(subject: GraphSubject, layers: ModelLayers, graph_id: int) -> IntArray:
    """Return the layer of each node of a level (-1: none)."""
    level = next(x for x in subject.graph.levels if x.graph.graph_id == graph_id)
    return layers.of_node[level.part]


def _counterpart(comparison: GraphComparison, nodes: IntArray, known: IntArray | None) -> IntArray:
    """Return the nodes after that are those of a layer: partners, and the rest of their layer.

    ``known`` are the layers after; None: there are none, then what replaced nodes counts.
    """
    partners = comparison.pairs[np.isin(comparison.pairs[:, 0], nodes), 1]
    if known is None:
        more = [r.after for r in comparison.replacements if np.isin(r.before, nodes).any()]
        return distinct_values(np.concatenate([partners, *more]))
    theirs = known[partners]
    theirs = theirs[theirs >= 0]
    if not len(theirs):
        return distinct_values(partners)
    lone = comparison.added[known[comparison.added] == np.bincount(theirs).argmax()]
    return np.union1d(partners, lone)


def _typical(comparison: GraphComparison, blocks: Sequence[LayerPair]) -> int:
    shapes = [(len(block.before), len(block.after)) for block in blocks]
    common = max(set(shapes), key=lambda shape: (shapes.count(shape), shape))
    chosen = [at for at, shape in enumerate(shapes) if shape == common]
    changes = [_layer_change(comparison, blocks[at]) for at in chosen]
    known = sorted((ns, at) for ns, at in zip(changes, chosen, strict=True) if not np.isnan(ns))
    return known[len(known) // 2][1] if known else chosen[len(chosen) // 2]


def layer_times(comparison: GraphComparison, block: LayerPair) -> tuple[float, float]:
    """Return the time of a layer before and after (ns): sums of medians; NaN: not timed."""
    sides = (comparison.before, block.before), (comparison.after, block.after)
    before, after = (
        float(np.nansum(times.typical[nodes]))
        if np.isfinite(times.typical[nodes]).any()
        else float("nan")
        for times, nodes in sides
    )
    return before, after


def _layer_change(comparison: GraphComparison, block: LayerPair) -> float:
    """Return how much longer a layer takes (ns); NaN: it was not timed on both sides."""
    before, after = layer_times(comparison, block)
    return after - before


def layer_rows(comparison: GraphComparison, block: LayerPair) -> list[LayerRow]:
    """Return the nodes of a layer beside their partners, in order; each node once."""
    partner = dict(comparison.pairs.tolist())
    inside = set(block.after.tolist())
    lone = sorted(inside - {partner.get(node) for node in block.before.tolist()})
    rows: list[LayerRow] = []
    for node in block.before.tolist():
        other = partner.get(node)
        if other is not None:
            while lone and lone[0] < other:
                rows.append(LayerRow(None, lone.pop(0)))
        rows.append(LayerRow(node, other))
    return [*rows, *(LayerRow(None, node) for node in lone)]
