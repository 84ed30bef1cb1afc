"""Trials of delays in a graph, as changes of its launch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gviz.analysis.launch import LaunchChange, LaunchModel, TriedChange
from gviz.model import GraphTree

if TYPE_CHECKING:
    from gviz.recording import Recording

_DELAY = "delay"


def read_tried_changes(
    recording: Recording, graph_id: int, graph: GraphTree, model: LaunchModel
) -> list[TriedChange]:
    """Return the delays that were tried in a graph, with what each cost.

    A dependency that others imply holds nothing in the model: trials without some say nothing of
    it.
    """
    unrolled = model.held.unrolled
    place = {(int(g), int(n)): at for at, (g, n) in enumerate(_names(graph))}
    found: list[TriedChange] = []
    for trial in recording.fetch_trials(graph_id):
        if trial.kind != _DELAY or trial.gain_ns is None:
            continue
        of_node = np.zeros(len(graph))
        for edit in recording.fetch_trial_edits(trial.trial_id):
            node = place.get((edit.graph_id, edit.node_id))
            if node is not None:
                of_node[node] += edit.value_ns or 0
        delay = np.where(unrolled.is_mark, 0.0, of_node[unrolled.node])
        if delay.any():
            found.append(TriedChange(LaunchChange(delay_ns=delay), trial.gain_ns))
    return found


def _names(graph: GraphTree) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """Return graph and id of each node: int64, two columns."""
    of_level = np.array([level.graph.graph_id for level in graph.levels], np.int64)
    return np.stack((of_level[graph.level], graph.nodes.integers("node_id")), axis=1)
