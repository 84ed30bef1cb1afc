"""Nodes in bodies over ranks: paired turn by turn where all ran equally often, else left out."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from app_tree import links, texts
from nested_recordings import NESTED, Part, chain
from rank_recordings import COLLECTIVE, step_with_loop, write_nested_ranks

from gviz.app.components.addresses import Addresses
from gviz.app.files.library import Library
from gviz.app.pages.ranks.comparison import RankComparisons, compared_ranks
from gviz.app.pages.ranks.page import show_ranks
from gviz.app.pages.ranks.timeline import ranks_timeline
from gviz.app.views.wire import unpack
from gviz.cli.command_line import main
from gviz.comparison.ranks.executions import NodeSpans, align_executions
from gviz.comparison.ranks.job import compare_ranks
from gviz.comparison.ranks.launch import longest_wait
from gviz.comparison.ranks.rank_graph import RankGraph
from gviz.comparison.ranks.result import GraphSkew, NodeSkew
from gviz.recording.merge import merge_recordings
from gviz.recording.reader import Recording

LOOP = "body 0 of node 1"
CHILD = "body 0 of node 2"
EVEN = step_with_loop((3, 5, 4))
PATIENCE_S = 60


def merged(folder: Path, *graphs: tuple[Part, ...]) -> Path:
    return merge_recordings(write_nested_ranks(folder, graphs), folder / "all.gviz")


def compared(folder: Path, *graphs: tuple[Part, ...]) -> tuple[RankGraph, GraphSkew]:
    with Recording(merged(folder, *graphs)) as recording:
        found = compare_ranks(recording)
    (graph,), (skew,) = found.graphs, found.skew.graphs
    return graph, skew


def node_of(skew: GraphSkew, name: str) -> NodeSkew:
    (node,) = [n for n in skew.nodes if n.name == name]
    return node


# -- turn by turn ----------------------------------------------------------------------------------


def test_slow_node_in_a_loop_is_found_on_its_rank_and_nothing_else(tmp_path: Path) -> None:
    slow = step_with_loop((3, 5, 4), slow_ns=2_000)
    _, skew = compared(tmp_path, EVEN, slow, EVEN)
    # The node that holds the loop takes what its turns take, which differ more than that.
    assert [n.name for n in skew.nodes if n.significant] == ["attend"]
    node = node_of(skew, "attend")
    assert (node.body, node.slowest) == (LOOP, 1)
    assert node.high_ns - node.median_ns == pytest.approx(2_000, rel=0.1)
    assert node.slowest_fraction > 0.9
    # 12 launches of 3, 5 and 4 turns.
    assert node.execution_count == 48
    assert len(set(node.graph_ids)) == 3
    assert node.node_ids == (0, 0, 0)


def test_equal_ranks_have_no_slow_node_in_any_body(tmp_path: Path) -> None:
    _, skew = compared(tmp_path, EVEN, EVEN)
    assert [n.name for n in skew.nodes if n.significant] == []
    assert {n.body for n in skew.nodes} == {"", LOOP, CHILD}
    loop, child = skew.bodies
    assert (loop.body, loop.turns, loop.launch_count, loop.left_out_count) == (
        LOOP, (4.0, 4.0), 12, 0,
    )  # fmt: skip
    assert (child.body, child.turns, child.reason, loop.reason) == (CHILD, (1.0, 1.0), None, None)


def test_executions_are_those_of_the_same_iteration(tmp_path: Path) -> None:
    graph, _ = compared(tmp_path, EVEN, EVEN)
    executions = graph.levels[1].executions
    assert executions.launch.tolist() == [i for i in range(12) for _ in range((3, 5, 4)[i % 3])]
    assert executions.iteration.tolist()[:8] == [0, 1, 2, 0, 1, 2, 3, 4]
    # Starts grow with the turns of a launch, on every rank.
    starts = executions.starts[:, executions.of(1), 0]
    assert (np.diff(starts, axis=1) > 0).all()
    assert executions.iterations[0].tolist() == [3, 5, 4] * 4


def test_iterations_of_a_launch_do_not_count_as_launches_against_noise(tmp_path: Path) -> None:
    slow = step_with_loop((40,), slow_ns=2_000)
    paths = write_nested_ranks(tmp_path, [step_with_loop((40,)), slow], launches=2)
    with Recording(merge_recordings(paths, tmp_path / "all.gviz")) as recording:
        (skew,) = compare_ranks(recording).skew.graphs
    node = node_of(skew, "attend")
    assert (node.execution_count, node.rate, node.significant) == (80, None, False)
    assert node.slowest == 1


def test_waits_in_collectives_of_a_loop_are_reported(tmp_path: Path) -> None:
    waits = step_with_loop((3, 5, 4), arrival_ns=6_000)
    graph, skew = compared(tmp_path, waits, EVEN)
    (collective,) = skew.collectives
    assert (collective.name, collective.body, collective.last) == (COLLECTIVE, LOOP, 1)
    assert collective.waited_ns[0] == pytest.approx(6_000, rel=0.1)
    assert collective.waited_ns[1] == 0
    assert collective.execution_count == 48
    wait = longest_wait(graph, 0)
    assert wait is not None
    assert (wait.level, wait.side, wait.awaited) == (1, 0, 1)


def test_bodies_in_bodies_are_paired(tmp_path: Path) -> None:
    slower = tuple(
        replace(part, bodies=(tuple(replace(p, bodies=(chain("pack", "send", duration_ns=9_000),))
                                    for p in part.bodies[0]),))
        if part.name == "CONDITIONAL IF" else part
        for part in NESTED
    )  # fmt: skip
    _, skew = compared(tmp_path, NESTED, slower)
    inner = "body 0 of node 5 › body 0 of node 0"
    found = {n.name: n for n in skew.nodes if n.body == inner}
    assert set(found) == {"pack", "send"}
    assert all(n.slowest == 1 and n.significant for n in found.values())
    # Taken in every second launch.
    assert found["pack"].execution_count == 6


# -- what is left out ------------------------------------------------------------------------------


def test_launches_with_other_numbers_of_iterations_are_left_out_and_reported(
    tmp_path: Path,
) -> None:
    _, skew = compared(tmp_path, EVEN, step_with_loop((3, 6, 4), slow_ns=2_000))
    loop, child = skew.bodies
    assert (loop.launch_count, loop.left_out_count) == (8, 4)
    assert loop.reason is not None
    assert "in 4 of 12 launches ranks ran it" in loop.reason
    assert child.reason is None
    node = node_of(skew, "attend")
    assert node.execution_count == 4 * (3 + 4)
    assert node.high_ns - node.low_ns == pytest.approx(2_000, rel=0.1)


def test_loop_that_never_runs_equally_often_has_no_nodes(tmp_path: Path) -> None:
    _, skew = compared(tmp_path, EVEN, step_with_loop((9,)))
    assert not [n for n in skew.nodes if n.body == LOOP]
    assert skew.collectives == ()
    loop = skew.bodies[0]
    assert (loop.turns, loop.launch_count, loop.left_out_count) == ((4.0, 9.0), 0, 12)
    # The node that holds the loop is compared as a whole.
    assert node_of(skew, "CONDITIONAL WHILE").slowest == 1


def test_branch_taken_on_one_rank_only_is_left_out(tmp_path: Path) -> None:
    def graph(taken: tuple[int, ...]) -> tuple[Part, ...]:
        branch = Part("CONDITIONAL IF", kind="if", bodies=(chain("clip"),), taken=taken)
        return (branch, Part("store", 2_500, (0,)))

    _, skew = compared(tmp_path, graph((0, -1, 0)), graph((0, -1, -1)))
    (body,) = skew.bodies
    assert (body.launch_count, body.left_out_count) == (4, 4)
    assert node_of(skew, "clip").execution_count == 4


def test_body_inside_a_loop_is_left_out_where_the_loop_is(tmp_path: Path) -> None:
    def graph(iterations: tuple[int, ...]) -> tuple[Part, ...]:
        inner = Part("CONDITIONAL IF", after=(0,), kind="if", bodies=(chain("clip"),), taken=(0,))
        loop = Part("CONDITIONAL WHILE", kind="while", taken=iterations,
                    bodies=((Part("step", 6_000), inner),))  # fmt: skip
        return (loop,)

    _, skew = compared(tmp_path, graph((2, 3)), graph((2, 4)))
    outer, inner = skew.bodies
    assert inner.body == "body 0 of node 0 › body 0 of node 1"
    assert (outer.left_out_count, inner.left_out_count) == (6, 6)
    assert node_of(skew, "clip").execution_count == 12


def test_body_that_only_the_first_rank_has_is_reported(tmp_path: Path) -> None:
    without = (EVEN[0], EVEN[1], Part("GRAPH", after=(1,), kind="child"), EVEN[3])
    _, skew = compared(tmp_path, EVEN, without)
    child = skew.bodies[1]
    assert (child.reason, child.graph_ids[1], child.launch_count) == (
        "no other rank has it",
        None,
        0,
    )
    assert not [n for n in skew.nodes if n.body == CHILD]


def test_node_more_in_a_body_has_no_counterpart_and_shifts_none(tmp_path: Path) -> None:
    _, skew = compared(tmp_path, step_with_loop((3, 5, 4), last=True), EVEN)
    assert [n.name for n in skew.nodes if n.body == LOOP and "extra" in n.name] == []
    assert node_of(skew, "project").execution_count == 48


def spans(*found: tuple[int, int, int]) -> NodeSpans:
    """Return spans given as node, launch, duration."""
    node, launch, length = (np.array(c, np.int64) for c in zip(*found, strict=True))
    return NodeSpans(launch=launch, node=node, start_ns=length * 10, duration_ns=length)


def test_node_with_a_lost_record_is_left_out_alone() -> None:
    one = spans((0, 0, 5), (0, 0, 6), (1, 0, 7), (1, 0, 8))
    other = spans((0, 0, 50), (1, 0, 70), (1, 0, 80))
    found = align_executions([one, other], np.ones((2, 2), bool), np.zeros(2, bool))
    assert np.isnan(found.durations[:, :, 0]).all()
    assert found.durations[:, :, 1].tolist() == [[7, 8], [70, 80]]
    assert (found.uneven.tolist(), found.launch.tolist()) == ([True, False], [0, 0])
    # The middle one of a level's nodes tells its turns, the lower of two.
    assert found.iterations.tolist() == [[2, 0], [1, 0]]


def test_mean_of_a_launch_is_over_its_iterations() -> None:
    one = spans((0, 0, 4), (0, 0, 6), (0, 2, 9))
    found = align_executions([one, one], np.ones((2, 1), bool), np.zeros(3, bool))
    assert found.launch_means(np.array([0])).tolist() == [[[5.0], [9.0]]] * 2


# -- what is shown ---------------------------------------------------------------------------------


def test_text_and_json_name_body_and_what_is_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = merged(tmp_path, EVEN, step_with_loop((3, 6, 4), slow_ns=2_000))
    assert main(["skew", str(path)]) == 0
    text = capsys.readouterr().out
    listed = text[text.index("Nodes that one rank is slower in") :]
    (row,) = [line for line in listed.splitlines() if "attend" in line]
    assert LOOP in row
    assert "Bodies not compared in full" in text
    assert "in 4 of 12 launches ranks ran it" in " ".join(text.split())
    assert main(["skew", str(path), "--json"]) == 0
    (graph,) = json.loads(capsys.readouterr().out)["graphs"]
    (node,) = [n for n in graph["nodes"] if n["name"] == "attend"]
    assert (node["body"], node["execution_count"]) == (LOOP, 28)
    assert [body["left_out_count"] for body in graph["bodies"]] == [4, 0]


def shown(path: Path) -> Any:
    library = Library([path])
    file = library.file(path.stem)
    comparisons = RankComparisons(library)
    comparisons.find(file.versioned_key, PATIENCE_S)
    view = {"file": file.versioned_key}
    return show_ranks(comparisons, library, view, 0, f"?file={path.stem}", Addresses("/"))[0]


def test_page_lists_nodes_of_bodies_and_leads_to_them(tmp_path: Path) -> None:
    body = shown(merged(tmp_path, EVEN, step_with_loop((3, 6, 4), slow_ns=2_000)))
    text = texts(body)
    assert "attend" in text
    assert LOOP in text
    assert "Bodies not compared in full" in text
    # Its number on the page is that of the first rank's tree: after the four nodes outside.
    assert any(link.startswith("/ranks?") and "node=4" in link for link in links(body))
    # The loop is graph 2 of the first rank; rank 1 has three graphs before.
    assert "/graph?file=all&graph=5&node=0" in links(body)


def test_partners_in_bodies_share_a_number_and_waits_stand_in_every_iteration(
    tmp_path: Path,
) -> None:
    waits = step_with_loop((3, 5, 4), arrival_ns=6_000)
    file = Library([merged(tmp_path, waits, EVEN)]).file("all")
    found = compared_ranks(file)
    payload = ranks_timeline(file.recording, found, found.graphs[0], 1, None, file.keep)
    header, arrays = unpack(payload)
    names = [header["strings"][i] for i in arrays["rank0_name"]]
    for side in ("rank0", "rank1"):
        mine = [header["strings"][i] for i in arrays[f"{side}_name"]]
        assert sorted(zip(arrays[f"{side}_node_id"].tolist(), mine, strict=True)) == sorted(
            zip(arrays["rank0_node_id"].tolist(), names, strict=True)
        )
    node = {arrays["rank0_node_id"][i] for i, name in enumerate(names) if name == COLLECTIVE}
    of = np.isin(arrays["rank0_node_id"], list(node))
    assert len(node) == 1
    assert of.sum() == 5
    assert arrays["rank0_wait_start_ns"].tolist() == arrays["rank0_start_ns"][of].tolist()
    assert set(arrays["rank0_wait_for"].tolist()) == {1}
    waited = arrays["rank0_wait_end_ns"] - arrays["rank0_wait_start_ns"]
    there = np.isin(arrays["rank1_node_id"], list(node))
    lengths = arrays["rank0_duration_ns"][of], arrays["rank1_duration_ns"][there]
    assert waited.tolist() == pytest.approx((lengths[0] - lengths[1]).tolist())
