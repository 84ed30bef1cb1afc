"""A trace of PyTorch's profiler with graph launches, of a real GPU, and the dump of its graph.

What the trace says is read here by a few lines of their own, in whole nanoseconds.
"""

import gzip
import json
from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from inspected import record_of
from places import TESTS

from gviz.analysis.results.stream_gain import stream_result
from gviz.analysis.subject import GraphSubject
from gviz.app.files.library import Library
from gviz.app.views.graph_data import graph_view
from gviz.app.views.payload import timeline_payload
from gviz.app.views.timeline.host_ranges import called_in
from gviz.app.views.wire import unpack
from gviz.formats.dot.importer import read_graphs
from gviz.formats.importer import import_files
from gviz.formats.perfetto.export import write_trace
from gviz.formats.traces import operations
from gviz.recording.reader import Recording
from gviz.stats.figure_fields import NotComputed

GOLDEN = TESTS / "golden" / "traces"
TRACE = GOLDEN / "encoder_torch_2.11.json.gz"
DUMP = GOLDEN / "encoder_torch_2.11.dot"
WORK = ("kernel", "gpu_memset", "gpu_memcpy")
#: The side stream's kernel of the graph's end.
MEAN = 44


class Raw:
    """The trace as it stands in its file."""

    def __init__(self) -> None:
        trace = json.loads(gzip.decompress(TRACE.read_bytes()), parse_float=Decimal)
        self.base: int = trace["baseTimeNanoseconds"]
        events: list[dict[str, Any]] = trace["traceEvents"]
        self.calls = {e["args"]["correlation"]: e for e in events if "cbid" in e.get("args", {})}
        self.replays = [e for e in events if e["name"] == "cudaGraphLaunch"]
        self.work: dict[int, list[dict[str, Any]]] = defaultdict(list)
        for event in events:
            if event.get("cat") in WORK:
                self.work[event["args"]["correlation"]].append(event)
        self.operators = {
            e["args"]["External id"]: e["name"] for e in events if e.get("cat") == "cpu_op"
        }
        inside = {e["args"]["correlation"] for e in self.replays}
        self.eager = [e for c, found in self.work.items() if c not in inside for e in found]
        self.eager.sort(key=lambda e: e["ts"])

    def start(self, event: dict[str, Any]) -> int:
        return self.base + int(event["ts"] * 1000)

    def end(self, event: dict[str, Any]) -> int:
        return self.start(event) + int(event["dur"] * 1000)


@pytest.fixture(scope="module")
def raw() -> Raw:
    return Raw()


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recording]:
    output = tmp_path_factory.mktemp("alone") / "trace.gviz"
    import_files([TRACE], output)
    with Recording(output) as recording:
        yield recording


@pytest.fixture(scope="module")
def joined(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recording]:
    output = tmp_path_factory.mktemp("joined") / "joined.gviz"
    import_files([TRACE, DUMP], output)
    with Recording(output) as recording:
        yield recording


def edges_of(recording: Recording) -> set[tuple[int, int]]:
    (graph,) = recording.fetch_graphs()
    edges = recording.fetch_edges(graph.topology_id)
    return set(zip(edges.from_node.tolist(), edges.to_node.tolist(), strict=True))


def executions(recording: Recording, launch_id: int) -> list[tuple[int, int, int]]:
    """Return start, duration and stream of all that ran in a launch."""
    found = recording.fetch_spans(launch_id)
    columns = (found.start_ns, found.duration_ns, found.stream_id)
    return list(zip(*(c.tolist() for c in columns), strict=True))


@pytest.mark.parametrize("which", ["alone", "joined"])
def test_each_replay_has_its_call_and_all_its_work(
    which: str, raw: Raw, request: pytest.FixtureRequest
) -> None:
    recording: Recording = request.getfixturevalue(which)
    (graph,) = recording.fetch_graphs()
    launches = recording.fetch_launches(graph.graph_id)
    assert len(launches) == len(raw.replays) == 10
    for launch, call in zip(launches, raw.replays, strict=True):
        work = raw.work[call["args"]["correlation"]]
        assert launch.correlation_id == call["args"]["correlation"]
        assert (launch.host_start_ns, launch.host_end_ns) == (raw.start(call), raw.end(call))
        assert (launch.thread_id, launch.span_count) == (1000, 46)
        begin = min(map(raw.start, work))
        assert (launch.gpu_start_ns, launch.gpu_end_ns) == (begin, max(map(raw.end, work)))
        reported = [(raw.start(e) - begin, int(e["dur"] * 1000), e["args"]["stream"]) for e in work]
        assert sorted(executions(recording, launch.launch_id)) == sorted(reported)
        assert {stream for _, _, stream in reported} == {7, 158}


