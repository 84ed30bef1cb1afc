"""Eager passes found among stream operations, with the truth planted."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest

from gviz.matching.occurrences import Occurrence, Work, match_occurrences
from gviz.recording import rows
from gviz.runs import blank_rows

LAYER = ["norm", "qkv", "attn", "proj", "norm", "up", "act", "down"]
MODEL = ["embed", *LAYER * 6, "norm", "head"]


def work(names: Sequence[str]) -> Work:
    """Return kernels by name; ``name:5`` has grid 5, ``copy:64`` and ``set:64`` have bytes."""
    kinds, functions, grids, sizes = [], [], [], []
    for full in names:
        name, _, number = full.partition(":")
        value = int(number or 1)
        kind = {"copy": 1, "set": 2}.get(name, 0)
        kinds.append(kind)
        functions.append(-1 if kind else sum(ord(c) * 257**i for i, c in enumerate(name)) % 10**9)
        grids.append(-1 if kind else value)
        sizes.append(value if kind else -1)
    grid = np.array(grids, dtype=np.int64)[:, None] * np.array([1, 0, 0]) + np.array([0, 1, 1])
    return Work(
        type=np.array(kinds, dtype=np.int64),
        function_id=np.array(functions, dtype=np.int64),
        grid=grid.reshape(-1, 3),
        block=np.full((len(names), 3), 32, dtype=np.int64),
        bytes=np.array(sizes, dtype=np.int64),
    )


def chain(count: int) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    return np.array([(100 + i, 101 + i) for i in range(count - 1)], dtype=np.int64).reshape(-1, 2)


def match(
    nodes: Sequence[str], operations: Sequence[str], *, edges: object = None, **options: object
) -> list[Occurrence]:
    """Match a chain of nodes with ids from 100 on."""
    ids = np.arange(100, 100 + len(nodes))
    dependencies = chain(len(nodes)) if edges is None else np.array(edges, dtype=np.int64)
    return match_occurrences(
        work(nodes),
        ids,
        dependencies,
        work(operations),
        **options,  # type: ignore[arg-type]
    )


def pairs(occurrence: Occurrence) -> dict[int, int]:
    """Return operation -> place of its node."""
    nodes = (occurrence.node_id - 100).tolist()
    return dict(zip(occurrence.operation_index.tolist(), nodes, strict=True))


def straight(start: int, count: int) -> dict[int, int]:
    return {start + i: i for i in range(count)}


def test_three_passes_are_three_occurrences() -> None:
    found = match(MODEL, ["set:8", *[*MODEL, "copy:4"] * 3])
    assert [pairs(o) for o in found] == [
        straight(1 + k * (len(MODEL) + 1), len(MODEL)) for k in range(3)
    ]
    assert [o.coverage_fraction for o in found] == [1.0, 1.0, 1.0]


def test_identical_layers_without_ends_are_tiled_from_the_first() -> None:
    nodes = LAYER * 4
    found = match(nodes, nodes * 3)
    assert [pairs(o) for o in found] == [straight(k * len(nodes), len(nodes)) for k in range(3)]


def test_offset_by_one_layer_does_not_win() -> None:
    # One more layer in front: a stretch that starts with it misses the embedding and the head.
    operations = [*LAYER, *MODEL, *LAYER]
    (found,) = match(MODEL, operations)
    assert pairs(found) == straight(len(LAYER), len(MODEL))


def test_longer_model_of_the_same_layers_is_matched_in_one_piece() -> None:
    # Eight layers ran, the graph has six: whichever end is left out, the rest stands together.
    (found,) = match(MODEL, ["embed", *LAYER * 8, "norm", "head"])
    places = np.sort(found.operation_index)
    assert found.coverage_fraction == 1 - 1 / len(MODEL)
    assert np.all(np.diff(places) == 1)


def test_pass_cut_short_is_not_returned() -> None:
    cut = MODEL[: int(0.7 * len(MODEL))]
    (found,) = match(MODEL, cut + MODEL)
    assert pairs(found) == straight(len(cut), len(MODEL))
    assert match(MODEL, cut) == []
    (partial,) = match(MODEL, cut, minimum_coverage=0.6)
    assert partial.coverage_fraction == len(cut) / len(MODEL)


def test_operations_added_by_a_framework_are_passed_over() -> None:
    operations: list[str] = []
    truth = {}
    for i, name in enumerate(MODEL):
        operations += ["cast", "copy:512"] if i % 3 == 0 else []
        truth[len(operations)] = i
        operations.append(name)
    (found,) = match(MODEL, operations)
    assert pairs(found) == truth


def test_added_operations_that_look_like_nodes_are_passed_over() -> None:
    operations = [*MODEL[:20], "act", "norm", *MODEL[20:]]
    (found,) = match(MODEL, operations)
    assert found.coverage_fraction == 1.0
    assert {operations[o] for o in set(range(len(operations))) - set(pairs(found))} == {
        "act",
        "norm",
    }


def test_nodes_without_operation_are_left_out() -> None:
    nodes = [*MODEL[:10], "set:4", "set:4", *MODEL[10:]]
    (found,) = match(nodes, MODEL)
    assert sorted(set(range(len(nodes))) - set(pairs(found).values())) == [10, 11]


def test_other_kernel_choice_is_matched_between_its_neighbours() -> None:
    operations = [{"up": "splitk_up"}.get(name, name) for name in MODEL]
    (found,) = match(MODEL, operations)
    assert pairs(found) == straight(0, len(MODEL))


def test_other_launch_shape_and_size_are_matched_between_their_neighbours() -> None:
    nodes = ["copy:64", *MODEL, "copy:128"]
    operations = ["copy:32", *(f"{n}:9" if n == "down" else n for n in MODEL), "copy:256"]
    (found,) = match(nodes, operations)
    assert pairs(found) == straight(0, len(nodes))


def test_two_kernels_for_one_are_not_guessed() -> None:
    operations: list[str] = []
    for name in MODEL:
        operations += ["gemm_part", "gemm_reduce"] if name == "up" else [name]
    (found,) = match(MODEL, operations)
    assert {MODEL[i] for i in set(range(len(MODEL))) - set(pairs(found).values())} == {"up"}


def test_copy_is_never_matched_to_a_kernel() -> None:
    operations = ["copy:7" if name == "attn" else name for name in MODEL]
    (found,) = match(MODEL, operations)
    assert all(operations[o] != "copy:7" for o in pairs(found))


BRANCHES = ["split", *(f"left{i}" for i in range(8)), *(f"right{i}" for i in range(8)), "join"]
_BRANCH_EDGES = (
    [(100, 101), (100, 109), (108, 117), (116, 117)]
    + [(101 + i, 102 + i) for i in range(7)]
    + [(109 + i, 110 + i) for i in range(7)]
)


def test_branches_in_another_order_are_matched() -> None:
    operations = [BRANCHES[0], *BRANCHES[9:17], *BRANCHES[1:9], BRANCHES[17]]
    (found,) = match(BRANCHES, operations, edges=_BRANCH_EDGES)
    assert found.coverage_fraction == 1.0
    assert all(operations[o] == BRANCHES[i] for o, i in pairs(found).items())


def test_host_order_undoes_the_interleaving_of_streams() -> None:
    # On the GPU the branches of two passes run side by side; the calls came one by one.
    host = BRANCHES * 2
    order = sorted(range(len(host)), key=lambda i: (i // len(BRANCHES), (i * 7) % len(BRANCHES)))
    found = match(
        BRANCHES,
        [host[i] for i in order],
        edges=_BRANCH_EDGES,
        host_start_ns=np.array(order) * 1000 + 5,
    )
    assert len(found) == 2
    for k, occurrence in enumerate(found):
        truth = {order.index(k * len(BRANCHES) + i): i for i in range(len(BRANCHES))}
        assert pairs(occurrence) == truth


def test_moved_operation_is_refused_where_a_dependency_forbids_it() -> None:
    nodes = ["a", "b", "c", "d", "e", "f", "g", "h"]
    moved = ["a", "c", "d", "e", "f", "b", "g", "h"]
    (bound,) = match(nodes, moved)
    assert 1 not in pairs(bound).values()
    (free,) = match(nodes, moved, edges=np.zeros((0, 2)))
    assert pairs(free)[5] == 1


@pytest.mark.parametrize(
    "operations",
    [
        [],
        ["other"] * 100,
        ["copy:1", "set:2"] * 50,
        LAYER * 2,
        ["norm"] * 200,
        list(reversed(MODEL)),
        [f"{name}:77" for name in MODEL],
    ],
    ids=["none", "other", "copies", "two layers", "one kernel", "reversed", "other shapes"],
)
def test_unrelated_work_gives_nothing(operations: list[str]) -> None:
    assert match(MODEL, operations) == []


def test_graph_without_timed_nodes_gives_nothing() -> None:
    assert match([], MODEL) == []


def test_graph_of_one_node_is_found_wherever_its_kernel_ran() -> None:
    found = match(["axpy"], ["axpy", "other", "axpy"])
    assert [pairs(o) for o in found] == [{0: 0}, {2: 0}]


def test_other_size_of_the_same_model_is_not_confused() -> None:
    small = [f"{name}:2" for name in MODEL]
    large = [f"{name}:8" for name in MODEL]
    operations = small + large + small
    assert [min(pairs(o)) for o in match(small, operations)] == [0, 2 * len(MODEL)]
    assert [min(pairs(o)) for o in match(large, operations)] == [len(MODEL)]


def test_arrays_of_unequal_length_are_refused() -> None:
    with pytest.raises(ValueError, match="1 node ids for 2 nodes"):
        match_occurrences(work(["a", "b"]), np.array([1]), chain(0), work(["a"]))
    with pytest.raises(ValueError, match="3 host times for 1 operations"):
        match_occurrences(
            work(["a"]), np.array([1]), chain(0), work(["a"]), np.arange(3, dtype=np.int64)
        )


def test_work_of_columns_marks_what_is_not_known() -> None:
    shape = {
        f"{of}_{axis}": [n, -1] for n, (of, axis) in enumerate(product(("grid", "block"), "xyz"), 1)
    }
    nodes = blank_rows(rows.Node, 2, type=[0, 1], function_id=[3, -1], bytes=[-1, 64], **shape)
    found = Work.from_columns(nodes)
    assert found.type.tolist() == [0, 1]
    assert found.function_id.tolist() == [3, -1]
    assert found.grid.tolist() == [[1, 2, 3], [-1, -1, -1]]
    assert found.block.tolist() == [[4, 5, 6], [-1, -1, -1]]
    assert found.bytes.tolist() == [-1, 64]
    assert len(Work.from_columns(nodes[:0])) == 0


def test_a_graph_that_goes_on_takes_nothing_out_of_the_next_pass() -> None:
    # Its end holds memsets as its layers do, which no pass of the layers alone has.
    layer = ["qkv", "set:4", "attn", "proj"]
    graph = [*layer * 6, "scale", "set:4", "sum", "set:4", "mean"]
    found = match(graph, layer * 18)
    assert [list(pairs(o).items()) for o in found] == [
        [(24 * n + i, i) for i in range(24)] for n in range(3)
    ]
