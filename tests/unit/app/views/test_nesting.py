"""Bodies of conditional nodes in the app, from a folded spool."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from app_tree import links, texts
from inspected import inspected
from shown_pages import render_page
from spool_writing import (
    buffer,
    conditional_record,
    graph_records,
    launch_record,
    work,
    write_spool,
)

from gviz.app.components.addresses import Addresses
from gviz.app.files.library import Library
from gviz.app.views.graph_data import graph_view
from gviz.app.views.timeline.side_arrays import nested_arrays
from gviz.app.views.timeline.timeline_side import graph_side
from gviz.app.views.wire import Strings
from gviz.cuda.node_type import NodeType
from gviz.model.tree.graph_level import GraphLevel, read_graph_level
from gviz.recording import rows
from gviz.recording.reader import Recording
from gviz.spool.folding.recording_fold import fold, read_contents
from gviz.spool.records import table
from gviz.spool.records.format import RecordType

KERNEL, CONDITIONAL, HOST = NodeType.KERNEL, NodeType.CONDITIONAL, NodeType.HOST
EXEC, ITERATIONS = 2, 3
ADDRESSES = Addresses("/")
#: A kernel; an IF/ELSE of one kernel each (numbers 4, 5), the first of which runs; a WHILE of
#: two kernels (numbers 6, 7) that runs three times; a host node.
RECORDS = [
    *graph_records(1, EXEC, [KERNEL, CONDITIONAL, CONDITIONAL, HOST], [(0, 1), (1, 2), (2, 3)]),
    conditional_record(1, 1, 0, 2),
    conditional_record(1, 2, 1),
    (RecordType.PARAMETER, table.PARAMETER.pack(1, 3) + b"symbol\non_step"),
    *graph_records(3, EXEC, [KERNEL], parent=(1, 1), branch=0),
    *graph_records(4, EXEC, [KERNEL], parent=(1, 1), branch=1),
    *graph_records(5, EXEC, [KERNEL, KERNEL], [(0, 1)], parent=(1, 2)),
    launch_record(EXEC, 1, 100),
]
ACTIVITIES = [
    work(EXEC, 0, 1, 1_000),
    work(EXEC, 4, 0, 2_000),
    *(
        work(EXEC, 6 + n, 0, 3_000 + 100 * iteration + 50 * n)
        for iteration in range(ITERATIONS)
        for n in (0, 1)
    ),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    records = [*RECORDS, (RecordType.BUFFER, buffer(ACTIVITIES))]
    spool = write_spool(tmp_path / "nested.gviz-spool", records)
    return fold(read_contents(spool), spool, tmp_path / "nested.gviz")


@pytest.fixture
def library(path: Path) -> Library:
    return Library([path])


def inspect(library: Library, graph_id: int, *nodes: int) -> str:
    view = graph_view(library, "nested", graph_id)
    return inspected(library, "nested", view, nodes)


def level_of(recording: Recording, graph_id: int) -> GraphLevel:
    return read_graph_level(recording, graph_id)


def bodies(library: Library, node: int) -> list[rows.Graph]:
    tree = graph_view(library, "nested", 1).tree
    return [tree.levels[at].graph for at in tree.bodies(node)]


def test_branches_are_reached_from_their_node_by_name(library: Library) -> None:
    view = graph_view(library, "nested", 1)
    shown = inspected(library, "nested", view, [1])
    assert [b.name for b in bodies(library, 1)] == ["then of node 1", "else of node 1"]
    assert "then of node 1" in shown
    assert "else of node 1" in shown
    for body in bodies(library, 1):
        assert f"/graph?file=nested&graph={body.graph_id}" in shown


def test_conditional_node_says_what_it_does(library: Library) -> None:
    assert "CONDITIONAL IF" in inspect(library, 1, 1)
    assert "branches" in inspect(library, 1, 1)
    assert "CONDITIONAL WHILE" in inspect(library, 1, 2)


def test_branch_that_was_not_taken_says_so(library: Library) -> None:
    then, otherwise = bodies(library, 1)
    assert "not taken" not in inspect(library, then.graph_id, 0)
    shown = inspect(library, otherwise.graph_id, 0)
    assert "the branch was not taken in any recorded launch" in shown


def test_host_node_shows_its_function(library: Library) -> None:
    shown = inspect(library, 1, 3)
    assert "on_step" in shown
    assert "CUPTI reports host nodes only from version 13.1" in shown


def test_page_of_a_body_names_its_place(library: Library) -> None:
    (body,) = bodies(library, 2)
    page, steps, _ = render_page(
        library, ADDRESSES, "/graph", f"?file=nested&graph={body.graph_id}"
    )
    assert "body of node 2" in texts(page)
    assert "/graph?file=nested&graph=1" in links(steps)


def test_timeline_shows_every_iteration_of_a_body(path: Path) -> None:
    with Recording(path) as recording:
        _, top = graph_side(recording, level_of(recording, 1), None, Strings())
        assert top["graph_node_id"].tolist() == [0, 4, *[6, 7] * ITERATIONS]
        body = next(g for g in recording.fetch_graphs() if g.name == "body of node 2")
        _, inside = graph_side(recording, level_of(recording, body.graph_id), None, Strings())
        assert inside["graph_node_id"].tolist() == [0, 1] * ITERATIONS
        assert inside["graph_iteration"].tolist() == [0, 0, 1, 1, 2, 2]


def test_nested_nodes_of_several_trees_are_named_once() -> None:
    before = (np.array([-1, 0, 0]), np.array([7, 8, 9]))
    after = (np.array([-1, 0, 1]), np.array([7, 9, 5]))
    assert {name: list(a) for name, a in nested_arrays(before, after).items()} == {
        "nested_node": [8, 9, 5],
        "nested_parent": [7, 7, 9],
    }
    assert nested_arrays((np.array([-1, -1]), np.array([1, 2]))) == {}
