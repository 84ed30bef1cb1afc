"""Layout in lanes: a chain cover drawn like a version-control graph, wrapped into columns.

A chain of nodes keeps its lane, parallel chains stand side by side, and a long graph is cut
into columns that are read like those of a newspaper. Linear in nodes and edges but for sorting.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from gviz.dag.placement import (
    COLUMN_GAP,
    LANE_GAP,
    NODE_HEIGHT,
    NODE_WIDTH,
    NODE_WIDTH_LEAST,
    ROW_PITCH,
    Placement,
    join_routes,
)
from gviz.dag.ranks import count_crossing_edges, cut_rows, neighbours_of, rank_rows
from gviz.dataclass import dataclass
from gviz.stats import FloatArray, IntArray, distinct_values

#: Width over height that a placement aims for: the pane of a graph, 1024 to 1920 px wide, below its
#: legend. Nodes are largest where the plane has the pane's.
ASPECT = 2.3
#: And where sections stand side by side, each with its name above it.
SECTIONS_ASPECT = 3.5
#: Graphs of at most so many rows stay in one column: it is still readable at 1024 px and nothing
#: is torn.
ROWS_UNWRAPPED = 9
#: Columns are no lower than this many rows.
_ROWS_LEAST = 4
#: Long edges that share a gap run side by side in this many tracks.
TRACKS = 4


@dataclass(frozen=True, slots=True)
class Cover:
    """Rows, and chains that cover the graph: the start of every layout.

    Attributes
    ----------
    row
        int64, one a node: :func:`gviz.dag.ranks.rank_rows`.
    chain
        int64, one a node: :func:`cover_chains`.
    breaks
        Rows, ascending and after the first, at which a column of its own begins.
    """

    row: IntArray
    chain: IntArray
    breaks: tuple[int, ...] = ()

    @property
    def aspect(self) -> float:
        """Return the width over height to aim for."""
        return SECTIONS_ASPECT if self.breaks else ASPECT


def cover_graph(node_count: int, source: IntArray, target: IntArray) -> Cover:
    """Return rows and chains of a graph; CycleError if its edges form a cycle."""
    row = rank_rows(node_count, source, target)
    return Cover(row, cover_chains(row, source, target))


def place_lanes(
    node_count: int,
    source: npt.ArrayLike,
    target: npt.ArrayLike,
    *,
    aspect: float | None = None,
    cover: Cover | None = None,
) -> Placement:
    """Place a graph in lanes.

    Parameters
    ----------
    node_count
        Number of nodes.
    source, target
        Indices (0..node_count-1) of the dependency and the dependent of each edge.
    aspect
        Width over height to aim for; None: what suits the cover.
    cover
        Its rows and chains, where they are known.

    Returns
    -------
    Placement
        No two nodes overlap; every edge leads down, or to a column further right.

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
    return _measure(row, lane, column, starts, tail, head, aspect)


def cover_chains(row: IntArray, source: IntArray, target: IntArray) -> IntArray:
    """Return the chain of each node: a greedy cover by paths (int64, from 0).

    A node continues the longest chain that ends in one of its dependencies, else it starts one.
    """
    first, dependencies = neighbours_of(len(row), target, source)
    chain = [-1] * len(row)
    last: list[int] = []
    length: list[int] = []
    for node in np.argsort(row, kind="stable").tolist():
        best = -1
        for dependency in dependencies[first[node] : first[node + 1]]:
            c = chain[dependency]
            if last[c] == dependency and (best < 0 or length[c] > length[best]):
                best = c
        if best < 0:
            best = len(last)
            last.append(node)
            length.append(0)
        chain[node] = best
        last[best] = node
        length[best] += 1
    return np.array(chain, np.int64)


