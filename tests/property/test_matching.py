"""Planted passes are found again: whatever was dropped, added or issued in another order."""

from __future__ import annotations

import itertools
import random

import numpy as np
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from gviz.matching.occurrences import Occurrence, Work, match_occurrences

#: Function ids from here on belong to no graph.
_FOREIGN = 1000


def build_work(functions: list[int]) -> Work:
    count = len(functions)
    shape = np.ones((count, 3), dtype=np.int64)
    unknown = np.full(count, -1, dtype=np.int64)
    zeros = np.zeros(count, dtype=np.int64)
    return Work(zeros, np.array(functions, dtype=np.int64), shape, shape, unknown)


def match(
    functions: list[int], edges: list[tuple[int, int]], operations: list[int]
) -> list[Occurrence]:
    return match_occurrences(
        build_work(functions),
        np.arange(len(functions)),
        np.array(edges, dtype=np.int64).reshape(-1, 2),
        build_work(operations),
    )


def check_sound(
    found: list[Occurrence], functions: list[int], edges: list[tuple[int, int]], operations: int
) -> None:
    """Check what holds of every answer: one to one, disjoint, in order of dependencies."""
    used: set[int] = set()
    for occurrence in found:
        taken = occurrence.operation_index.tolist()
        places = occurrence.node_id.tolist()
        assert len(taken) == len(places) == len(set(taken)) == len(set(places))
        assert used.isdisjoint(taken)
        used |= set(taken)
        assert occurrence.coverage_fraction == len(places) / len(functions) >= 0.8
        assert places == sorted(places)
        at = dict(zip(places, taken, strict=True))
        assert all(at[a] < at[b] for a, b in edges if a in at and b in at)
    assert all(0 <= i < operations for i in used)
    firsts = [min(o.operation_index.tolist()) for o in found]
    assert firsts == sorted(firsts)


@st.composite
def chains(draw: st.DrawFn) -> list[int]:
    """Draw a model: its ends are its own, its layers are equal."""
    layer = draw(st.lists(st.integers(10, 14), min_size=2, max_size=8))
    return [1, 2, *layer * draw(st.integers(1, 6)), 3, 4]


def chain_edges(functions: list[int]) -> list[tuple[int, int]]:
    return [(i, i + 1) for i in range(len(functions) - 1)]


@given(chains(), st.integers(1, 5), st.lists(st.just(_FOREIGN), max_size=3))
@settings(deadline=None)
def test_exact_passes_are_found_exactly(
    functions: list[int], passes: int, between: list[int]
) -> None:
    operations = (functions + between) * passes
    found = match(functions, chain_edges(functions), operations)
    stride = len(functions) + len(between)
    assert [o.operation_index.tolist() for o in found] == [
        list(range(k * stride, k * stride + len(functions))) for k in range(passes)
    ]


@given(chains(), st.randoms(use_true_random=False), st.integers(1, 4))
@settings(max_examples=200, deadline=None)
def test_passes_with_foreign_operations_added_keep_their_truth(
    functions: list[int], source: random.Random, passes: int
) -> None:
    operations: list[int] = []
    truth: list[list[int]] = []
    for _ in range(passes):
        truth.append([])
        for function in functions:
            operations += [_FOREIGN] * source.choice([0, 0, 0, 1, 2])
            truth[-1].append(len(operations))
            operations.append(function)
    found = match(functions, chain_edges(functions), operations)
    assert [o.operation_index.tolist() for o in found] == truth


