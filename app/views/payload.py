"""The data of the canvas views, as bytes in the format of :mod:`gviz.app.views.wire`.

Node ids are template node ids of the shown graph level.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gviz.app.components import Launches, Order
from gviz.app.views.dag import (
    FOLD_TYPE,
    Folded,
    LaunchIntervals,
    LevelItems,
    OpenLevel,
    data_arrays,
    describe_overlays,
    fold_arrays,
    folded,
    in_sections,
    items_shape,
    join_data,
    join_levels,
    kept_folds,
    kept_names,
    launch_intervals,
    open_levels,
    overlay_arrays,
    painted,
    parent_arrays,
    place_arrays,
    value_scale,
    visible_parents,
)
from gviz.app.views.family_colours import FamilyColours, read_family_colours
from gviz.app.views.labels import labels_of
from gviz.app.views.memory_payload import memory_payload
from gviz.app.views.model_parts import ModelParts, read_model_parts
from gviz.app.views.timeline import (
    SideArrays,
    ViewWindow,
    choose_launch,
    graph_side,
    is_sent_whole,
    median_side,
    nested_arrays,
    pack_sides,
    read_arrays,
    stack_side,
    stream_side,
    timed_launches,
)
from gviz.app.views.wire import Arrays, Strings, node_types, pack
from gviz.cuda import node_type_name
from gviz.dataclass import dataclass
from gviz.model import (
    GraphLevel,
    Keep,
    TimedLevel,
    TimedTree,
    build_anew,
    graph_title,
    read_level,
    read_memory,
    read_timed_level,
    read_timed_tree,
)
from gviz.recording import Texts, rows
from gviz.stats import FloatArray, distinct_values

if TYPE_CHECKING:
    from gviz.recording import Recording


@dataclass(frozen=True, slots=True)
class DagRequest:
    """The part of the DAG that is requested.

    Attributes
    ----------
    layout
        One of :data:`gviz.app.components.dag_options.LAYOUTS`; None: what suits the graph.
    launch_id
        The launch that layout 'time' and overlay 'launch' are about; None: its first with node
        times.
    folding
        One of :data:`gviz.app.components.dag_options.FOLDINGS`; None: every node is shown.
    unfolded
        Ids of the folds, and of the nodes with bodies, that are open.
    data
        Whether edges are described by the memory that their ends have in common.
    """

    layout: str | None = None
    launch_id: int | None = None
    folding: str | None = None
    unfolded: frozenset[str] = frozenset()
    data: bool = False


def dag_payload(
    recording: Recording,
    graph_id: int,
    request: DagRequest | None = None,
    keep: Keep = build_anew,
) -> bytes:
    """Return the DAG of one graph level: nodes with times, places, edges with routes.

    Arrays: node_id, type, name (string), median_ns, p95_ns (of a node that holds bodies, of what
    ran inside in a launch, summed), body_ns (that alone), share (of the launch, 0..1; these f4,
    NaN: none), launch_ns (in the launch, f4), reason (string or -1, why not timed), family
    (string, ``family_slots`` in the header has the place of its colour; -1: several), phase
    (string, as the breakdown has it; -1: none or several), module (string: that with a number
    around it, else the outermost, -1), edge_from,
    edge_to (item index), edge_type, lane (u4), those of
    :func:`gviz.app.views.dag.overlays.overlay_arrays`,
    :func:`gviz.app.views.dag.dag_places.place_arrays`,
    :func:`gviz.app.views.dag.visible_levels.join_levels` and
    :func:`gviz.app.views.dag.body_facts.parent_arrays`; folded, one value an item instead of a
    node and those of :func:`gviz.app.views.dag.folding.fold_arrays`; with data those of
    :func:`gviz.app.views.dag.data_overlay.data_arrays`.

    Parameters
    ----------
    recording, graph_id
        Where from, and which level.
    request
        How it is to be shown; None: all nodes as suits the graph.
    keep
        Remembers what was read, for the next folds or layout.

    Raises
    ------
    RecordingError
        If there is no such graph or launch, or its edges form a cycle.
    """
    request = request or DagRequest()
    tree = read_timed_tree(recording, graph_id, keep)
    levels = _open(recording, graph_id, tree, request, keep)
    strings = Strings()
    launch = choose_launch(recording, tree, request.launch_id)
    ran = _ran(recording, tree, launch, keep)
    shapes = [_shape(level, ran) for level in levels]
    families = read_family_colours(recording, tree, keep)
    model = read_model_parts(recording, tree, keep)
    parts = [
        _level_arrays(level, shape, ran, families, model, strings)
        for level, shape in zip(levels, shapes, strict=True)
    ]
    shapes[0] = in_sections(shapes[0], levels[0].view, parts[0]["phase"])
    arrays = join_levels(levels, parts, strings) | parent_arrays(visible_parents(levels), strings)
    places, placed = place_arrays(shapes, request.layout)
    arrays |= placed
    if request.data:
        arrays |= join_data(
            [_data_arrays(recording, graph_id, level, keep, strings) for level in levels]
        )
    header: dict[str, Any] = {
        "family_slots": families.header(strings),
        **_dag_header(levels, request, launch, graph_title(recording, tree.graph, keep)),
        "strings": strings.to_list(),
        "labels": labels_of(strings.to_list(), [arrays["name"][arrays["type"] != FOLD_TYPE]]),
        "overlays": describe_overlays(painted(arrays, levels)),
        **places,
    }
    return pack(header, arrays)


def _ran(
    recording: Recording, tree: TimedTree, launch: rows.Launch | None, keep: Keep
) -> LaunchIntervals | None:
    if launch is None:
        return None
    launch_id = launch.launch_id
    key = ("ran", tree.graph.graph_id, launch_id)
    return keep(key, lambda: launch_intervals(recording, tree, launch_id, keep))


def _dag_header(
    levels: Sequence[OpenLevel],
    request: DagRequest,
    launch: rows.Launch | None,
    title: str,
) -> dict[str, Any]:
    folds = [level.view for level in levels if level.view is not None]
    return {
        **level_header(levels[0].level, title),
        "launch_requested": request.launch_id is not None,
        "launch_ordinal": None if launch is None else launch.ordinal,
        "folding": request.folding,
        "folded": sum(f is not None for view in folds for f in view.graph.folds),
        "fold_count": sum(1 for view in folds for _ in view.tree.walk()),
    }


def level_header(level: TimedLevel, title: str) -> dict[str, Any]:
    """Return what the header of a DAG says of the level shown, however it is drawn."""
    tree = level.tree
    return {
        "kind": "dag",
        "graph_id": tree.graph.graph_id,
        "graph_name": title,
        "kinds": {**_kind_names(tree), FOLD_TYPE: "FOLD"},
        "edges_known": tree.graph.topology_id is not None,
        "path_note": level.why_contradicted,
        "launch_count": tree.times.launch_count,
        "kept_count": level.nested.kept_count,
        "scale": duration_scale(level.median_ns),
    }


def _data_arrays(
    recording: Recording, graph_id: int, level: OpenLevel, keep: Keep, strings: Strings
) -> Arrays:
    nodes, view = level.level, level.view
    memory = keep(("memory", graph_id, nodes.at), lambda: read_memory(recording, nodes))
    return data_arrays(memory, nodes, None if view is None else view.graph, strings)


def _open(
    recording: Recording, graph_id: int, tree: TimedTree, request: DagRequest, keep: Keep
) -> list[OpenLevel]:
    def read(at: int) -> TimedLevel:
        return read_timed_level(recording, tree, at, keep)

    def fold(level: TimedLevel) -> Folded | None:
        folding = request.folding
        if folding is None:
            return None
        prefix = f"{level.at}." if level.at else ""
        names = kept_names(recording, level, folding, keep)
        folds = kept_folds(recording, level, folding, keep)
        return folded(folds, request.unfolded, names, prefix)

    return open_levels(tree, request.unfolded, read, fold)


def level_arrays(
    level: TimedLevel, families: FamilyColours, model: ModelParts, strings: Strings
) -> Arrays:
    """Return the arrays of a level of which nothing is folded, those of a launch and places
    aside.
    """
    arrays = {**_own_arrays(level, strings), **overlay_arrays(level, strings)}
    arrays["family"] = families.names(level.part, strings)
    for name, texts in (("phase", model.phase), ("module", model.module_instances())):
        arrays[name] = strings.codes(Texts(texts.codes[level.part], texts.values))
    return arrays


def _level_arrays(
    level: OpenLevel,
    shape: LevelItems,
    ran: LaunchIntervals | None,
    families: FamilyColours,
    model: ModelParts,
    strings: Strings,
) -> Arrays:
    nodes = level.level
    arrays = level_arrays(nodes, families, model, strings)
    if ran is not None:
        arrays["launch_ns"] = ran.busy_ns[nodes.part].astype(np.float32)
    if level.view is not None:
        arrays = fold_arrays(arrays, nodes, level.view, strings)
    return arrays | {"lane": shape.chain.astype(np.uint32)}


def _shape(level: OpenLevel, ran: LaunchIntervals | None) -> LevelItems:
    nodes = level.level
    mine = None if ran is None else ran.part(nodes.part)
    if level.view is not None:
        return items_shape(level.view, mine, level.parent)
    return LevelItems(
        len(nodes.nodes),
        nodes.edge_from,
        nodes.edge_to,
        nodes.row,
        nodes.chain,
        mine,
        level.parent,
    )


def node_arrays(level: TimedLevel, numbers: npt.NDArray[np.int64], strings: Strings) -> Arrays:
    """Return what every DAG has of a level's nodes, which have these numbers on the page."""
    return {
        "node_id": numbers.astype(np.uint32),
        "type": node_types(level.nodes.integers("type")),
        "name": strings.codes(level.nodes.texts("name")).astype(np.uint32),
        "median_ns": level.median_ns.astype(np.float32),
        "p95_ns": level.p95_ns.astype(np.float32),
        "body_ns": level.body_ns.astype(np.float32),
        "share": level.share.astype(np.float32),
        "reason": strings.codes(level.nodes.texts("not_timed_reason")),
    }