def wrap_rows(
    row: IntArray,
    source: IntArray,
    target: IntArray,
    aspect: float,
    breaks: tuple[int, ...] = (),
) -> IntArray:
    """Return the first row of each column so that the plane comes near ``aspect``.

    ``breaks`` are rows at which a column begins whatever the aspect.
    """
    rows = int(row.max()) + 1 if len(row) else 1
    parts = list(pairwise((0, *breaks, rows)))
    if rows <= ROWS_UNWRAPPED:
        return np.array([start for start, _ in parts], np.int64)
    crossing = count_crossing_edges(rows, row[source], row[target])
    widths = np.bincount(row, minlength=rows).astype(np.float64)
    best, best_miss = [1] * len(parts), np.inf
    most = max(1, rows // _ROWS_LEAST)
    for columns in distinct_values(np.geomspace(1, most, 40).round().astype(int)).tolist():
        counts = _columns_of_parts(parts, columns)
        first = _even_starts(parts, counts)
        lanes = np.maximum.reduceat(widths, first)
        width = float((lanes * (NODE_WIDTH + LANE_GAP) + COLUMN_GAP).sum())
        highest = int(np.diff(np.append(first, rows)).max())
        miss = abs(np.log(width / (highest * ROW_PITCH) / aspect))
        if miss < best_miss:
            best, best_miss = counts, miss
    cuts = zip(parts, best, strict=True)
    return np.concatenate([start + cut_rows(crossing[start:end], n) for (start, end), n in cuts])


def _columns_of_parts(parts: list[tuple[int, int]], columns: int) -> list[int]:
    """Return how many columns each part has, so that all are about as high."""
    if len(parts) == 1:
        return [columns]
    highest = -(-parts[-1][1] // columns)
    return [-(-(end - start) // highest) for start, end in parts]


def _even_starts(parts: list[tuple[int, int]], counts: list[int]) -> IntArray:
    """Return the first row of each column where the columns of a part are equally high."""
    return np.concatenate(
        [
            start + (np.arange(count) * (end - start)) // count
            for (start, end), count in zip(parts, counts, strict=True)
        ]
    )


def assign_lanes(
    row: IntArray, chain: IntArray, column: IntArray, source: IntArray, target: IntArray
) -> IntArray:
    """Return each node's lane: free over all rows of its chain in its column, near its parent's.

    Parameters
    ----------
    row, chain, column
        One a node.
    source, target
        The edges, by node index.
    """
    parent = np.full(len(row), -1, np.int64)
    # Written in reverse so that the first edge of a node wins.
    parent[target[::-1]] = source[::-1]
    order = np.lexsort((np.arange(len(row)), row, chain, column))
    piece_start = np.ones(len(order), bool)
    piece_start[1:] = (chain[order][1:] != chain[order][:-1]) | (
        column[order][1:] != column[order][:-1]
    )
    first = np.flatnonzero(piece_start)
    piece = np.cumsum(piece_start) - 1
    heads = order[first]
    ends = row[order[np.append(first[1:], len(order)) - 1]] if len(order) else row
    lane_of_piece = _sweep(heads, row[heads], ends, column[heads], parent, order, piece)
    lane = np.zeros(len(row), np.int64)
    lane[order] = lane_of_piece[piece]
    return lane


def _sweep(
    heads: IntArray,
    begin: IntArray,
    end: IntArray,
    column: IntArray,
    parent: IntArray,
    order: IntArray,
    piece: IntArray,
) -> IntArray:
    """Give each piece of a chain a lane, from top to bottom."""
    piece_of = np.zeros(len(order), np.int64)
    piece_of[order] = piece
    above = parent[heads]
    parent_piece = np.where(above >= 0, piece_of[above], -1).tolist() if len(heads) else []
    lanes = [0] * len(heads)
    begins, ends, columns = begin.tolist(), end.tolist(), column.tolist()
    free: list[int] = []
    busy: dict[int, list[int]] = {}
    used, at, row = 0, -1, 0
    for p in np.lexsort((heads, begin, column)).tolist():
        if columns[p] != at:
            free, busy, used, at, row = [], {}, 0, columns[p], begins[p]
        while row < begins[p]:
            for lane in busy.pop(row, ()):
                insort(free, lane)
            row += 1
        wish = lanes[parent_piece[p]] if parent_piece[p] >= 0 else 0
        if free:
            lanes[p] = free.pop(_nearest(free, wish))
        else:
            lanes[p] = used
            used += 1
        busy.setdefault(ends[p], []).append(lanes[p])
    return np.array(lanes, np.int64)


def _nearest(values: list[int], wish: int) -> int:
    """Return the index of the value of a sorted list that is nearest to ``wish``."""
    at = bisect_left(values, wish)
    if at == len(values) or (at and wish - values[at - 1] <= values[at] - wish):
        return at - 1
    return at


def _measure(
    row: IntArray,
    lane: IntArray,
    column: IntArray,
    starts: IntArray,
    source: IntArray,
    target: IntArray,
    aspect: float,
) -> Placement:
    """Turn rows, lanes and columns into positions and routes."""
    columns = len(starts)
    lanes = np.zeros(columns, np.int64)
    np.maximum.at(lanes, column, lane + 1)
    heights = np.zeros(columns, np.int64)
    np.maximum.at(heights, column, row - starts[column] + 1)
    height = float(heights.max(initial=1)) * ROW_PITCH
    room = (2 * aspect * height - COLUMN_GAP * columns) / max(1, int(lanes.sum())) - LANE_GAP
    node_width = float(np.clip(room, NODE_WIDTH_LEAST, NODE_WIDTH))
    pitch = node_width + LANE_GAP
    left = np.concatenate(([0.0], np.cumsum(lanes * pitch + COLUMN_GAP)))
    x = left[column] + lane * pitch + pitch / 2
    y = row_middles(row - starts[column])
    routes = route_edges(x, y, row, column, source, target, left, pitch)
    offset, route_x, route_y = join_routes(*routes, len(source))
    return Placement(
        x=x,
        y=y,
        row=row,
        lane=lane,
        column=column,
        route_offset=offset,
        route_x=route_x,
        route_y=route_y,
        width=float(left[-1] - COLUMN_GAP),
        height=height,
        node_width=node_width,
        node_height=NODE_HEIGHT,
        style="lanes",
    )


def row_middles(row_in_column: IntArray) -> FloatArray:
    """Return y of the middle of rows, counted from the top of their column."""
    middles: FloatArray = np.multiply(row_in_column + 0.5, ROW_PITCH, dtype=np.float64)
    return middles


def route_edges(
    x: FloatArray,
    y: FloatArray,
    row: IntArray,
    column: IntArray,
    source: IntArray,
    target: IntArray,
    left: FloatArray,
    pitch: float,
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return edge, x and y of the points through which long edges run, clear of nodes.

    An edge to the next row needs none. A longer one runs down in the gap beside its source's
    lane; one to another column runs in the gap before that column.
    """
    same = column[source] == column[target]
    long = np.flatnonzero((row[target] - row[source] > 1) & same)
    a, b = source[long], target[long]
    side = np.where(x[b] < x[a], -0.5, 0.5)
    points_x = np.repeat(x[a] + side * pitch + _track(long) * (LANE_GAP - 8), 2)
    bend = ROW_PITCH - NODE_HEIGHT / 2
    points_y = np.column_stack((y[a] + bend, y[b] - bend)).reshape(-1)
    across = route_across(x, y, column, source, target, left)
    return (
        np.concatenate((np.repeat(long, 2), across[0])),
        np.concatenate((points_x, across[1])),
        np.concatenate((points_y, across[2])),
    )


def route_across(
    x: FloatArray,
    y: FloatArray,
    column: IntArray,
    source: IntArray,
    target: IntArray,
    left: FloatArray,
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return edge, x and y of the points of edges that lead to another column.

    Each runs between rows to the gap before its dependent's column, and along that gap.
    ``left`` is where each column starts.
    """
    edges = np.flatnonzero(column[source] != column[target])
    a, b = source[edges], target[edges]
    run = left[column[b]] - COLUMN_GAP / 2 + _track(edges) * (COLUMN_GAP - 20)
    points_y = np.column_stack((y[a] + ROW_PITCH / 2, y[b] - ROW_PITCH / 2)).reshape(-1)
    return np.repeat(edges, 2), np.repeat(run, 2), points_y


def _track(edges: IntArray) -> FloatArray:
    """Return where in a gap (-0.5..0.5) each edge runs."""
    return ((edges % TRACKS) - (TRACKS - 1) / 2) / TRACKS
