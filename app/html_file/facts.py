"""Facts of nodes in a file: what the inspector says of each, in blobs of many nodes."""

from __future__ import annotations

import json
from collections.abc import Sequence

from dash.development.base_component import Component

from gviz.app.components import Parts
from gviz.app.html_file.packed import Packed, pack
from gviz.app.html_file.source import Source
from gviz.app.inspector import node_list, render_inspector
from gviz.app.views import GraphView, TreeComparison

#: Nodes whose facts are in one blob: enough to compress well, few to unpack for one of them.
NODES_A_BLOB = 400
#: The inspectors of some nodes as JSON, and what "Copy JSON" copies of them.
FactBlobs = tuple[Packed, Packed]


def inspect(
    source: Source, view: GraphView, selected: Sequence[int], against: TreeComparison | None
) -> Component:
    """Return the inspector of a selection as a file has it."""
    return render_inspector(
        source.library, source.file, view, selected, source.links(), node_list, against
    )


def blob_count(view: GraphView) -> int:
    """Return how many blobs the facts of all nodes are, nested ones too."""
    return -(-len(view.tree.key) // NODES_A_BLOB)


def make_facts(
    source: Source, view: GraphView, against: TreeComparison | None, number: int
) -> FactBlobs:
    """Return one blob of facts."""
    first = number * NODES_A_BLOB
    parts = Parts(apart=True)
    node_ids = view.tree.key[first : first + NODES_A_BLOB].tolist()
    places = [parts.add(inspect(source, view, [node_id], against)) for node_id in node_ids]
    return pack(to_json({"parts": parts.list, "nodes": places})), pack(to_json(parts.copied))


def to_json(value: object) -> bytes:
    """Return a value as the page reads it."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode()