def _own_arrays(level: TimedLevel, strings: Strings) -> Arrays:
    return {
        **node_arrays(level, level.key, strings),
        "edge_from": level.edge_from.astype(np.uint32),
        "edge_to": level.edge_to.astype(np.uint32),
        "edge_type": level.edge_type.astype(np.uint8),
    }


def duration_scale(durations_ns: FloatArray) -> dict[str, Any]:
    """Return how durations map to colours: least and most (ns), and log where their ratio is high.

    ``least_ns`` and ``most_ns`` are None when nothing was timed.
    """
    scale = value_scale(durations_ns)
    return {"least_ns": scale["least"], "most_ns": scale["most"], "log": scale["log"]}


def timeline_payload(
    recording: Recording,
    graph_id: int,
    launch: int | Launches | None,
    stream_launch_id: int | None,
    order: Order = "ordinal",
    window: ViewWindow | None = None,
    keep: Keep = build_anew,
    whole: bool = False,
) -> bytes:
    """Return graph launches and one eager iteration as intervals on two own zeros.

    Parameters
    ----------
    recording
        Where from.
    graph_id
        The shown graph level. Spans of nodes nested in it carry these nodes' numbers on the page.
    launch
        A launch of the outermost graph; None: its first with node times; 'median' or 'all' of
        those with node times (:mod:`gviz.app.views.timeline.medians`,
        :mod:`gviz.app.views.timeline.stacks`).
    stream_launch_id
        A launch of side 'stream'; None: the last.
    order
        Of launches that are stacked.
    window
        The part that is wanted, where there are more spans than are sent whole
        (:data:`gviz.app.views.timeline.side_arrays.SENT_WHOLE`); fewer always are. None: all,
        coarse.
    keep
        Remembers what was read for the next window.
    whole
        Send all spans, however many.

    Returns
    -------
    bytes
        Arrays with prefix ``graph_`` and ``stream_``: node_id, name (string), type, family (u1,
        the place of its colour, :mod:`gviz.app.views.family_colours`), start_ns
        (f8, after the zero), duration_ns (f4), lane, stream, iteration; gap_start_ns and
        gap_end_ns, in which nothing of the side runs; of one launch call_start_ns, call_end_ns
        and call_name (:mod:`gviz.app.views.timeline.host_calls`); ``stream_`` also host_start_ns,
        host_duration_ns and, where ranges are known, called_in_name (string). Zero is the entry of
        the (first) host call, or, where that is unknown, the first start on the GPU; of several
        launches always that. ``nested_node`` and ``nested_parent`` (u4): nodes inside others, and
        those. ``header["detail"]`` is there when
        the arrays are those of a window (:func:`gviz.app.views.timeline.timeline_window.thin`).
    """
    tree = read_timed_tree(recording, graph_id, keep)
    level = read_level(recording, tree, keep=keep)
    wanted = window or ViewWindow()
    in_sight = range(wanted.first_row, wanted.last_row)
    slots = read_family_colours(recording, tree, keep).slots()
    graph = _graph_side(recording, level, launch, order, in_sight, slots, keep, whole)
    stream = read_stream_side(recording, tree, stream_launch_id, keep)
    sides = {"graph": graph, "stream": stream.after(len(graph.strings))}
    nested = nested_arrays((tree.parent, tree.key))
    wanted = replace(wanted, node_ids=_with_nested(tree, wanted.node_ids))
    header = _timeline_header(tree, graph, stream, graph_title(recording, tree.graph, keep))
    return pack_sides(header, sides, wanted, nested, whole=whole)


