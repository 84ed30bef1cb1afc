"""Chrome traces of PyTorch's profiler become recordings."""

import gzip
import json
import lzma
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kineto_traces import trace_of, write_trace
from places import ROOT, TESTS

from gviz.analysis.subject import GraphSubject
from gviz.errors import GvizError, ImportingError, UsageError
from gviz.formats.importer import import_files, import_kineto
from gviz.formats.kineto import json_objects
from gviz.formats.kineto.reading import read_kineto
from gviz.formats.traces import trace as trace_columns
from gviz.recording import rows
from gviz.recording.reader import Recording
from gviz.report.summary import summarize
from gviz.spool import OWN_IDS

BUNDLED = ROOT / "assets" / "recordings"
GOLDEN = TESTS / "golden" / "traces"


@pytest.fixture(scope="module")
def step() -> dict[str, Any]:
    return trace_of(BUNDLED / "training_step.gviz", launches=4)


def imported(trace: Any, folder: Path, name: str = "trace.json") -> Recording:
    path = folder / name
    if isinstance(trace, (bytes, str)):
        path.write_bytes(trace if isinstance(trace, bytes) else trace.encode())
    else:
        write_trace(trace, path)
    return Recording(import_kineto(path, folder / "out.gviz", overwrite=True))


def kernel(**changes: Any) -> dict[str, Any]:
    event = {
        "ph": "X", "cat": "kernel", "name": "scale", "pid": 0, "tid": 7, "ts": 10.5, "dur": 2.25,
        "args": {"device": 0, "stream": 7, "correlation": 5, "grid": [1, 1, 1], "block": [32, 1, 1],
                 "graph id": 3, "graph node id": 3 << 32},
    }  # fmt: skip
    args = changes.pop("args", {})
    return event | changes | {"args": event["args"] | args}


def launch(correlation: int = 5, **changes: Any) -> dict[str, Any]:
    return {
        "ph": "X", "cat": "cuda_runtime", "name": "cudaGraphLaunch", "pid": 9, "tid": 9, "ts": 1,
        "dur": 1, "args": {"correlation": correlation},
    } | changes  # fmt: skip


def test_a_graph_comes_back_as_it_was_recorded(step: dict[str, Any], tmp_path: Path) -> None:
    with imported(step, tmp_path) as got, Recording(BUNDLED / "training_step.gviz") as was:
        (graph,) = got.fetch_graphs()
        (real,) = was.fetch_graphs()
        nodes = {n.node_id: n for n in got.fetch_nodes(graph.graph_id)}
        assert len(nodes) == 2307
        for node in was.fetch_nodes(real.graph_id):
            mine = nodes[node.exec_node_id]
            for name in ("type", "name", "grid_x", "block_x", "shared_mem_bytes", "bytes"):
                assert getattr(mine, name) == getattr(node, name), name
        mine = got.fetch_launches(graph.graph_id)
        theirs = [x for x in was.fetch_launches(real.graph_id) if x.span_count][:4]
        for one, two in zip(mine, theirs, strict=True):
            for name in ("host_start_ns", "host_end_ns", "gpu_start_ns", "gpu_end_ns",
                         "correlation_id", "span_count", "thread_id"):  # fmt: skip
                assert getattr(one, name) == getattr(two, name), name
            a, b = got.fetch_spans(one.launch_id), was.fetch_spans(two.launch_id)
            for name in ("node_id", "iteration", "start_ns", "duration_ns", "stream_id"):
                assert np.array_equal(getattr(a, name), getattr(b, name)), name


def test_edges_of_one_stream_are_inferred_and_marked(step: dict[str, Any], tmp_path: Path) -> None:
    with imported(step, tmp_path) as got:
        (graph,) = got.fetch_graphs()
        assert graph.origin == "trace"
        assert graph.edges_inferred
        edges = got.fetch_edges(graph.topology_id)
        assert set(edges.type.tolist()) == {-1}
        # The training step is one chain, in order of node id.
        assert np.array_equal(edges.to_node, edges.from_node + 1)
        assert len(edges.from_node) == 2306
        assert any("inferred" in note.text for note in got.fetch_notes(1))
        assert summarize(got).runs[0].graphs[0].edges_inferred


