"""Bodies opened in the DAG's payload: nothing lost, nothing twice, closed again as before."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from nested_recordings import NESTED, Part, layered, write_nested_recording
from nested_recordings import chain as nested_chain
from recordings import write_loop_recording

from gviz.app.views.payload import DagRequest, dag_payload, timeline_payload
from gviz.app.views.wire import Arrays, unpack
from gviz.model.tree.graph_tree import GraphTree, read_timed_tree
from gviz.model.tree.nested_times import read_nested_times
from gviz.recording.arrays import SpanArrays
from gviz.recording.reader import Recording
from gviz.stats import IntArray

LAUNCHES, LAYERS = 6, 8
#: Numbers on the page of nodes of NESTED.
CHILD, WHILE, SWITCH, REDUCE, IF = 1, 2, 3, 4, 5
INNER_IF, CLIP, SKIP = 13, 16, 18
LAYOUTS = ("structure", "lanes", "time")


@pytest.fixture(scope="module")
def nested(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recording]:
    path = tmp_path_factory.mktemp("nested") / "nested.gviz"
    with Recording(write_nested_recording(path, NESTED, launches=LAUNCHES)) as recording:
        yield recording


@pytest.fixture(scope="module")
def tree(nested: Recording) -> GraphTree:
    return read_timed_tree(nested, 1)


@pytest.fixture(scope="module")
def layers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recording]:
    path = tmp_path_factory.mktemp("layers") / "layers.gviz"
    with Recording(write_nested_recording(path, layered(LAYERS), launches=3)) as recording:
        yield recording


def payload(
    recording: Recording, *opened: int | str, **requested: str | int
) -> tuple[dict[str, object], Arrays]:
    ids = frozenset(f"n{x}" if isinstance(x, int) else x for x in opened)
    return unpack(dag_payload(recording, 1, DagRequest(unfolded=ids, **requested)))  # type: ignore[arg-type]


def page_numbers(tree: GraphTree, spans: SpanArrays) -> IntArray:
    """Return the number on the page of the node of each span."""
    return tree.key[tree.index.find(spans.graph_id, spans.node_id)]


def items(arrays: Arrays) -> dict[int, int]:
    """Return the item of each node that is one."""
    return {key: i for i, key in enumerate(arrays["node_id"].tolist())}


def words(header: dict[str, object], arrays: Arrays, name: str) -> list[str]:
    strings = header["strings"]
    assert isinstance(strings, list)
    return [strings[i] for i in arrays[name].tolist()]


def test_nested_nodes_are_numbered_as_the_driver_numbers_them(tree: GraphTree) -> None:
    for key, node in zip(tree.key.tolist(), tree.nodes, strict=True):
        if node.exec_node_id is not None:
            assert key == node.exec_node_id
    assert [tree.nodes[n].name for n in (CHILD, INNER_IF, CLIP)] == [
        "GRAPH",
        "CONDITIONAL IF",
        "clip",
    ]
    assert tree.path_of(int(tree.level[CLIP])) == "body 0 of node 2 › body 0 of node 1"


def test_bodies_are_called_by_what_they_are_to_their_node(tree: GraphTree) -> None:
    labels = {n: [tree.levels[at].label for at in tree.bodies(n)] for n in (1, 2, 3, 5)}
    assert labels == {
        CHILD: ["child graph"],
        WHILE: ["body 0"],
        SWITCH: ["body 0: case 0", "body 1: case 1", "body 2: case 2"],
        IF: ["body 0: then"],
    }


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("opened", [(), (CHILD,), (WHILE, INNER_IF), (1, 2, 3, 5, 13, 24)])
def test_every_node_is_an_item_or_inside_one(
    nested: Recording, tree: GraphTree, opened: tuple[int, ...], layout: str
) -> None:
    header, a = payload(nested, *opened, layout=layout)
    assert header["layout"] == layout
    assert sorted([*a["node_id"].tolist(), *a["hidden_node"].tolist()]) == tree.key.tolist()
    for key, item in zip(a["hidden_node"].tolist(), a["hidden_item"].tolist(), strict=True):
        around = tree.index_of(int(a["node_id"][item]))
        assert around is not None
        assert key in tree.key[list(tree.inside(around))]
    assert len(a["x"]) == len(a["y"]) == len(a["node_id"])
    assert len(a["route_offset"]) == len(a["edge_from"]) + 1


def test_edges_of_all_open_levels_are_there_and_none_leads_between_levels(
    nested: Recording, tree: GraphTree
) -> None:
    _, a = payload(nested, WHILE, INNER_IF)
    ids = a["node_id"]
    edges = set(zip(ids[a["edge_from"]].tolist(), ids[a["edge_to"]].tolist(), strict=True))
    top = {(d, i) for i, part in enumerate(NESTED) for d in part.after}
    assert edges == top | {(12, 13), (12, 14), (13, 15), (14, 15)} | {(16, 17)}
    for level in tree.levels:
        for source, target in edges:
            inside = range(level.first, level.end)
            assert (source in inside) == (target in inside)


def test_what_a_node_waits_for_stands_above_its_frame_and_what_follows_below(
    nested: Recording,
) -> None:
    _, a = payload(nested, WHILE, INNER_IF, layout="structure")
    at = items(a)
    top, bottom = a["y"] - a["half_height"], a["y"] + a["half_height"]
    inside = [at[key] for key in (12, INNER_IF, 14, 15, CLIP, 17, SKIP)]
    assert (bottom[at[CHILD]] <= top[inside]).all()
    assert (bottom[inside] <= top[at[REDUCE]]).all()


def test_closed_again_is_as_it_was_whatever_the_order(nested: Recording) -> None:
    for layout in LAYOUTS:
        before, _ = payload(nested, layout=layout), payload(nested, WHILE, layout=layout)
        assert_equal(before, payload(nested, INNER_IF, layout=layout))
        assert_equal(before, payload(nested, 9_999, "nothing", "n", layout=layout))
        assert_equal(before, payload(nested, layout=layout))


def assert_equal(a: tuple[dict[str, object], Arrays], b: tuple[dict[str, object], Arrays]) -> None:
    assert a[0] == b[0]
    for name, values in a[1].items():
        np.testing.assert_array_equal(values, b[1][name])


def test_open_node_is_named_around_its_items(nested: Recording) -> None:
    header, a = payload(nested, WHILE, INNER_IF)
    strings = header["strings"]
    assert isinstance(strings, list)
    at = items(a)
    around = {key: strings[a["inside"][i]] for key, i in at.items() if a["inside"][i] >= 0}
    assert around == {
        **dict.fromkeys((12, INNER_IF, 14, 15), f"n{WHILE}"),
        **dict.fromkeys((CLIP, 17, SKIP), f"n{INNER_IF}"),
    }
    assert a["within"][at[CLIP]] == at[INNER_IF]
    assert a["within"][at[REDUCE]] == -1


def test_closed_node_shows_sum_and_spread_over_launches(nested: Recording, tree: GraphTree) -> None:
    header, a = payload(nested)
    spans = nested.fetch_graph_spans(1)
    mine = np.isin(page_numbers(tree, spans), [12, 14, 15, 16, 17, 18])
    sums = np.bincount(spans.launch_id[mine], spans.duration_ns[mine])[1:]
    i = items(a)[WHILE]
    n = a["parent_item"].tolist().index(i)
    assert a["median_ns"][i] == a["body_ns"][i] == pytest.approx(np.median(sums))
    assert a["parent_p5_ns"][n] == pytest.approx(np.percentile(sums, 5))
    assert a["parent_p95_ns"][n] == a["p95_ns"][i] == pytest.approx(np.percentile(sums, 95))
    assert a["parent_launches"][n] == header["kept_count"] == LAUNCHES
    assert words(header, a, "parent_words")[n] == "1 body, 7 nodes, 3 of them nested deeper"


def test_bodies_say_how_often_they_ran(nested: Recording) -> None:
    header, a = payload(nested, WHILE)
    found = list(zip(words(header, a, "body_label"), words(header, a, "body_words"), strict=True))
    assert ("child graph", "") in found
    assert ("body 0", "4 iterations a launch (3 to 5), in every launch") in found
    assert ("body 0: case 0", "ran in 3 of 6 launches") in found
    assert ("body 1: case 1", "did not run in any recorded launch") in found
    assert ("body 1: else", "5 iterations a launch, in 2 of 6 launches") in found


def test_launch_in_which_a_branch_did_not_run_gives_it_no_time(nested: Recording) -> None:
    header, a = payload(nested, launch_id=1)
    assert header["launch_ordinal"] == 0
    assert a["launch_ns"][items(a)[IF]] > 0
    _, a = payload(nested, launch_id=2)
    assert np.isnan(a["launch_ns"][items(a)[IF]])
    i = a["parent_item"].tolist().index(items(a)[IF])
    assert a["parent_launches"][i] == LAUNCHES / 2


def test_values_of_body_nodes_are_of_one_execution_and_launches_sum_them(
    nested: Recording,
) -> None:
    _, a = payload(nested, WHILE, launch_id=1)
    step = items(a)[12]
    key = next(
        (n.graph_id, n.node_id)
        for g in nested.fetch_graphs()
        for n in nested.fetch_nodes(g.graph_id)
        if n.exec_node_id == 12
    )
    assert a["median_ns"][step] == pytest.approx(
        np.median(nested.fetch_node_durations(1, key)), rel=1e-6
    )
    spans = nested.fetch_spans(1)
    mine = (spans.graph_id == key[0]) & (spans.node_id == key[1])
    assert a["launch_ns"][step] == spans.duration_ns[mine].sum()


def test_open_nodes_do_not_stretch_the_scale_of_colours(nested: Recording) -> None:
    def most(*opened: int) -> float:
        header, _ = payload(nested, *opened)
        overlays = header["overlays"]
        assert isinstance(overlays, dict)
        return float(overlays["duration"]["scale"]["most"])

    _, a = payload(nested)
    assert most() == pytest.approx(a["median_ns"][WHILE])
    assert most(WHILE, CHILD) < most()


# -- the critical path ----------------------------------------------------------------------------


def test_node_with_bodies_counts_with_the_time_in_which_they_ran(nested: Recording) -> None:
    _, a = payload(nested)
    path = a["node_id"][a["critical"]].tolist()
    assert path == [0, CHILD, WHILE, REDUCE, IF, 6]
    assert len(a["critical_edge"]) == len(path) - 1
    tree = read_timed_tree(nested, 1)
    # Three branches run at once: 24 us of node time in 12 us.
    bodies = read_nested_times(nested, tree).bodies
    assert bodies.running_ns[CHILD] < 0.6 * bodies.median_ns[CHILD]


def test_path_of_an_open_body_is_that_of_one_iteration_and_comes_after_its_node(
    nested: Recording,
) -> None:
    _, a = payload(nested, CHILD, SWITCH)
    ids = a["node_id"]
    assert ids[a["critical"]].tolist() == [0, CHILD, 7, 10, 11, WHILE, REDUCE, IF, 6]
    edges = zip(a["edge_from"][a["critical_edge"]], a["edge_to"][a["critical_edge"]], strict=True)
    assert {(int(ids[x]), int(ids[y])) for x, y in edges} == {
        (0, CHILD), (CHILD, WHILE), (WHILE, REDUCE), (REDUCE, IF), (IF, 6), (7, 10), (10, 11),
    }  # fmt: skip
    slack = dict(zip(ids.tolist(), a["slack_ns"].tolist(), strict=True))
    # In a branch beside the path every node may finish later by what the branch may.
    assert slack[SWITCH] > 0
    assert slack[19] == slack[20] == slack[22] == slack[SWITCH]
    assert slack[7] == slack[10] == slack[11] == 0
    assert slack[8] == pytest.approx(
        float(a["median_ns"][items(a)[10]]) - float(a["median_ns"][items(a)[8]]), rel=1e-3
    )


def test_slack_of_a_loop_is_shared_among_its_iterations(tmp_path: Path) -> None:
    loop = Part("CONDITIONAL WHILE", kind="while", bodies=(nested_chain("a", "b"),), taken=(4,))
    parts = (Part("long", 200_000), loop, Part("end", 1_000, (0, 1)))
    with Recording(write_nested_recording(tmp_path / "a.gviz", parts)) as recording:
        _, a = payload(recording, 1)
        slack = dict(zip(a["node_id"].tolist(), a["slack_ns"].tolist(), strict=True))
        assert slack[1] > 100_000
        assert slack[3] == slack[4] == pytest.approx(slack[1] / 4)


# -- folds ----------------------------------------------------------------------------------------


def folds(header: dict[str, object], a: Arrays) -> list[str]:
    strings = header["strings"]
    assert isinstance(strings, list)
    return [strings[i] for i in a["fold"].tolist() if i >= 0]


def members(a: Arrays) -> list[list[int]]:
    return [part.tolist() for part in np.split(a["item_nodes"], a["item_offset"][1:-1])]


def test_body_is_opened_in_one_repeat_alone(layers: Recording) -> None:
    header, a = payload(layers, folding="repeats")
    assert len(a["node_id"]) == 2  # embed, and the layers
    (repeat,) = folds(header, a)
    header, a = payload(layers, repeat, folding="repeats")
    blocks = folds(header, a)
    assert len(blocks) == LAYERS
    header, a = payload(layers, repeat, blocks[2], folding="repeats")
    third = 2 + 4 * 2
    assert third in a["node_id"]
    header, a = payload(layers, repeat, blocks[2], third, folding="repeats")
    (frame,) = set(a["within"].tolist()) - {-1}
    assert a["node_id"][frame] == third
    names = words(header, a, "name")
    assert [names[i] for i in np.flatnonzero(a["within"] == frame)] == [
        "fast_a", "fast_b", "slow_a", "slow_b", "slow_c",
    ]  # fmt: skip


def test_open_body_inside_a_closed_fold_is_hidden_until_that_opens(layers: Recording) -> None:
    third = 2 + 4 * 2
    assert_equal(payload(layers, folding="repeats"), payload(layers, third, folding="repeats"))
    _, a = payload(layers, third, folding="repeats")
    tree = read_timed_tree(layers, 1)
    visible = list(chain.from_iterable(members(a)))
    assert sorted([*visible, *a["hidden_node"].tolist()]) == tree.key.tolist()


def test_repeats_inside_an_open_body_are_folded_too(tmp_path: Path) -> None:
    inner = layered(LAYERS)
    parts = (NESTED[0], Part("GRAPH", kind="child", after=(0,), bodies=(inner,)),
             Part("GRAPH", kind="child", after=(1,), bodies=(inner,)))  # fmt: skip
    with Recording(write_nested_recording(tmp_path / "a.gviz", parts, launches=2)) as recording:
        header, a = payload(recording, 1, 2, folding="repeats")
        first, second = folds(header, a)
        # Equal bodies have folds of their own.
        assert first != second
        header, a = payload(recording, 1, 2, second, folding="repeats")
        assert first in folds(header, a)
        assert len(folds(header, a)) == 1 + LAYERS
        strings = header["strings"]
        assert isinstance(strings, list)
        assert {strings[i] for i in a["inside"].tolist() if i >= 0} == {"n1", "n2", second}


def test_nodes_that_hold_other_bodies_are_no_repeat(tmp_path: Path) -> None:
    equal = layered(4)
    child = [
        Part("GRAPH", kind="child", after=(i - 1,) if i else (), bodies=(equal[: 2 + i % 2],))
        for i in range(6)
    ]
    same = [Part("GRAPH", kind="child", after=p.after, bodies=(equal[:2],)) for p in child]
    # Where the whole graph is a repeat of several nodes its first block is open.
    for parts, wanted in ((same, [6]), (child, [0, 0, 2])):
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.gviz"
        with Recording(write_nested_recording(path, tuple(parts), launches=1)) as recording:
            _, a = payload(recording, folding="repeats")
            assert len(a["node_id"]) == len(wanted)
            assert np.diff(a["strip_offset"]).tolist() == wanted


# -- along time -----------------------------------------------------------------------------------


def test_node_of_a_loop_has_a_bar_an_iteration_where_it_ran(
    nested: Recording, tree: GraphTree
) -> None:
    _, a = payload(nested, WHILE, layout="time", launch_id=2)
    spans = nested.fetch_spans(2)
    offset = a["bar_offset"].tolist()
    for key, i in items(a).items():
        bars = slice(offset[i], offset[i + 1])
        start = a["bar_x"][bars] - a["bar_half_width"][bars]
        mine = page_numbers(tree, spans) == key
        if mine.any():
            assert start.tolist() == pytest.approx(sorted(spans.start_ns[mine].tolist()), abs=1)
        else:
            assert len(start) == 1


def test_frame_along_time_lasts_from_first_start_to_last_end_inside(
    nested: Recording, tree: GraphTree
) -> None:
    _, a = payload(nested, WHILE, INNER_IF, layout="time", launch_id=1)
    spans = nested.fetch_spans(1)
    mine = np.isin(page_numbers(tree, spans), [12, 14, 15, 16, 17, 18])
    i = items(a)[WHILE]
    assert a["x"][i] - a["half_width"][i] == pytest.approx(spans.start_ns[mine].min())
    end = (spans.start_ns + spans.duration_ns)[mine].max()
    assert a["x"][i] + a["half_width"][i] == pytest.approx(end)
    assert a["body_left"][0] == pytest.approx(a["x"][i] - a["half_width"][i])


# -- other views ----------------------------------------------------------------------------------


def test_timeline_carries_a_span_for_every_iteration(nested: Recording, tree: GraphTree) -> None:
    _, a = unpack(timeline_payload(nested, 1, 2, None))
    spans = nested.fetch_spans(2)
    assert sorted(a["graph_node_id"].tolist()) == sorted(page_numbers(tree, spans).tolist())
    step = a["graph_node_id"] == 12
    assert a["graph_iteration"][step].tolist() == list(range(5))
    parent = dict(zip(a["nested_node"].tolist(), a["nested_parent"].tolist(), strict=True))
    assert (parent[CLIP], parent[INNER_IF]) == (INNER_IF, WHILE)


def test_body_shown_alone_opens_what_is_in_it(nested: Recording, tree: GraphTree) -> None:
    body = tree.levels[tree.bodies(WHILE)[0]].graph
    header, a = unpack(dag_payload(nested, body.graph_id, DagRequest(unfolded=frozenset({"n1"}))))
    assert header["graph_name"] == "body 0 of node 2"
    assert a["node_id"].tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert words(header, a, "name")[4:] == ["clip", "scale", "skip"]


def test_loop_of_which_only_one_launch_is_recorded(tmp_path: Path) -> None:
    with Recording(write_loop_recording(tmp_path / "loop.gviz", iterations=5)) as recording:
        header, a = payload(recording, 1002)
        assert words(header, a, "body_words") == ["5 iterations a launch, in every launch"]
        assert a["node_id"].tolist() == [1001, 1002, 1003, 1004, 1005]
        assert header["overlays"] is not None
