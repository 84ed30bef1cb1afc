"""Numbers of nested nodes in the executable, and names of bodies."""

from __future__ import annotations

import pytest
from places import TESTS

from gviz.cuda.node_type import ConditionalType, NodeType
from gviz.formats.dot.importer import find_parents
from gviz.formats.dot.parse import read_dot
from gviz.spool.records.graph_records import ConditionalRecord, NodeRecord
from gviz.spool.records.graph_walk import GraphWalk
from gviz.spool.streams.node_ids import Numbering, body_name

KERNEL, CHILD, CONDITIONAL, EMPTY = (
    NodeType.KERNEL,
    NodeType.GRAPH,
    NodeType.CONDITIONAL,
    NodeType.EMPTY,
)
MIX = TESTS / "golden" / "dot" / "conditional_mix_verbose.dot"
#: Executable node id of the kernel of each grid in that graph, as its activity records carried
#: it on an H100 with driver 580. Nodes without a record (child graphs, conditionals) have
#: numbers too: 12, 13, 16.
MIX_NUMBERS = {
    10: 0, 20: 2, 24: 6, 11: 8, 12: 9, 13: 10, 14: 11, 1: 14, 15: 15, 21: 17, 16: 18, 17: 19,
    18: 20, 19: 21, 22: 22, 23: 23, 25: 24,
}  # fmt: skip


def node(node_id: int, kind: int) -> NodeRecord:
    none = (-1, 0, (1, 1, 1), (1, 1, 1), 0, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    return NodeRecord(1, node_id, kind, *none)


def level(
    graph: int, kinds: dict[int, int], parent: tuple[int, int] = (0, 0), branch: int = 0
) -> GraphWalk:
    nodes = [node(i, kind) for i, kind in kinds.items()]
    return GraphWalk(graph, 100, *parent, branch, nodes=nodes)


def numbers(*walks: GraphWalk) -> dict[int, list[int | None]]:
    """Return each level's numbers in order of node id, by graph."""
    found = Numbering(walks).exec_ids
    return {
        walk.graph_id: [found.get((walk.graph_id, n.node_id)) for n in sorted(walk.nodes)]
        for walk in walks
    }


def test_mixed_graph_of_a_real_dump_is_numbered_as_its_records_were() -> None:
    _, clusters = read_dot(MIX)
    parents = find_parents(clusters)
    grid_of, walks = {}, []
    for cluster in clusters:
        parent = parents.get(cluster.number)
        place = (0, 0) if parent is None else (parent.graph_number, parent.node_id)
        kinds = {n.node_id: n.type for n in cluster.nodes}
        branch = (parent.branch or 0) if parent else 0
        walks.append(level(cluster.number, kinds, place, branch))
        for n in cluster.nodes:
            if n.kernel is not None and n.kernel.grid_dim is not None:
                grid_of[cluster.number, n.node_id] = n.kernel.grid_dim[0]
    found = Numbering(walks)
    assert {grid: found.exec_ids[key] for key, grid in grid_of.items()} == MIX_NUMBERS
    assert found.unknown == []
    # Untimed nodes take numbers: no two nodes share one, and none is left out.
    assert sorted(found.exec_ids.values()) == list(range(25))


def test_top_level_keeps_its_ids_and_holes_and_bodies_follow_the_highest() -> None:
    assert numbers(
        level(1, {0: KERNEL, 2: CHILD, 5: KERNEL}),
        level(9, {0: KERNEL, 3: KERNEL}, (1, 2)),
    ) == {1: [0, 2, 5], 9: [6, 7]}


def test_bodies_inside_a_branch_come_after_all_branches() -> None:
    assert numbers(
        level(1, {0: CONDITIONAL, 1: CHILD}),
        level(2, {0: KERNEL, 1: CONDITIONAL, 2: CHILD}, (1, 0), 0),
        level(3, {0: KERNEL}, (1, 0), 1),
        level(4, {0: KERNEL, 1: EMPTY}, (2, 1)),
        level(5, {0: KERNEL}, (2, 2)),
        level(6, {0: KERNEL}, (1, 1)),
    ) == {1: [0, 1], 2: [2, 3, 4], 3: [5], 4: [6, 7], 5: [8], 6: [9]}


def test_order_in_which_levels_were_walked_does_not_matter() -> None:
    top, first, second = (
        level(1, {0: CONDITIONAL}),
        level(2, {0: KERNEL}, (1, 0), 0),
        level(3, {0: KERNEL}, (1, 0), 1),
    )
    assert numbers(top, second, first) == numbers(top, first, second) == {1: [0], 2: [1], 3: [2]}


def test_nothing_after_an_unknown_body_has_a_number() -> None:
    top = level(1, {0: CHILD, 1: CONDITIONAL, 2: CHILD})
    walks = [top, level(2, {0: KERNEL}, (1, 0)), level(3, {0: KERNEL}, (1, 2))]
    assert numbers(*walks) == {1: [0, 1, 2], 2: [3], 3: [None]}
    assert Numbering(walks).unknown == [(1, 1)]


def test_branch_that_is_not_known_makes_the_node_unknown() -> None:
    top = level(1, {0: CONDITIONAL})
    top.conditionals[0] = ConditionalRecord(1, 0, ConditionalType.IF, 2, 1, 1)
    walks = [top, level(3, {0: KERNEL}, (1, 0), 1)]
    assert numbers(*walks) == {1: [0], 3: [None]}
    assert Numbering(walks).unknown == [(1, 0)]


def test_graph_without_nodes_has_no_numbers() -> None:
    assert numbers(level(1, {})) == {1: []}


@pytest.mark.parametrize(
    ("kind", "branch", "expected"),
    [
        (ConditionalType.IF, 0, "then of node 4"),
        (ConditionalType.IF, 1, "else of node 4"),
        (ConditionalType.WHILE, 0, "body of node 4"),
        (ConditionalType.SWITCH, 2, "case 2 of node 4"),
        (99, 1, "body of node 4"),
        (None, 0, "body of node 4"),
    ],
)
def test_bodies_are_named_by_their_branch(kind: int | None, branch: int, expected: str) -> None:
    record = None if kind is None else ConditionalRecord(1, 4, kind, 3, 1, 3)
    assert body_name(4, branch, record) == expected
