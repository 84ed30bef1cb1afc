"""Launches with loops, branches and child graphs, execution by execution."""

from __future__ import annotations

from pathlib import Path

from executed_graphs import Body, PlayedGraph, build_graph, held_launch, node_row, spans_of
from recordings import write_loop_recording

from gviz.analysis.launch.holds import HeldLaunch, Hold
from gviz.analysis.launch.ledger import gap_ledger, path_steps
from gviz.analysis.launch.observed import observed_path
from gviz.analysis.launch.unrolled import Unroller
from gviz.cuda.node_type import NodeType
from gviz.model.tree.graph_tree import read_tree
from gviz.model.tree.launch_spans import LaunchSpans, launch_spans, median_spans
from gviz.model.tree.spans import read_launch_spans
from gviz.model.tree.tree_edges import read_tree_edges
from gviz.recording.reader import Recording

WHILE = NodeType.CONDITIONAL


def names_on_path(graph: PlayedGraph, held: HeldLaunch) -> list[str]:
    return [graph.nodes[held.unrolled.node[v]].name for v in observed_path(held)]


def test_loop_iterations_follow_each_other_on_the_path(tmp_path: Path) -> None:
    with Recording(write_loop_recording(tmp_path / "loop.gviz", iterations=3)) as recording:
        tree = read_tree(recording, 1)
        graph = PlayedGraph(tree, read_tree_edges(recording, tree))
        spans = launch_spans(tree, read_launch_spans(recording, tree, 1))
    held = held_launch(graph, spans)
    iterations = ["step_kernel", "check_kernel"] * 3
    assert names_on_path(graph, held) == ["init_kernel", *iterations, "finish_kernel"]
    steps = path_steps(held, observed_path(held))
    assert steps.gap_ns.tolist() == [0, 1_200, 700, 1_500, 700, 1_500, 700, 1_500]
    assert set(steps.held_by[1:].tolist()) == {Hold.DEPENDENCY}
    ledger = gap_ledger(held, steps)
    assert (ledger.node_ns, ledger.dependency_gap_ns) == (3_000 + 3 * 6_800 + 2_500, 7_800)


def test_loop_body_that_did_not_run_is_passed_through() -> None:
    top = Body(
        [node_row(0), node_row(1, WHILE), node_row(2)],
        [(0, 1), (1, 2)],
        {1: [Body([node_row(10)])]},
    )
    graph = build_graph(top)
    held = held_launch(graph, spans_of([(0, 0, 0, 10, 0), (2, 0, 15, 10, 1)]))
    assert names_on_path(graph, held) == ["node0", "node2"]
    assert held.unrolled.executions.tolist() == [1, 0]


def nested_loops() -> PlayedGraph:
    """Return: node0, then a loop of (node10, a loop of node20, node12), then node2."""
    inner = Body([node_row(20)])
    outer = Body([node_row(10), node_row(11, WHILE), node_row(12)], [(0, 1), (1, 2)], {1: [inner]})
    return build_graph(
        Body([node_row(0), node_row(1, WHILE), node_row(2)], [(0, 1), (1, 2)], {1: [outer]})
    )


def nested_spans(inner_iterations: list[int]) -> tuple[LaunchSpans, list[str]]:
    """Return spans of an outer loop whose inner loop turns so often, and the names in order."""
    clock, inner_count = 0, 0
    spans: list[tuple[int, int, int, int, int]] = []
    names: list[str] = []

    def run(node: int, iteration: int, name: str) -> None:
        nonlocal clock
        spans.append((node, iteration, clock, 10, len(spans) % 3))
        names.append(name)
        clock += 12

    run(0, 0, "node0")
    for outer, iterations in enumerate(inner_iterations):
        run(3, outer, "node10")
        for _ in range(iterations):
            run(6, inner_count, "node20")
            inner_count += 1
        run(5, outer, "node12")
    run(2, 0, "node2")
    return spans_of(spans), names


def test_inner_loop_iterations_belong_to_the_outer_iteration_around_them() -> None:
    graph = nested_loops()
    assert [n.name for n in graph.nodes][3:] == ["node10", "node11", "node12", "node20"]
    for iterations in ([1], [3, 2], [2, 0, 3], [0, 1], [0, 0]):
        spans, names = nested_spans(iterations)
        held = held_launch(graph, spans)
        assert names_on_path(graph, held) == names
        assert set(held.held_by[observed_path(held)][1:].tolist()) == {Hold.DEPENDENCY}
        assert held.gap_ns[observed_path(held)][1:].tolist() == [2] * (len(names) - 1)


