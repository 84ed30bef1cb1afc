"""Graphs on the GPU: launches, NVTX ranges of their nodes, spans in lanes, arrows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gviz.cuda import node_type_name
from gviz.dataclass import dataclass
from gviz.formats.perfetto.arrows import Dependencies
from gviz.formats.perfetto.event_text import (
    category,
    flow_text,
    known,
    slice_head,
    slice_tail,
    slice_text,
    work_arguments,
    work_name,
)
from gviz.formats.perfetto.tracks import Banks, Tracks, nest
from gviz.model import (
    Keep,
    TreeSpans,
    graph_title,
    read_launch_spans,
    read_level,
    read_tree,
    read_tree_edges,
)
from gviz.recording import rows
from gviz.stats import IntArray

if TYPE_CHECKING:
    from gviz.recording import Recording

#: The category and name of an arrow between two nodes, and of one from a call to its work.
DEPENDENCY = "graph_dependency"
CALL_TO_WORK = "ac2g"


#: What is written of nodes.
_COLUMNS = (
    *("node_id", "exec_node_id", "type", "name", "function_id", "device_id", "nvtx_path_id"),
    *("grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z"),
    *("shared_mem_bytes", "bytes", "copy_kind"),
)


class CallPlace(NamedTuple):
    """Place of a call: process, thread and start (ns, from the file's base)."""

    pid: int
    tid: int
    start_ns: int


class _Launch(NamedTuple):
    launch_id: int
    ordinal: int
    host_start_ns: int | None
    gpu_start_ns: int | None
    gpu_end_ns: int | None
    correlation_id: int | None
    graph_exec_id: int | None
    event_duration_ns: int | None
    node_method: str | None
    side: str
    stream_id: int | None
    span_count: int


@dataclass(frozen=True, slots=True)
class File:
    """Data that all parts of a file share; ``keep`` remembers what is common to a run."""

    recording: Recording
    run: rows.Run
    tracks: Tracks
    base_ns: int
    arrows: count[int]
    keep: Keep


class GraphSide:
    """The launches of one graph as trace events.

    Parameters
    ----------
    file
        What it shares with other parts.
    graph
        A graph that is launched.
    """

    def __init__(self, file: File, graph: rows.Graph) -> None:
        self._file = file
        self._graph = graph
        recording = file.recording
        self._title = graph_title(recording, graph, file.keep)
        self._tree = read_tree(recording, graph.graph_id, file.keep, _COLUMNS)
        self._level = read_level(recording, self._tree)
        edges = read_tree_edges(recording, self._tree)
        self._dependencies = Dependencies(self._level, edges)
        self._functions = recording.fetch_functions(graph.run_id)
        self._paths = recording.fetch_nvtx_paths(graph.run_id)
        self._path_of = self._tree.nodes.listed("nvtx_path_id")
        self._execs = {
            e.graph_exec_id: e.cuda_exec_id for e in recording.fetch_graph_execs(graph.graph_id)
        }
        devices = self._tree.nodes.listed("device_id")
        self._device = next((device for device in devices if device is not None), 0)
        name = f"GPU {self._device}: graph {self._title}"
        key = ("graph", graph.graph_id)
        self._pid = file.tracks.process(key, name, label=f"GPU {self._device}")
        self._banks = Banks()
        self._tails: dict[tuple[int, int], str] = {}

    def launches(self, wanted: frozenset[int] | None) -> list[_Launch]:
        """Return the graph's launches that ran on the GPU at a known time; None: all."""
        found = self._file.recording.fetch_columns(
            rows.Launch, _Launch._fields, {"graph_id": self._graph.graph_id}, "ordinal"
        )
        every = map(_Launch._make, found)
        return [
            launch
            for launch in every
            if launch.gpu_start_ns is not None
            and (wanted is None or launch.ordinal in wanted)
            and launch.side == "graph"
        ]

    def write(self, launch: _Launch, call: CallPlace | None) -> Iterator[str]:
        """Yield the events of a launch; ``call`` is the host's, if it is known."""
        spans = self._spans(launch)
        spans = spans.take(np.lexsort((spans.iteration, spans.node)))
        lane = self._level.lanes_of(spans)
        zero = (launch.gpu_start_ns or 0) - self._file.base_ns
        spans = replace(spans, start_ns=spans.start_ns + zero)
        begin = int(spans.start_ns.min(initial=zero))
        end = int(spans.end_ns.max(initial=zero))
        if launch.gpu_end_ns is not None:
            end = max(end, launch.gpu_end_ns - self._file.base_ns)
        bank = self._banks.take(begin, end)
        tid = self._thread(bank, "launches", "launches")
        words = f"{self._title} #{launch.ordinal}"
        arguments = self._launch_arguments(launch)
        place = (self._pid, tid)
        yield slice_text(words, "graph_launch", place, (begin, end - begin), arguments)
        if call is not None and call.start_ns <= begin < end:
            yield from flow_text(CALL_TO_WORK, next(self._file.arrows), call, (*place, begin))
        yield from self._write_ranges(bank, spans)
        threads = self._lane_threads(bank, lane)
        yield from self._write_spans(launch, spans, threads)
        yield from self._write_arrows(spans, threads)

    def _spans(self, launch: _Launch) -> TreeSpans:
        # Of a long run's 100,000 launches some hundred have spans.
        if not launch.span_count:
            none = np.zeros(0, np.int64)
            return TreeSpans(none, none, none, none, none, none)
        return read_launch_spans(self._file.recording, self._tree, launch.launch_id)

    def _launch_arguments(self, launch: _Launch) -> dict[str, Any]:
        return known(
            graph=self._title,
            launch=launch.ordinal,
            correlation=launch.correlation_id,
            graph_id=self._execs.get(launch.graph_exec_id or 0),
            stream=launch.stream_id,
            event_duration_ns=launch.event_duration_ns,
            node_times_by=launch.node_method,
        )

    def _thread(self, bank: int, key: str, name: str) -> int:
        full = name if not bank else f"{name} (overlapping launches {bank + 1})"
        thread = ("graph", self._graph.graph_id, bank, key)
        return self._file.tracks.thread(thread, self._pid, full)

    def write_iterations(self, keep: Callable[[int, int], bool]) -> Iterator[str]:
        """Yield the eager iterations of the same work, each as one slice.

        ``keep`` says from start and end (ns) whether one is wanted.
        """
        found = [
            (launch.ordinal, launch.gpu_start_ns, launch.gpu_end_ns)
            for launch in self._file.recording.fetch_launches(self._graph.graph_id, "stream")
            if launch.gpu_start_ns is not None and launch.gpu_end_ns is not None
        ]
        table = np.array(found, np.int64).reshape(len(found), 3)
        order, track = nest(table[:, 1], table[:, 2])
        for i in order.tolist():
            ordinal, first, last = (int(value) for value in table[i])
            if not keep(first, last):
                continue
            name = "eager iterations" + (f" ({track[i] + 1})" if track[i] else "")
            place = (self._pid, self._thread(0, f"iterations {track[i]}", name))
            words = f"{self._title}, eager iteration {ordinal}"
            when = (first - self._file.base_ns, last - first)
            arguments = known(graph=self._title, launch=ordinal)
            yield slice_text(words, "eager_iteration", place, when, arguments)

    # -- NVTX ranges of nodes -----------------------------------------------------------

    def _write_ranges(self, bank: int, spans: TreeSpans) -> Iterator[str]:
        """Yield from the first start to the last end of the nodes made in each NVTX range."""
        reach: dict[int, tuple[int, int]] = {}
        nodes, which = np.unique(spans.node, return_inverse=True)
        first = np.full(len(nodes), np.iinfo(np.int64).max)
        last = np.full(len(nodes), np.iinfo(np.int64).min)
        np.minimum.at(first, which, spans.start_ns)
        np.maximum.at(last, which, spans.end_ns)
        for node, start, end in zip(nodes.tolist(), first.tolist(), last.tolist(), strict=True):
            path = self._path_of[node]
            while path is not None and path in self._paths:
                was = reach.get(path, (start, end))
                reach[path] = (min(was[0], start), max(was[1], end))
                path = self._paths[path].parent_id
        # Outer ranges have the lower ids and come first, where times are equal.
        paths = sorted(reach)
        begins = np.array([reach[p][0] for p in paths], np.int64)
        ends = np.array([reach[p][1] for p in paths], np.int64)
        order, track = nest(begins, ends)
        for i in order.tolist():
            beside = int(track[i])
            name = "NVTX ranges of nodes" + (f" ({beside + 1})" if beside else "")
            place = (self._pid, self._thread(bank, f"ranges {beside}", name))
            when = (int(begins[i]), int(ends[i] - begins[i]))
            text = self._paths[paths[i]].text
            arguments = {"path": self._tree.nvtx[paths[i]]}
            yield slice_text(text, "gpu_user_annotation", place, when, arguments)

    # -- spans and arrows ---------------------------------------------------------------

    def _lane_threads(self, bank: int, lane: IntArray) -> IntArray:
        """Return the thread of each span by its lane."""
        threads = [
            self._thread(bank, f"lane {i}", f"lane {i}")
            for i in range(int(lane.max(initial=-1)) + 1)
        ]
        return np.array(threads, np.int64)[lane]

    def _write_spans(self, launch: _Launch, spans: TreeSpans, threads: IntArray) -> Iterator[str]:
        cuda_exec_id = self._execs.get(launch.graph_exec_id or 0, 0)
        fixed = f', "launch": {launch.ordinal}'
        if launch.correlation_id is not None:
            fixed += f', "correlation": {launch.correlation_id}'
        columns = (
            *(spans.node, spans.start_ns, spans.duration_ns),
            *(spans.stream_id, spans.iteration, threads),
        )
        for node, start, took, on, iteration, tid in zip(
            *(column.tolist() for column in columns), strict=True
        ):
            tail = self._tails.get((cuda_exec_id, node))
            if tail is None:
                tail = self._tails[cuda_exec_id, node] = self._tail(cuda_exec_id, node)
            arguments = f'"stream": {on}{fixed}'
            if iteration:
                arguments += f', "iteration": {iteration}'
            yield slice_head(tid, start, took, arguments) + tail

    def _tail(self, cuda_exec_id: int, index: int) -> str:
        """Return what all executions of a node share."""
        node, level = self._tree.nodes[index], self._tree.level_of(index)
        arguments: dict[str, Any] = {
            "graph": self._title,
            "graph id": cuda_exec_id,
            # As CUPTI's records have it: the executable's id above that of the node.
            "graph node id": cuda_exec_id << 32 | (node.exec_node_id or 0),
        }
        function = self._functions.get(node.function_id or 0)
        device = self._device if node.device_id is None else node.device_id
        arguments |= {"device": device} | work_arguments(node, function)
        if level.at:
            arguments["in graph"] = level.graph.graph_id
        arguments |= {"node": node.node_id}
        range_path = self._tree.nvtx.get(node.nvtx_path_id or 0)
        if range_path is not None:
            arguments["nvtx"] = range_path
        name = work_name(
            node.type, node.name, None if function is None else function.name, node.copy_kind
        )
        if category(node.type) == "gpu_node":
            arguments["kind"] = node_type_name(node.type)
        return slice_tail(name, category(node.type), self._pid, arguments)

    def _write_arrows(self, spans: TreeSpans, threads: IntArray) -> Iterator[str]:
        """Yield an arrow for each dependency whose ends lie in order.

        It begins in the last nanosecond of what was waited for, or where the other starts while
        that still runs, as behind a programmatic dependency.
        """
        tail, head = self._dependencies.pairs(spans)
        start, end = spans.start_ns, spans.end_ns
        leave = np.minimum(end[tail] - 1, start[head])
        good = (leave >= start[tail]) & (end[head] > start[head])
        columns = (leave, threads[tail], start[head], threads[head])
        for begin, out, reach, into in zip(*(c[good].tolist() for c in columns), strict=True):
            yield from flow_text(
                DEPENDENCY,
                next(self._file.arrows),
                (self._pid, out, begin),
                (self._pid, into, reach),
            )
