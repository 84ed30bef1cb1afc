"""The memory that a node is given, and who else is given it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from string import ascii_uppercase

import numpy as np
import numpy.typing as npt
from dash.development.base_component import Component

from gviz.app.components import address, aria
from gviz.app.components import elements as html
from gviz.app.files import Library
from gviz.app.views import GraphView, kept_memory
from gviz.errors import CycleError
from gviz.model import Access, MemoryUses
from gviz.text import byte_size, counted

#: Allocations of one node that are listed, and ways to addresses in each.
_MOST = 6
_WORDS = {
    Access.GIVEN: "is given",
    Access.READ: "reads",
    Access.WRITTEN: "writes",
    Access.ALLOCATED: "allocates",
    Access.FREED: "frees",
    Access.LOOKS: "is given",
}

Picks = Callable[[Sequence[int]], Component]


def node_memory(
    library: Library, file: str, view: GraphView, node_id: int, picks: Picks
) -> Component | None:
    """Return what memory a node is given and which other nodes are; None: none is known.

    ``picks`` makes buttons of node ids.
    """
    try:
        uses = kept_memory(library, file, view).uses
    except CycleError:  # the graph's place says which nodes
        return html.P(
            "Who else is given its memory is not known: the dependencies form a cycle.",
            className="gv-muted",
        )
    ids = view.nodes.ids
    node = view.nodes.index_of(node_id)
    assert node is not None
    mine = uses.of_node(node)
    if not len(mine):
        return None
    letters = buffer_letters(uses, node)
    groups = [mine[uses.allocation[mine] == a] for a in np.unique(uses.allocation[mine])]
    # Memory of which no allocation is known comes last.
    groups.sort(key=lambda group: uses.allocation[group[0]] < 0)
    parts = [_allocation(uses, node, group, ids, letters, picks) for group in groups[:_MOST]]
    if len(groups) > _MOST:
        more = counted(len(groups) - _MOST, "more allocation")
        parts.append(html.P(f"and {more}", className="gv-muted"))
    return html.Div(parts)


def buffer_letters(uses: MemoryUses, node: int) -> dict[tuple[int, int], str]:
    """Return a letter for what a node has in common with others, by (place, reach), by place.

    The graph gives the same letters (assets/web/dag/scene/uses.js).
    """
    mine = uses.of_node(node)
    shared = {
        (int(uses.place[use]), int(uses.reach[use]))
        for use in mine.tolist()
        if (uses.node[uses.sharing(use)] != node).any()
    }
    return dict(zip(sorted(shared), ascii_uppercase, strict=False))


def _allocation(
    uses: MemoryUses,
    node: int,
    mine: npt.NDArray[np.int64],
    ids: npt.NDArray[np.int64],
    letters: dict[tuple[int, int], str],
    picks: Picks,
) -> Component:
    at = int(uses.allocation[mine[0]])
    sharing = np.unique(np.concatenate([uses.sharing(use) for use in mine.tolist()]))
    same = np.unique(uses.node[sharing])
    same = same[same != node]
    near = np.unique(uses.node[uses.allocation == at]) if at >= 0 else same
    near = near[(near != node) & ~np.isin(near, same)]
    ways = [html.Li(_way(uses, use, letters)) for use in mine[:_MOST].tolist()]
    if len(mine) > _MOST:
        ways.append(html.Li(f"and {counted(len(mine) - _MOST, 'more address', 'more addresses')}"))
    return html.Div(
        className="gv-memory",
        children=[
            _title(uses, at, ids, picks),
            html.Ul(ways, className="gv-plain"),
            _group("Also given to, or used by, at the same address", ids[same].tolist(), picks),
            _group("Elsewhere in it", ids[near].tolist(), picks),
        ],
    )


def _title(uses: MemoryUses, at: int, ids: npt.NDArray[np.int64], picks: Picks) -> Component:
    if at < 0:
        return html.P(
            html.Strong("No allocation known"),
            title="Host memory of copies, and words inside structures that look like addresses",
        )
    size = html.Strong(byte_size(int(uses.allocation_bytes[at])))
    where = f" at {address(int(uses.allocation_address[at]))}"
    node = int(uses.allocation_node[at])
    if node < 0:
        title = "An allocation, or a segment of a framework's allocator"
        return html.P([size, where], title=title)
    return html.Div([html.P([size, where, ", allocated by"]), picks([int(ids[node])])])


def _way(
    uses: MemoryUses, use: int, letters: dict[tuple[int, int], str]
) -> list[Component | str | None]:
    access = Access(int(uses.access[use]))
    at, where = int(uses.allocation[use]), int(uses.address[use])
    size = int(uses.bytes[use])
    amount = f"{byte_size(size)} at " if size >= 0 else ""
    if at < 0:
        guess = "what looks like " if access == Access.LOOKS else ""
        place = f"{guess}{address(where)}"
    else:
        offset = where - int(uses.allocation_address[at])
        place = "its start" if offset == 0 else f"{byte_size(offset)} into it"
    letter = letters.get((int(uses.place[use]), int(uses.reach[use])))
    return [
        html.Span(letter, className="gv-buffer") if letter else None,
        f"{_WORDS[access]} {amount}{place} ",
        _follow(where, size) if letter else None,
    ]


def _follow(where: int, size: int) -> Component:
    return html.Button(
        "Follow",
        type="button",
        className="gv-follow",
        title="Show in the graph all nodes that are given this address",
        **{"data-follow": f"{where:x}" if size < 0 else f"{where:x}.{size:x}"},
        **aria(label=f"Follow {address(where)}"),
    )


def _group(title: str, nodes: list[int], picks: Picks) -> Component | None:
    if not nodes:
        return None
    return html.Details(
        [
            html.Summary(f"{title}: {counted(len(nodes), 'node')}"),
            picks(nodes),
        ]
    )
