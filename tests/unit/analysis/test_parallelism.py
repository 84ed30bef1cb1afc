"""Parallel work: graphs with one thing wrong each, and the same without it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from nested_recordings import NESTED, write_nested_recording
from planned_recordings import (
    Plan,
    Planned,
    branch_and_join,
    chain_edges,
    crossing_stages,
    in_a_row,
    subject_of,
    two_branches,
)
from recordings import fork_join_shape, transformer_shape, write_loop_recording, write_recording

from gviz.analysis.launch.branches import _have_company
from gviz.analysis.results.parallel_work import Parallelism, TurnTaking, parallelism
from gviz.cuda.node_type import NodeType
from gviz.stats.figure_fields import NotComputed


def found(path: Path) -> Parallelism:
    result = parallelism(subject_of(path))
    assert isinstance(result, Parallelism)
    return result


def iterations(path: Path) -> tuple[TurnTaking, ...]:
    result = found(path).turn_taking
    assert isinstance(result, tuple)
    return result


def test_branches_that_overlapped_took_no_iterations(tmp_path: Path) -> None:
    plan = two_branches(queue=8, start=5_900)
    result = found(plan.write(tmp_path / "x.gviz"))
    assert result.turn_taking == ()
    (level,) = result.levels
    assert (level.width, level.width_at_most, level.lane_count) == (2, 2, 2)
    assert [n.name for n in level.widest] == ["left", "right"]


def test_branch_behind_another_on_its_queue_is_reported_with_its_gain(tmp_path: Path) -> None:
    (iteration,) = iterations(two_branches(queue=7, start=15_800).write(tmp_path / "x.gviz"))
    assert (iteration.reason, iteration.count) == ("same hardware queue", 1)
    assert (iteration.waiting[0].name, iteration.meanwhile[0].name) == ("right", "left")
    assert (iteration.overlapped_launches, iteration.launch_count) == (0, 5)
    assert iteration.waited_ns == 10_800
    # The usual gap is the median of 400 and 500 ns: it would have started at 5,450.
    assert iteration.gain_ns == 15_800 - 5_450


def test_branch_that_waited_for_room_has_nothing_to_gain(tmp_path: Path) -> None:
    # 132 multiprocessors times 8 blocks: the left branch fills the GPU.
    for queue in (7, 8):
        plan = two_branches(queue=queue, start=15_800, blocks=132 * 8)
        (iteration,) = iterations(plan.write(tmp_path / f"{queue}.gviz"))
        assert (iteration.reason, iteration.gain_ns) == ("multiprocessors full", 0)


def test_branch_of_lower_priority_waited_for_the_other(tmp_path: Path) -> None:
    plan = two_branches(queue=8, start=15_800, blocks=132 * 8, priority=0)
    plan.nodes[1].columns["priority"] = -3
    (iteration,) = iterations(plan.write(tmp_path / "x.gviz"))
    assert (iteration.reason, iteration.gain_ns) == ("priority", 0)


def test_branch_that_started_late_for_no_other_reason_waited_by_launch_order(
    tmp_path: Path,
) -> None:
    (iteration,) = iterations(two_branches(queue=8, start=15_800).write(tmp_path / "x.gviz"))
    # The only gap between queues, 500 ns, is the usual one.
    assert (iteration.reason, iteration.gain_ns) == ("launch order", 15_800 - 5_500)


def test_copies_of_one_direction_share_an_engine(tmp_path: Path) -> None:
    plan = two_branches(queue=8, start=15_800)
    for node in plan.nodes[1:3]:
        node.kind = NodeType.MEMCPY
    (iteration,) = iterations(plan.write(tmp_path / "x.gviz"))
    assert (iteration.reason, iteration.gain_ns) == ("same copy engine", 0)


def test_nodes_that_depend_on_each_other_take_no_iterations(tmp_path: Path) -> None:
    nodes = in_a_row(*(Planned(f"k{i}", 0, 5_000) for i in range(4)), gap_ns=3_000)
    result = found(Plan(nodes, chain_edges(4)).write(tmp_path / "x.gviz"))
    assert result.turn_taking == ()
    assert result.levels[0].width == 1


def test_edge_beside_a_longer_way_is_redundant(tmp_path: Path) -> None:
    nodes = in_a_row(*(Planned(f"k{i}", 0, 5_000) for i in range(3)))
    (level,) = found(Plan(nodes, [(0, 1), (1, 2), (0, 2)]).write(tmp_path / "x.gviz")).levels
    assert level.redundant_edge_count == 1
    assert [[n.name for n in pair] for pair in level.redundant_edges] == [["k0", "k2"]]


def test_redundant_edge_of_a_body_is_named_by_nodes_of_the_body(tmp_path: Path) -> None:
    path = write_nested_recording(tmp_path / "x.gviz", NESTED)
    body = subject_of(path).graph.levels[1].graph
    with closing(sqlite3.connect(path)) as database:
        # From the second of its nodes to the third: what goes round either is redundant.
        database.execute(
            "INSERT INTO edge (topology_id, from_node, to_node, from_port, to_port, type) "
            "SELECT topology_id, MIN(from_node) + 1, MIN(from_node) + 2, 0, 0, 0 FROM edge "
            "WHERE topology_id = ?",
            [body.topology_id],
        )
        database.commit()
    level = found(path).levels[1]
    pairs = level.redundant_edges
    assert {n.graph_id for pair in pairs for n in pair} == {level.graph_id} == {body.graph_id}
    begin = pairs[0][0].node_id
    assert [[n.node_id - begin for n in pair] for pair in pairs] == [[0, 2], [1, 4]]


def test_edge_beside_a_programmatic_one_is_needed(tmp_path: Path) -> None:
    nodes = in_a_row(*(Planned(f"k{i}", 0, 5_000) for i in range(3)))
    plan = Plan(nodes, [(0, 1), (1, 2, 1), (0, 2)])
    (level,) = found(plan.write(tmp_path / "x.gviz")).levels
    assert level.redundant_edge_count == 0


def test_branch_that_costs_more_than_its_work_is_reported(tmp_path: Path) -> None:
    small = found(branch_and_join(1_000, 3_000).write(tmp_path / "x.gviz")).small_branches
    assert small is not None
    assert not isinstance(small, NotComputed)
    assert (small.count, small.work_ns, small.serial_ns) == (1, 1_000, 1_400)
    assert small.gain_ns == 3_000 - 400 - 1_400
    assert small.nodes[0].name == "beside"


@pytest.mark.parametrize(("work_ns", "join_gap_ns"), [(1_000, 500), (7_000, 3_000)])
def test_branch_worth_its_fork_is_not_reported(
    tmp_path: Path, work_ns: int, join_gap_ns: int
) -> None:
    result = found(branch_and_join(work_ns, join_gap_ns).write(tmp_path / "x.gviz"))
    assert result.small_branches is None


def test_pairs_of_branches_compared_one_by_one_give_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_recording(tmp_path / "x.gviz", transformer_shape(4), launches=5)
    together = subject_of(path)
    monkeypatch.setattr("gviz.analysis.launch.pairs._AT_ONCE", 1)
    apart = subject_of(path)
    assert together.reachability is not None
    assert apart.reachability is not None
    chosen = np.arange(apart.reachability.series.count)
    chosen = chosen[np.isin(chosen, apart.reachability.series.tail)]
    found_apart = _have_company(apart.reachability, chosen)
    monkeypatch.undo()
    assert found_apart.tolist() == _have_company(together.reachability, chosen).tolist()
    assert found_apart.any()
    assert not found_apart.all()


@pytest.mark.parametrize("through", [False, True])
@pytest.mark.parametrize("streams", [(13, 14), None])
def test_branches_that_wait_for_each_other_are_reported(
    tmp_path: Path, streams: tuple[int, int] | None, through: bool
) -> None:
    result = found(crossing_stages(streams, through=through).write(tmp_path / "x.gviz"))
    assert result.barriers is not None
    assert not isinstance(result.barriers, NotComputed)
    assert result.barriers.count == 1
    assert {n.name for n in result.barriers.waiting} == {"a2", "b2"}
    # Without the other branch a ends at 2,000 + 500 + 9,000 and b at 9,000 + 500 + 2,000.
    assert result.barriers.gain_ns == 18_500 - 11_500


def test_fork_after_a_join_is_no_barrier(tmp_path: Path) -> None:
    # All on one stream: it is not known which of the two is whose own.
    plan = crossing_stages((13, 13))
    assert found(plan.write(tmp_path / "x.gviz")).barriers is None


def test_join_that_works_itself_is_no_barrier(tmp_path: Path) -> None:
    plan = crossing_stages((13, 14), through=True)
    plan.nodes[4] = Planned("join", 9_200, 200, 7, columns={"capture_stream_id": 13})
    assert found(plan.write(tmp_path / "x.gviz")).barriers is None


def test_overlap_is_work_over_busy_time_and_over_the_path(tmp_path: Path) -> None:
    result = found(two_branches(queue=8, start=5_900).write(tmp_path / "x.gviz"))
    assert not isinstance(result.overlap, NotComputed)
    assert result.overlap.node_ns == 27_000
    assert result.overlap.busy_ns == 5_000 + 10_500 + 2_000
    assert result.overlap.achieved == 27_000 / 17_500
    assert result.overlap.possible == 27_000 / 17_000
    assert result.overlap.most_at_once == 2


def test_graph_without_launches_has_its_width_and_says_what_is_missing(tmp_path: Path) -> None:
    plan = two_branches(queue=8, start=5_900)
    plan.launches = plan.plain_launches = 0
    result = found(plan.write(tmp_path / "x.gviz"))
    assert result.levels[0].width == 2
    assert isinstance(result.turn_taking, NotComputed)
    assert "not launched" in result.turn_taking.not_computed


def test_graph_of_unknown_edges_says_so(tmp_path: Path) -> None:
    plan = two_branches(queue=8, start=5_900)
    plan.graph = {"topology_id": None, "origin": "late"}
    result = parallelism(subject_of(plan.write(tmp_path / "x.gviz")))
    assert isinstance(result, NotComputed)
    assert "before gviz attached" in result.not_computed


def test_bodies_have_a_width_of_their_own(tmp_path: Path) -> None:
    result = found(write_loop_recording(tmp_path / "x.gviz"))
    assert [(x.graph_id, x.node_count, x.width) for x in result.levels] == [(1, 3, 1), (2, 2, 1)]


def test_width_of_model_and_fork_join(tmp_path: Path) -> None:
    model = found(write_recording(tmp_path / "m.gviz", transformer_shape(4), launches=3))
    assert (model.levels[0].width, model.levels[0].lane_count) == (3, 3)
    forks = found(write_recording(tmp_path / "f.gviz", fork_join_shape(), launches=3))
    assert forks.levels[0].width == 4


def test_node_between_a_fork_and_its_join_alone_is_no_branch(tmp_path: Path) -> None:
    # Beside the edge from fork to join nothing runs: there is no fork to give up.
    nodes = [
        Planned("fork", 0, 5_000),
        Planned("between", 6_300, 1_000, queue=8),
        Planned("join", 10_300, 2_000),
        Planned("after", 12_700, 2_000),
    ]
    plan = Plan(nodes, [(0, 1), (1, 2), (0, 2), (2, 3)])
    assert found(plan.write(tmp_path / "x.gviz")).small_branches is None