@pytest.mark.parametrize("which", ["alone", "joined"])
def test_each_node_has_the_times_of_its_kernel_on_its_stream(
    which: str, raw: Raw, request: pytest.FixtureRequest
) -> None:
    recording: Recording = request.getfixturevalue(which)
    (graph,) = recording.fetch_graphs()
    functions = recording.fetch_functions(1)
    nodes = {n.node_id: n for n in recording.fetch_nodes(graph.graph_id)}
    for launch in recording.fetch_launches(graph.graph_id):
        assert launch.gpu_start_ns is not None
        reported = {(raw.start(e), e["args"]["stream"]): e for e in raw.work[launch.correlation_id]}
        ids = recording.fetch_spans(launch.launch_id).node_id.tolist()
        found = executions(recording, launch.launch_id)
        for node_id, (start, _, stream) in zip(ids, found, strict=True):
            event, node = reported[launch.gpu_start_ns + start, stream], nodes[node_id]
            args = event["args"]
            if event["cat"] == "gpu_memset":
                assert (node.type, node.bytes) == (2, args["bytes"])
                continue
            function = functions[node.function_id]
            named = (event["name"], args["registers per thread"])
            assert (function.name, function.registers) == named
            assert [node.grid_x, node.grid_y, node.grid_z] == args["grid"]
            assert [node.block_x, node.block_y, node.block_z] == args["block"]
            shared = (node.shared_mem_bytes or 0) + (function.static_shared_mem_bytes or 0)
            assert shared == args["shared memory"]


def test_the_dump_has_a_node_for_each_of_the_trace(joined: Recording) -> None:
    _, (dump,) = read_graphs(DUMP)
    nodes = joined.fetch_nodes(1)
    assert {n.node_id for n in nodes} == {n.node_id for n in dump.nodes} == set(range(46))
    assert {n.exec_node_id for n in nodes} == set(range(46))
    assert all(n.not_timed_reason is None for n in nodes)
    assert edges_of(joined) == {(e.from_node, e.to_node) for e in dump.edges}
    assert len(edges_of(joined)) == 46
    assert any("46 nodes were matched" in note.text for note in joined.fetch_notes(1))
    assert not any("contradict" in note.text for note in joined.fetch_notes(1))


def test_a_joined_kernel_has_the_dumps_symbol_and_the_traces_registers(joined: Recording) -> None:
    (mean,) = (n for n in joined.fetch_nodes(1) if n.node_id == MEAN)
    functions = joined.fetch_functions(1)
    function = functions[mean.function_id]
    assert function.mangled_name.startswith("_ZN2at6native13reduce_kernelILi512ELi1E")
    assert function.registers == 32
    # The trace tells 2,064 bytes, static and dynamic together, the dump 2,048 dynamic ones.
    assert (mean.shared_mem_bytes, function.static_shared_mem_bytes) == (2048, 16)
    # One function for the graph's node and the eager kernel of the same name.
    assert len({f.name for f in functions.values()}) == len(functions) == 9


def test_inferred_dependencies_are_true_and_those_between_streams_are_missing(
    alone: Recording, joined: Recording
) -> None:
    (graph,) = alone.fetch_graphs()
    assert graph.edges_inferred
    assert set(alone.fetch_edges(graph.topology_id).type.tolist()) == {-1}
    dump_node = {n.exec_node_id: n.node_id for n in joined.fetch_nodes(1)}
    inferred = {(dump_node[a], dump_node[b]) for a, b in edges_of(alone)}
    true = edges_of(joined)
    assert (len(inferred), inferred - true) == (44, set())
    assert true - inferred == {(39, 43), (44, 45)}  # to the side stream, and back


@pytest.mark.parametrize("which", ["alone", "joined"])
def test_eager_work_is_kept_and_found_as_iterations_of_the_graph(
    which: str, raw: Raw, request: pytest.FixtureRequest
) -> None:
    recording: Recording = request.getfixturevalue(which)
    eager = recording.fetch_run_stream_operations(1)
    assert len(eager) == len(raw.eager) == 120
    for operation, event in zip(eager, raw.eager, strict=True):
        call = raw.calls[event["args"]["correlation"]]
        assert operation.start_ns == raw.start(event)
        assert operation.duration_ns == int(event["dur"] * 1000)
        assert (operation.host_start_ns, operation.host_end_ns) == (raw.start(call), raw.end(call))
    iterations = recording.fetch_launches(1, "stream")
    assert [p.span_count for p in iterations] == [40, 40, 40]
    for number, found in enumerate(iterations):
        mine = eager[40 * number : 40 * number + 40]
        assert [op.launch_id for op in mine] == [found.launch_id] * 40
        # Without what the graph does with the encoder's result.
        assert [op.node_id for op in mine] == list(range(40))
        assert found.host_start_ns == mine[0].host_start_ns
        assert found.gpu_end_ns == mine[-1].start_ns + mine[-1].duration_ns


