"""Values of a graph's nodes as a table that pages lay on it: colours, columns, change of two."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from gviz.model import GivenMemory, read_graph_values, read_tree
from gviz.overlay import OverlayFile
from gviz.recording import Recording

#: What the table is called on pages.
NAME = "values"
_COLUMNS = ("node", "NaN after", "infinite after", "written [B]", "varying ranges", "avg after")


def values_table(recording: Recording, file: str, graph_id: int) -> OverlayFile | None:
    """Return the values of a graph by node; None: none were read, or it has bodies.

    Numbers of nodes in bodies are others on the page of the body.
    """
    readings = recording.fetch_value_readings(graph_id)
    if all(reading.refusal is not None for reading in readings):
        return None
    tree = read_tree(recording, graph_id)
    values = read_graph_values(recording, tree)
    if len(tree.levels) > 1 or not values.given:
        return None
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(_COLUMNS)
    for node, given in values.by_node.items():
        writer.writerow([int(tree.key[node]), *_cells(given)])
    return OverlayFile(NAME, text.getvalue().encode(), file, graph_id, is_recorded=True)


def _cells(given: Sequence[GivenMemory]) -> list[float | None]:
    """Return what a node left in memory that it may have written."""
    left = [memory for memory in given if memory.may_be_written]
    typed = [memory.after for memory in left if memory.element]
    means = [held.mean for held in typed if held.mean is not None]
    return [
        sum(held.nan_count or 0 for held in typed) if typed else None,
        sum(held.infinite_count or 0 for held in typed) if typed else None,
        sum(memory.bytes for memory in left if memory.is_written),
        sum(memory.after.varies for memory in given),
        sum(means) / len(means) if means else None,
    ]
