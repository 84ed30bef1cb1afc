"""Graphs of a recording as DOT text that Graphviz draws.

Nodes are coloured by their median duration; child graphs and conditional bodies are
clusters inside the level that runs them. Attributes beside the picture have what
:mod:`gviz.formats.dot.own` reads again.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from gviz.cuda import EdgeType, NodeType, node_type_name
from gviz.dataclass import dataclass
from gviz.formats.dot.own import (
    FORMAT,
    NodeToWrite,
    body_attributes,
    edge_attributes,
    graph_attributes,
    node_attributes,
)
from gviz.formats.svg import ValueColours, colours_of_nodes
from gviz.model import (
    TimedTree,
    TreeEdges,
    TreeLevel,
    graph_title,
    read_timed_tree,
    read_tree_edges,
)
from gviz.recording import Recording, rows
from gviz.system import NO_PROGRESS, Progress
from gviz.text import duration

if TYPE_CHECKING:
    import pydot

#: Longest name in a node; a longer one is cut in the middle.
_NAME_LENGTH = 60
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f]")
_FONT = "Helvetica"
#: Shares of the time, of 100,000 nodes: reading, drawing, text.
_STEPS = (0.06, 0.45, 0.49)


@dataclass(frozen=True, slots=True)
class _Source:
    """Data of a recording for drawing, read once."""

    tree: TimedTree
    nodes: Sequence[NodeToWrite]
    edges: TreeEdges
    colours: ValueColours
    functions: Mapping[int, rows.KernelFunction]


def to_dot(recording: Recording, graph_id: int, progress: Progress = NO_PROGRESS) -> str:
    """Return one graph, with the graphs inside it, as DOT text for Graphviz.

    Parameters
    ----------
    recording
        The recording.
    graph_id
        A top-level graph, or a body to draw by itself.
    progress
        Told the share that is drawn.

    Raises
    ------
    RecordingError
        If the recording has no such graph.
    """
    import pydot

    steps = progress.steps(_STEPS, f"graph {graph_id}")
    source = steps.run(_read_source, recording, graph_id)
    graph = source.tree.graph
    drawing = pydot.Dot(f"graph_{graph_id}", graph_type="digraph")
    _set(drawing, {"gviz_format": str(FORMAT), **graph_attributes(graph)})  # before all others
    title = graph_title(recording, graph)
    picture = {"compound": "true", "label": _quoted(_title(title, source)), "labelloc": "t"}
    _set(drawing, {**picture, "fontname": _FONT})
    drawing.set_node_defaults(
        shape="box", style=_quoted("filled,rounded"), fillcolor="white", fontname=_FONT
    )
    drawing.set_edge_defaults(color=_quoted("#666666"), fontname=_FONT)
    steps.run(_draw_level, drawing, drawing, source.tree.levels[0], source)
    return str(steps.run(drawing.to_string))


def _read_source(recording: Recording, graph_id: int) -> _Source:
    tree = read_timed_tree(recording, graph_id, columns=NodeToWrite._fields)
    return _Source(
        tree=tree,
        nodes=tree.nodes.tuples(NodeToWrite),
        edges=read_tree_edges(recording, tree),
        colours=colours_of_nodes(recording, tree),
        functions=recording.fetch_functions(tree.graph.run_id),
    )


def _title(title: str, source: _Source) -> str:
    scale = source.colours.scale
    if scale.least is None or scale.most is None:
        return f"{title}\nno node times"
    low, high = duration(scale.least if scale.log else 0), duration(scale.most)
    words = f"median duration of a node: {low} (pale) to {high} (strong)"
    return f"{title}\n{words}{', log scale' if scale.log else ''}"


def _draw_level(drawing: pydot.Dot, place: pydot.Graph, level: TreeLevel, source: _Source) -> None:
    import pydot

    tree, graph_id = source.tree, level.graph.graph_id
    if not level.count:
        # A cluster without a node would not be drawn.
        place.add_node(pydot.Node(_anchor(graph_id, None), shape="point", style="invis"))
    for index in range(level.first, level.end):
        node = source.nodes[index]
        place.add_node(_build_node(index, source))
        for at in tree.bodies(index):
            body = tree.levels[at]
            cluster = pydot.Subgraph(_cluster(body.graph))
            _set(cluster, graph_attributes(body.graph) | body_attributes(body.graph))
            picture = {"label": _quoted(_body_title(node, body.graph)), "style": "dashed"}
            _set(cluster, {**picture, "fontname": _FONT})
            _draw_level(drawing, cluster, body, source)
            place.add_subgraph(cluster)
            drawing.add_edge(_build_body_edge(index, body, source))
    edges, ids = source.edges.of(level), tree.nodes[level.part].integers("node_id")
    ends = ids[edges.source], ids[edges.target]
    columns = (*ends, edges.type, edges.from_port, edges.to_port)
    for edge in zip(*(column.tolist() for column in columns), strict=True):
        place.add_edge(_build_edge(graph_id, *edge))


def _build_node(index: int, source: _Source) -> pydot.Node:
    import pydot

    tree = source.tree
    node, median_ns = source.nodes[index], float(tree.times.median_ns[index])
    lines = _node_lines(node)
    drawn = pydot.Node(_anchor_of(index, source), tooltip=_quoted(node.name))
    if not math.isnan(median_ns):
        lines.append(duration(median_ns))
        drawn.set("fillcolor", _quoted(source.colours.fill(median_ns)))
        drawn.set("fontcolor", source.colours.text(median_ns))
    drawn.set("label", _quoted("\n".join(lines)))
    function = source.functions.get(node.function_id or 0)
    _set(drawn, node_attributes(node, None if function is None else function.mangled_name))
    return drawn


def _node_lines(node: NodeToWrite) -> list[str]:
    """Return the lines of a node: kind where the name does not have it, name, launch shape."""
    kind = node_type_name(node.type)
    lines = [f"{node.node_id}: {kind}"]
    if node.name != kind:
        lines.append(_cut(node.name.removeprefix(f"{kind} ")))
    if node.type == NodeType.KERNEL and node.grid_x is not None:
        grid = _dimensions(node.grid_x, node.grid_y, node.grid_z)
        block = _dimensions(node.block_x, node.block_y, node.block_z)
        lines.append(f"<<<{grid}, {block}, {node.shared_mem_bytes or 0}>>>")
    elif node.bytes is not None:
        lines.append(f"{node.bytes} bytes")
    return lines


def _build_edge(
    graph_id: int, first: int, second: int, kind: int, port: int, to_port: int
) -> pydot.Edge:
    import pydot

    drawn = pydot.Edge(_anchor(graph_id, first), _anchor(graph_id, second))
    _set(drawn, edge_attributes(kind, port, to_port))
    if kind == EdgeType.PROGRAMMATIC:
        drawn.set("style", "dashed")
        drawn.set("tooltip", "programmatic")
    elif kind == EdgeType.INFERRED:
        drawn.set("style", "dotted")
        drawn.set("tooltip", _quoted("inferred from stream order"))
    elif port != 0:
        drawn.set("style", "dotted")
        drawn.set("tooltip", _quoted(f"port {port}"))
    return drawn


def _build_body_edge(index: int, body: TreeLevel, source: _Source) -> pydot.Edge:
    """Return the line from a node to the frame of its body."""
    import pydot

    first = _anchor_of(body.first, source) if body.count else _anchor(body.graph.graph_id, None)
    return pydot.Edge(
        _anchor_of(index, source),
        first,
        lhead=_cluster(body.graph),
        style="dashed",
        arrowhead="none",
    )


def _set(drawn: pydot.Common, attributes: Mapping[str, str]) -> None:
    for name, value in attributes.items():
        drawn.set(name, value)


def _body_title(node: NodeToWrite, body: rows.Graph) -> str:
    if body.branch is None:
        return body.name
    return f"{body.name}\n{_cut(node.name)}, branch {body.branch}"


def _cluster(body: rows.Graph) -> str:
    return f"cluster_graph_{body.graph_id}"


def _anchor_of(index: int, source: _Source) -> str:
    graph = source.tree.level_of(index).graph
    return _anchor(graph.graph_id, source.nodes[index].node_id)


def _anchor(graph_id: int, node_id: int | None) -> str:
    return f"graph_{graph_id}_node_{'none' if node_id is None else node_id}"


def _dimensions(x: int | None, y: int | None, z: int | None) -> str:
    if y in (None, 1) and z in (None, 1):
        return str(x)
    return f"({x}, {y})" if z in (None, 1) else f"({x}, {y}, {z})"


def _cut(text: str) -> str:
    if len(text) <= _NAME_LENGTH:
        return text
    half = (_NAME_LENGTH - 1) // 2
    return f"{text[:half]}…{text[-half:]}"


def _quoted(text: str) -> str:
    """Return a quoted DOT string that Graphviz shows as ``text``, line breaks included."""
    clean = _CONTROL.sub(" ", text).replace("&", "&amp;")
    escaped = clean.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