def test_each_eager_operation_is_called_in_the_operator_that_kineto_names(
    joined: Recording, raw: Raw
) -> None:
    """Kineto's External id is that of the innermost operator: told by another way than times."""
    eager = joined.fetch_run_stream_operations(1)
    codes, ranges = called_in(
        joined,
        1,
        np.array([o.thread_id for o in eager]),
        np.array([o.host_start_ns for o in eager]),
    )
    named = [raw.operators[e["args"]["External id"]] for e in raw.eager]
    assert [ranges[code].split(" › ")[-1] for code in codes.tolist()] == named
    assert ranges[codes[0]] == (
        "aten::_transformer_encoder_layer_fwd › aten::_native_multi_head_attention › "
        "aten::linear › aten::addmm"
    )


def test_the_inspector_and_the_timeline_say_in_which_operator_eager_work_was_called(
    joined: Recording,
) -> None:
    library = Library([joined.path])
    view = graph_view(library, "joined", 1)
    linear = "aten::_transformer_encoder_layer_fwd › aten::addmm"
    called = [record_of(library, "joined", view, n)["called"] for n in range(46)]
    assert called.count({"0": linear}) == 4  # the second of each layer
    assert [bool(ranges) for ranges in called] == [n < 40 for n in range(46)]
    header, arrays = unpack(timeline_payload(joined, 1, None, None))
    shown = [header["strings"][i] for i in arrays["stream_called_in_name"]]
    assert len(shown) == 40
    assert shown.count(linear) == called.count({"0": linear})


def test_the_graph_is_compared_with_its_eager_iterations(joined: Recording, raw: Raw) -> None:
    (graph,) = joined.fetch_graphs()
    result = stream_result(GraphSubject(joined, graph, joined.fetch_devices(1)))
    assert not isinstance(result, NotComputed)
    assert (result.stream.gpu_ns.count, result.graph.gpu_ns.count) == (2, 9)
    assert result.coverage_fraction == 40 / 46
    later = [raw.eager[40:80], raw.eager[80:120]]
    took = [raw.end(p[-1]) - raw.start(p[0]) for p in later]
    assert result.stream.gpu_ns.mean == pytest.approx(sum(took) / 2)
    assert not result.only_stream
    assert {one.name for one in result.only_graph} == {
        n.name for n in joined.fetch_nodes(1) if n.node_id >= 40
    }


@pytest.mark.parametrize("limit", ["MOST_COMPARED", "MOST_OPERATIONS"])
def test_where_there_is_too_much_eager_work_nobody_looks_and_it_is_reported(
    limit: str, raw: Raw, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operations, limit, 100)
    notes = import_files([TRACE], tmp_path / "out.gviz")
    assert any("120 operations outside graphs did the work of a graph" in n for n in notes)
    with Recording(tmp_path / "out.gviz") as recording:
        assert not recording.fetch_launches(1, "stream")
        found = recording.fetch_run_stream_operations(1)
        assert [op.start_ns for op in found] == [raw.start(e) for e in raw.eager]
        assert all(op.launch_id is None for op in found)


def test_what_is_exported_as_a_trace_is_imported_as_it_was(
    joined: Recording, tmp_path: Path
) -> None:
    exported = tmp_path / "again.json"
    write_trace(joined, exported, [1], None)
    import_files([exported, DUMP], tmp_path / "again.gviz")
    with Recording(tmp_path / "again.gviz") as again:
        assert again.fetch_launches(1, "graph") == joined.fetch_launches(1, "graph")
        assert again.fetch_launches(1, "stream") == joined.fetch_launches(1, "stream")
        for launch in joined.fetch_launches(1):
            assert executions(again, launch.launch_id) == executions(joined, launch.launch_id)
        assert edges_of(again) == edges_of(joined)
        assert again.fetch_graph_execs(1) == joined.fetch_graph_execs(1)

        def what(recording: Recording) -> list[tuple[object, ...]]:
            return [
                (n.node_id, n.exec_node_id, n.type, n.name, n.grid_x, n.shared_mem_bytes, n.bytes)
                for n in recording.fetch_nodes(1)
            ]

        assert what(again) == what(joined)
        assert again.fetch_nvtx_paths(1) == joined.fetch_nvtx_paths(1)
        assert again.fetch_nvtx_ranges(1) == joined.fetch_nvtx_ranges(1)
        one, two = (r.fetch_run_stream_operations(1) for r in (again, joined))
        assert [
            (o.start_ns, o.duration_ns, o.name, o.node_id, o.shared_mem_bytes) for o in one
        ] == [(o.start_ns, o.duration_ns, o.name, o.node_id, o.shared_mem_bytes) for o in two]
