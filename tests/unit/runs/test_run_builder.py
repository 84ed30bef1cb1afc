"""A run built from columns: ids, topologies stored once, and what is written at the end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from gviz.cuda import NodeType
from gviz.matching import CapturedWork
from gviz.recording import RecordingWriter, rows
from gviz.recording.reader import Recording
from gviz.runs import (
    IdCounter,
    NodeKeys,
    OutsideOperations,
    Rows,
    RunBuilder,
    Spans,
    blank_rows,
)
from gviz.stats import UNKNOWN, DurationSketch, IntArray

KERNEL = int(NodeType.KERNEL)


class Built:
    """A builder over a recording of its own, and what was written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.writer = RecordingWriter(path)
        self.numbers = IdCounter()
        self.builder = self.another()

    def another(self) -> RunBuilder:
        """Return the builder of a further run."""
        builder = RunBuilder(self.writer, self.numbers)
        builder.add_run(name="run", state="completed", source="import")
        return builder

    def read(self) -> Recording:
        """Return the finished recording."""
        if self.builder.run_id == self.numbers.take("run") - 1:
            self.builder.finish()
        self.writer.finish()
        return Recording(self.path)


@pytest.fixture
def built(tmp_path: Path) -> Iterator[Built]:
    """Return a builder."""
    found = Built(tmp_path / "run.gviz")
    yield found
    found.writer.discard()


def ints(*values: int) -> IntArray:
    return np.array(values, np.int64)


def add_graph(builder: RunBuilder, edges: list[tuple[int, ...]], symbol: str = "_Z1av") -> int:
    """Write a graph of two kernels; return its id."""
    graph_id = builder.numbers.take("graph")
    table = np.array(edges, np.int64).reshape(-1, 5)
    topology = builder.topology([KERNEL, KERNEL], [symbol, symbol], table)
    graph = rows.Graph(
        graph_id=graph_id, run_id=builder.run_id, name=f"graph {graph_id}", origin="trace",
        topology_id=topology.topology_id,
    )  # fmt: skip
    nodes = two_kernels(graph_id, builder.kernels.number(symbol, 32))
    builder.add_graph(graph, nodes, topology, table)
    return graph_id


def two_kernels(graph_id: int, function: int) -> Rows:
    """Return the nodes of a graph of two equal kernels."""
    return blank_rows(
        rows.Node, 2, graph_id=graph_id, node_id=[0, 1], exec_node_id=[10, 11], type=KERNEL,
        name="a", function_id=function, grid_x=1, grid_y=1, grid_z=1, block_x=32, block_y=1,
        block_z=1,
    )  # fmt: skip


def operations(count: int, function: int) -> OutsideOperations:
    """Return kernels on one stream, ten apart."""
    start = np.arange(count, dtype=np.int64) * 10 + 100
    columns = {field.name: np.full(count, UNKNOWN, np.int64) for field in fields(OutsideOperations)}
    columns |= {
        "type": np.full(count, KERNEL), "start_ns": start, "end_ns": start + 5,
        "stream_id": np.full(count, 7), "device_id": np.zeros(count, np.int64),
        "correlation_id": np.arange(count), "function_id": np.full(count, function),
        "grid": np.ones((count, 3), np.int64), "block": np.tile(ints(32, 1, 1), (count, 1)),
        "host_start_ns": start - 50, "host_end_ns": start - 40, "thread_id": np.full(count, 3),
    }  # fmt: skip
    return OutsideOperations(**{**columns, "names": ["a"] * count})  # type: ignore[arg-type]


def test_equal_topologies_are_stored_once(built: Built) -> None:
    edges = [(0, 1, 0, 0, 0)]
    for one in (edges, edges, []):
        add_graph(built.builder, one)  # type: ignore[arg-type]
    with built.read() as recording:
        first, second, other = recording.fetch_graphs(1)
    assert first.topology_id == second.topology_id != other.topology_id


def test_ids_go_on_in_the_next_run(built: Built) -> None:
    add_graph(built.builder, [])
    built.builder.note("limit", "first")
    built.builder.finish()
    builder = built.another()
    add_graph(builder, [])
    builder.note("limit", "second")
    builder.finish()
    with built.read() as recording:
        runs = [run.run_id for run in recording.fetch_runs()]
        functions = [f.function_id for run in runs for f in recording.fetch_functions(run).values()]
        notes = [(n.note_id, n.text) for run in runs for n in recording.fetch_notes(run)]
    assert (runs, functions, notes) == ([1, 2], [1, 2], [(1, "first"), (2, "second")])


def test_spans_and_statistics_carry_the_keys_of_their_nodes(built: Built) -> None:
    graph_id = add_graph(built.builder, [])
    built.builder.add(rows.GraphExec(graph_exec_id=1, run_id=1, graph_id=graph_id, cuda_exec_id=5))
    launches = blank_rows(
        rows.Launch, 2, graph_id=graph_id, graph_exec_id=1, side="graph", ordinal=[0, 1],
        span_count=[0, 2],
    )  # fmt: skip
    built.builder.add_launches(launches)
    spans = Spans(ints(1, 1), ints(10, 11), ints(0, 0), ints(0, 4), ints(3, 5), ints(7, 7))
    keys = NodeKeys.of(graph_id, ints(10, 11), ints(graph_id, graph_id), ints(0, 1))
    counted = DurationSketch()
    counted.add(ints(11), ints(9))
    built.builder.add_spans(spans, launches, {graph_id: keys}, {graph_id: counted})
    with built.read() as recording:
        found = recording.fetch_spans(2)
        statistics = recording.fetch_statistics(graph_id)
    assert (found.graph_id.tolist(), found.node_id.tolist()) == ([graph_id] * 2, [0, 1])
    # The second node ran once more than there are spans: its quantiles are a sketch's.
    assert [(s.node_id, s.count, s.total_ns) for s in statistics] == [(0, 1, 3), (1, 2, 14)]


