"""The table of all nodes: where their stacks are, as a search looks in them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from recordings import fork_join_shape, write_recording

import gviz.assets
from gviz.app.files.library import Library
from gviz.app.views import family_columns, graph_view, table_payload

ASSETS = Path(gviz.assets.__file__).parent / "recordings"


def test_stacks_of_many_nodes_are_few_texts_of_files_lines_and_functions() -> None:
    path = ASSETS / "decode_step.gviz"
    columns = json.loads(table_payload(graph_view(Library([path]), "decode_step", 1)))
    stacks, places = columns["stacks"], columns["stack"]
    assert len(places) == len(columns["key"])
    assert set(places) == set(range(len(stacks)))
    assert len(stacks) < len(places) / 10
    found = [stacks[place] for place in places if "attention" in stacks[place]]
    assert found
    assert {"layer_norm < Layer.attention < Layer.step < step < main"} <= set(columns["calls"])
    assert len(columns["calls"]) == len(stacks)
    assert all(".py:" in stack and " < " in stack for stack in found)


def test_each_column_has_a_line() -> None:
    path = ASSETS / "decode_step.gviz"
    payload = table_payload(graph_view(Library([path]), "decode_step", 1)).decode()
    lines = payload[1:-1].split(",\n")
    assert [next(iter(json.loads(f"{{{line}}}"))) for line in lines] == list(json.loads(payload))


def test_nodes_without_stacks_have_none() -> None:
    path = ASSETS / "nested_torch.gviz"
    view = graph_view(Library([path]), "nested_torch", 1)
    columns = json.loads(table_payload(view))
    assert set(columns["stack"]) == {None}
    assert columns["stacks"] == []


@pytest.mark.parametrize(("launches", "by"), [(2, "total_ns"), (0, "count")])
def test_families_come_by_their_time_else_by_their_number_of_nodes(
    tmp_path: Path, launches: int, by: str
) -> None:
    path = write_recording(tmp_path / "x.gviz", fork_join_shape(), launches=launches)
    columns = family_columns(graph_view(Library([path]), "x", 1))
    assert [column["field"] for column in columns if column.get("sort")] == [by]
