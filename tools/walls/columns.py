"""Columns of nodes, edges and spans: read in gviz.recording and gviz.model only.

A reading is a call of a recording's method that returns rows or columns of them: one of the methods
below, or ``fetch_columns``, ``fetch_arrays`` or ``fetch_pages`` of one of the row classes below.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from walls.modules import Module, Product

_OWNERS = ("gviz.recording", "gviz.model")
_ROWS = {"Node", "NodeStatistics", "Edge", "Span"}
_METHODS = {
    "fetch_edges",
    "fetch_graph_spans",
    "fetch_node",
    "fetch_node_durations",
    "fetch_nodes",
    "fetch_spans",
    "fetch_statistics",
    "fetch_statistics_of",
}
_OF_ROWS = {"fetch_arrays", "fetch_columns", "fetch_pages"}


def find(product: Product) -> Iterator[str]:
    """Yield each function outside the owners that reads such columns."""
    for module in product.modules.values():
        if not f"{module.name}.".startswith(tuple(f"{owner}." for owner in _OWNERS)):
            yield from sorted(set(_readings(module)))


def _readings(module: Module) -> Iterator[str]:
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        method = node.func.attr
        if method in _METHODS:
            yield f"{module.name}: {method}"
        elif method in _OF_ROWS and node.args:
            row = ast.unparse(node.args[0]).rpartition(".")[2]
            if row in _ROWS:
                yield f"{module.name}: {method} of {row}"
