"""A graph with all that is nested in it: levels, edges, times and spans by one index of nodes."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from nested_recordings import NESTED, write_nested_recording
from renumbered import new_numbers, renumber

from gviz.model.tree.bodies import Bodies
from gviz.model.tree.graph_tree import OF_RUN, GraphTree, read_timed_tree
from gviz.model.tree.keep import keeper
from gviz.model.tree.launch_spans import launch_spans
from gviz.model.tree.nested_times import read_nested_times
from gviz.model.tree.one_node import read_node, read_node_durations, read_node_statistics
from gviz.model.tree.spans import (
    by_start,
    read_launch_spans,
    read_nested_spans,
    read_spans,
    read_spans_in_parts,
    read_statistics,
)
from gviz.model.tree.tree_edges import read_tree_edges
from gviz.recording import rows
from gviz.recording.reader import Recording


@pytest.fixture(scope="module")
def nested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_nested_recording(tmp_path_factory.mktemp("tree") / "nested.gviz", NESTED)


def altered(path: Path, target: Path, *statements: str) -> Path:
    """Return a copy of a recording after some statements of SQL."""
    target.write_bytes(path.read_bytes())
    with closing(sqlite3.connect(target)) as database, database:
        for statement in statements:
            database.execute(statement)
    return target


def described(recording: Recording, tree: GraphTree) -> dict[str, object]:
    """Return everything of a tree that numbers of graphs must not change."""
    edges, spans = read_tree_edges(recording, tree), read_spans(recording, tree)
    inner = read_nested_times(recording, tree)
    return {
        "levels": [(x.graph.name, x.parent, x.depth, x.first, x.end, x.label, x.repeats)
                   for x in tree.levels],
        "paths": [tree.path_of(at) for at in range(len(tree.levels))],
        "names": tree.nodes.listed("name"),
        "arrays": [a.tolist() for a in (tree.key, tree.level, tree.parent, tree.top)],
        "bodies": [(tree.bodies(n), tree.inside(n), tree.levels_inside(n))
                   for n in range(len(tree))],
        "edges": [a.tolist() for a in (edges.source, edges.target, edges.type, edges.begin)],
        "spans": [a.tolist() for a in (spans.launch_id, spans.node, spans.start_ns)],
        "times": [np.nan_to_num(a, nan=-1).tolist()
                  for a in (tree.times.median_ns, tree.times.total_ns, inner.typical_ns)],
    }  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
def test_numbers_of_graphs_change_nothing(nested: Path, tmp_path: Path, seed: int) -> None:
    numbers = new_numbers(nested, seed)
    other = renumber(nested, tmp_path / "other.gviz", numbers)
    with Recording(nested) as one, Recording(other) as two:
        before, after = read_timed_tree(one, 1), read_timed_tree(two, numbers[1])
        assert [x.graph.graph_id for x in after.levels] == [
            numbers[x.graph.graph_id] for x in before.levels
        ]
        assert described(one, before) == described(two, after)
        body = before.levels[-1].graph.graph_id
        assert described(one, read_timed_tree(one, body)) == described(
            two, read_timed_tree(two, numbers[body])
        )


def test_levels_follow_each_other_as_the_driver_numbers_nodes(nested: Path) -> None:
    with Recording(nested) as recording:
        tree = read_timed_tree(recording, 1)
    assert tree.levels[0].graph.name == tree.graph.name == "nested"
    for level in tree.levels[1:]:
        outer = tree.level_of(level.parent)
        assert (outer.at < level.at, level.depth) == (True, outer.depth + 1)
        assert level.at in tree.bodies(level.parent)
        assert range(level.first, level.end)[0] in tree.inside(level.parent)
        assert level.repeats == (tree.nodes[level.parent].conditional_type is not None)
    for node in range(len(tree)):
        around = tree.around(node)
        assert (around[-1] if around else node) == tree.top[node]
        assert all(node in tree.inside(outer) for outer in around)
        assert list(tree.bodies(node)) or not tree.inside(node)


def test_body_of_a_node_that_is_not_recorded_comes_last_with_what_is_in_it(
    nested: Path, tmp_path: Path
) -> None:
    with Recording(nested) as recording:
        whole = read_timed_tree(recording, 1)
    loop = next(x for x in whole.levels if x.label == "body 0" and whole.levels_inside(x.first + 1))
    path = altered(
        nested,
        tmp_path / "late.gviz",
        f"UPDATE graph SET parent_node_id=NULL WHERE graph_id={loop.graph.graph_id}",
    )
    with Recording(path) as recording:
        tree = read_timed_tree(recording, 1)
        spans = read_spans(recording, tree)
    assert len(tree.levels) == len(whole.levels)
    last = next(x for x in tree.levels if x.graph.graph_id == loop.graph.graph_id)
    assert (last.parent, last.repeats, tree.path_of(last.at)) == (-1, True, loop.graph.name)
    inside = [x.at for x in tree.levels if x.at >= last.at]
    assert set(tree.level[tree.top < 0].tolist()) == set(inside)
    assert spans.stray_count == 0
    assert (tree.level[spans.node] >= last.at).any()


def test_bodies_are_in_the_order_of_their_nodes_and_branches() -> None:
    def graph(
        graph_id: int, parent: int | None, node: int | None, branch: int | None
    ) -> rows.Graph:
        return rows.Graph(
            graph_id=graph_id, run_id=1, name="", origin="body",
            parent_graph_id=parent, parent_node_id=node, branch=branch,
        )  # fmt: skip

    found = Bodies(
        [graph(9, None, None, None), graph(2, 9, 5, 1), graph(4, 9, 5, 0), graph(1, 9, 3, None),
         graph(3, 9, None, None), graph(5, 1, 0, None), graph(6, 5, 0, None)]
    )  # fmt: skip
    assert [g.graph_id for g in found.of(9)] == [1, 4, 2, 3]
    assert [g.graph_id for g in found.by_node(9)[5]] == [4, 2]
    assert [g.graph_id for g in found.nested(9)] == [1, 5, 6, 4, 2, 3]
    assert (found.of(6), found.by_node(77)) == ([], {})


def test_edges_of_a_level_are_those_of_its_topology(nested: Path) -> None:
    with Recording(nested) as recording:
        tree = read_timed_tree(recording, 1)
        edges = read_tree_edges(recording, tree)
        assert edges.are_recorded
        for level in tree.levels:
            of = edges.of(level)
            ids = tree.nodes[level.part].integers("node_id")
            topology = recording.fetch_edges(level.graph.topology_id or 0)
            assert ids[of.source].tolist() == topology.from_node.tolist()
            assert ids[of.target].tolist() == topology.to_node.tolist()
    assert (tree.level[edges.source] == tree.level[edges.target]).all()


def test_edges_that_were_not_recorded_are_no_edges(nested: Path, tmp_path: Path) -> None:
    path = altered(nested, tmp_path / "x.gviz", "UPDATE graph SET topology_id=NULL, origin='late'")
    with Recording(path) as recording:
        tree = read_timed_tree(recording, 1)
        edges = read_tree_edges(recording, tree)
    assert (len(edges), edges.are_recorded) == (0, False)
    inferred = altered(nested, tmp_path / "y.gviz", "UPDATE graph SET origin='trace'")
    with Recording(inferred) as recording:
        tree = read_timed_tree(recording, 1)
        assert len(read_tree_edges(recording, tree)) > 0
        assert not len(read_tree_edges(recording, tree, only_recorded=True))
        # What has one node has no edges that could be missing.
        single = [x.has_recorded_edges for x in tree.levels if x.count == 1]
        assert all(single)


def test_spans_of_launches_are_those_of_all_of_them(nested: Path) -> None:
    with Recording(nested) as recording:
        tree = read_timed_tree(recording, 1)
        every = read_spans(recording, tree)
        for launch in recording.fetch_launches(1):
            one = read_launch_spans(recording, tree, launch.launch_id)
            mine = every.take(every.launch_id == launch.launch_id)
            assert one.node.tolist() == mine.node.tolist()
            assert one.end_ns.tolist() == mine.end_ns.tolist()
            assert np.all(np.diff(by_start(one).start_ns) >= 0)
            ordered = launch_spans(tree, one)
            assert sorted(ordered.node.tolist()) == sorted(one.node.tolist())
        parts = list(read_spans_in_parts(recording, tree, 5))
        assert len(parts) == 5
        assert sorted(n for part in parts for n in part.node.tolist()) == sorted(
            every.node.tolist()
        )
        inner = read_nested_spans(recording, tree)
        assert len(inner) == int((tree.level[every.node] > 0).sum()) > 0
        for node in (0, int(inner.node[0])):
            lengths = every.duration_ns[every.node == node]
            assert read_node_durations(recording, tree, node).tolist() == lengths.tolist()
        assert not len(read_node_durations(recording, tree, int(np.argmax(tree.types != 0))))


def test_spans_of_nodes_that_the_graph_lacks_are_counted(nested: Path, tmp_path: Path) -> None:
    path = altered(nested, tmp_path / "x.gviz", "DELETE FROM node WHERE graph_id=1 AND node_id=0")
    with Recording(path) as recording:
        tree = read_timed_tree(recording, 1)
        spans = read_launch_spans(recording, tree, 1)
        assert (spans.stray_count, launch_spans(tree, spans).stray_count) == (1, 1)
        assert (spans.node >= 0).all()
        found = read_statistics(recording, tree, ("count", "total_ns", "mad_ns"))
        assert found.stray.tolist().count(True) == 1
        mine = np.nansum(found.numbers("total_ns"))
        lost = recording.fetch_statistics(1)[0].total_ns
        assert found.sum("total_ns") == mine + lost


def test_statistics_are_those_of_each_node(nested: Path) -> None:
    with Recording(nested) as recording:
        tree = read_timed_tree(recording, 1)
        found = read_statistics(recording, tree, ("count", "median_ns"))
        known = {(s.graph_id, s.node_id): s for s in recording.fetch_statistics(1)}
        for index, node in enumerate(tree.nodes):
            row = known.get((tree.level_of(index).graph.graph_id, node.node_id))
            assert read_node_statistics(recording, tree, index) == row
            of_level = recording.fetch_nodes(tree.level_of(index).graph.graph_id)
            assert read_node(recording, tree, index) in of_level
    for index, node in enumerate(tree.nodes):
        row = known.get((tree.level_of(index).graph.graph_id, node.node_id))
        assert found.integers("count", 0)[index] == (row.count if row else 0)
        assert np.isnan(found.numbers("median_ns")[index]) == (row is None)


def test_keeper_remembers_only_what_it_is_requested_to(nested: Path) -> None:
    keep = keeper(OF_RUN)
    with Recording(nested) as recording:
        one, two = read_timed_tree(recording, 1, keep), read_timed_tree(recording, 1, keep)
    assert one is not two
    assert one.nvtx is two.nvtx
    assert keep(("bodies", 1), lambda: None) is not None
