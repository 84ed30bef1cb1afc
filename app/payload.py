"""What the canvas views draw, as bytes in the format of :mod:`gviz.app.wire`.

Node ids are template node ids of the shown graph level.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from gviz.app.address import Launches, Order
from gviz.app.dag_places import place_arrays, shape_of_level
from gviz.app.data_overlay import data_arrays
from gviz.app.folding import (
    FOLD_TYPE,
    fold_arrays,
    fold_level,
    folded,
    items_shape,
)
from gviz.app.graph_level import GraphLevel, read_level
from gviz.app.launch_intervals import launch_intervals
from gviz.app.launches_side import median_side, stack_side
from gviz.app.level_memory import read_memory
from gviz.app.memory_payload import memory_payload
from gviz.app.overlays import describe_overlays, overlay_arrays, value_scale
from gviz.app.timeline_side import choose_launch, graph_side, stream_side, timed_launches
from gviz.app.timeline_window import Window, thin, thin_calls
from gviz.app.wire import Arrays, Strings, node_types, pack
from gviz.folding.folded_graph import FoldedGraph
from gviz.node_type import node_type_name

if TYPE_CHECKING:
    from gviz.recording.reader import Recording

FloatArray = npt.NDArray[np.float64]

#: Up to so many spans a timeline is sent whole, about 4 MB; more only for the window shown.
SENT_WHOLE = 100_000

_T = TypeVar("_T")


class Keep(Protocol):
    """Returns the value of a key, built by ``build`` or remembered from before."""

    def __call__(self, key: tuple[object, ...], build: Callable[[], _T]) -> _T:
        """Return the value of ``key``."""


def _build(key: tuple[object, ...], build: Callable[[], _T]) -> _T:
    return build()


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
    data
        Whether edges are told apart by the memory that their ends have in common.
    """

    layout: str | None = None
    launch_id: int | None = None
    folding: str | None = None
    unfolded: frozenset[str] = frozenset()
    data: bool = False


def dag_payload(
    recording: Recording, graph_id: int, asked: DagAsked | None = None, keep: Keep = _build
) -> bytes:
    """Return the DAG of one graph level: nodes with times, places, edges with routes.

    Arrays: node_id, type, name (string), median_ns, p95_ns, body_ns (mean time of what
    is nested in it), share (of the launch, 0..1; these f4, NaN: none), launch_ns (in the launch,
    f4), reason (string or -1, why not timed), edge_from, edge_to (node index), edge_type, those
    of :func:`gviz.app.overlays.overlay_arrays` and of :func:`gviz.app.dag_places.place_arrays`;
    folded, one value an item instead and those of :func:`gviz.app.folding.fold_arrays`; with data
    those of :func:`gviz.app.data_overlay.data_arrays`.

    Parameters
    ----------
    recording, graph_id
        Where from, and which level.
    asked
        How it is to be shown; None: all nodes as suits the graph.
    keep
        Remembers what was read, for the next folds or layout.

    Raises
    ------
    RecordingError
        If there is no such graph or launch, or its edges form a cycle.
    """
    asked = asked or DagAsked()
    level = keep(("level", graph_id), lambda: read_level(recording, graph_id))
    strings = Strings()
    launch = choose_launch(recording, level, asked.launch_id)
    ran = None if launch is None else launch_intervals(recording, level, launch.launch_id)
    arrays = {**_node_arrays(level, strings), **overlay_arrays(level, strings)}
    if ran is not None:
        arrays["launch_ns"] = ran.busy_ns.astype(np.float32)
    shape = shape_of_level(level, ran)
    header: dict[str, Any] = {}
    visible: FoldedGraph | None = None
    folding = asked.folding
    if folding is not None:
        tree = keep(("folds", graph_id, folding), lambda: fold_level(level, folding))
        view = folded(tree, asked.unfolded)
        header, arrays = fold_arrays(arrays, level, view, strings)
        shape, visible = items_shape(view, ran), view.graph
        arrays["lane"] = shape.chain.astype(np.uint32)
    places, more = place_arrays(shape, asked.layout)
    arrays |= more
    if asked.data:
        arrays |= _data_arrays(recording, level, visible, keep)
    header |= {
        **_dag_header(level),
        "strings": strings.to_list(),
        "launch_asked": asked.launch_id is not None,
        "launch_ordinal": None if launch is None else launch.ordinal,
        "overlays": describe_overlays(arrays),
        "folding": folding,
        **places,
    }
    return pack(header, arrays)


def _dag_header(level: GraphLevel) -> dict[str, Any]:
    return {
        "kind": "dag",
        "graph_id": level.graph.graph_id,
        "graph_name": level.graph.name,
        "kinds": {**_kind_names(level), FOLD_TYPE: "FOLD"},
        "edges_known": level.graph.topology_id is not None,
        "launch_count": level.launch_count,
        "scale": duration_scale(level.median_ns),
    }


