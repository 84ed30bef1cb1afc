"""Tables that a page of a graph, or of two, comes with: a reader's own, and values of nodes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from gviz.app.files import Library


def laid_tables(
    library: Library,
    graphs: Mapping[str, tuple[str, Collection[int]]],
    address: Callable[[int], str],
) -> list[dict[str, Any]]:
    """Return them as assets/web/overlay/carry.js has them: name, source, and of two graphs a side.

    Of values of nodes, ``recorded`` too.

    Parameters
    ----------
    graphs
        By side the key of its recording, and the ids of its graph and of those around that; there
        is one where graphs are not compared.
    address
        Where the data of a table are, by its place in the library.
    """
    for file, ids in graphs.values():
        for graph_id in ids:
            library.lay_values(file, graph_id)
    found: list[dict[str, Any]] = []
    for number, overlay in enumerate(library.overlays):
        sides = [
            side
            for side, (file, ids) in graphs.items()
            if overlay.file in (None, file)
            and (overlay.graph_id is None or overlay.graph_id in ids)
        ]
        if sides:
            one: dict[str, Any] = {"name": overlay.name, "source": address(number)}
            if len(sides) < len(graphs):
                one["side"] = sides[0]
            found.append(one | {"recorded": True} if overlay.is_recorded else one)
    return found