def test_analyses_do_not_take_inferred_edges_for_real_ones(
    step: dict[str, Any], tmp_path: Path
) -> None:
    with imported(step, tmp_path) as got:
        (graph,) = got.fetch_graphs()
        subject = GraphSubject(got, graph, got.fetch_devices(1))
        assert "import the driver's DOT dump" in (subject.why_no_edges or "")


def test_without_node_ids_launches_of_the_same_work_are_one_graph(tmp_path: Path) -> None:
    trace = trace_of(BUNDLED / "training_step.gviz", launches=3, node_ids=False)
    with imported(trace, tmp_path) as got:
        (graph,) = got.fetch_graphs()
        assert "numbered by gviz" in graph.name
        assert [x.span_count for x in got.fetch_launches(graph.graph_id)] == [2307] * 3
        assert any("has no graph node ids" in note.text for note in got.fetch_notes(1))


def test_executables_that_gviz_numbers_are_none_of_the_traces(tmp_path: Path) -> None:
    reported = OWN_IDS + 1  # as a gviz without CUPTI numbered it
    events = [launch(1, ts=0), launch(2, ts=1000)]
    for name, correlation, node in (("a", 1, reported << 32), ("b", 2, None)):
        args = {"correlation": correlation, "graph id": None, "graph node id": node}
        events.append(kernel(name=name, ts=1000 * correlation, args=args))
    with imported({"traceEvents": events}, tmp_path) as got:
        graphs = got.fetch_graphs()
        names = [[n.name for n in got.fetch_nodes(graph.graph_id)] for graph in graphs]
        execs = [got.fetch_graph_execs(graph.graph_id)[0].cuda_exec_id for graph in graphs]
    assert (names, execs) == ([["a"], ["b"]], [reported, reported + 1])


def test_streams_with_other_numbers_are_the_same_streams(tmp_path: Path) -> None:
    events = []
    for iteration, streams in enumerate(((7, 13), (21, 20))):
        events.append(launch(iteration + 1, ts=1000 * iteration))
        for place, (stream, name) in enumerate(zip((*streams, *streams), "abcd", strict=True)):
            args = {"correlation": iteration + 1, "stream": stream}
            args |= {"graph id": None, "graph node id": None}
            events.append(kernel(name=name, ts=1000 * iteration + 10 * place + 10, args=args))
    with imported({"traceEvents": events}, tmp_path) as got:
        (graph,) = got.fetch_graphs()
        assert len(got.fetch_launches(graph.graph_id)) == 2
        names = {n.node_id: n.name for n in got.fetch_nodes(graph.graph_id)}
        edges = got.fetch_edges(graph.topology_id)
        pairs = zip(edges.from_node.tolist(), edges.to_node.tolist(), strict=True)
        assert sorted(names[a] + names[b] for a, b in pairs) == ["ac", "bd"]


def test_a_real_trace_of_eager_work(tmp_path: Path) -> None:
    trace = lzma.decompress((GOLDEN / "eager_torch_2.11.json.xz").read_bytes())
    events = json.loads(trace)["traceEvents"]
    with imported(trace, tmp_path) as got:
        (run,) = got.fetch_runs()
        work = [e for e in events if e.get("cat") in ("kernel", "gpu_memset", "gpu_memcpy")]
        operations = got.fetch_run_stream_operations(run.run_id)
        assert len(operations) == len(work) == 44
        assert (run.driver_version, run.cupti_version) == ("13.0", "130001")
        (device,) = got.fetch_devices(1)
        assert (device.name, device.multiprocessor_count) == ("NVIDIA H100 80GB HBM3", 132)
        base = 1790857026000000000
        first = min(work, key=lambda e: e["ts"])
        assert operations[0].start_ns == base + round(first["ts"] * 1000)
        assert sum(x.duration_ns for x in operations) == sum(round(e["dur"] * 1000) for e in work)
        assert all(x.host_start_ns is not None and x.thread_id == 1000 for x in operations)
        reported = [e for e in events if e.get("cat") in ("user_annotation", "cpu_op")]
        ranges = got.fetch_nvtx_ranges(1)
        assert len(ranges) == len(reported) == 337
        starts = sorted(base + round(e["ts"] * 1000) for e in reported)
        assert all(abs(r.start_ns - s) <= 1 for r, s in zip(ranges, starts, strict=True))
        assert got.fetch_nvtx_paths(1)[1].text == "ProfilerStep#2"


