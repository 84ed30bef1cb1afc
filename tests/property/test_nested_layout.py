"""Graphs inside nodes of random graphs: frames hold what they should, and nothing overlaps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gviz.dag.lanes import cover_chains, place_lanes
from gviz.dag.placement import NODE_HEIGHT, Placement
from gviz.dag.ranks import rank_rows
from gviz.dag.unconnected import place_table
from gviz.layout.layers import place_layers
from gviz.layout.nested import BODY_HEAD, FRAME_HEAD, Box, Level, PlacedLevel, nest_levels
from gviz.layout.nested_time import StackedLevel, TimeLevel, stack_levels
from gviz.layout.room import make_room
from gviz.layout.timed import Bars, place_time

# Many made-up cases: these eight files would be a sixth of what the quick tests take.
pytestmark = pytest.mark.thorough

LAYOUTS = [place_lanes, place_layers, place_table]
SLACK = 1e-6


@dataclass(frozen=True)
class Graph:
    """A level: nodes, edges, and (level, node) that holds it."""

    count: int
    edges: list[tuple[int, int]]
    parent: tuple[int, int] | None

    @property
    def source(self) -> np.ndarray:
        return np.array([a for a, _ in self.edges], np.int64)

    @property
    def target(self) -> np.ndarray:
        return np.array([b for _, b in self.edges], np.int64)


@st.composite
def nests(draw: st.DrawFn, most: int = 12) -> list[Graph]:
    """Some levels; the first holds the others, directly or not. Bodies may be empty."""
    found: list[Graph] = []
    for number in range(draw(st.integers(1, 6))):
        count = draw(st.integers(0 if number else 1, most))
        pair = st.tuples(st.integers(0, most - 1), st.integers(0, most - 1))
        pairs = draw(st.lists(pair, max_size=20))
        if draw(st.booleans()):
            pairs += list(pairwise(range(count)))
        edges = sorted({(min(p), max(p)) for p in pairs if p[0] != p[1] and max(p) < count})
        parents = [(at, node) for at, graph in enumerate(found) for node in range(graph.count)]
        parent = draw(st.sampled_from(parents)) if parents else None
        if number and parent is None:
            break
        found.append(Graph(count, edges, parent))
    return found


def place(layout: Callable[..., Placement], nest: list[Graph]) -> list[PlacedLevel]:
    return nest_levels([Level(alone(layout, g), *ends(layout, g), g.parent) for g in nest])


def alone(layout: Callable[..., Placement], graph: Graph) -> Placement:
    """Place a level by itself; a table knows no edges."""
    return layout(graph.count, *(() if layout is place_table else ends(layout, graph)))


def ends(layout: Callable[..., Placement], graph: Graph) -> tuple[np.ndarray, np.ndarray]:
    none = np.zeros(0, np.int64)
    return (none, none) if layout is place_table else (graph.source, graph.target)


def box_of(level: PlacedLevel, node: int) -> Box:
    x, y = level.place.x[node], level.place.y[node]
    w, h = level.half_width[node], level.half_height[node]
    return Box(x - w, y - h, x + w, y + h)


def overlap(a: Box, b: Box) -> bool:
    across = a.left < b.right - SLACK and b.left < a.right - SLACK
    return across and a.top < b.bottom - SLACK and b.top < a.bottom - SLACK


def inside(inner: Box, outer: Box) -> bool:
    across = outer.left - SLACK <= inner.left and inner.right <= outer.right + SLACK
    return across and outer.top - SLACK <= inner.top and inner.bottom <= outer.bottom + SLACK


@pytest.mark.parametrize("layout", LAYOUTS)
@given(nest=nests())
@settings(deadline=None)
def test_nodes_and_frames_of_a_level_never_overlap(
    layout: Callable[..., Placement], nest: list[Graph]
) -> None:
    for level in place(layout, nest):
        boxes = [box_of(level, node) for node in range(len(level.place))]
        assert not any(overlap(a, b) for a, b in combinations(boxes, 2))


@pytest.mark.parametrize("layout", LAYOUTS)
@given(nest=nests())
@settings(deadline=None)
def test_bodies_stand_inside_their_frames_under_its_name(
    layout: Callable[..., Placement], nest: list[Graph]
) -> None:
    placed = place(layout, nest)
    bodies: dict[tuple[int, int], list[int]] = {}
    for number, graph in enumerate(nest):
        if graph.parent is not None:
            bodies.setdefault(graph.parent, []).append(number)
    for (at, node), inner in bodies.items():
        frame = box_of(placed[at], node)
        boxes = [placed[number].box for number in inner]
        room = Box(frame.left, frame.top + FRAME_HEAD, frame.right, frame.bottom)
        assert all(inside(box, room) for box in boxes)
        assert not any(overlap(a, b) for a, b in combinations(boxes, 2))
        head = BODY_HEAD if len(inner) > 1 else 0.0
        for number, box in zip(inner, boxes, strict=True):
            content = Box(box.left, box.top + head, box.right, box.bottom)
            for n in range(nest[number].count):
                assert inside(box_of(placed[number], n), content)


@pytest.mark.parametrize("layout", LAYOUTS[:2])
@given(nest=nests())
@settings(deadline=None)
def test_what_a_frame_waits_for_stands_before_all_its_content(
    layout: Callable[..., Placement], nest: list[Graph]
) -> None:
    for graph, level in zip(nest, place(layout, nest), strict=True):
        for a, b in graph.edges:
            before, after = box_of(level, a), box_of(level, b)
            column = level.place.column
            assert column[a] < column[b] or before.bottom <= after.top + SLACK


@pytest.mark.parametrize("layout", LAYOUTS)
@given(nest=nests())
@settings(deadline=None)
def test_opening_keeps_the_order_and_closing_brings_everything_back(
    layout: Callable[..., Placement], nest: list[Graph]
) -> None:
    shown = nest[0]
    plain = alone(layout, shown)
    (closed,) = place(layout, nest[:1])
    np.testing.assert_array_equal(closed.place.x, plain.x)
    np.testing.assert_array_equal(closed.place.y, plain.y)
    np.testing.assert_array_equal(closed.place.route_y, plain.route_y)
    opened = place(layout, nest)[0].place
    for a, b in combinations(range(shown.count), 2):
        if plain.column[a] != plain.column[b]:
            continue
        if plain.y[a] < plain.y[b]:
            assert opened.y[a] < opened.y[b] + SLACK
        # Layers are centred each by itself: beside each other are nodes of one layer.
        if plain.x[a] < plain.x[b] and (layout is not place_layers or plain.y[a] == plain.y[b]):
            assert opened.x[a] < opened.x[b] + SLACK


@given(nest=nests())
@settings(deadline=None)
def test_long_edges_touch_neither_nodes_nor_frames(nest: list[Graph]) -> None:
    for graph, level in zip(nest, place(place_layers, nest), strict=True):
        p = level.place
        for e, (a, b) in enumerate(graph.edges):
            points = range(p.route_offset[e], p.route_offset[e + 1])
            for k in list(points)[:-1]:
                if p.route_x[k] != p.route_x[k + 1]:
                    continue
                low, high = sorted((p.route_y[k], p.route_y[k + 1]))
                beside = np.abs(p.x - p.route_x[k]) < level.half_width - SLACK
                along = (p.y + level.half_height > low + SLACK) & (
                    p.y - level.half_height < high - SLACK
                )
                assert set(np.flatnonzero(beside & along).tolist()) <= {a, b}


def test_placement_without_large_nodes_stays_as_it_is() -> None:
    plain = place_lanes(3, [0, 1], [1, 2])
    none = np.full(3, np.nan)
    assert make_room(plain, np.array([0, 1]), np.array([1, 2]), none, none) is plain


# -- along time ----------------------------------------------------------------------------------


@st.composite
def runs(draw: st.DrawFn) -> tuple[list[Graph], list[TimeLevel]]:
    """Levels with times in a launch; nodes of bodies may have run several times, or not at all."""
    nest = draw(nests(most=6))
    levels: list[TimeLevel] = []
    for number, graph in enumerate(nest):
        count = graph.count
        row = rank_rows(count, graph.source, graph.target)
        begin = np.array(draw(st.lists(st.integers(0, 60), min_size=count, max_size=count)), float)
        length = np.array(draw(st.lists(st.integers(1, 30), min_size=count, max_size=count)), float)
        timed = np.array(draw(st.lists(st.booleans(), min_size=count, max_size=count)), bool)
        again = draw(st.lists(st.integers(0, 2), min_size=count, max_size=count))
        holds = {g.parent[1] for g in nest if g.parent is not None and g.parent[0] == number}
        iterations = [
            (node, begin[node] + k * (length[node] + 3.0))
            for node in range(count)
            if number and timed[node] and again[node] and node not in holds
            for k in range(again[node] + 1)
        ]
        nodes = np.array([node for node, _ in iterations], np.int64)
        starts = np.array([start for _, start in iterations], float)
        bars = Bars(nodes, starts, starts + length[nodes] if len(nodes) else starts)
        end = begin + length
        np.maximum.at(end, bars.node, bars.end_ns)
        nan = np.where(timed, 0.0, np.nan)
        chain = cover_chains(row, graph.source, graph.target)
        p = place_time(
            begin + nan, end + nan, row, chain, graph.source, graph.target, iterations=bars
        )
        levels.append(TimeLevel(p, graph.parent))
    return nest, levels


def bar_boxes(level: TimeLevel, stacked: StackedLevel) -> list[tuple[int, Box]]:
    """Boxes of a level's bars with their nodes: of a node with bodies its frame."""
    bars, found = level.place.bars, []
    for bar, node in enumerate(bars.node.tolist()):
        half = stacked.half_height[node]
        half = NODE_HEIGHT / 2 if np.isnan(half) else half
        y = stacked.bar_y[bar]
        found.append((node, Box(bars.start_ns[bar], y - half, bars.end_ns[bar], y + half)))
    return found


