"""The memory that a node is given, and who else is given it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dash import html
from dash.development.base_component import Component

from gviz.app.graph_view import GraphView
from gviz.app.library import Library
from gviz.app.quantity import address, byte_size, counted
from gviz.memory_use import (
    GivenArgument,
    MemoryOperation,
    Use,
    UsedAllocation,
    memory_uses,
)
from gviz.recording import rows

#: Allocations of one node that are listed.
_MOST = 6
_WORDS = {"given": "is given", "read": "reads", "written": "writes"}

Picks = Callable[[Sequence[int], str], Component]


def node_memory(
    library: Library, file: str, view: GraphView, node_id: int, picks: Picks
) -> Component | None:
    """Return what memory a node is given and which other nodes are; None: none is known.

    ``picks`` makes buttons of node ids.
    """
    mine = [a for a in _uses(library, file, view) if a.of_node(node_id)]
    if not mine:
        return None
    parts = [_allocation(a, node_id, picks) for a in mine[:_MOST]]
    if len(mine) > _MOST:
        more = counted(len(mine) - _MOST, "more allocation")
        parts.append(html.P(f"and {more}", className="gv-muted"))
    return html.Div(parts)


def _uses(library: Library, file: str, view: GraphView) -> list[UsedAllocation]:
    opened = library.file(file)
    graph_id = view.graph.graph_id

    def build() -> list[UsedAllocation]:
        recording = opened.recording
        columns = ("node_id", "value", "allocation_address", "allocation_bytes")
        found = recording.fetch_columns(rows.Argument, columns, {"graph_id": graph_id}, "node_id")
        operations = [
            MemoryOperation(n.node_id, n.source_address, n.destination_address, n.bytes)
            for n in view.nodes.values()
            if n.source_address is not None or n.destination_address is not None
        ]
        allocated = [(a.address, a.bytes) for a in recording.fetch_allocations(view.run.run_id)]
        return memory_uses([GivenArgument(*row) for row in found], operations, allocated)

    return opened.derive(("memory", graph_id), build)


def _allocation(used: UsedAllocation, node_id: int, picks: Picks) -> Component:
    mine = used.of_node(node_id)
    places = {use.address for use in mine}
    others = [use for use in used.uses if use.node_id != node_id]
    same = list(dict.fromkeys(use.node_id for use in others if use.address in places))
    elsewhere = list(dict.fromkeys(use.node_id for use in others if use.node_id not in set(same)))
    return html.Div(
        className="gv-memory",
        children=[
            html.P(
                [html.Strong(byte_size(used.bytes)), f" at {address(used.address)}"],
                title="An allocation, or a segment of a framework's allocator",
            ),
            html.Ul([html.Li(_way(use, used)) for use in mine[:_MOST]], className="gv-plain"),
            _group("Also given to, or used by, at the same address", same, "memory-same", picks),
            _group("Elsewhere in it", elsewhere, "memory-near", picks),
        ],
    )


def _way(use: Use, used: UsedAllocation) -> str:
    offset = use.address - used.address
    where = "its start" if offset == 0 else f"{byte_size(offset)} into it"
    size = "" if use.bytes is None else f"{byte_size(use.bytes)} at "
    return f"{_WORDS[use.access]} {size}{where}"


def _group(title: str, nodes: list[int], where: str, picks: Picks) -> Component | None:
    if not nodes:
        return None
    return html.Details(
        [
            html.Summary(f"{title}: {counted(len(nodes), 'node')}"),
            picks(nodes, where),
        ]
    )
