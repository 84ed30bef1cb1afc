"""Nodes matched with recorded work: graphs of which the answer is known by hand, and recordings."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import networkx
import numpy as np
import pytest
from exact_matching import UNTIMED, Planted, dependencies, is_allowed, is_right, plant
from places import ROOT
from renumbered_dumps import new_order

from gviz.dag.contradicted import TOLERANCE_NS
from gviz.matching.node_domains import GraphWork
from gviz.matching.node_matching import NOT_MATCHED, match_nodes
from gviz.matching.recorded_work import RecordedWork
from gviz.recording.reader import Recording

RECORDINGS = ROOT / "assets" / "recordings"


def case(
    tokens: list[int], edges: list[tuple[int, int]], runs: list[tuple[int, int, int]]
) -> Planted:
    """Return one launch: start, end (in microseconds) and stream of each node that has a time."""
    timed = [i for i, token in enumerate(tokens) if token != UNTIMED]
    times = np.array(runs, np.int64).reshape(-1, 3).T
    start, end, stream = times[:, None, :]
    graph = GraphWork(
        np.array(tokens), np.array(edges, np.int64).reshape(-1, 2), np.zeros(len(edges), bool)
    )
    work = RecordedWork(
        graph.token[timed], start * 1000, end * 1000, np.ones_like(start, bool), stream
    )
    truth = [timed.index(i) if i in timed else -1 for i in range(len(tokens))]
    return Planted(graph, work, truth)


def marked(planted: Planted) -> list[list[int]]:
    """Return the sets of exchangeable nodes, once the others are known to be right."""
    match = match_nodes(planted.graph, planted.recorded)
    rights = is_right(planted, match)
    classes = match.match_class.tolist()
    assert all(right or c != NOT_MATCHED for right, c in zip(rights, classes, strict=True))
    assert match.contradicted.total == 0
    numbers = sorted({c for c in classes if c != NOT_MATCHED})
    return [[i for i, c in enumerate(classes) if c == number] for number in numbers]


def test_a_chain_of_one_kernel_has_one_order() -> None:
    runs = [(4 * i, 4 * i + 3, 7) for i in range(6)]
    edges = list(itertools.pairwise(range(6)))
    assert marked(case([1] * 6, edges, runs)) == []


def test_equal_branches_are_exchanged_as_wholes() -> None:
    edges = [(0, 1), (1, 2), (0, 3), (3, 4), (2, 5), (4, 5)]
    runs = [(0, 5, 7), (6, 20, 7), (21, 40, 7), (7, 30, 8), (31, 50, 8), (60, 70, 7)]
    assert marked(case([9, 1, 2, 1, 2, 9], edges, runs)) == [[1, 3], [2, 4]]


def test_nodes_are_marked_where_the_search_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gviz.matching.node_matching._MOVES_OF_A_MATCH", -1_000)
    edges = [(0, 1), (1, 2), (0, 3), (3, 4), (2, 5), (4, 5)]
    runs = [(0, 5, 7), (6, 20, 7), (21, 40, 7), (7, 30, 8), (31, 50, 8), (60, 70, 7)]
    planted = case([9, 1, 2, 1, 2, 9], edges, runs)
    match = match_nodes(planted.graph, planted.recorded)
    assert match.undecided_count == 4
    assert np.flatnonzero(match.match_class != NOT_MATCHED).tolist() == [1, 2, 3, 4]


def test_times_distinguish_what_the_graph_does_not() -> None:
    # 2 waits for 1 besides 0: only the second can have waited for it.
    edges = [(0, 3), (0, 2), (1, 2)]
    runs = [(0, 5, 7), (0, 50, 8), (60, 70, 8), (10, 20, 7)]
    assert marked(case([1, 2, 3, 3], edges, runs)) == []


def test_nodes_in_other_places_are_exchangeable_where_times_allow_it() -> None:
    # 2 and 3 are no symmetry of the graph: 4 waits for 2 alone.
    edges = [(0, 2), (0, 3), (2, 4)]
    runs = [(0, 5, 7), (0, 5, 9), (10, 20, 7), (10, 21, 8), (90, 95, 7)]
    assert marked(case([1, 2, 3, 3, 4], edges, runs)) == [[2, 3]]


def test_nodes_without_times_hand_on_what_they_wait_for() -> None:
    edges = [(0, 1), (1, 2)]
    runs = [(0, 9, 7), (20, 29, 8)]
    assert marked(case([1, UNTIMED, 1], edges, runs)) == []


def test_several_launches_rule_out_what_one_leaves_open() -> None:
    tokens, edges = [1, 2, 3, 3], [(0, 2), (1, 3)]
    first = case(tokens, edges, [(0, 5, 1), (0, 5, 2), (90, 99, 1), (90, 99, 2)])
    second = case(tokens, edges, [(0, 50, 1), (0, 5, 2), (90, 99, 1), (10, 20, 2)])
    assert marked(first) == [[2, 3]]
    both = [
        np.concatenate([getattr(p.recorded, name) for p in (first, second)])
        for name in ("start_ns", "end_ns", "timed", "stream")
    ]
    work = RecordedWork(first.recorded.token, *both)
    assert marked(Planted(first.graph, work, first.truth)) == []


def test_work_of_a_programmatic_dependent_starts_after_that_of_its_dependency() -> None:
    planted = plant(random.Random(3), [1, 1], [(0, 1)], programmatic=frozenset({(0, 1)}), streams=2)
    assert marked(planted) == []


def test_what_contradicts_every_assignment_is_counted_by_launch() -> None:
    edges = [(0, 1), (1, 2)]
    planted = case([1, 2, 3], edges, [(0, 50, 7), (10, 60, 8), (70, 80, 7)])
    match = match_nodes(planted.graph, planted.recorded)
    assert all(is_right(planted, match))
    assert match.contradicted.count.tolist() == [1]
    assert match.contradicted.worst == 40_000 > TOLERANCE_NS


def test_more_work_than_nodes_leaves_the_rest() -> None:
    planted = case([1, 1, 2], [(0, 1), (1, 2)], [(0, 5, 7), (6, 9, 7), (10, 15, 7)])
    without = Planted(
        GraphWork(np.array([1, 2]), np.array([[0, 1]]), np.zeros(1, bool)), planted.recorded, []
    )
    match = match_nodes(without.graph, without.recorded)
    assert match.work[0, 1] == 2
    assert match.match_class.tolist() == [0, NOT_MATCHED]


def of_recording(name: str, graph_id: int, seed: int, launches: int = 6) -> Planted:
    """Return launches of a recording, and its graph with nodes in another order."""
    with Recording(RECORDINGS / f"{name}.gviz") as recording:
        new = new_order(recording, graph_id, seed)
        graph = next(g for g in recording.fetch_graphs() if g.graph_id == graph_id)
        nodes = recording.fetch_nodes(graph_id)
        edges = recording.fetch_edges(graph.topology_id or 0)
        rows = [x for x in recording.fetch_launches(graph_id) if x.span_count][:launches]
        spans = [recording.fetch_spans(x.launch_id) for x in rows]
    timed = spans[0].node_id.tolist()
    tables = {key: np.zeros((len(rows), len(timed)), np.int64) for key in ("start", "end", "on")}
    for row, found in enumerate(spans):
        at = [timed.index(node) for node in found.node_id.tolist()]
        tables["start"][row, at] = found.start_ns
        tables["end"][row, at] = found.start_ns + found.duration_ns
        tables["on"][row, at] = found.stream_id
    keys = {
        n.node_id: (n.type, n.function_id, n.grid_x, n.grid_y, n.block_x, n.bytes) for n in nodes
    }
    numbers = {key: i for i, key in enumerate(dict.fromkeys(keys.values()))}
    token = np.full(len(nodes), UNTIMED, np.int64)
    for node in timed:
        token[new[node]] = numbers[keys[node]]
    pairs = [
        (new[a], new[b])
        for a, b in zip(edges.from_node.tolist(), edges.to_node.tolist(), strict=True)
    ]
    truth = [-1] * len(nodes)
    for column, node in enumerate(timed):
        truth[new[node]] = column
    return Planted(
        GraphWork(token, np.array(pairs, np.int64), edges.type == 1),
        RecordedWork(
            token[[new[node] for node in timed]],
            tables["start"],
            tables["end"],
            np.ones_like(tables["on"], bool),
            tables["on"],
        ),
        truth,
    )


def symmetric_or_swappable(planted: Planted, asked: set[int]) -> set[int]:
    """Return those of some nodes that a symmetry moves, or that can be swapped with another.

    The first by all mappings of the graph on itself that networkx finds with one node held on
    another, the second by comparing all times.
    """
    graph = networkx.DiGraph(planted.graph.edges.tolist())
    token = planted.graph.token.tolist()
    surroundings = surroundings_of(graph, token)
    found = set()
    before, after = ({}, {})
    for a, b, early in dependencies(planted.graph):
        before.setdefault(b, []).append((a, early))
        after.setdefault(a, []).append((b, early))
    for a, b in itertools.combinations([i for i, t in enumerate(token) if t != UNTIMED], 2):
        if token[a] != token[b] or not {a, b} & asked - found:
            continue
        if is_swappable(planted, before, after, a, b) or has_symmetry(graph, surroundings, a, b):
            found |= {a, b}
    return found


def is_swappable(
    planted: Planted,
    before: dict[int, list[tuple[int, bool]]],
    after: dict[int, list[tuple[int, bool]]],
    a: int,
    b: int,
) -> bool:
    work = dict(enumerate(planted.truth))
    work[a], work[b] = work[b], work[a]
    return all(
        is_allowed(planted.recorded, work[x], work[node], early)
        for node in (a, b)
        for x, early in before.get(node, ())
    ) and all(
        is_allowed(planted.recorded, work[node], work[x], early)
        for node in (a, b)
        for x, early in after.get(node, ())
    )


def surroundings_of(graph: networkx.DiGraph, token: list[int]) -> dict[int, int]:
    """Return a number for each node with edges, equal where those around it look alike.

    Every symmetry of the graph keeps it: most pairs need no search.
    """
    found = {node: token[node] for node in graph}
    for _ in range(10):
        seen = {
            node: (
                found[node],
                *(tuple(sorted(found[x] for x in side[node])) for side in (graph.pred, graph.succ)),
            )
            for node in graph
        }
        numbers = {around: number for number, around in enumerate(dict.fromkeys(seen.values()))}
        found = {node: numbers[around] for node, around in seen.items()}
    return found


def has_symmetry(graph: networkx.DiGraph, surroundings: dict[int, int], a: int, b: int) -> bool:
    """Return whether the graph can be mapped on itself with one node on another."""
    if a not in graph or b not in graph or surroundings[a] != surroundings[b]:
        return False
    left, right = graph.copy(), graph.copy()
    for copy, held in ((left, a), (right, b)):
        for node in copy:
            copy.nodes[node]["kind"] = (surroundings[node], node == held)
    return bool(networkx.vf2pp_is_isomorphic(left, right, node_label="kind"))


@pytest.mark.parametrize(
    ("name", "count"), [("cupy_pipeline", 12), ("decode_step", 32), ("token_step_5", 0)]
)
def test_marked_nodes_of_recordings_are_symmetric_or_can_be_swapped(name: str, count: int) -> None:
    planted = of_recording(name, 1, seed=1)
    match = match_nodes(planted.graph, planted.recorded)
    rights = is_right(planted, match)
    found = set(np.flatnonzero(match.match_class != NOT_MATCHED).tolist())
    assert {node for node, right in enumerate(rights) if not right} <= found
    assert len(found) == count
    assert found <= symmetric_or_swappable(planted, found)


def test_truth_of_recordings_contradicts_nothing() -> None:
    for path in sorted(Path(RECORDINGS).glob("*_step.gviz")):
        planted = of_recording(path.stem, 1, seed=0)
        match = match_nodes(planted.graph, planted.recorded)
        assert match.contradicted.total == 0
        assert match.undecided_count == 0
