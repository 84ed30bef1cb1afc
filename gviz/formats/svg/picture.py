"""Graphs and launches of a recording as one SVG picture, coloured by time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from gviz.cuda import EdgeType, node_type_name
from gviz.dag import Placement
from gviz.errors import RecordingError
from gviz.families import kernel_label
from gviz.formats.svg.colours import ColourScale, Theme, ValueColours
from gviz.formats.svg.node_colours import colours_of_nodes
from gviz.formats.svg.pen import INKS, Pen
from gviz.layout import place_graph
from gviz.model import (
    TimedTree,
    TreeEdges,
    TreeLevel,
    graph_title,
    read_launch_spans,
    read_level,
    read_timed_tree,
    read_tree_edges,
)
from gviz.system import NO_PROGRESS, Progress
from gviz.text import duration

if TYPE_CHECKING:
    from gviz.recording import Recording, rows

_MARGIN = 20.0
_HEAD = 64.0
_LANE = 24.0
#: Width of a timeline: that of a page on a screen of 1280.
_TIMELINE = 1_200.0
_TICKS = 8
#: Colours that a legend shows.
_LEGEND_STEPS = 9
#: The shares of drawing a graph, and a launch, in which they are read.
_GRAPH_READ, _READ = 0.15, 0.3
#: The share of drawing a level that its edges take.
_EDGES = 0.4
#: Columns of nodes that are drawn.
_NODE = ("node_id", "type", "name")


def draw_graphs(
    recording: Recording,
    graph_ids: Sequence[int],
    theme: Theme = "light",
    progress: Progress = NO_PROGRESS,
) -> str:
    """Return graphs, each followed by the bodies in it, as an SVG picture.

    Nodes are coloured by their median duration, as on the graph page.

    Parameters
    ----------
    recording
        Where they are.
    graph_ids
        Graphs, in the order in which they are drawn below each other.
    theme
        The colours.
    progress
        Told the share that is drawn.

    Raises
    ------
    RecordingError
        If there is no such graph, or its edges form a cycle.
    """
    pen = Pen(INKS[theme])
    top, width = _MARGIN, 0.0
    names = []
    for graph_id, part in progress.each(graph_ids, lambda graph_id: f"graph {graph_id}"):
        tree = read_timed_tree(recording, graph_id, columns=_NODE)
        edges, name = read_tree_edges(recording, tree), graph_title(recording, tree.graph)
        names.append(name)
        colours = colours_of_nodes(recording, tree, theme)
        counts = [level.count + 1 for level in tree.levels]
        drawing = part.part(_GRAPH_READ, 1.0).each(
            tree.levels, lambda level: level.graph.name, counts
        )
        for level, drawn in drawing:
            title = f"{level.graph.name} (in {name})" if level.at else name
            _draw_head(pen, top, title, "median duration of a node", colours)
            box = _draw_level(pen, top + _HEAD, tree, level, edges, colours, drawn)
            width = max(width, box[0])
            top += _HEAD + box[1] + _MARGIN
    return pen.document(max(width, 420) + 2 * _MARGIN, top, ", ".join(names))


def draw_launch(
    recording: Recording,
    graph_id: int,
    ordinal: int | None = None,
    theme: Theme = "light",
    progress: Progress = NO_PROGRESS,
) -> str:
    """Return one launch of a graph as an SVG picture: its nodes in lanes along time.

    Parameters
    ----------
    recording, graph_id
        The graph.
    ordinal
        The launch, by its number; None: of those with node times one of median length.
    theme
        The colours.
    progress
        Told the share that is drawn.

    Raises
    ------
    RecordingError
        If it has no such launch with node times.
    """
    progress.at(0.0, f"graph {graph_id}")
    tree = read_timed_tree(recording, graph_id, columns=_NODE)
    graph, launch = tree.graph, _choose(recording, tree.graph, ordinal)
    spans = read_launch_spans(recording, tree, launch.launch_id)
    spans = spans.take(np.lexsort((spans.iteration, spans.node)))
    lane = read_level(recording, tree).lanes_of(spans)
    colours = ValueColours(ColourScale.of(spans.duration_ns.astype(np.float64)), theme)
    pen = Pen(INKS[theme])
    title = f"{graph_title(recording, graph)}, launch #{launch.ordinal}"
    _draw_head(pen, _MARGIN, title, "duration", colours)
    top = _MARGIN + _HEAD
    whole = max(1, int(spans.end_ns.max(initial=1)))
    scale = _TIMELINE / whole
    height = _LANE * (int(lane.max(initial=0)) + 1)
    node_names = tree.nodes.listed("name")
    columns = (spans.node, spans.start_ns, spans.duration_ns, spans.iteration, lane)
    spans_drawn = zip(*(c.tolist() for c in columns), strict=True)
    drawing = progress.part(_READ, 1.0).through(spans_drawn, len(lane), title)
    for node, start, took, iteration, at in drawing:
        name = node_names[node]
        box = (_MARGIN + start * scale, top + at * _LANE, max(took * scale, 0.2), _LANE - 4)
        words = f"{name}, {duration(took)} from {duration(start)} on"
        pen.rect(
            box, colours.fill(took), words + (f", iteration {iteration + 1}" if iteration else "")
        )
        place = (box[0] + 3, box[1] + 14)
        pen.text(place, kernel_label(name), colours.text(took), size=10, room=box[2] - 6)
    for tick in range(_TICKS + 1):
        x = _MARGIN + _TIMELINE * tick / _TICKS
        pen.line([(x, top + height), (x, top + height + 5)])
        pen.text((x, top + height + 18), duration(whole * tick / _TICKS), pen.ink.ink, size=10)
    return pen.document(_TIMELINE + 2 * _MARGIN + 50, top + height + _MARGIN + 14, title)


def _choose(recording: Recording, graph: rows.Graph, ordinal: int | None) -> rows.Launch:
    timed = [
        launch
        for launch in recording.fetch_launches_with_spans(graph.graph_id)
        if ordinal is None or launch.ordinal == ordinal
    ]
    if not timed:
        which = "no launch" if ordinal is None else f"no launch #{ordinal}"
        raise RecordingError(
            f"graph {graph.graph_id} {graph.name} has {which} with node times; 'gviz view' "
            "numbers those that have"
        )
    timed.sort(key=lambda x: (x.gpu_end_ns or 0) - (x.gpu_start_ns or 0))
    return timed[(len(timed) - 1) // 2]


def _draw_head(pen: Pen, top: float, title: str, what: str, colours: ValueColours) -> None:
    pen.text((_MARGIN, top + 14), title, pen.ink.ink, size=15)
    scale = colours.scale
    if scale.least is None or scale.most is None:
        pen.text((_MARGIN, top + 36), "no node times", pen.ink.ink)
        return
    for i, step in enumerate(colours.steps(_LEGEND_STEPS)):
        pen.rect((_MARGIN + 16 * i, top + 26, 16, 12), step, what)
    words = f"{what}: {duration(scale.least if scale.log else 0)} to {duration(scale.most)}"
    words += ", log scale" if scale.log else ""
    pen.text((_MARGIN + 16 * _LEGEND_STEPS + 8, top + 36), words, pen.ink.ink)


def _draw_level(
    pen: Pen,
    top: float,
    tree: TimedTree,
    level: TreeLevel,
    edges: TreeEdges,
    colours: ValueColours,
    progress: Progress,
) -> tuple[float, float]:
    """Draw one level; return its width and height."""
    if not level.count:
        pen.text((_MARGIN, top + 12), "no nodes", pen.ink.ink)
        return 0.0, 20.0
    drawn = edges.of(level)
    place = place_graph(level.count, drawn.source, drawn.target)
    title = f"edges of {tree.graph.name}"
    for number in progress.part(0.0, _EDGES).through(range(len(drawn)), len(drawn), title):
        tail, head = int(drawn.source[number]), int(drawn.target[number])
        programmatic = int(drawn.type[number]) == EdgeType.PROGRAMMATIC
        points = _route(place, number, tail, head, top)
        pen.line(points, dash="5 3" if programmatic else "", arrow=True)
    width, height = place.node_width, place.node_height
    nodes, median_ns = tree.nodes[level.part], tree.times.median_ns[level.part].tolist()
    places = zip(nodes, median_ns, place.x.tolist(), place.y.tolist(), strict=True)
    title = f"nodes of {tree.graph.name}"
    drawing = progress.part(_EDGES, 1.0).through(places, level.count, title)
    for node, median, x, y in drawing:
        took = None if math.isnan(median) else median
        box = (_MARGIN + x - width / 2, top + y - height / 2, width, height)
        time = "not timed" if took is None else duration(took)
        fill = pen.ink.untimed if took is None else colours.fill(took)
        words = f"{node.node_id}: {node.name} · {node_type_name(node.type)} · {time}"
        pen.rect(box, fill, words, round=7)
        ink = pen.ink.ink if took is None else colours.text(took)
        pen.text((box[0] + 6, box[1] + 16), kernel_label(node.name), ink, room=width - 12)
        pen.text((box[0] + 6, box[1] + 32), time, ink, room=width - 12)
    return place.width, place.height


def _route(
    place: Placement, edge: int, tail: int, head: int, top: float
) -> list[tuple[float, float]]:
    half = place.node_height / 2
    first, last = int(place.route_offset[edge]), int(place.route_offset[edge + 1])
    between = zip(
        place.route_x[first:last].tolist(), place.route_y[first:last].tolist(), strict=True
    )
    points = [
        (float(place.x[tail]), float(place.y[tail]) + half),
        *between,
        (float(place.x[head]), float(place.y[head]) - half),
    ]
    return [(_MARGIN + x, top + y) for x, y in points]
