"""Memory in common: against looking at every pair, on random nodes and addresses."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from memory_graphs import BASE, arguments, operations, pointer

from gviz.model.memory.edge_data import Common, DataEdges, data_edges
from gviz.model.memory.lifetimes import address_bands, find_lifetimes, used_steps
from gviz.model.memory.uses import Access, MemoryUses, find_uses

NODES = 6
ORDER = np.arange(NODES)
#: Two allocations of 64 bytes that touch.
FIRST, SECOND = BASE, BASE + 64

_address = st.integers(0, 15).map(lambda n: BASE + 8 * n)
_given = st.lists(
    st.tuples(st.integers(0, NODES - 1), _address).map(
        lambda g: pointer(g[0], g[1], FIRST if g[1] < SECOND else SECOND, 64)
    ),
    max_size=10,
)
_done = st.lists(
    st.tuples(
        st.integers(0, NODES - 1),
        st.sampled_from([Access.READ, Access.WRITTEN]),
        _address,
        st.integers(1, 40),
    ),
    max_size=5,
)
_pairs = st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1))
_edges = st.lists(_pairs.filter(lambda p: p[0] < p[1]), max_size=8, unique=True)


def extent(uses: MemoryUses, use: int) -> range:
    start = int(uses.address[use])
    return range(start, start + max(1, int(uses.bytes[use])))


def overlap(uses: MemoryUses, a: int, b: int) -> int:
    """Return the bytes that two uses of one allocation have in common."""
    if uses.allocation[a] != uses.allocation[b]:
        return 0
    return len(set(extent(uses, a)) & set(extent(uses, b)))


@settings(deadline=None)
@given(_given, _done)
def test_sharing_is_overlapping(given_: list, done: list) -> None:
    uses = find_uses(arguments(*given_), operations(*done), ORDER)
    for a in range(len(uses)):
        assert set(uses.sharing(a).tolist()) == {b for b in range(len(uses)) if overlap(uses, a, b)}


@settings(deadline=None)
@given(_given, _done)
def test_every_use_lies_in_its_allocation(given_: list, done: list) -> None:
    uses = find_uses(arguments(*given_), operations(*done), ORDER)
    for use in range(len(uses)):
        at = int(uses.allocation[use])
        if at >= 0:
            start = int(uses.allocation_address[at])
            assert start <= uses.address[use] < start + int(uses.allocation_bytes[at])
    assert {g.node for g in given_} | {d[0] for d in done} == set(uses.node.tolist())


def expected(uses: MemoryUses, pairs: list[tuple[int, int]]) -> tuple[int, set[int], set[int]]:
    """Return what a group of edges has in common, its places, and the nodes that move bytes."""
    common, places, movers = Common.NOTHING, set(), set()
    for source, target in pairs:
        for a, b in product(uses.of_node(source).tolist(), uses.of_node(target).tolist()):
            if uses.allocation[a] >= 0 and uses.allocation[a] == uses.allocation[b]:
                common = max(common, Common.ALLOCATION)
            if overlap(uses, a, b):
                common = Common.ADDRESS
                places.add(max(int(uses.place[a]), int(uses.place[b])))
                movers |= {u for u in (a, b) if uses.access[u] != Access.GIVEN}
    return int(common), places, movers


def check(found: DataEdges, uses: MemoryUses, groups: list[list[tuple[int, int]]]) -> None:
    for at, pairs in enumerate(groups):
        common, places, movers = expected(uses, pairs)
        assert found.common[at] == common
        assert found.count[at] == len(places)
        assert found.place[at] == (min(places) if places else -1)
        assert np.isnan(found.bytes[at]) == (not movers)
        if movers:
            assert 0 < found.bytes[at] <= sum(int(uses.bytes[u]) for u in movers)
        assert (found.source_access[at] > 0) == (found.target_access[at] > 0) == bool(places)


@settings(max_examples=200, deadline=None)
@given(_given, _done, _edges)
def test_edges_carry_what_their_ends_have_in_common(
    given_: list, done: list, edges: list[tuple[int, int]]
) -> None:
    uses = find_uses(arguments(*given_), operations(*done), ORDER)
    source, target = np.array(edges, np.int64).reshape(-1, 2).T
    check(data_edges(uses, source, target), uses, [[edge] for edge in edges])


@settings(max_examples=200, deadline=None)
@given(_given, _done, _edges, st.data())
def test_group_of_edges_carries_their_union(
    given_: list, done: list, edges: list[tuple[int, int]], data: st.DataObject
) -> None:
    uses = find_uses(arguments(*given_), operations(*done), ORDER)
    source, target = np.array(edges, np.int64).reshape(-1, 2).T
    group = data.draw(st.lists(st.integers(-1, 2), min_size=len(edges), max_size=len(edges)))
    found = data_edges(uses, source, target, np.array(group, np.int64), 3)
    groups = [[e for e, g in zip(edges, group, strict=True) if g == at] for at in range(3)]
    check(found, uses, groups)
    single = data_edges(uses, source, target)
    for at in range(3):
        mine = [e for e, g in enumerate(group) if g == at]
        assert found.common[at] == max((single.common[e] for e in mine), default=0)


@st.composite
def allocating(draw: st.DrawFn) -> list[tuple[int, Access, int, int]]:
    """Draw alloc and free nodes of a chain, as a driver orders them: no two live in one place."""
    done: list[tuple[int, Access, int, int]] = []
    live: dict[int, int] = {}
    for node in range(draw(st.integers(0, 12))):
        slots = [s for s in range(6) if s not in live]
        if live and (not slots or draw(st.booleans())):
            slot = draw(st.sampled_from(sorted(live)))
            del live[slot]
            done.append((node, Access.FREED, BASE + 4096 * slot, -1))
        else:
            slot, size = draw(st.sampled_from(slots)), draw(st.integers(1, 4096))
            live[slot] = size
            done.append((node, Access.ALLOCATED, BASE + 4096 * slot, size))
    return done


@settings(deadline=None)
@given(allocating())
def test_what_lives_at_a_time_is_what_was_allocated_and_not_freed(done: list) -> None:
    order = np.arange(len(done))
    uses = find_uses(arguments(), operations(*done), order)
    found = find_lifetimes(uses, order.astype(float), order.astype(float))
    steps = used_steps(found, order)
    sizes: dict[int, int] = {}
    expected = []
    for _node, access, address, size in done:
        if access == Access.ALLOCATED:
            sizes[address] = size
        else:
            del sizes[address]
        expected.append(sum(sizes.values()))
    assert steps.time.tolist() == order.tolist()
    assert steps.bytes.tolist() == expected
    assert len(found) == sum(access == Access.ALLOCATED for _, access, _, _ in done)
    assert int(np.isnan(found.end).sum()) == len(sizes)


_ranges = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 12)), max_size=12)


@settings(deadline=None)
@given(_ranges)
def test_bands_keep_what_overlaps_and_leave_no_gaps(ranges: list[tuple[int, int]]) -> None:
    address = np.array([BASE + start for start, _ in ranges], np.uint64)
    size = np.array([length for _, length in ranges], np.int64)
    bands = address_bands(address, size)
    total = int(bands.range_bytes.sum())
    assert total == len({b for start, length in ranges for b in range(start, start + length)})
    covered = set()
    for (a, n), at in zip(ranges, bands.offset.tolist(), strict=True):
        covered |= set(range(at, at + n))
        for (b, m), other in zip(ranges, bands.offset.tolist(), strict=True):
            apart = a + n <= b or b + m <= a
            assert (at + n <= other or other + m <= at) == apart
    assert covered == set(range(total))
