"""Origins in the inspector: the node's own range, the capturing thread's, the forward operation."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from inspected import inspected, record_of, value
from places import ROOT

from gviz.app.files.library import Library
from gviz.app.views.graph_data import graph_view
from gviz.app.views.table.table import table_payload


@pytest.mark.parametrize(("of_capture", "name"), [(True, "backward"), (False, "forward")])
def test_range_of_the_capturing_thread_is_marked(of_capture: bool, name: str) -> None:
    library = Library([ROOT / "assets" / "recordings" / "training_step.gviz"])
    view = graph_view(library, "training_step", 1)
    node = view.tree.has_range_of_capture.tolist().index(of_capture)
    record = record_of(library, "training_step", view, int(view.tree.key[node]))
    assert name in value(record["nvtx"])
    assert (value(record["nvtx_from"]) == "capture") == of_capture


@pytest.mark.parametrize("number", [40, -1])
def test_forward_operation_is_told_with_its_line(tmp_path: Path, number: int) -> None:
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
    record = record_of(library, "training_step", view, 400)
    assert "TBackward0" in inspected(library, "training_step", view, [400])
    operation = 40 if number > 0 else 50
    (told,) = record["operations"]
    assert (value(record["forward"]), told["node_id"]) == (0, operation)
    assert value(record["forward_exact"]) == (number > 0)
    # The node's own stack is not recorded.
    assert "stack_id" not in record["node"]
    stack = record["stacks"][str(told["stack_id"])]
    assert stack["line"].endswith(" < step:31")
    assert stack["frames"][stack["own"]]["file"].endswith("training_step.py")
    columns = json.loads(table_payload(view))
    places = dict(zip(columns["key"], columns["stack"], strict=True))
    assert places[400] == places[operation]
    assert places[401] is None
    assert value(record["nvtx_from"]) == "capture"
