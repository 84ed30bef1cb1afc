"""What the canvas views draw, as bytes in the format of :mod:`gviz.app.wire`.

Node ids are template node ids of the shown graph level.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gviz.app.address import Launches, Order
from gviz.app.graph_level import GraphLevel, read_level
from gviz.app.launches_side import median_side, stack_side
from gviz.app.timeline_side import graph_side, stream_side
from gviz.app.wire import Arrays, Strings, node_types, pack
from gviz.layout.choice import place_graph
from gviz.node_type import node_type_name

if TYPE_CHECKING:
    from gviz.recording.reader import Recording

FloatArray = npt.NDArray[np.float64]

#: From this ratio of slowest to fastest on, durations are coloured on a logarithmic scale.
LOG_RATIO = 20.0


def dag_payload(recording: Recording, graph_id: int) -> bytes:
    """Return the DAG of one graph level: nodes with times, places, edges with routes.

    Arrays: node_id, x, y, type, name (string), median_ns, p95_ns, body_ns (mean time of what
    is nested in it), share (of the launch, 0..1; these f4, NaN: none),
    reason (string or -1, why not timed), edge_from, edge_to (node index), edge_type,
    route_offset, route_x, route_y.

    Raises
    ------
    RecordingError
        If there is no such graph, or its edges form a cycle.
    """
    level = read_level(recording, graph_id)
    strings = Strings()
    place = place_graph(len(level.nodes), level.edge_from, level.edge_to)
    reasons = [n.not_timed_reason for n in level.nodes]
    arrays: Arrays = {
        "node_id": np.array([n.node_id for n in level.nodes], np.uint32),
        "x": place.x.astype(np.float32),
        "y": place.y.astype(np.float32),
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
        "route_offset": place.route_offset.astype(np.uint32),
        "route_x": place.route_x.astype(np.float32),
        "route_y": place.route_y.astype(np.float32),
    }
    header = {
        "kind": "dag",
        "graph_id": graph_id,
        "graph_name": level.graph.name,
        "strings": strings.to_list(),
        "kinds": _kind_names(level),
        "edges_known": level.graph.topology_id is not None,
        "launch_count": level.launch_count,
        "scale": duration_scale(level.median_ns),
        "width": place.width,
        "height": place.height,
        "node_width": place.node_width,
        "node_height": place.node_height,
    }
    return pack(header, arrays)


def duration_scale(durations_ns: FloatArray) -> dict[str, Any]:
    """Return how durations map to colours: least and most (ns), and log when their ratio asks.

    ``least`` and ``most`` are None when nothing was timed.
    """
    known = durations_ns[np.isfinite(durations_ns) & (durations_ns > 0)]
    if not len(known):
        return {"least_ns": None, "most_ns": None, "log": False}
    least, most = float(known.min()), float(known.max())
    return {"least_ns": least, "most_ns": most, "log": most / least >= LOG_RATIO}


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