@given(chains(), st.randoms(use_true_random=False), st.integers(1, 4))
@settings(max_examples=200, deadline=None)
def test_passes_with_operations_missing_on_either_side_are_found(
    functions: list[int], source: random.Random, passes: int
) -> None:
    operations: list[int] = []
    bounds: list[tuple[int, int]] = []
    for _ in range(passes):
        start = len(operations)
        # The ends stay, so that the truth of every pass is known; one of ten others goes.
        inner = functions[2:-2]
        dropped = set(source.sample(range(len(inner)), len(inner) // 10))
        operations += functions[:2] + [f for i, f in enumerate(inner) if i not in dropped]
        operations += [_FOREIGN, _FOREIGN + 1, *functions[-2:]]
        bounds.append((start, len(operations)))
    edges = chain_edges(functions)
    found = match(functions, edges, operations)
    check_sound(found, functions, edges, len(operations))
    assert len(found) == passes
    for occurrence, (start, stop) in zip(found, bounds, strict=True):
        assert start <= occurrence.operation_index.min()
        assert occurrence.operation_index.max() < stop
        assert operations[occurrence.operation_index[0]] == 1
        assert operations[occurrence.operation_index[-1]] == 4


@given(st.integers(2, 4), st.integers(2, 8), st.randoms(use_true_random=False), st.integers(1, 3))
@settings(max_examples=200, deadline=None)
def test_branches_issued_in_any_order_are_found(
    width: int, depth: int, source: random.Random, passes: int
) -> None:
    count = width * depth + 2
    functions = list(range(count))
    edges: list[tuple[int, int]] = []
    for b in range(width):
        branch = [0, *range(1 + b * depth, 1 + (b + 1) * depth), count - 1]
        edges += itertools.pairwise(branch)
    operations: list[int] = []
    for _ in range(passes):
        turns = [b for b in range(width) for _ in range(depth)]
        source.shuffle(turns)
        queues = [list(range(1 + b * depth, 1 + (b + 1) * depth)) for b in range(width)]
        operations += [0, *(queues[b].pop(0) for b in turns), count - 1]
    found = match(functions, edges, operations)
    check_sound(found, functions, edges, len(operations))
    assert [o.coverage_fraction for o in found] == [1.0] * passes


@given(st.integers(2, 4), st.integers(2, 8), st.data(), st.integers(1, 3))
@settings(max_examples=200, deadline=None)
@example(width=2, depth=4, data=None, passes=2)
def test_branches_issued_one_after_the_other_are_found(
    width: int, depth: int, data: st.DataObject | None, passes: int
) -> None:
    """A pass that begins with the last branch: its end and the next pass look like one pass."""
    count = width * depth + 2
    branches = [list(range(1 + b * depth, 1 + (b + 1) * depth)) for b in range(width)]
    edges = [pair for b in branches for pair in itertools.pairwise([0, *b, count - 1])]
    operations: list[int] = []
    for _ in range(passes):
        order = branches[::-1] if data is None else data.draw(st.permutations(branches))
        operations += [0, *itertools.chain.from_iterable(order), count - 1]
    found = match(list(range(count)), edges, operations)
    check_sound(found, list(range(count)), edges, len(operations))
    assert [o.coverage_fraction for o in found] == [1.0] * passes
    for k, occurrence in enumerate(found):
        at = (occurrence.operation_index - k * count).tolist()
        assert all(operations[k * count + j] == i for i, j in enumerate(at))


@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=30),
    st.lists(st.integers(0, 7), max_size=120),
    st.lists(st.tuples(st.integers(0, 29), st.integers(0, 29)), max_size=30),
)
@settings(max_examples=300, deadline=None)
def test_any_answer_is_sound(
    functions: list[int], operations: list[int], pairs: list[tuple[int, int]]
) -> None:
    count = len(functions)
    edges = sorted({(min(p), max(p)) for p in pairs if p[0] != p[1] and max(p) < count})
    check_sound(match(functions, edges, operations), functions, edges, len(operations))


@given(chains(), st.lists(st.integers(10, 14), max_size=100))
@settings(deadline=None)
def test_layers_without_the_ends_of_a_short_model_give_nothing(
    functions: list[int], operations: list[int]
) -> None:
    # Without its four ends a model of fewer than 20 nodes cannot be covered to 0.8.
    assume(len(functions) < 20)
    assert match(functions, chain_edges(functions), operations) == []


@given(chains(), st.lists(st.integers(_FOREIGN, _FOREIGN + 5), max_size=100))
@settings(deadline=None)
def test_foreign_work_gives_nothing(functions: list[int], operations: list[int]) -> None:
    assert match(functions, chain_edges(functions), operations) == []
