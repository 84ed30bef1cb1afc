"""Body graphs whose parent node is not recorded: in table and timeline, without a place drawn."""

from __future__ import annotations

import numpy as np
import pytest
from inspected import record_of
from nested_recordings import write_late_recording

from gviz.app.files.library import Library
from gviz.app.views.graph_data import GraphView, graph_view
from gviz.app.views.payload import DagRequest, dag_payload, level_memory_payload, timeline_payload
from gviz.app.views.table.table import table_payload
from gviz.app.views.wire import unpack


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return Library([write_late_recording(tmp_path_factory.mktemp("late") / "late.gviz")])


@pytest.fixture
def view(library: Library) -> GraphView:
    return graph_view(library, "late", 1)


def is_drawn(library: Library, view: GraphView, key: int) -> bool:
    return bool(record_of(library, "late", view, key)["drawn"])


def test_inspector_says_so_of_just_the_nodes_that_are_not_drawn(
    library: Library, view: GraphView
) -> None:
    stated = {key: not is_drawn(library, view, key) for key in view.tree.key.tolist()}
    expected = dict(zip(view.tree.key.tolist(), (view.tree.top < 0).tolist(), strict=True))
    assert stated == expected
    assert {*stated.values()} == {True, False}


def test_page_of_the_body_draws_them(library: Library, view: GraphView) -> None:
    unplaced = next(x for x in view.tree.levels[1:] if x.parent < 0)
    body = graph_view(library, "late", unplaced.graph.graph_id)
    assert is_drawn(library, body, int(body.tree.key[0]))
    recording = library.file("late").recording
    _, arrays = unpack(dag_payload(recording, unplaced.graph.graph_id, DagRequest()))
    assert len(arrays["node_id"]) == unplaced.count


@pytest.mark.parametrize("layout", ["structure", "lanes", "time"])
def test_graph_draws_the_rest(library: Library, view: GraphView, layout: str) -> None:
    recording, tree = library.file("late").recording, view.tree
    unplaced = set(tree.key[tree.top < 0].tolist())
    opened = frozenset(f"n{key}" for key in tree.key.tolist())
    requested = DagRequest(unfolded=opened, layout=layout)
    _, arrays = unpack(dag_payload(recording, 1, requested))
    assert set(arrays["node_id"].tolist()) == set(tree.key.tolist()) - unplaced


def test_table_timeline_and_memory_read_them(library: Library, view: GraphView) -> None:
    recording, tree = library.file("late").recording, view.tree
    unplaced = tree.key[tree.top < 0]
    _, timeline = unpack(timeline_payload(recording, 1, None, None))
    assert np.isin(unplaced, timeline["graph_node_id"]).any()
    assert f'"key":{tree.key.tolist()}'.replace(" ", "") in table_payload(view).decode()
    level_memory_payload(recording, 1, None)