def test_packed_and_bare_traces_are_the_same(tmp_path: Path) -> None:
    events = [launch(), kernel()]
    one = imported({"traceEvents": events}, tmp_path, "a.json.gz")
    with one as got:
        first = got.fetch_run_stream_operations(1), got.fetch_launches(1)
    with imported(json.dumps(events), tmp_path) as got:  # the format's other form: an array
        assert (got.fetch_run_stream_operations(1), got.fetch_launches(1)) == first
    with imported(json.dumps(events)[:-1], tmp_path) as got:  # whose end may be left out
        assert (got.fetch_run_stream_operations(1), got.fetch_launches(1)) == first


@pytest.mark.parametrize("size", [1, 7, 64, 1000])
def test_pieces_of_any_size_are_the_same(
    size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_objects, "PIECE_BYTES", size)
    odd = 'a "quoted\\" {name} [with] \\\\'
    path = write_trace(
        {"traceEvents": [launch(), kernel(name=odd), kernel(ts=20)], "traceEventsOther": [1]},
        tmp_path / "x.json",
    )
    trace = read_kineto(path)
    assert trace.names == [odd, "scale"]


def test_work_in_conditional_bodies_is_given_to_the_launch_before_it(tmp_path: Path) -> None:
    body = {"correlation": 0, "graph node id": 3 << 32 | 8}
    events = [launch(5), kernel(), kernel(ts=15, args=body), kernel(ts=19, args=body)]
    with imported({"traceEvents": events}, tmp_path) as got:
        (found,) = got.fetch_launches(1)
        assert (found.span_count, found.ambiguous_count) == (3, 2)
        assert got.fetch_spans(found.launch_id).iteration.tolist() == [0, 0, 1]


