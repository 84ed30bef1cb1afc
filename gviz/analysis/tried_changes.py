"""Trials of delays in a graph, as changes of its launch."""

from __future__ import annotations

import numpy as np

from gviz.analysis.launch import LaunchChange, LaunchModel, TriedChange
from gviz.model import DELAY_TRIALS, GraphTree, GraphTrials


def tried_changes(trials: GraphTrials, graph: GraphTree, model: LaunchModel) -> list[TriedChange]:
    """Return the delays that were tried in a graph, with what each cost.

    A dependency that others imply holds nothing in the model: trials without some say nothing of
    it.
    """
    unrolled = model.held.unrolled
    made, found = trials.made(*DELAY_TRIALS), list[TriedChange]()
    place = places_of(graph) if made else {}
    for trial in made:
        of_node = np.zeros(len(graph))
        for edit in trials.edits.get(trial.trial_id, ()):
            node = place.get((edit.graph_id, edit.node_id))
            if node is not None:
                of_node[node] += edit.value_ns or 0
        delay = np.where(unrolled.is_mark, 0.0, of_node[unrolled.node])
        if delay.any() and trial.gain_ns is not None:
            found.append(TriedChange(LaunchChange(delay_ns=delay), trial.gain_ns))
    return found


def places_of(graph: GraphTree) -> dict[tuple[int, int], int]:
    """Return the place in the tree of each node, by graph and id."""
    of_level = np.array([level.graph.graph_id for level in graph.levels], np.int64)[graph.level]
    ids = graph.nodes.integers("node_id")
    return {key: at for at, key in enumerate(zip(of_level.tolist(), ids.tolist(), strict=True))}
