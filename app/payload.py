"""What the canvas views draw, as bytes in the format of :mod:`gviz.app.wire`.

Node ids are template node ids of the shown graph level.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gviz.app.address import Launches, Order
from gviz.app.dag_places import place_arrays
from gviz.app.folding import (
    FOLD_TYPE,
    fold_arrays,
    fold_level,
    folded,
    items_shape,
    shape_of_level,
)
from gviz.app.graph_level import GraphLevel, read_level
from gviz.app.launch_intervals import launch_intervals
from gviz.app.launches_side import median_side, stack_side
from gviz.app.overlays import describe_overlays, overlay_arrays, value_scale
from gviz.app.timeline_side import choose_launch, graph_side, stream_side
from gviz.app.wire import Arrays, Strings, node_types, pack
from gviz.folding.fold import FoldTree
from gviz.node_type import node_type_name

if TYPE_CHECKING:
    from gviz.recording.reader import Recording

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class DagAsked:
    """What of the DAG is asked for.

    Attributes
    ----------
    layout
        One of :data:`gviz.app.dag_places.LAYOUTS`; None: what suits the graph.
    launch_id
        The launch that layout 'time' and overlay 'launch' are about; None: its first with node
        times.
    folding
        One of :data:`gviz.app.folding.FOLDINGS`; None: every node is shown.
    unfolded
        Ids of the folds that are open.
    """

    layout: str | None = None
    launch_id: int | None = None
    folding: str | None = None
    unfolded: frozenset[str] = frozenset()


def dag_payload(
    recording: Recording, graph_id: int, asked: DagAsked | None = None, tree: FoldTree | None = None
) -> bytes:
    """Return the DAG of one graph level: nodes with times, places, edges with routes.

    Arrays: node_id, type, name (string), median_ns, p95_ns, body_ns (mean time of what
    is nested in it), share (of the launch, 0..1; these f4, NaN: none), launch_ns (in the launch,
    f4), reason (string or -1, why not timed), edge_from, edge_to (node index), edge_type, those
    of :func:`gviz.app.overlays.overlay_arrays` and of :func:`gviz.app.dag_places.place_arrays`;
    folded, one value an item instead and those of :func:`gviz.app.folding.fold_arrays`.

    Parameters
    ----------
    recording, graph_id
        Where from, and which level.
    asked
        How it is to be shown; None: all nodes as suits the graph.
    tree
        The folds of the level, where they are known already.

    Raises
    ------
    RecordingError
        If there is no such graph or launch, or its edges form a cycle.
    """
    asked = asked or DagAsked()
    level = read_level(recording, graph_id)
    strings = Strings()
    launch = choose_launch(recording, level, asked.launch_id)
    ran = None if launch is None else launch_intervals(recording, level, launch.launch_id)
    arrays = {**_node_arrays(level, strings), **overlay_arrays(level, strings)}
    if ran is not None:
        arrays["launch_ns"] = ran.busy_ns.astype(np.float32)
    shape = shape_of_level(level, ran)
    header: dict[str, Any] = {}
    if asked.folding is not None:
        view = folded(tree or fold_level(level, asked.folding), asked.unfolded)
        header, arrays = fold_arrays(arrays, level, view, strings)
        shape = items_shape(view, ran)
        arrays["lane"] = shape.chain.astype(np.uint32)
    places, more = place_arrays(shape, asked.layout)
    arrays |= more
    header |= {
        "kind": "dag",
        "graph_id": graph_id,
        "graph_name": level.graph.name,
        "strings": strings.to_list(),
        "kinds": {**_kind_names(level), FOLD_TYPE: "FOLD"},
        "edges_known": level.graph.topology_id is not None,
        "launch_count": level.launch_count,
        "launch_ordinal": None if launch is None else launch.ordinal,
        "scale": duration_scale(level.median_ns),
        "overlays": describe_overlays(arrays),
        "folding": asked.folding,
        **places,
    }
    return pack(header, arrays)


def _node_arrays(level: GraphLevel, strings: Strings) -> Arrays:
    reasons = [n.not_timed_reason for n in level.nodes]
    return {
        "node_id": np.array([n.node_id for n in level.nodes], np.uint32),
        "type": node_types([n.type for n in level.nodes]),
        "name": strings.indices([n.name for n in level.nodes]),
        "median_ns": level.median_ns.astype(np.float32),
        "p95_ns": level.p95_ns.astype(np.float32),
        "body_ns": level.body_ns.astype(np.float32),
        "share": level.share.astype(np.float32),
        "reason": np.array([-1 if r is None else strings.add(r) for r in reasons], np.int32),
        "edge_from": level.edge_from.astype(np.uint32),
        "edge_to": level.edge_to.astype(np.uint32),
        "edge_type": level.edge_type.astype(np.uint8),
    }


def duration_scale(durations_ns: FloatArray) -> dict[str, Any]:
    """Return how durations map to colours: least and most (ns), and log when their ratio asks.

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
) -> bytes:
    """Return graph launches and one stream-side pass as intervals on two own zeros.

    Parameters
    ----------
    recording
        Where from.
    graph_id
        The shown graph level. Spans of nodes nested in it carry the id of the node of this
        level that holds them.
    launch
        A launch of the outermost graph; None: its first with node times; 'median' or 'all' of
        those with node times (:mod:`gviz.app.launches_side`).
    stream_launch_id
        A launch of side 'stream'; None: the last.
    order
        Of launches that are stacked.

    Returns
    -------
    bytes
        Arrays with prefix ``graph_`` and ``stream_``: node_id, name (string), type, start_ns
        (f8, after the zero), duration_ns (f4), lane, stream (index into ``streams``),
        iteration; gap_start_ns and gap_end_ns, in which nothing of the side runs; of one
        launch call_start_ns, call_end_ns and call_name (:mod:`gviz.app.host_calls`); ``stream_``
        also host_start_ns and host_duration_ns. Zero is the entry of
        the (first) host call, or, where that is unknown, the first start on the GPU; of
        several launches always the first start on the GPU.
    """
    level = read_level(recording, graph_id)
    strings = Strings()
    if launch == "median":
        of_graph, arrays = median_side(recording, level, strings)
    elif launch == "all":
        of_graph, arrays = stack_side(recording, level, order, strings)
    else:
        of_graph, arrays = graph_side(recording, level, launch, strings)
    of_stream, more = stream_side(recording, level, stream_launch_id, strings)
    header = {
        "kind": "timeline",
        "graph_id": graph_id,
        "graph_name": level.graph.name,
        "graph": of_graph,
        "stream": of_stream,
        "strings": strings.to_list(),
        "kinds": _kind_names(level),
        "scale": duration_scale(level.median_ns),
    }
    return pack(header, {**arrays, **more})


def _kind_names(level: GraphLevel) -> dict[int, str]:
    return {t: node_type_name(t) for t in sorted(level.types)}
