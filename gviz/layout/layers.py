"""Layered layout: rows by longest path, few crossings, each node over the middle of its kin.

For graphs of moderate size, where structure (forks, joins, residuals) is to be seen at a glance;
:mod:`gviz.dag.lanes` draws the large ones. Wrapped into columns in the same way.

References
----------
Sugiyama, Tagawa, Toda (1981), Methods for visual understanding of hierarchical system
structures: rows, dummy nodes in long edges, barycentres. Positions are an isotonic regression
a row (pool adjacent violators), as in Ayer et al. (1955), swept down and up.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gviz.dag import (
    COLUMN_GAP,
    LANE_GAP,
    NODE_HEIGHT,
    NODE_WIDTH,
    NODE_WIDTH_LEAST,
    ROW_PITCH,
    Cover,
    Placement,
    assign_lanes,
    cover_graph,
    join_routes,
    route_across,
    row_middles,
    wrap_rows,
)
from gviz.dataclass import dataclass
from gviz.stats import FloatArray, IntArray

#: Room for a long edge that passes a row.
TRACK_WIDTH = 14.0
#: Sweeps over the rows: order settles within a few, positions within about twice as many.
ORDER_SWEEPS = 6
POSITION_SWEEPS = 14
CHAIN_SWEEPS = 9
#: Pull of a link by how many of its ends are dummies. A long edge stays straight and yields
#: where it meets a node, so that a residual does not bend the chain it runs beside.
PULL = (1.0, 0.05, 8.0)
#: Pull of the only link between two nodes: chains stay straight.
PULL_CHAIN = 4.0
#: Chains are rounded to this grid where they have the room: nearly aligned becomes aligned.
SNAP = 17.0

#: Items and how strongly they pull, or how far away they stay.
Links = list[tuple[int, float]]
#: For each item, the items that pull it, and how strongly all of them do together.
Pulls = list[tuple[Links, float]]


@dataclass(frozen=True, slots=True)
class _Items:
    """Nodes and, behind them, the dummies that stand for long edges where they pass a row."""

    row: list[int]
    width: list[float]
    above: list[list[int]]
    below: list[list[int]]
    edge: list[int]
    node_count: int

    def dummies(self, upper: int, lower: int) -> int:
        return (upper >= self.node_count) + (lower >= self.node_count)


def count_dummies(row: IntArray, source: npt.ArrayLike, target: npt.ArrayLike) -> int:
    """Return how many rows are passed by edges: the extra size of a layered layout."""
    tail, head = np.asarray(source, np.int64), np.asarray(target, np.int64)
    return int((row[head] - row[tail] - 1).sum())


def place_layers(
    node_count: int,
    source: npt.ArrayLike,
    target: npt.ArrayLike,
    *,
    aspect: float | None = None,
    cover: Cover | None = None,
) -> Placement:
    """Place a graph in layers.

    Parameters
    ----------
    node_count
        Number of nodes; seconds from about 10,000 nodes and passed rows on.
    source, target
        Indices (0..node_count-1) of the dependency and the dependent of each edge.
    aspect
        Width over height to aim for; None: what suits the cover.
    cover
        Its rows and chains, where they are known.

    Returns
    -------
    Placement
        No two nodes overlap, and no long edge touches a node.

    Raises
    ------
    RecordingError
        If the edges form a cycle.
    """
    tail = np.asarray(source, np.int64).reshape(-1)
    head = np.asarray(target, np.int64).reshape(-1)
    cover = cover or cover_graph(node_count, tail, head)
    row, aspect = cover.row, aspect or cover.aspect
    starts = wrap_rows(row, tail, head, aspect, cover.breaks)
    column = np.searchsorted(starts, row, side="right") - 1
    lane = assign_lanes(row, cover.chain, column, tail, head)
    node_width = _node_width(row, column, starts, aspect)
    items = _add_dummies(row, column, tail, head, node_width)
    order = _order_rows(items, lane)
    x = _positions(items, order)
    return _measure(items, x, row, lane, column, starts, tail, head, node_width)


def _node_width(row: IntArray, column: IntArray, starts: IntArray, aspect: float) -> float:
    if not len(row):
        return NODE_WIDTH
    in_row = np.bincount(row)
    widest = sum(int(part.max()) for part in np.split(in_row, starts[1:]))
    rows = int(np.diff(np.append(starts, len(in_row))).max())
    room = (2 * aspect * rows * ROW_PITCH - COLUMN_GAP * len(starts)) / widest - LANE_GAP
    return float(np.clip(room, NODE_WIDTH_LEAST, NODE_WIDTH))


def _add_dummies(
    row: IntArray, column: IntArray, source: IntArray, target: IntArray, node_width: float
) -> _Items:
    count = len(row)
    rows = row.tolist()
    above: list[list[int]] = [[] for _ in range(count)]
    below: list[list[int]] = [[] for _ in range(count)]
    edge = [-1] * count
    inside = column[source] == column[target]
    for e in np.flatnonzero(inside).tolist():
        upper, last = int(source[e]), int(target[e])
        for r in range(rows[upper] + 1, rows[last]):
            dummy = len(rows)
            rows.append(r)
            edge.append(e)
            above.append([upper])
            below.append([])
            below[upper].append(dummy)
            upper = dummy
        below[upper].append(last)
        above[last].append(upper)
    widths = [node_width] * count + [TRACK_WIDTH] * (len(rows) - count)
    return _Items(rows, widths, above, below, edge, count)


def _order_rows(items: _Items, lane: IntArray) -> list[list[int]]:
    """Return the items of each row from left to right: the best of a few barycentre sweeps."""
    rows: list[list[int]] = [[] for _ in range(max(items.row, default=-1) + 1)]
    start = [float(v) for v in lane.tolist()]
    for item in range(items.node_count, len(items.row)):
        # A long edge starts out just right of where it comes from.
        start.append(start[items.above[item][0]] + 0.3)
    for item in sorted(range(len(items.row)), key=start.__getitem__):
        rows[items.row[item]].append(item)
    at = [0.0] * len(items.row)
    _number(rows, at)
    best, fewest = [list(r) for r in rows], _crossings(rows, items, at)
    for sweep in range(ORDER_SWEEPS):
        if not fewest:
            break
        down = sweep % 2 == 0
        near = items.above if down else items.below
        for members in rows if down else reversed(rows):
            keys = {i: _mean([at[n] for n in near[i]], at[i]) for i in members}
            members.sort(key=lambda i: (keys[i], at[i]))
            for place, item in enumerate(members):
                at[item] = float(place)
        crossings = _crossings(rows, items, at)
        if crossings < fewest:
            best, fewest = [list(r) for r in rows], crossings
    return best


def _number(rows: list[list[int]], at: list[float]) -> None:
    for members in rows:
        for place, item in enumerate(members):
            at[item] = float(place)


def _mean(values: list[float], default: float) -> float:
    return sum(values) / len(values) if values else default


def _crossings(rows: list[list[int]], items: _Items, at: list[float]) -> int:
    """Count pairs of links between neighbouring rows that cross."""
    total = 0
    for members in rows:
        seen: list[float] = []
        for item in members:
            ends = sorted(at[n] for n in items.below[item])
            total += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return total


def _positions(items: _Items, rows: list[list[int]]) -> list[float]:
    """Return x of every item: near its kin, in order, with the gaps kept."""
    x = [0.0] * len(items.row)
    offsets = [_offsets(members, items) for members in rows]
    for members, offset in zip(rows, offsets, strict=True):
        middle = offset[-1] / 2 if offset else 0.0
        for item, place in zip(members, offset, strict=True):
            x[item] = place - middle
    above, below, both = _pulls(items)
    for sweep in range(POSITION_SWEEPS):
        # The last sweeps look both ways; before, they carry positions down and up.
        down = sweep % 2 == 0
        pulls = both if sweep >= POSITION_SWEEPS - 4 else above if down else below
        numbers = range(len(rows))
        for r in numbers if down else reversed(numbers):
            _settle(rows[r], offsets[r], x, pulls)
    _straighten(items, rows, x)
    return x


def _straighten(items: _Items, rows: list[list[int]], x: list[float]) -> None:
    """Move chains as a whole: each to its kin's middle, as far as its neighbours let it."""
    limits = _neighbours(items, rows)
    chains = [_moved(items, limits, chain) for chain in _chains(items)]
    for sweep in range(CHAIN_SWEEPS):
        last = sweep == CHAIN_SWEEPS - 1
        for chain in chains if sweep % 2 == 0 else reversed(chains):
            low = max([x[n] + gap for n, gap in chain.left], default=-np.inf)
            high = min([x[n] - gap for n, gap in chain.right], default=np.inf)
            if low > high:
                continue
            wish = chain.wish(x, x[chain.items[0]])
            wish = round(wish / SNAP) * SNAP if last else wish
            place = min(max(wish, low), high)
            for i in chain.items:
                x[i] = place