def test_launches_are_numbered_on_and_none_is_what_is_not_known(built: Built) -> None:
    graph_id = add_graph(built.builder, [])
    for calls in ([5, 9], [UNKNOWN]):
        launches = blank_rows(
            rows.Launch, len(calls), graph_id=graph_id, side="graph", ordinal=0, host_start_ns=calls
        )
        built.builder.add_launches(launches)
    with built.read() as recording:
        found = recording.fetch_launches(graph_id)
    assert [(x.launch_id, x.host_start_ns, x.gpu_start_ns) for x in found] == [
        (1, 5, None), (2, 9, None), (3, None, None),
    ]  # fmt: skip
    assert [(x.graph_exec_id, x.span_count, x.node_method) for x in found] == [(None, 0, None)] * 3


def test_operations_that_did_a_graphs_work_belong_to_a_launch_of_the_stream_side(
    built: Built,
) -> None:
    graph_id = add_graph(built.builder, [(0, 1, 0, 0, 0)])
    function = built.builder.kernels.number("_Z1av", None)
    nodes = two_kernels(graph_id, function)
    work = CapturedWork.from_columns(graph_id, nodes, np.array([[0, 1]], np.int64))
    built.builder.add_operations(operations(2, function), [work])
    with built.read() as recording:
        found = recording.fetch_run_stream_operations(1)
        (launch,) = recording.fetch_launches(graph_id, side="stream")
    assert [(op.operation_id, op.launch_id, op.node_id) for op in found] == [(1, 1, 0), (2, 1, 1)]
    assert (launch.side, found[0].bytes, found[0].host_start_ns) == ("stream", None, 50)
    assert (launch.node_level, launch.span_count, launch.graph_exec_id) == (1, 2, None)
    assert (launch.host_start_ns, launch.gpu_start_ns) == (50, found[0].start_ns)


def test_operations_are_not_matched_where_it_is_not_requested(built: Built) -> None:
    built.builder.add_operations(operations(3, UNKNOWN), None)
    with built.read() as recording:
        assert [op.launch_id for op in recording.fetch_run_stream_operations(1)] == [None] * 3


def test_many_operations_are_numbered_on(built: Built) -> None:
    built.builder.add_operations(operations(20_000, UNKNOWN), None)
    with built.read() as recording:
        found = recording.fetch_run_stream_operations(1)
    assert [op.operation_id for op in found] == list(range(1, 20_001))


def test_paths_and_ranges_of_the_host(built: Built) -> None:
    built.builder.add_paths([1, 2], [None, 1], [(None, "outer"), ("domain", "inner")])
    built.builder.add_ranges(ints(1, 2), ints(7, 7), ints(10, 20), ints(50, 30))
    with built.read() as recording:
        paths = recording.fetch_nvtx_paths(1)
        ranges = recording.fetch_nvtx_ranges(1)
    assert [(p.parent_id, p.domain, p.text) for p in paths.values()] == [
        (None, None, "outer"), (1, "domain", "inner"),
    ]  # fmt: skip
    assert [(r.nvtx_range_id, r.nvtx_path_id, r.start_ns) for r in ranges] == [
        (1, 1, 10),
        (2, 2, 20),
    ]


def test_driver_says_what_an_activity_record_did_not(built: Built) -> None:
    kernels = built.builder.kernels
    number = kernels.number("_Z1av", 40, 8)
    reported = kernels.describe(
        "_Z1av", registers=32, static_shared_mem_bytes=None, local_mem_bytes=4,
        max_threads_per_block=1024,
    )  # fmt: skip
    (row,) = kernels.rows()
    assert (number, kernels.symbol(reported)) == (reported, "_Z1av")
    assert (row.registers, row.static_shared_mem_bytes, row.local_mem_bytes) == (32, None, 4)


def test_node_without_a_key_gets_one_that_no_node_has() -> None:
    keys = NodeKeys.of(3, ints(5), ints(4), ints(1))
    graph_id, node_id = keys.find(ints(5, 6))
    assert (graph_id.tolist(), node_id.tolist()) == ([4, 3], [1, -7])
    assert NodeKeys.of(3, ints(), ints(), ints()).find(ints(2))[1].tolist() == [-3]


def test_first_of_nodes_of_one_id_stands_for_all_and_nodes_without_an_id_have_no_key() -> None:
    keys = NodeKeys.of(3, ints(9, UNKNOWN, 5, 9), ints(3, 3, 4, 6), ints(0, 1, 2, 3))
    assert keys.exec_node_id.tolist() == [5, 9]
    assert (keys.graph_id.tolist(), keys.node_id.tolist()) == ([4, 3], [2, 0])