def test_inner_loop_that_comes_first_belongs_to_the_iteration_after_it() -> None:
    outer = Body([node_row(10, WHILE), node_row(11)], [(0, 1)], {0: [Body([node_row(20)])]})
    graph = build_graph(Body([node_row(0, WHILE)], [], {0: [outer]}))
    # Two inner turns, the outer node, one inner turn, the outer node.
    order = [(3, 0), (3, 1), (2, 0), (3, 2), (2, 1)]
    spans = spans_of([(n, i, 10 * at, 8, at % 2) for at, (n, i) in enumerate(order)])
    held = held_launch(graph, spans)
    path = observed_path(held).tolist()
    assert len(path) == 5
    assert held.gap_ns[path][1:].tolist() == [2] * 4


def test_branches_of_a_switch_in_a_loop_follow_each_other() -> None:
    switch = Body([node_row(10, WHILE)], [], {0: [Body([node_row(20)]), Body([node_row(30)])]})
    graph = build_graph(Body([node_row(0, WHILE)], [], {0: [switch]}))
    first, second = (i for i, n in enumerate(graph.nodes) if n.node_id in (20, 30))
    order = [(first, 0), (second, 0), (first, 1)]
    spans = spans_of([(n, i, 10 * at, 8, at) for at, (n, i) in enumerate(order)])
    held = held_launch(graph, spans)
    assert [int(held.unrolled.node[v]) for v in observed_path(held)] == [first, second, first]


def test_child_graph_in_a_loop_runs_once_a_iteration() -> None:
    child = Body([node_row(20), node_row(21)], [(0, 1)])
    loop = Body([node_row(10, NodeType.GRAPH), node_row(11)], [(0, 1)], {0: [child]})
    graph = build_graph(Body([node_row(0, WHILE)], [], {0: [loop]}))
    order = [(3, 0), (4, 0), (2, 0), (3, 1), (4, 1), (2, 1)]
    spans = spans_of([(n, i, 10 * at, 8, at) for at, (n, i) in enumerate(order)])
    held = held_launch(graph, spans)
    assert [int(held.unrolled.node[v]) for v in observed_path(held)] == [3, 4, 2, 3, 4, 2]


def test_launches_without_loops_share_one_unrolled_form() -> None:
    graph = build_graph(Body([node_row(0), node_row(1)], [(0, 1)]))
    unroller = Unroller(graph.tree, graph.edges)
    first = unroller.unroll(spans_of([(0, 0, 0, 5, 0), (1, 0, 6, 5, 0)]))
    assert unroller.unroll(spans_of([(0, 0, 0, 7, 0)])) is first


def test_median_launch_leaves_out_iterations_that_few_launches_have() -> None:
    launches = [
        spans_of(
            [
                (0, iteration, 10 * iteration, 5 + n, 7 + iteration % 2)
                for iteration in range(iterations)
            ]
        )
        for n, iterations in enumerate((2, 2, 5))
    ]
    median = median_spans(launches)
    assert median.iteration.tolist() == [0, 1]
    assert (median.end_ns - median.start_ns).tolist() == [6.0, 6.0]
    # Queue 7 had five of the executions, queue 8 four.
    assert set(median.queue.tolist()) == {7}
    assert median.length_ns == 16.0


def test_of_equal_ends_the_dependency_holds() -> None:
    graph = build_graph(Body([node_row(0), node_row(1), node_row(2)], [(0, 2)]))
    held = held_launch(graph, spans_of([(0, 0, 0, 10, 0), (1, 0, 0, 10, 1), (2, 0, 12, 5, 1)]))
    assert held.held_by.tolist() == [Hold.NOTHING, Hold.NOTHING, Hold.DEPENDENCY]


def test_work_in_front_on_the_queue_holds_what_was_ready() -> None:
    graph = build_graph(Body([node_row(0), node_row(1), node_row(2)], [(0, 2)]))
    held = held_launch(graph, spans_of([(0, 0, 0, 10, 0), (1, 0, 0, 30, 1), (2, 0, 32, 5, 1)]))
    assert names_on_path(graph, held) == ["node1", "node2"]
    ledger = gap_ledger(held, path_steps(held, observed_path(held)))
    assert (ledger.node_ns, ledger.queue_wait_ns, ledger.dependency_gap_ns) == (35, 2, 0)
    assert (held.ready_ns[2], held.queue_before[2]) == (10, 1)


def test_gap_with_a_node_without_time_says_so() -> None:
    nodes = [node_row(0), node_row(1, NodeType.HOST), node_row(2)]
    graph = build_graph(Body(nodes, [(0, 1), (1, 2)]))
    held = held_launch(graph, spans_of([(0, 0, 0, 10, 0), (2, 0, 40, 5, 1)]))
    ledger = gap_ledger(held, path_steps(held, observed_path(held)), returned_ns=25)
    assert (ledger.dependency_gap_ns, ledger.untimed_gap_ns) == (30, 30)
    assert (ledger.crossing_gap_ns, ledger.submitting_gap_ns, ledger.busy_gap_ns) == (30, 15, 0)
    assert held.via[2] == 1
