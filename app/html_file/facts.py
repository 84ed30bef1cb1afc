"""Facts of nodes in a file: what the inspector says of each, in blobs of many nodes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from dash.development.base_component import Component

from gviz.app.components import Parts, Sides
from gviz.app.html_file.packed import Packed, pack
from gviz.app.html_file.source import NO_LINKS, Source
from gviz.app.inspector import node_list, render_inspector
from gviz.app.pages import Comparison, compared_inspector
from gviz.app.views import GraphView
from gviz.stats import IntArray

#: Nodes whose facts are in one blob: enough to compress well, few to unpack for one of them.
NODES_A_BLOB = 400
#: The inspectors of some nodes as JSON, and what "Copy JSON" copies of them.
FactBlobs = tuple[Packed, Packed]


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

    @property
    def numbers(self) -> IntArray:
        """The nodes' numbers on the page, nested ones too, ascending."""
        return self.view.tree.key

    def inspect(self, selected: Sequence[int]) -> Component:
        """Return the inspector of a selection as a file has it."""
        source = self.source
        return render_inspector(
            source.library, source.file, self.view, selected, source.links(), node_list
        )


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


def blob_count(of: Inspected) -> int:
    """Return how many blobs the facts of all nodes are."""
    return -(-len(of.numbers) // NODES_A_BLOB)


def make_facts(of: Inspected, number: int) -> FactBlobs:
    """Return one blob of facts."""
    first = number * NODES_A_BLOB
    parts = Parts(apart=True)
    shown = of.numbers[first : first + NODES_A_BLOB]
    places = [parts.add(of.inspect([node])) for node in shown.tolist()]
    return pack(to_json({"parts": parts.list, "nodes": places})), pack(to_json(parts.copied))


def to_json(value: object) -> bytes:
    """Return a value as the page reads it."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode()