def read_stream_side(
    recording: Recording, tree: TimedTree, launch_id: int | None, keep: Keep
) -> SideArrays:
    """Return an eager iteration as the timeline has it; None: the graph's last."""
    families = read_family_colours(recording, tree, keep)
    return keep(
        ("stream", tree.graph.graph_id, launch_id),
        lambda: read_arrays(
            "stream", lambda s: stream_side(recording, tree, launch_id, s, families)
        ),
    )


def _with_nested(tree: TimedTree, keys: Sequence[int]) -> tuple[int, ...]:
    """Return nodes with those nested in them."""
    found = dict.fromkeys(keys)
    for key in keys:
        node = tree.index_of(key)
        if node is not None and tree.bodies(node):
            inside = tree.inside(node)
            found |= dict.fromkeys(tree.key[inside.start : inside.stop].tolist())
    return tuple(found)


def _timeline_header(
    tree: TimedTree, graph: SideArrays, stream: SideArrays, title: str
) -> dict[str, Any]:
    shown = graph.header
    if shown is not None and tree.times.is_sliced:
        shown = {**shown, "timed_count": int(np.isfinite(tree.times.median_ns).sum())}
    return {
        "kind": "timeline",
        "graph_id": tree.graph.graph_id,
        "graph_name": title,
        "graph": shown,
        "stream": stream.header,
        "kinds": _kind_names(tree),
        # Spans are executions: those of nodes inside others too.
        "scale": duration_scale(tree.times.median_ns),
    }


