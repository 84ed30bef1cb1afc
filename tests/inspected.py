"""Records of nodes as the inspector is sent them, for tests: assets/web/inspector says them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from app_tree import texts

from gviz.app.components.addresses import Addresses
from gviz.app.files.library import Library
from gviz.app.inspector.inspector import render_sums
from gviz.app.inspector.node_records import NodeRecords
from gviz.app.views.graph_data import GraphView

_ADDRESSES = Addresses("/")


def record_of(library: Library, file: str, view: GraphView, key: int) -> dict[str, Any]:
    """Return the columns of a node by its number on the page."""
    node = view.tree.index_of(key)
    assert node is not None
    records = NodeRecords(library, file, view, _ADDRESSES).one(node)
    (level,) = records.pop("levels")
    return {**records, **level}


def inspected(library: Library, file: str, view: GraphView, keys: Sequence[int]) -> str:
    """Return the texts and values that the inspector shows of a selection, line by line."""
    if len(keys) == 1:
        return "\n".join(_leaves(record_of(library, file, view, keys[0])))
    nodes = [node for key in keys if (node := view.tree.index_of(key)) is not None]
    return texts(render_sums(view, nodes))


def value(column: dict[str, Any]) -> Any:
    """Return the value of a column of one node."""
    return column["same"]


def listed(columns: dict[str, Any], name: str) -> list[Any]:
    """Return a column of a table, as assets/web/table/coded.js reads it."""
    column = columns[name]
    if isinstance(column, list):
        return column
    if "values" not in column:
        return [column["same"]] * len(columns["key"])
    return [column["values"][code] for code in column.get("codes", range(len(columns["key"])))]


def _leaves(found: Any) -> Iterator[str]:
    if isinstance(found, dict):
        for part in found.values():
            yield from _leaves(part)
    elif isinstance(found, (list, tuple)):
        for part in found:
            yield from _leaves(part)
    else:
        yield str(found)