class _Moved(NamedTuple):
    """A chain that moves as a whole: what limits it on either side, and what pulls it."""

    items: list[int]
    left: Links
    right: Links
    pulls: Links
    weight: float

    def wish(self, x: list[float], alone: float) -> float:
        """Return where its kin are, on average; ``alone``: without kin."""
        return sum([x[n] * w for n, w in self.pulls]) / self.weight if self.weight else alone


def _moved(items: _Items, limits: list[tuple[Links, Links]], chain: list[int]) -> _Moved:
    inside = set(chain)
    pulls = [(n, _pull(items, n, i)) for i in chain for n in items.above[i] if n not in inside]
    pulls += [(n, _pull(items, i, n)) for i in chain for n in items.below[i] if n not in inside]
    left, right = ([link for i in chain for link in limits[i][side]] for side in (0, 1))
    return _Moved(chain, left, right, pulls, sum(w for _, w in pulls))


def _chains(items: _Items) -> list[list[int]]:
    """Return runs of items that are linked only to each other, from top to bottom."""
    found: list[list[int]] = []
    for item in sorted(range(len(items.row)), key=items.row.__getitem__):
        before = items.above[item]
        if len(before) == 1 and _is_chained(items, before[0], item):
            continue
        run = [item]
        while items.below[run[-1]] and _is_chained(items, run[-1], items.below[run[-1]][0]):
            run.append(items.below[run[-1]][0])
        found.append(run)
    return found


