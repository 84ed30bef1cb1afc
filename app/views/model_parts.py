"""Parts of the model that a graph runs: its phases and layers, read once for all views."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gviz.analysis import NO_RANGE, GraphSubject, ModelLayers, find_model_layers, find_phases
from gviz.model import Keep, TimedTree
from gviz.recording import Texts
from gviz.stats import NotComputed

if TYPE_CHECKING:
    from gviz.recording import Recording


@dataclass(frozen=True, slots=True)
class ModelParts:
    """The parts of a model that the nodes of a graph are in.

    Attributes
    ----------
    layers
        None: none are told.
    phase
        One a node: its phase, as the breakdown has it.
    """

    layers: ModelLayers | None
    phase: Texts


def read_model_parts(recording: Recording, tree: TimedTree, keep: Keep) -> ModelParts:
    """Return the parts of a model; of a body none are told, since it has no launch of its own."""
    graph = tree.graph
    if graph.parent_graph_id is not None:
        return ModelParts(None, Texts(np.full(len(tree.nodes), -1, np.int32), ()))

    def read() -> ModelParts:
        subject = GraphSubject(recording, graph, recording.fetch_devices(graph.run_id), keep)
        found = subject.once(find_model_layers)
        layers = None if isinstance(found, NotComputed) else found
        timed = np.flatnonzero(~np.isnan(tree.times.median_ns))
        paths = recording.fetch_nvtx_paths(graph.run_id)
        phases = find_phases(subject.graph, paths, timed, layers)
        is_none = np.array([label in ("", NO_RANGE) for label in phases.labels], bool)
        codes = np.where(is_none[phases.code], -1, phases.code).astype(np.int32)
        return ModelParts(layers, Texts(codes, phases.labels))

    return keep(("model parts", graph.graph_id), read)
