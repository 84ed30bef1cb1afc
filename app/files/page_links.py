"""Addresses of pages in words of other programs: where a person sees what these speak of."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gviz.app.components import Addresses
from gviz.app.files.library import key_of


def graph_page(path: Path, graph_id: int, node_ids: Sequence[int] = ()) -> str:
    """Return the page of a graph below the address that ``gviz view`` prints for its file alone.

    Parameters
    ----------
    path
        The file.
    node_ids
        Nodes that are selected there.
    """
    return Addresses("").graph(key_of(path.stem), graph_id, node_ids)
