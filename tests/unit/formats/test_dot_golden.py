"""Imports of the driver's own dumps, compared with reviewed text."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest
from places import TESTS

from gviz.formats.dot.importer import import_dot
from gviz.recording import rows
from gviz.recording.reader import Recording

FOLDER = TESTS / "golden" / "dot"
DUMPS = sorted(FOLDER.glob("*.dot"))
#: Columns that every line of a node shows by itself, or that are the same in all.
PLAIN_COLUMNS = {"graph_id", "node_id", "type", "name", "function_id", "not_timed_reason"}


def describe(recording: Recording) -> Iterator[str]:
    functions = recording.fetch_functions(1)
    for graph in recording.fetch_graphs():
        inside = ""
        if graph.parent_graph_id is not None:
            branch = "" if graph.branch is None else f" branch {graph.branch}"
            inside = f" in {graph.parent_graph_id}:{graph.parent_node_id}{branch}"
        text = " with text" if graph.dot else ""
        yield f"graph {graph.graph_id} {graph.name} {graph.origin}{inside}{text}"
        for node in recording.fetch_nodes(graph.graph_id):
            values = {f.name: getattr(node, f.name) for f in fields(rows.Node)}
            shown = " ".join(
                f"{name}={value:#x}" if name.endswith("address") else f"{name}={value}"
                for name, value in values.items()
                if value is not None and name not in PLAIN_COLUMNS
            )
            symbol = functions[node.function_id].mangled_name if node.function_id else ""
            yield f"  {node.node_id} type {node.type} {node.name!r} {symbol} {shown}".rstrip()
        assert graph.topology_id is not None
        edges = recording.fetch_edges(graph.topology_id)
        for edge in zip(edges.from_node, edges.to_node, edges.type, strict=True):
            yield "  {} -> {} type {}".format(*edge)
    for note in recording.fetch_notes(1):
        yield f"{note.kind}: {note.text}"


@pytest.mark.parametrize("dump", DUMPS, ids=lambda path: path.stem)
def test_import_of_a_real_dump_equals_the_reviewed_text(dump: Path, tmp_path: Path) -> None:
    with Recording(import_dot(dump, tmp_path / "imported.gviz")) as recording:
        found = "\n".join(describe(recording)) + "\n"
        texts = [zlib.decompress(g.dot).decode() for g in recording.fetch_graphs() if g.dot]
    expected = dump.with_suffix(".txt")
    if os.environ.get("GVIZ_UPDATE_GOLDEN") == "1":
        expected.write_text(found)
    assert found == expected.read_text()
    assert texts == [dump.read_text()]


def test_every_dump_is_named_in_the_provenance() -> None:
    readme = (FOLDER / "README.md").read_text()
    missing = [
        dump.stem
        for dump in DUMPS
        if dump.stem not in readme and dump.stem.rpartition("_")[0] not in readme
    ]
    assert DUMPS
    assert missing == []