def _is_chained(items: _Items, upper: int, lower: int) -> bool:
    only = len(items.below[upper]) == 1 and len(items.above[lower]) == 1
    return only and items.dummies(upper, lower) != 1


def _neighbours(items: _Items, rows: list[list[int]]) -> list[tuple[Links, Links]]:
    """Return for each item the one to its left and to its right with the least distance."""
    found: list[tuple[Links, Links]] = [([], []) for _ in items.row]
    for members in rows:
        for left, right in pairwise(members):
            gap = _distance(items, left, right)
            found[left][1].append((right, gap))
            found[right][0].append((left, gap))
    return found


def _pulls(items: _Items) -> tuple[Pulls, Pulls, Pulls]:
    """Return each item's neighbours with their pull, and its sum: above, below, on both sides."""
    up = [[(n, _pull(items, n, i)) for n in near] for i, near in enumerate(items.above)]
    down = [[(n, _pull(items, i, n)) for n in near] for i, near in enumerate(items.below)]
    both = [a + b for a, b in zip(up, down, strict=True)]
    above, below, around = (
        [(links, sum([w for _, w in links])) for links in side] for side in (up, down, both)
    )
    return above, below, around


def _pull(items: _Items, upper: int, lower: int) -> float:
    dummies = items.dummies(upper, lower)
    if not dummies and len(items.below[upper]) == 1 and len(items.above[lower]) == 1:
        return PULL_CHAIN
    return PULL[dummies]


def _offsets(members: list[int], items: _Items) -> list[float]:
    found: list[float] = []
    at = 0.0
    for k, item in enumerate(members):
        if k:
            at += _distance(items, members[k - 1], item)
        found.append(at)
    return found