@given(made=runs())
@settings(deadline=None)
def test_lanes_never_overlap_with_frames_among_them(
    made: tuple[list[Graph], list[TimeLevel]],
) -> None:
    _, levels = made
    for level, stacked in zip(levels, stack_levels(levels), strict=True):
        boxes = [box for _, box in bar_boxes(level, stacked)]
        assert not any(overlap(a, b) for a, b in combinations(boxes, 2))
        tops = [box.top for box in boxes]
        assert all(stacked.top <= top for top in tops)
        assert all(box.bottom <= stacked.bottom for box in boxes)


@given(made=runs())
@settings(deadline=None)
def test_every_node_has_its_bars_and_bodies_stand_under_the_name_of_their_frame(
    made: tuple[list[Graph], list[TimeLevel]],
) -> None:
    nest, levels = made
    stacked = stack_levels(levels)
    for graph, level, mine in zip(nest, levels, stacked, strict=True):
        assert set(level.place.bars.node.tolist()) == set(range(graph.count))
        if graph.parent is None:
            continue
        outer, node = stacked[graph.parent[0]], graph.parent[1]
        half = outer.half_height[node]
        assert mine.top >= outer.y[node] - half + FRAME_HEAD - SLACK
        assert mine.bottom <= outer.y[node] + half + SLACK
