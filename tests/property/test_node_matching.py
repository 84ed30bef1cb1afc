"""Work planted in random graphs is found on its node, or the node is marked: no more are marked
than an exact search finds exchangeable."""

from __future__ import annotations

import random

import numpy as np
import pytest
from exact_matching import UNTIMED, Planted, exchangeable, is_right, plant, take_out
from hypothesis import given, settings
from hypothesis import strategies as st

from gviz.matching.node_matching import NOT_MATCHED, match_nodes

# Many made-up cases: these eight files would be a sixth of what the quick tests take.
pytestmark = pytest.mark.thorough


@st.composite
def planted(draw: st.DrawFn, most: int = 8) -> Planted:
    count = draw(st.integers(1, most))
    alphabet = st.sampled_from([1, 1, 1, 2, 2, 3, UNTIMED])
    tokens = draw(st.lists(alphabet, min_size=count, max_size=count))
    pairs = [(a, b) for b in range(count) for a in range(b)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=12)) if pairs else []
    kernels = [(a, b) for a, b in edges if UNTIMED not in (tokens[a], tokens[b])]
    early = draw(st.lists(st.sampled_from(kernels), max_size=3)) if kernels else []
    return plant(
        random.Random(draw(st.integers(0, 2**32))),
        tokens,
        edges,
        programmatic=frozenset(early),
        streams=draw(st.integers(1, 3)),
        launches=draw(st.integers(1, 3)),
    )


@given(planted())
@settings(max_examples=400, deadline=None)
def test_marked_nodes_are_those_that_an_exact_search_finds(case: Planted) -> None:
    match = match_nodes(case.graph, case.recorded)
    marked = set(np.flatnonzero(match.match_class != NOT_MATCHED).tolist())
    wrong = {node for node, right in enumerate(is_right(case, match)) if not right}
    assert wrong <= marked
    assert match.contradicted.total == 0
    assert match.undecided_count == 0
    exact = exchangeable(case)
    if exact is not None:
        assert marked == exact


@given(planted())
@settings(max_examples=200, deadline=None)
def test_launches_matched_one_by_one_are_right_or_marked(case: Planted) -> None:
    apart = np.random.default_rng(0)
    recorded = case.recorded
    # In each launch the same node's work has another column.
    order = np.stack([apart.permutation(len(recorded)) for _ in recorded.start_ns])
    row = np.arange(len(order))[:, None]
    by_token = np.argsort(recorded.token[order], axis=1, kind="stable")
    order = order[row, by_token]
    shuffled = type(recorded)(
        recorded.token[order[0]],
        *(
            getattr(recorded, name)[row, order]
            for name in ("start_ns", "end_ns", "timed", "stream")
        ),
        is_aligned=False,
    )
    match = match_nodes(case.graph, shuffled)
    truth = np.array(case.truth, np.int64)
    for launch, columns in enumerate(order):
        got = np.append(columns, NOT_MATCHED)[match.work[launch]]
        assert ((got == truth) | (match.match_class != NOT_MATCHED)).all()
    assert match.contradicted.total == 0


@given(planted(), st.data())
@settings(max_examples=200, deadline=None)
def test_work_that_is_missing_leaves_the_rest_right_or_marked(
    case: Planted, data: st.DataObject
) -> None:
    columns = st.integers(0, max(len(case.recorded) - 1, 0))
    case = take_out(case, data.draw(st.lists(columns, max_size=2)))
    match = match_nodes(case.graph, case.recorded)
    for node, right in enumerate(is_right(case, match)):
        assert right or match.match_class[node] != NOT_MATCHED
    works = match.work[0][match.work[0] != NOT_MATCHED].tolist()
    assert len(works) == len(set(works)) == len(case.recorded)
    assert (case.graph.token[match.work[0] != NOT_MATCHED] == case.recorded.token[works]).all()


@given(planted(), st.integers(0, 2**32))
@settings(max_examples=200, deadline=None)
def test_other_numbers_of_nodes_change_nothing(case: Planted, seed: int) -> None:
    new = np.random.default_rng(seed).permutation(len(case.graph))
    graph = type(case.graph)(
        case.graph.token[np.argsort(new)], new[case.graph.edges], case.graph.programmatic
    )
    renumbered = match_nodes(graph, case.recorded)
    match = match_nodes(case.graph, case.recorded)
    assert (
        (renumbered.match_class[new] != NOT_MATCHED) == (match.match_class != NOT_MATCHED)
    ).all()