def _distance(items: _Items, left: int, right: int) -> float:
    """Return the least distance of the centres of two neighbours in a row."""
    gap = LANE_GAP if max(left, right) < items.node_count else LANE_GAP / 2
    return (items.width[left] + items.width[right]) / 2 + gap


def _settle(members: list[int], offset: list[float], x: list[float], pulls: Pulls) -> None:
    """Move a row's items to where they are pulled, as near as order and gaps allow."""
    if len(members) == 1:  # nothing is in its way
        links, weight = pulls[members[0]]
        if weight:
            x[members[0]] = sum([x[n] * w for n, w in links]) / weight
        return
    blocks: list[list[float]] = []  # sum of weight * wish, weight, members
    for item, place in zip(members, offset, strict=True):
        links, weight = pulls[item]
        wish = sum([x[n] * w for n, w in links]) / weight if weight else x[item]
        weight = weight or 0.05
        blocks.append([(wish - place) * weight, weight, 1])
        while len(blocks) > 1 and blocks[-2][0] * blocks[-1][1] >= blocks[-1][0] * blocks[-2][1]:
            last = blocks.pop()
            blocks[-1] = [a + b for a, b in zip(blocks[-1], last, strict=True)]
    k = 0
    for total, weight, size in blocks:
        for _ in range(int(size)):
            x[members[k]] = total / weight + offset[k]
            k += 1


def _measure(
    items: _Items,
    x: list[float],
    row: IntArray,
    lane: IntArray,
    column: IntArray,
    starts: IntArray,
    source: IntArray,
    target: IntArray,
    node_width: float,
) -> Placement:
    """Set the columns side by side and turn dummies into routes."""
    all_row = np.array(items.row, np.int64)
    all_column = np.searchsorted(starts, all_row, side="right") - 1
    middle = np.array(x, np.float64)
    half = np.array(items.width, np.float64) / 2
    least, most = np.full(len(starts), np.inf), np.full(len(starts), -np.inf)
    np.minimum.at(least, all_column, middle - half)
    np.maximum.at(most, all_column, middle + half)
    widths = np.where(np.isfinite(most), most - least, 0.0) + LANE_GAP
    left = np.concatenate(([0.0], np.cumsum(widths + COLUMN_GAP)))
    if len(middle):
        middle = middle - least[all_column] + left[all_column] + LANE_GAP / 2
    y = row_middles(all_row - starts[all_column])
    count = items.node_count
    routes = _routes(items, middle, y)
    across = route_across(middle[:count], y[:count], column, source, target, left)
    joined = [np.concatenate(parts) for parts in zip(routes, across, strict=True)]
    offset, route_x, route_y = join_routes(
        joined[0].astype(np.int64), joined[1], joined[2], len(source)
    )
    return Placement(
        x=middle[:count],
        y=y[:count],
        row=row,
        lane=lane,
        column=column,
        route_offset=offset,
        route_x=route_x,
        route_y=route_y,
        width=float(max(0.0, left[-1] - COLUMN_GAP)),
        height=float(y.max(initial=-ROW_PITCH / 2) + ROW_PITCH / 2),
        node_width=node_width,
        node_height=NODE_HEIGHT,
        style="structure",
    )


def _routes(items: _Items, x: FloatArray, y: FloatArray) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return edge, x, y of the ends of each straight run of dummies."""
    half = NODE_HEIGHT / 2
    edges: list[int] = []
    points: list[tuple[float, float]] = []
    for item in range(items.node_count, len(items.row)):
        upper, lower = items.above[item][0], items.below[item][0]
        if upper < items.node_count or x[upper] != x[item]:
            edges.append(items.edge[item])
            points.append((float(x[item]), float(y[item]) - half))
        if lower < items.node_count or x[lower] != x[item]:
            edges.append(items.edge[item])
            points.append((float(x[item]), float(y[item]) + half))
    table = np.array(points, np.float64).reshape(-1, 2)
    return np.array(edges, np.int64), table[:, 0], table[:, 1]