def _graph_side(
    recording: Recording,
    level: GraphLevel,
    launch: int | Launches | None,
    order: Order,
    shown: range,
    slots: npt.NDArray[np.uint8],
    keep: Keep,
    whole: bool,
) -> SideArrays:
    key = ("graph", level.graph.graph_id, launch)
    if launch == "median":
        return keep(
            key, lambda: read_arrays("graph", lambda s: median_side(recording, level, s, slots))
        )
    if launch != "all":
        return keep(
            key,
            lambda: read_arrays(
                "graph", lambda s: graph_side(recording, level, launch, s, slots, keep)
            ),
        )
    spans = sum(x.span_count for x in timed_launches(recording, level.tree))
    strings = Strings()
    rows_read = None if whole or is_sent_whole(spans) else shown
    stack = stack_side(recording, level, order, strings, keep, rows_read, slots)
    if stack is None:
        return SideArrays("graph", None, {}, [])
    return SideArrays("graph", stack.header, {}, strings.to_list(), stack.parts)


def level_memory_payload(
    recording: Recording, graph_id: int, launch_id: int | None, keep: Keep = build_anew
) -> bytes:
    """Return what a graph level does with memory (:mod:`gviz.app.views.memory_payload`)."""
    tree = read_timed_tree(recording, graph_id, keep)
    level = read_level(recording, tree, keep=keep)
    memory = keep(("memory", graph_id, 0), lambda: read_memory(recording, level))
    title = graph_title(recording, level.graph, keep)
    is_sliced = tree.times.is_sliced
    return memory_payload(recording, level, memory, launch_id, title, is_sliced=is_sliced)


def _kind_names(tree: TimedTree) -> dict[int, str]:
    return {t: node_type_name(t) for t in distinct_values(tree.nodes.integers("type")).tolist()}
