"""Changes in partners, in edges and in lanes, on small graphs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gviz.comparison.changes.arguments import NodeArgument
from gviz.comparison.changes.durations import NodeDurations
from gviz.comparison.changes.edge_changes import compare_edges
from gviz.comparison.changes.lane_changes import depends, moved_lanes
from gviz.comparison.changes.node_changes import (
    DetailedNode,
    Difference,
    LevelDetails,
    compare_details,
)
from gviz.comparison.pairing.compared_graph import ComparedGraph
from gviz.comparison.pairing.likeness import Likeness
from gviz.comparison.pairing.node_pairs import pair_nodes
from gviz.comparison.pairing.order import line_up
from gviz.comparison.timed_pairs import pair_all
from gviz.cuda.node_type import NodeType
from gviz.recording import rows

KERNEL = rows.Node(
    graph_id=1, node_id=11, exec_node_id=11, type=0, name="scale", function_id=1,
    grid_x=64, grid_y=1, grid_z=1, block_x=128, block_y=1, block_z=1, shared_mem_bytes=0,
    priority=0, cooperative=0, device_id=0,
)  # fmt: skip
COPY = rows.Node(
    graph_id=1, node_id=12, exec_node_id=12, type=1, name="MEMCPY DtoH", copy_kind=2, bytes=4096,
    source_address=0x7F00_0000_0000, destination_address=0x5500_0000_1000,
)  # fmt: skip
FUNCTION = rows.KernelFunction(
    function_id=1, run_id=1, mangled_name="_Z5scalePfi", name="scale(float*, int)", registers=40,
    static_shared_mem_bytes=0, local_mem_bytes=0,
)  # fmt: skip


def level(
    node: rows.Node,
    function: rows.KernelFunction = FUNCTION,
    arguments: tuple[bytes, ...] = (),
    parameters: tuple[rows.NodeParameter, ...] = (),
) -> LevelDetails:
    given = [NodeArgument(node.node_id, i, value, None) for i, value in enumerate(arguments)]
    functions = {function.function_id: function}
    detailed = DetailedNode(*(getattr(node, name) for name in DetailedNode._fields))
    return LevelDetails([detailed], functions, {node.node_id: given}, {node.node_id: parameters})


def differences(before: LevelDetails, after: LevelDetails) -> tuple[Difference, ...]:
    return compare_details(before, after, [(0, 0)])[0]


@pytest.mark.parametrize(
    ("node", "change", "expected"),
    [
        (KERNEL, {"grid_x": 128}, ("grid", "64 × 1 × 1", "128 × 1 × 1", "value")),
        (KERNEL, {"block_y": 2}, ("block", "128 × 1 × 1", "128 × 2 × 1", "value")),
        (KERNEL, {"shared_mem_bytes": 1024}, ("dynamic shared memory", "0", "1024", "value")),
        (KERNEL, {"priority": -1}, ("priority", "0", "-1", "value")),
        (KERNEL, {"cooperative": 1}, ("cooperative launch", "0", "1", "value")),
        (KERNEL, {"device_id": 1}, ("device", "0", "1", "value")),
        (COPY, {"bytes": 8192}, ("size", "4096", "8192", "value")),
        (COPY, {"copy_kind": 1}, ("direction", "DTOH", "HTOD", "value")),
        (COPY, {"copy_kind": 99}, ("direction", "DTOH", "kind 99", "value")),
        (COPY, {"source_address": 0x7F00_0000_2000},
         ("source", "0x7f0000000000", "0x7f0000002000", "address")),
        (COPY, {"type": int(NodeType.MEMSET)}, ("kind", "MEMCPY", "MEMSET", "value")),
    ],
)  # fmt: skip
def test_one_column_is_one_difference(
    node: rows.Node, change: dict[str, int], expected: tuple[str, ...]
) -> None:
    assert differences(level(node), level(replace(node, **change))) == (Difference(*expected),)


def test_ids_times_and_streams_are_no_difference() -> None:
    other = replace(
        KERNEL, graph_id=9, node_id=99, exec_node_id=98, function_id=1, capture_stream_id=55,
        created_ns=1, stack_id=4, nvtx_path_id=7,
    )  # fmt: skip
    assert differences(level(KERNEL), level(other)) == ()


def test_value_that_is_not_known_is_no_difference() -> None:
    assert differences(level(KERNEL), level(replace(KERNEL, priority=None, device_id=None))) == ()


def test_other_kernel_is_one_difference_and_its_arguments_none() -> None:
    other = replace(FUNCTION, mangled_name="_Z4moreif", name="more(int, float)")
    found = differences(
        level(KERNEL, arguments=(bytes(8), bytes(4))),
        level(replace(KERNEL, name="more"), other, arguments=(b"\1\0\0\0", b"\2\0\0\0")),
    )
    assert [d.what for d in found] == ["kernel"]


def test_same_name_of_another_type_is_a_version() -> None:
    other = replace(FUNCTION, mangled_name="_Z5scalePdi", name="scale(double*, int)")
    found = differences(level(KERNEL), level(KERNEL, other))
    assert found == (Difference("kernel version", "scale(float*, int)", "scale(double*, int)"),)


def test_same_kernel_compiled_anew_is_reported_by_its_resources() -> None:
    found = differences(level(KERNEL), level(KERNEL, replace(FUNCTION, registers=64)))
    assert found == (Difference("registers", "40", "64"),)


def test_arguments_are_reported_by_position() -> None:
    before = level(KERNEL, arguments=((0x7F00_0000_0000).to_bytes(8, "little"), b"\1\0\0\0"))
    after = level(KERNEL, arguments=((0x7E00_0000_0000).to_bytes(8, "little"), b"\2\0\0\0"))
    assert [(d.what, d.kind) for d in differences(before, after)] == [
        ("argument 0", "address"),
        ("argument 1", "value"),
    ]


def test_other_number_of_arguments_is_a_difference() -> None:
    found = differences(
        level(KERNEL, arguments=(bytes(4),)), level(KERNEL, arguments=(bytes(4),) * 2)
    )
    assert found == (Difference("number of arguments", "1", "2"),)


def test_parameters_of_other_nodes() -> None:
    def reported(**values: str) -> LevelDetails:
        host = replace(COPY, type=int(NodeType.HOST), name="HOST", copy_kind=None, bytes=None)
        return level(
            replace(host, source_address=None, destination_address=None),
            parameters=tuple(
                rows.NodeParameter(graph_id=1, node_id=12, position=i, name=n, value=v)
                for i, (n, v) in enumerate(values.items())
            ),
        )

    found = differences(
        reported(symbol="step", function="0x7f10"), reported(symbol="stop", function="0x7f90")
    )
    assert [(d.what, d.kind) for d in found] == [("symbol", "value"), ("function", "address")]


# -- edges and lanes ---------------------------------------------------------------------


def graph(count: int, *edges: tuple[int, int], types: tuple[int, ...] = ()) -> ComparedGraph:
    table = np.array(edges, np.int64).reshape(-1, 2)
    names = tuple(f"kernel_{i}" for i in range(count))
    shape = np.ones((count, 3), np.int64)
    return ComparedGraph(
        node_id=np.arange(count), type=np.zeros(count, np.int64), name=names, title=names,
        grid=shape, block=shape, bytes=np.full(count, -1), context=("",) * count,
        source=table[:, 0], target=table[:, 1],
        edge_type=np.array(types or (0,) * len(table), np.int64),
    )  # fmt: skip


FORK = graph(5, (0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4))
CHAIN = graph(5, (0, 1), (1, 2), (2, 3), (3, 4))
SAME = np.arange(5)


def test_branches_that_begin_alike_line_up_by_what_follows() -> None:
    fork = graph(5, (0, 1), (0, 2), (1, 3), (2, 4))
    names = ("root", "gemm", "gemm", "add", "mul"), ("root", "gemm", "gemm", "mul", "add")
    one, two = (replace(fork, name=named, title=named) for named in names)
    ways = line_up(one, two, Likeness(one, two))
    assert any([one.name[n] for n in a] == [two.name[n] for n in b] for a, b in ways)


def test_edges_of_equal_graphs_are_kept() -> None:
    found = compare_edges(FORK, FORK, SAME)
    assert found.kept.tolist() == [[i, i] for i in range(6)]
    assert (len(found.removed), len(found.added), found.retyped.any()) == (0, 0, False)


def test_edges_of_a_graph_made_serial() -> None:
    found = compare_edges(FORK, CHAIN, SAME)
    assert found.kept.tolist() == [[0, 0], [5, 3]]
    assert found.removed.tolist() == [1, 2, 3, 4]
    assert found.added.tolist() == [1, 2]


def test_edges_of_nodes_without_a_partner_are_removed_and_added() -> None:
    partner = np.array([0, 1, -1, 3, 4])
    found = compare_edges(FORK, FORK, partner)
    assert found.removed.tolist() == [1, 4]
    assert found.added.tolist() == [1, 4]


def test_edge_that_became_programmatic_is_kept_and_retyped() -> None:
    found = compare_edges(CHAIN, replace(CHAIN, edge_type=np.array([0, 1, 0, 0])), SAME)
    assert found.retyped.tolist() == [False, True, False, False]


def test_several_edges_between_two_nodes_are_distinguished_by_type() -> None:
    one = graph(2, (0, 1), (0, 1), types=(0, 1))
    two = graph(2, (0, 1), types=(0,))
    found = compare_edges(one, two, np.arange(2))
    assert (found.kept.tolist(), found.removed.tolist()) == ([[0, 0]], [1])


def test_no_edges() -> None:
    found = compare_edges(graph(2), graph(2), np.arange(2))
    assert (len(found.kept), len(found.removed), len(found.added)) == (0, 0, 0)


def test_branches_made_serial_move_to_another_lane() -> None:
    assert moved_lanes(FORK, CHAIN, SAME).tolist() == [False, False, True, True, False]
    assert moved_lanes(CHAIN, FORK, SAME).tolist() == [False, False, True, True, False]


def test_lane_that_goes_on_in_another_branch_is_no_move() -> None:
    # The longest branch goes on in the lane before it: in one graph the first, in one the second.
    first = graph(6, (0, 1), (1, 2), (0, 3), (2, 5), (3, 5), (4, 5), (0, 4))
    second = graph(6, (0, 1), (0, 3), (3, 4), (1, 5), (4, 5), (0, 2), (2, 5))
    assert not moved_lanes(first, first, np.arange(6)).any()
    partner = np.array([0, 3, 4, 1, 2, 5])
    assert not moved_lanes(first, second, partner).any()


def test_node_between_is_no_move() -> None:
    longer = graph(6, (0, 5), (5, 1), (1, 2), (2, 3), (3, 4))
    assert not moved_lanes(CHAIN, longer, SAME).any()
    assert moved_lanes(CHAIN, replace(longer, edges_known=False), SAME).any() == np.False_


def test_depends_at_any_distance() -> None:
    pairs = [(0, 4), (1, 2), (2, 1), (0, 0), (1, 4), (4, 0)]
    before, after = (np.array(x) for x in zip(*pairs, strict=True))
    assert depends(FORK, before, after).tolist() == [True, False, False, True, True, False]


# -- pairs -------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "m"), [(0, 0), (0, 2), (2, 0), (1, 1)])
def test_tiny_graphs(n: int, m: int) -> None:
    found = pair_nodes(graph(n), graph(m))
    assert found.tolist() == list(range(min(n, m))) + [-1] * (n - min(n, m))


def test_node_of_another_kind_between_the_same_neighbours_is_a_partner() -> None:
    other = replace(CHAIN, type=np.array([0, 0, 2, 0, 0]), name=("a", "b", "MEMSET", "d", "e"))
    first = replace(CHAIN, name=("a", "b", "c", "d", "e"))
    assert pair_nodes(first, other).tolist() == [0, 1, 2, 3, 4]


def test_moved_node_is_paired_with_the_nearest_of_equal_work() -> None:
    def chain(*names: str) -> ComparedGraph:
        edges = ((i, i + 1) for i in range(len(names) - 1))
        return replace(graph(len(names), *edges), name=names, title=names)

    others = tuple(f"layer_{name}" for name in "abcdefgh")
    first = chain("memory", *others)
    # Two of the same work came behind the second and behind the last of the others.
    second = chain(*others[:2], "memory", *others[2:], "memory")
    assert pair_nodes(first, second).tolist() == [2, 0, 1, 3, 4, 5, 6, 7, 8]


def test_without_edges_the_order_of_creation_counts() -> None:
    names = ("a", "b", "a", "c", "a")
    first = replace(graph(5), name=names, title=names, edges_known=False)
    fewer = ("a", "b", "c", "a")
    second = replace(graph(4), name=fewer, title=fewer, edges_known=False)
    assert pair_nodes(first, second).tolist() == [0, 1, -1, 2, 3]


def test_graph_with_edges_and_one_without() -> None:
    assert pair_nodes(CHAIN, replace(graph(5), edges_known=False)).tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("edge", [(2, 0), (1, 1)])
def test_edge_against_the_order_of_creation_and_a_graph_without_edges(
    edge: tuple[int, int],
) -> None:
    first, second = graph(3, edge), replace(graph(3), edges_known=False)
    assert pair_nodes(first, second).tolist() == [0, 1, 2]
    assert pair_nodes(second, first).tolist() == [0, 1, 2]


def test_node_with_a_partner_is_not_taken_for_a_moved_one() -> None:
    """Not even the first, whose partner is the first: the same work comes again at the end."""
    first = replace(CHAIN, name=tuple("abcde"), title=tuple("abcde"))
    second = graph(6, *((i, i + 1) for i in range(5)))
    second = replace(second, name=tuple("abcdea"), title=tuple("abcdea"))
    assert pair_nodes(first, second).tolist() == [0, 1, 2, 3, 4]


def test_durations_taken_in_two_ways_name_both() -> None:
    times = np.full((10, 1), 5_000.0)
    sides = [NodeDurations(times, times[0], frozenset({way})) for way in ("cupti", "events")]
    found = pair_all(*sides).at(0)
    assert found.methods == ("cupti", "events")
    assert found.untested == "measured in two ways, which cannot be compared: cupti and events"