BAD = {
    "empty": (b"", "is empty"),
    "spaces": (b"  \n ", "is empty"),
    "text": (b"hello", "is no JSON object"),
    "cut": (b'{"traceEvents": [{"ph": "X", "cat": "ker', "in the middle of its JSON"),
    "cut in string": (b'{"traceEvents": [{"ph": "X", "cat": "ker\\"', "in the middle"),
    "cut behind an event": (b'{"traceEvents": [{"ph": "X"}', "in the middle of its JSON"),
    "cut before the events": (b'{"schemaVersion": 1, "devi', "in the middle of its JSON"),
    "cut behind the events": (b'{"traceEvents": [{"ph": "X"}], "a', "is no JSON outside"),
    "no events key": (b'{"a": {"traceEvents": []}}', "has no traceEvents"),
    "no events": (b'{"traceEvents": []}', "holds no kernel"),
    "malformed event": (b'{"traceEvents": [{"ph": X}]}', "has no trace event at byte 17"),
    "missing comma": (b'{"traceEvents": [{"ph": "X"} {"ph": "X"}, {]}', "is no JSON"),
    "other objects": (b'{"traceEvents": [1, [2], null, {"a": 1}]}', "has no trace event"),
    "cpu only": (
        b'{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::add", "ts": 1, "dur": 2}]}',
        "1 events of the CPU and none of a GPU",
    ),
    "other accelerator": (
        b'{"traceEvents": [{"ph": "X", "cat": "mtia_ccp_events", "name": "dma_request", "ts": 1, '
        b'"dur": 2}, {"ph": "X", "cat": "cpu_op", "name": "a", "ts": 1, "dur": 2}]}',
        "1 events of an MTIA accelerator and no kernel, copy or memset of a GPU",
    ),
    "counters": (
        b'{"traceEvents": [{"ph": "X", "cat": "cuda_profiler_range", "name": "k", "ts": 1, '
        b'"dur": 2}, {"ph": "X", "cat": "cuda_runtime", "name": "a", "ts": 1, "dur": 2}]}',
        "1 events of CUPTI's range profiler .* profile without profiler_metrics",
    ),
    "cut gzip": (gzip.compress(b'{"traceEvents": [' + b" " * 10**5)[:-20], "cannot be unpacked"),
    "zip": (b"PK\x03\x04" + b"\0" * 50, "a zip archive"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_files_are_refused_in_words(what: str, tmp_path: Path) -> None:
    content, sentence = BAD[what]
    path = tmp_path / "trace.json"
    path.write_bytes(content)
    with pytest.raises(GvizError, match=sentence) as refused:
        import_files([path], tmp_path / "out.gviz")
    assert "trace.json" in str(refused.value)
    assert not (tmp_path / "out.gviz").exists()


@pytest.mark.parametrize("key", ["before", "inside", "behind"])
def test_names_of_gigabytes_are_refused_in_little_memory(
    key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_objects, "MOST_OBJECT_BYTES", 1 << 16)
    monkeypatch.setattr(json_objects, "PIECE_BYTES", 1 << 12)
    long = "x" * (1 << 20)
    trace = {
        "before": {"a": long, "traceEvents": []},
        "inside": {"traceEvents": [kernel(name=long)]},
        "behind": {"traceEvents": [], "a": long},
    }[key]
    path = write_trace(trace, tmp_path / "x.json.gz")
    with pytest.raises(ImportingError, match="is longer than"):
        import_files([path], tmp_path / "out.gviz")


def test_a_gzip_bomb_ends_at_the_limit_given(tmp_path: Path) -> None:
    path = tmp_path / "x.json.gz"
    with gzip.open(path, "wb") as file:
        file.write(b'{"traceEvents": [')
        for _ in range(64):
            file.write(b" " * (1 << 16) + b'{"ph": "i"},')
    with pytest.raises(ImportingError, match="unpacks to more than 1 MiB"):
        import_files([path], tmp_path / "out.gviz", most_bytes=1 << 20)


def test_long_names_are_cut(tmp_path: Path) -> None:
    with imported({"traceEvents": [kernel(name="x" * 200_000)]}, tmp_path) as got:
        (function,) = got.fetch_functions(1).values()
        assert len(function.mangled_name) == 65_536


@pytest.mark.parametrize(
    "event",
    [
        kernel(dur=-1), kernel(dur="-1"), kernel(ts=None), kernel(ts="soon"), kernel(ts=[1]),
        kernel(ts=-20), kernel(ts=1e300), kernel(ts="1e999999999"), kernel(ts="nan"),
        kernel(dur="Infinity"), kernel(dur=float("nan")), kernel(dur=float("inf")), kernel(ts=True),
    ],
)  # fmt: skip
def test_work_without_usable_times_is_counted_and_left_out(event: Any, tmp_path: Path) -> None:
    good = kernel(args={"graph node id": 3 << 32 | 1})
    with imported({"traceEvents": [event, good]}, tmp_path) as got:
        assert len(got.fetch_nodes(1)) == 1
        counted = {m.name: m.value for m in got.fetch_measurements(1)}
        assert counted["activity_records_invalid"] == 1
        assert any("1 records without a usable time" in n.text for n in got.fetch_notes(1))


def test_base_that_takes_times_beyond_the_clock_is_left_out_and_reported(tmp_path: Path) -> None:
    late = kernel(ts=1_000_000_000_000_000)
    with imported({"traceEvents": [late], "baseTimeNanoseconds": (1 << 61) - 1}, tmp_path) as got:
        (run,) = got.fetch_runs()
        assert run.started_ns == 10**18
        assert any(
            "which cannot be: they are shown as counted" in n.text for n in got.fetch_notes(1)
        )


def test_numbers_as_texts_are_numbers(tmp_path: Path) -> None:
    args = {
        "correlation": "5", "stream": "7", "device": "0", "graph id": "3",
        "graph node id": str(3 << 32 | 2), "grid": ["4", "1", "1"], "shared memory": "64",
    }  # fmt: skip
    events = [launch(args={"correlation": "5"}), kernel(ts="10.500", dur="2.25", args=args)]
    with imported({"traceEvents": events, "baseTimeNanoseconds": "1000"}, tmp_path) as got:
        (node,) = got.fetch_nodes(1)
        assert (node.node_id, node.grid_x, node.shared_mem_bytes) == (2, 4, 64)
        (found,) = got.fetch_launches(1)
        assert (found.host_start_ns, found.gpu_start_ns, found.gpu_end_ns) == (2000, 11500, 13750)


@pytest.mark.parametrize(
    "args",
    [
        {"grid": 5}, {"grid": [1, 2]}, {"grid": [1, -2, 1]}, {"grid": [1e99, 1, 1]},
        {"stream": -1}, {"stream": "x"}, {"device": None}, {"correlation": [1]},
        {"correlation": 1 << 70}, {"shared memory": float("nan")}, {"registers per thread": {}},
        {"device": 1 << 31}, {"bytes": 1 << 61},
        {"graph id": -4}, {"graph node id": "x"}, {"graph node id": -5}, {"graph node id": 1 << 80},
        {"graph node id": 4, "graph id": 3}, {"graph node id": 4, "graph id": None},
    ],
)  # fmt: skip
def test_odd_arguments_do_no_harm(args: dict[str, Any], tmp_path: Path) -> None:
    with imported({"traceEvents": [launch(), kernel(args=args)]}, tmp_path) as got:
        spans = sum(
            x.span_count for g in got.fetch_graphs() for x in got.fetch_launches(g.graph_id)
        )
        homeless = {m.name: m.value for m in got.fetch_measurements(1)}["activity_records_homeless"]
        assert spans + len(got.fetch_run_stream_operations(1)) + homeless == 1


@pytest.mark.parametrize(
    "outside",
    [
        {"deviceProperties": 5}, {"deviceProperties": [1, {"id": "x"}, {"id": 0}, {"id": 0}]},
        {"baseTimeNanoseconds": -1}, {"baseTimeNanoseconds": 1e400}, {"distributedInfo": []},
        {"cuda_driver_version": "x"}, {"deviceProperties": {"a": 1}},
        {"distributedInfo": {"rank": 1 << 80}},
        {"deviceProperties": [{"id": 0, "numSms": 1 << 40, "totalGlobalMem": 1 << 61}]},
    ],
)  # fmt: skip
def test_odd_things_around_the_events_do_no_harm(outside: Any, tmp_path: Path) -> None:
    with imported(outside | {"traceEvents": [launch(), kernel()]}, tmp_path) as got:
        assert len(got.fetch_nodes(1)) == 1


def test_what_is_reported_twice_counts_once(tmp_path: Path) -> None:
    events = [launch(), launch(), kernel(), kernel(), kernel(ts=30)]
    with imported({"traceEvents": events}, tmp_path) as got:
        (found,) = got.fetch_launches(1)
        assert got.fetch_spans(found.launch_id).iteration.tolist() == [0, 1]
        counted = {m.name: m.value for m in got.fetch_measurements(1)}
        assert counted["activity_records_duplicate"] == 1


def test_infinities_that_json_does_not_know_are_read(tmp_path: Path) -> None:
    text = json.dumps({"traceEvents": [launch(), kernel(args={"bandwidth": 5})]})
    text = text.replace('"bandwidth": 5', '"bandwidth": Infinity')
    with imported(text, tmp_path) as got:
        assert len(got.fetch_nodes(1)) == 1


def test_names_that_are_no_text_are_escaped(tmp_path: Path) -> None:
    text = json.dumps({"traceEvents": [kernel(name="a\ud800b")]}).encode()
    with imported(text, tmp_path) as got:
        assert isinstance(got.fetch_nodes(1)[0], rows.Node)
    with imported(text.replace(b"\\ud800", b"\xff\xfe"), tmp_path) as got:
        assert isinstance(got.fetch_nodes(1)[0], rows.Node)


def test_launches_without_work_are_reported(tmp_path: Path) -> None:
    with imported({"traceEvents": [launch(5), launch(6), kernel()]}, tmp_path) as got:
        assert any("1 graph launches were called" in note.text for note in got.fetch_notes(1))


def test_a_recording_is_not_imported_again(tmp_path: Path) -> None:
    path = BUNDLED / "decode_step.gviz"
    with pytest.raises(ImportingError, match=f"of gviz already; 'gviz view {path}' shows it"):
        import_files([path], tmp_path / "out.gviz")


def test_a_link_to_the_trace_is_not_replaced(tmp_path: Path) -> None:
    path = write_trace({"traceEvents": [kernel()]}, tmp_path / "x.json")
    (tmp_path / "out.gviz").symlink_to(path)
    with pytest.raises(UsageError, match="would replace"):
        import_files([path], tmp_path / "out.gviz", overwrite=True)
    assert json.loads(path.read_text())["traceEvents"]


def test_folders_pipes_and_missing_files_are_refused(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "pipe.json")
    for name, sentence in (("", "is no file"), ("pipe.json", "is no file"), ("x", "there is no")):
        with pytest.raises(ImportingError, match=sentence):
            import_files([tmp_path / name], tmp_path / "out.gviz")


def test_a_run_lasts_from_the_first_call_to_the_end_of_the_last_thing(tmp_path: Path) -> None:
    # Correlation ids of several threads are not in order of time.
    events = [launch(7, ts=2), launch(5, ts=4, dur=50), kernel(ts=10, args={"correlation": 7})]
    with imported({"traceEvents": events}, tmp_path) as got:
        (run,) = got.fetch_runs()
        assert (run.started_ns, run.ended_ns) == (2_000, 54_000)


def operator(name: str, begin: float, took: float, **changes: Any) -> dict[str, Any]:
    return {
        "ph": "X", "cat": "cpu_op", "name": name, "pid": 9, "tid": 9, "ts": begin, "dur": took,
        "args": {"External id": 1},
    } | changes  # fmt: skip


def paths_of(got: Recording) -> list[tuple[str | None, str, str | None]]:
    """Return domain and text of each path, and the text of the one around it."""
    paths = got.fetch_nvtx_paths(1)
    return [
        (p.domain, p.text, paths[p.parent_id].text if p.parent_id else None) for p in paths.values()
    ]


def test_operators_nest_in_ranges_and_in_each_other(tmp_path: Path) -> None:
    events = [
        launch(), kernel(),
        operator("aten::addmm", 3, 1), operator("aten::linear", 2, 5),
        operator("step", 1, 9, cat="user_annotation"),
        operator("layer", 1.5, 8, cat="user_annotation", args={"domain": "model"}),
        operator("aten::linear", 3, 2, tid=8),
        operator("aten::mm", 2, 1, cat="Operator"),
    ]  # fmt: skip
    with imported({"traceEvents": events}, tmp_path) as got:
        assert sorted(paths_of(got), key=str) == [
            ("PyTorch", "aten::addmm", "aten::linear"),
            ("PyTorch", "aten::linear", "layer"),
            ("PyTorch", "aten::linear", None),
            ("PyTorch", "aten::mm", "aten::linear"),
            ("model", "layer", "step"),
            (None, "step", None),
        ]


@pytest.mark.parametrize(
    "changes", [{"tid": None}, {"dur": -1}, {"ts": "NaN"}, {"name": 5}, {"dur": None}]
)
def test_operators_without_a_usable_place_are_left_out(
    changes: dict[str, Any], tmp_path: Path
) -> None:
    events = [launch(), kernel(), operator("aten::mm", 1, 1) | changes]
    with imported({"traceEvents": events}, tmp_path) as got:
        assert not got.fetch_nvtx_ranges(1)


def test_operators_beyond_those_kept_are_counted_and_annotations_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace_columns, "MOST_OPERATORS", 2)
    events = [launch(), kernel(), *(operator("aten::mm", 3 * i, 1) for i in range(5))]
    events.append(operator("step", 100, 1, cat="user_annotation"))
    with imported({"traceEvents": events}, tmp_path) as got:
        assert sorted(p[1] for p in paths_of(got)) == ["aten::mm", "step"]
        assert len(got.fetch_nvtx_ranges(1)) == 3
        assert any("3 operators of PyTorch" in n.text for n in got.fetch_notes(1))


def test_calls_of_hip_are_calls_and_a_run_has_the_gpus_that_it_used(tmp_path: Path) -> None:
    eager = {"graph id": None, "graph node id": None}
    events = [
        launch(1, name="hipLaunchKernel", ts=1),
        launch(2, name="hipMemcpyWithStream", ts=3),
        launch(3, name="hipGraphLaunch", ts=5),
        kernel(ts=10, args=eager | {"correlation": 1, "device": 1}),
        kernel(
            ts=20, cat="gpu_memcpy", name="CopyHostToDevice",
            args=eager | {"correlation": 2, "device": 1, "bytes": 64},
        ),
        kernel(ts=30, args=eager | {"correlation": 3, "device": 1}),
    ]  # fmt: skip
    devices = [{"id": n, "name": f"GPU at {n}"} for n in range(4)]
    with imported({"deviceProperties": devices, "traceEvents": events}, tmp_path) as got:
        operations = got.fetch_run_stream_operations(1)
        assert [o.host_start_ns for o in operations] == [1000, 3000]
        assert [x.span_count for x in got.fetch_launches(1)] == [1]
        assert [d.name for d in got.fetch_devices(1)] == ["GPU at 1"]
        assert not any("name the GPU" in note.text for note in got.fetch_notes(1))
