"""Parts of the model that a graph runs: its layers, read once for all views."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gviz.analysis import GraphSubject, ModelLayers, find_model_layers
from gviz.model import GraphTree, Keep
from gviz.stats import NotComputed

if TYPE_CHECKING:
    from gviz.recording import Recording


def read_model_layers(recording: Recording, tree: GraphTree, keep: Keep) -> ModelLayers | None:
    """Return the layers of a graph that is launched; None: a body, or it has none that are told."""
    graph = tree.graph
    if graph.parent_graph_id is not None:
        return None

    def find() -> ModelLayers | NotComputed:
        devices = recording.fetch_devices(graph.run_id)
        return GraphSubject(recording, graph, devices, keep).once(find_model_layers)

    found = keep(("layers", graph.graph_id), find)
    return None if isinstance(found, NotComputed) else found
