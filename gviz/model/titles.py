"""Titles of graphs: their names, and before these what tells those of one name apart.

A program that captures one graph for each batch size does so in one line, which all of them are
called after.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from gviz.model.nvtx_paths import SEPARATOR, range_texts, telling_parts
from gviz.model.tree import Keep, build_anew
from gviz.recording import rows
from gviz.text import counted

if TYPE_CHECKING:
    from gviz.recording import Recording

#: What is read of the nodes of graphs of one name.
_COLUMNS = ("function_id", "grid_x", "grid_y", "grid_z", "nvtx_path_id")


def graph_titles(recording: Recording, graphs: Iterable[rows.Graph]) -> dict[int, str]:
    """Return the title of each graph, by graph_id.

    A graph whose name no other graph of its run has is called so. Before the names of others stands
    the first of these that is another for each: the NVTX range that it was captured in, the range
    that all its nodes were made in, how many times larger its grids are than those of the smallest
    of them, or how many nodes it has. Where nothing is, its number stands behind the name.
    """
    listed = list(graphs)
    titles = {graph.graph_id: graph.name for graph in listed}
    named: dict[tuple[int, str], list[rows.Graph]] = {}
    for graph in listed:
        if graph.parent_graph_id is None:
            named.setdefault((graph.run_id, graph.name), []).append(graph)
    for (_, name), alike in named.items():
        if len(alike) < 2:
            continue
        words = _differences(recording, alike)
        for number, graph in enumerate(alike):
            numbered = f"{name} (graph {graph.graph_id})"
            titles[graph.graph_id] = numbered if words is None else f"{words[number]}, {name}"
    return titles


def graph_title(recording: Recording, graph: rows.Graph, keep: Keep = build_anew) -> str:
    """Return the title of a graph among those of its run; ``keep`` remembers all of these."""
    if graph.parent_graph_id is not None:
        return graph.name
    titles = keep(
        ("titles", graph.run_id),
        lambda: graph_titles(recording, recording.fetch_graphs(graph.run_id)),
    )
    return titles[graph.graph_id]


class _Nodes:
    """Columns of the nodes of a graph, by node_id."""

    def __init__(self, recording: Recording, graph: rows.Graph) -> None:
        found = recording.fetch_columns(
            rows.Node, _COLUMNS, {"graph_id": graph.graph_id}, "node_id"
        )
        self.functions = [row[0] for row in found]
        grids = [[side or 0 for side in row[1:4]] for row in found]
        self.blocks = np.array(grids, np.float64).reshape(-1, 3).prod(axis=1)
        self.paths = {row[4] for row in found}


def _differences(recording: Recording, alike: Sequence[rows.Graph]) -> list[str] | None:
    paths = recording.fetch_nvtx_paths(alike[0].run_id)
    around = [range_texts(paths, graph.capture_nvtx_path_id) for graph in alike]
    if (words := _ranges(around)) is not None:
        return words
    nodes = [_Nodes(recording, graph) for graph in alike]
    common = [_common([range_texts(paths, path) for path in one.paths]) for one in nodes]
    ways: tuple[Callable[[], list[str] | None], ...] = (
        lambda: _ranges(common),
        lambda: _grids(nodes),
        lambda: _distinct([counted(len(one.functions), "node") for one in nodes]),
    )
    return next((words for way in ways if (words := way()) is not None), None)


def _ranges(texts: Sequence[tuple[str, ...]]) -> list[str] | None:
    if not all(texts):
        return None
    return _distinct(telling_parts([SEPARATOR.join(text) for text in texts]))


def _common(texts: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the outermost ranges that all paths have in common."""
    first = texts[0] if texts else ()
    depth = 0
    while depth < len(first) and all(text[: depth + 1] == first[: depth + 1] for text in texts):
        depth += 1
    return first[:depth]


def _grids(nodes: Sequence[_Nodes]) -> list[str] | None:
    """Return how grids that grow together have grown; None where they do not."""
    if any(one.functions != nodes[0].functions for one in nodes):
        return None
    blocks = np.stack([one.blocks for one in nodes])
    grown = (blocks != blocks[0]).any(axis=0) & (blocks > 0).all(axis=0)
    if not grown.any():
        return None
    ratio = np.median(blocks[:, grown] / blocks[:, grown].min(axis=0), axis=1)
    return _distinct([f"{one:.3g} × the smallest grids" for one in ratio.tolist()])


def _distinct(words: list[str]) -> list[str] | None:
    return words if all(words) and len(set(words)) == len(words) else None
