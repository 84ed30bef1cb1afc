"""The replacement of a kernel that changed a graph most, as it is in each of its places."""

from __future__ import annotations

from collections.abc import Sequence

from gviz.analysis import GraphSubject, find_model_layers
from gviz.comparison.diff_result import RepeatedChange
from gviz.comparison.level_diff import ComparedLevel
from gviz.cuda import NodeType
from gviz.stats import NotComputed, distinct_values


def repeated_change(levels: Sequence[ComparedLevel], before: GraphSubject) -> RepeatedChange | None:
    """Return the replacement whose time changed most; None: no kernel was replaced.

    Where nothing was timed, it is the one of most nodes.
    """
    found = [(level, at) for level in levels for at in range(len(level.replaced.name))]
    if not found:
        return None
    level, at = max(found, key=lambda one: _weight(*one))
    name = level.replaced.name[at]
    places = [one for one in level.comparison.replacements if one.name == name]
    change_ns = level.replaced_times.at(at).change_ns
    kind, with_it, all_layers = _layers(before, level, at)
    return RepeatedChange(
        name=name,
        only_kernels=_are_kernels(level, at),
        nodes_before=len(places[0].before),
        nodes_after=len(places[0].after),
        place_count=len(places),
        each_ns=None if change_ns is None else change_ns / len(places),
        layer_kind=kind,
        layer_count=with_it,
        layers_before=all_layers,
    )


def _weight(level: ComparedLevel, at: int) -> tuple[float, int]:
    change_ns = level.replaced_times.at(at).change_ns or 0.0
    return abs(change_ns), len(level.replaced.before[at])


def _are_kernels(level: ComparedLevel, at: int) -> bool:
    sides = (
        (level.comparison.first, level.replaced.before[at]),
        (level.comparison.second, level.replaced.after[at]),
    )
    return all(bool((graph.type[nodes] == NodeType.KERNEL).all()) for graph, nodes in sides)


def _layers(
    subject: GraphSubject, level: ComparedLevel, at: int
) -> tuple[str | None, int | None, int | None]:
    """Return what layers are called, in how many the nodes before are, and how many there are."""
    layers = subject.once(find_model_layers)
    if isinstance(layers, NotComputed):
        return None, None, None
    tree = subject.graph
    own = next(x for x in tree.levels if x.graph.graph_id == level.graph_ids[0])
    of_node = layers.of_node[own.part][level.replaced.before[at]]
    return layers.kind, len(distinct_values(of_node[of_node >= 0])), len(layers)