def _data_arrays(
    recording: Recording, level: GraphLevel, visible: FoldedGraph | None, keep: Keep
) -> Arrays:
    memory = keep(("memory", level.graph.graph_id), lambda: read_memory(recording, level))
    return data_arrays(memory, level, visible)


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
    window: Window | None = None,
    keep: Keep = _build,
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
    window
        The part that is wanted, where there are more spans than :data:`SENT_WHOLE`; fewer are
        always sent whole. None: all, coarse.
    keep
        Remembers what was read for the next window.

    Returns
    -------
    bytes
        Arrays with prefix ``graph_`` and ``stream_``: node_id, name (string), type, start_ns
        (f8, after the zero), duration_ns (f4), lane, stream (index into ``streams``),
        iteration; gap_start_ns and gap_end_ns, in which nothing of the side runs; of one
        launch call_start_ns, call_end_ns and call_name (:mod:`gviz.app.host_calls`); ``stream_``
        also host_start_ns and host_duration_ns. Zero is the entry of
        the (first) host call, or, where that is unknown, the first start on the GPU; of
        several launches always the first start on the GPU. ``header["detail"]`` is there when
        the arrays are those of a window (:func:`gviz.app.timeline_window.thin`).
    """
    level = keep(("level", graph_id), lambda: read_level(recording, graph_id))
    asked = window or Window()
    rows = range(asked.first_row, asked.last_row)
    graph = _graph_side(recording, level, launch, order, rows, keep)
    stream = keep(
        ("stream", graph_id, stream_launch_id),
        lambda: _read(lambda strings: stream_side(recording, level, stream_launch_id, strings)),
    )
    strings = [*graph.strings, *stream.strings]
    arrays = {**graph.arrays, **stream.renumbered(len(graph.strings))}
    header = _timeline_header(level, graph, stream)
    headers = [side for side in (header["graph"], header["stream"]) if side]
    if sum(side["count"] for side in headers) > SENT_WHOLE:
        arrays, header["detail"] = _thinned(header, arrays, asked, strings)
    return pack({**header, "strings": strings}, arrays)


def _timeline_header(level: GraphLevel, graph: _Side, stream: _Side) -> dict[str, Any]:
    return {
        "kind": "timeline",
        "graph_id": level.graph.graph_id,
        "graph_name": level.graph.name,
        "graph": graph.header,
        "stream": stream.header,
        "kinds": _kind_names(level),
        "scale": duration_scale(level.median_ns),
    }


class _Side(NamedTuple):
    """One side of the timeline, with the strings that its arrays number."""

    header: dict[str, Any] | None
    arrays: Arrays
    strings: list[str]

    def renumbered(self, by: int) -> Arrays:
        """Return the arrays with the numbers of strings raised."""
        return {n: a + by if n.endswith("_name") else a for n, a in self.arrays.items()}


def _read(side: Callable[[Strings], tuple[dict[str, Any] | None, Arrays]]) -> _Side:
    strings = Strings()
    header, arrays = side(strings)
    return _Side(header, arrays, strings.to_list())


def _graph_side(
    recording: Recording,
    level: GraphLevel,
    launch: int | Launches | None,
    order: Order,
    shown: range,
    keep: Keep,
) -> _Side:
    key = ("graph", level.graph.graph_id, launch, order)
    if launch == "median":
        return keep(key, lambda: _read(lambda s: median_side(recording, level, s)))
    if launch != "all":
        return keep(key, lambda: _read(lambda s: graph_side(recording, level, launch, s)))
    if sum(x.span_count for x in timed_launches(recording, level)) > SENT_WHOLE:
        return _read(lambda s: stack_side(recording, level, order, s, shown))
    return keep(key, lambda: _read(lambda s: stack_side(recording, level, order, s)))


def level_memory_payload(
    recording: Recording, graph_id: int, launch_id: int | None, keep: Keep = _build
) -> bytes:
    """Return what a graph level does with memory (:mod:`gviz.app.memory_payload`)."""
    level = keep(("level", graph_id), lambda: read_level(recording, graph_id))
    memory = keep(("memory", graph_id), lambda: read_memory(recording, level))
    return memory_payload(recording, level, memory, launch_id)


def _thinned(
    header: dict[str, Any], arrays: Arrays, window: Window, strings: list[str]
) -> tuple[Arrays, dict[str, Any]]:
    """Return the arrays of a window and what the header says of it; adds strings of calls."""
    totals = {n: header[n]["total_ns"] for n in ("graph", "stream") if header[n]}
    total = max(totals.values())
    thinned: Arrays = {}
    buckets = {}
    for name in totals:
        calls = thin_calls(name, arrays, window, total, strings)
        spans, buckets[name] = thin(name, arrays, window, total)
        thinned |= spans | calls
    return thinned, {
        "from_ns": 0.0 if window.from_ns is None else window.from_ns,
        "to_ns": total if window.to_ns is None else window.to_ns,
        "bucket_ns": buckets,
        "rows": [window.first_row, window.last_row],
    }


def _kind_names(level: GraphLevel) -> dict[int, str]:
    return {t: node_type_name(t) for t in sorted(level.types)}
