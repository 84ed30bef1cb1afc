"""Parts of the model that a graph runs: phases, layers and modules, read once for all views."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from gviz.analysis import (
    NO_RANGE,
    GraphSubject,
    ModelLayers,
    ModelModules,
    find_model_layers,
    find_model_modules,
    find_phases,
)
from gviz.dataclass import dataclass
from gviz.layout import INFERRED, name_layers
from gviz.model import SEPARATOR, Keep, TimedTree
from gviz.recording import Texts
from gviz.stats import IntArray, NotComputed, distinct_values

if TYPE_CHECKING:
    from gviz.recording import Recording


_MOST_NODES = 20_000


@dataclass(frozen=True, slots=True)
class ModelParts:
    """The parts of a model that the nodes of a graph are in.

    Attributes
    ----------
    layers
        None: none are told.
    phase
        One a node: its phase, as the breakdown has it.
    modules
        None: none are known.
    """

    layers: ModelLayers | None
    phase: Texts
    modules: ModelModules | None

    def words(self, nodes: range) -> list[str | None]:
        """Return of some nodes the modules around each, else its layer, and what is inferred."""
        modules, found = self.modules, self.layer_names(nodes)
        for place, at in enumerate(nodes):
            if modules is not None and modules.code[at] >= 0:
                mark = INFERRED if modules.is_inferred[at] else ""
                found[place] = SEPARATOR.join(modules.paths[modules.code[at]]) + mark
        return found

    def layer_names(self, nodes: range | None = None) -> list[str | None]:
        """Return the layer of each of some nodes, or of all, with a mark where it is inferred."""
        nodes = range(len(self.phase.codes)) if nodes is None else nodes
        layers = self.layers
        if layers is None:
            return [None] * len(nodes)
        some = slice(nodes.start, nodes.stop)
        inferred = layers.is_inferred[some] | (layers.source == "repeats")
        places = zip(layers.of_node[some].tolist(), inferred.tolist(), strict=True)
        names = layers.names
        return [None if at < 0 else names[at] + INFERRED * mark for at, mark in places]

    def layers_of(self, nodes: IntArray) -> str | None:
        """Return what some nodes are of the model: its layers, in one name; None: not all are."""
        layers = self.layers
        if layers is None or not len(nodes) or (layers.of_node[nodes] < 0).any():
            return None
        numbers = layers.numbers[distinct_values(layers.of_node[nodes])].tolist()
        is_inferred = layers.source == "repeats" or layers.is_inferred[nodes].any()
        return name_layers(layers.kind, numbers) + (INFERRED if is_inferred else "")

    def module_instances(self) -> Texts:
        """Return of each node its module with a number, else the outermost around it."""
        return self._of_modules(ModelModules.instances)

    def module_paths(self) -> Texts:
        """Return of each node the modules around it, from the outermost on."""
        return self._of_modules(lambda modules: tuple(map(SEPARATOR.join, modules.paths)))

    def _of_modules(self, name: Callable[[ModelModules], Sequence[str]]) -> Texts:
        if self.modules is None:
            return Texts(np.full(len(self.phase.codes), -1, np.int32), ())
        names = name(self.modules)
        known = {text: at for at, text in enumerate(dict.fromkeys(names))}
        # The last: of nodes in no module.
        place = np.array([*(known[text] for text in names), -1], np.int32)
        return Texts(place[self.modules.code], tuple(known))


def read_model_parts(recording: Recording, tree: TimedTree, keep: Keep) -> ModelParts:
    """Return the parts of a model.

    None of a body, which has no launch of its own, and of a very large graph: to find what repeats
    in it would hold its page up.
    """
    graph = tree.graph
    if graph.parent_graph_id is not None or len(tree.nodes) > _MOST_NODES:
        return ModelParts(None, Texts(np.full(len(tree.nodes), -1, np.int32), ()), None)

    def read() -> ModelParts:
        subject = GraphSubject(recording, graph, keep=keep)
        found = subject.once(find_model_layers)
        layers = None if isinstance(found, NotComputed) else found
        timed = np.flatnonzero(~np.isnan(tree.times.median_ns))
        paths = recording.fetch_nvtx_paths(graph.run_id)
        phases = find_phases(subject.graph, paths, timed, layers)
        is_none = np.array([label in ("", NO_RANGE) for label in phases.labels], bool)
        codes = np.where(is_none[phases.code], -1, phases.code).astype(np.int32)
        modules = find_model_modules(subject, layers)
        return ModelParts(layers, Texts(codes, phases.labels), modules)

    return keep(("model parts", graph.graph_id), read)
