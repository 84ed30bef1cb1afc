"""Origins in the inspector: the node's own range, the capturing thread's, the forward operation."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from app_tree import texts
from places import ROOT

from gviz.app.components.addresses import Addresses
from gviz.app.files.library import Library
from gviz.app.inspector.inspector import render_inspector
from gviz.app.views.graph_data import graph_view
from gviz.app.views.table.table import table_payload


@pytest.mark.parametrize(("of_capture", "name"), [(True, "backward"), (False, "forward")])
def test_range_of_the_capturing_thread_is_marked(of_capture: bool, name: str) -> None:
    library = Library([ROOT / "assets" / "recordings" / "training_step.gviz"])
    view = graph_view(library, "training_step", 1)
    node = view.tree.has_range_of_capture.tolist().index(of_capture)
    addresses = Addresses("/")
    key = int(view.tree.key[node])
    shown = texts(render_inspector(library, "training_step", view, (key,), addresses))
    assert name in shown
    assert ("open on the capturing thread" in shown) == of_capture


@pytest.mark.parametrize(
    ("number", "how"), [(40, "autograd: sequence"), (-1, "autograd: next in sequence")]
)
def test_forward_operation_is_shown_with_its_line(tmp_path: Path, number: int, how: str) -> None:
    path = tmp_path / "training_step.gviz"
    path.write_bytes((ROOT / "assets" / "recordings" / path.name).read_bytes())
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE node SET sequence_nr = NULL, autograd_name = NULL")
        database.execute("UPDATE node SET sequence_nr = 40 WHERE node_id = 40")
        database.execute("UPDATE node SET sequence_nr = 50 WHERE node_id = 50")
        # Of a view before node 50, or of node 40.
        own = 45 if number < 0 else number
        database.execute(
            f"UPDATE node SET sequence_nr = {own}, autograd_name = 'TBackward0' WHERE node_id = 400"
        )
    library = Library([path])
    view = graph_view(library, "training_step", 1)
    shown = texts(render_inspector(library, "training_step", view, (400,), Addresses("/")))
    operation = 40 if number > 0 else 50
    assert f"TBackward0 of node {operation} " in shown
    assert f"({how})" in shown
    assert "training_step.py" in shown
    # First in a line, before the times; the node's own stack is not recorded.
    assert " < step:31\n (inferred: of the forward operation)" in shown
    columns = json.loads(table_payload(view))
    places = dict(zip(columns["key"], columns["stack"], strict=True))
    assert places[400] == places[operation]
    assert places[401] is None
    assert "by time: open on the capturing thread" in shown
