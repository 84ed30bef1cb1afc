"""Facts of nodes in a file: what the inspector says of each, in blobs of many nodes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import numpy as np
from dash.development.base_component import Component

from gviz.app.components import Parts, Sides
from gviz.app.html_file.source import NO_LINKS, Source
from gviz.app.inspector import NodeRecords
from gviz.app.pages import Comparison, compared_inspector
from gviz.app.views import GraphView
from gviz.dataclass import dataclass
from gviz.stats import IntArray

#: Nodes whose facts are in one blob: enough to compress well, few to unpack for one of them.
NODES_A_BLOB = 1000


@dataclass(frozen=True, slots=True)
class InspectedGraph:
    """One level of a graph."""

    source: Source
    view: GraphView

    @property
    def graph_id(self) -> int:
        """The level."""
        return self.view.graph.graph_id

    @property
    def node_count(self) -> int:
        """Its nodes, nested ones not among them."""
        return len(self.view.nodes)

    def facts(self) -> Iterator[bytes]:
        """Yield the facts of all nodes, nested ones too, blob by blob: JSON of their records."""
        source = self.source
        records = NodeRecords(source.library, source.file, self.view, source.links())
        return map(to_json, records.in_parts(NODES_A_BLOB))


@dataclass(frozen=True, slots=True)
class InspectedPair:
    """A graph and its counterpart, compared.

    ``sides`` are their files' keys; ``numbers`` those of both graphs' nodes on the page, partners
    once, nested ones too, ascending.
    """

    found: Comparison
    sides: Sides
    numbers: IntArray

    @property
    def graph_id(self) -> int:
        """The graph after."""
        return self.found.trees[1].graph.graph_id

    @property
    def node_count(self) -> int:
        """The nodes of both, partners once, nested ones too."""
        return len(self.numbers)

    def inspect(self, selected: Sequence[int]) -> Component:
        """Return the inspector of a selection as a file has it."""
        return compared_inspector(self.found, self.sides, selected, NO_LINKS)

    def facts(self) -> Iterator[bytes]:
        """Yield the facts of all nodes, blob by blob: JSON of parts, and each node's place."""
        for first in range(0, len(self.numbers), NODES_A_BLOB):
            parts = Parts()
            shown = self.numbers[first : first + NODES_A_BLOB]
            places = [parts.add(self.inspect([node])) for node in shown.tolist()]
            yield to_json({"parts": parts.list, "nodes": places})


#: What the facts of a file are about.
Inspected = InspectedGraph | InspectedPair


def inspected(source: Source, graph_id: int) -> Inspected:
    """Return a graph of a file: with its counterpart, where it is compared.

    Raises
    ------
    RecordingError
        If two graphs cannot be compared.
    """
    if graph_id in source.partners:
        found = source.comparison(graph_id)
        numbers = np.union1d(found.keys.before, found.keys.after)
        return InspectedPair(found, source.sides(graph_id), numbers)
    return InspectedGraph(source, source.view(graph_id))


def fact_blobs(of: Inspected) -> Iterator[tuple[str, bytes]]:
    """Yield ``facts-ID-N``, one after another."""
    for number, facts in enumerate(of.facts()):
        yield f"facts-{of.graph_id}-{number}", facts


def to_json(value: object) -> bytes:
    """Return a value as the page reads it."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode()
