"""Trace events: every span at its time, in lanes, with arrows that viewers bind."""

from __future__ import annotations

import gzip
import json
import sqlite3
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from nested_recordings import NESTED, write_nested_recording
from places import ROOT
from recordings import fork_join_shape, transformer_shape, write_loop_recording, write_recording
from trace_checker import Slice, Trace, read_trace

from gviz.errors import RecordingError
from gviz.formats.perfetto.event_text import slice_text
from gviz.formats.perfetto.export import WrittenTrace, write_trace
from gviz.formats.perfetto.tracks import Banks, nest
from gviz.formats.perfetto.writer import TraceWriter
from gviz.recording.reader import Recording

BUNDLED = ROOT / "assets" / "recordings"
WORK = ("kernel", "gpu_memcpy", "gpu_memset", "gpu_node")


def export(
    path: Path, output: Path, ordinals: frozenset[int] | None = None
) -> tuple[WrittenTrace, Trace]:
    with Recording(path) as recording:
        graphs = [graph.graph_id for graph in recording.fetch_graphs()]
        written = write_trace(recording, output, graphs, ordinals)
    return written, read_trace(output)


def spans_of(trace: Trace) -> list[Slice]:
    return [s for s in trace.slices if s.category in WORK and "graph node id" in s.arguments]


@pytest.mark.parametrize("name", ["cupy_pipeline", "decode_step", "training_step"])
def test_recordings_of_a_real_gpu_are_shown_whole(tmp_path: Path, name: str) -> None:
    path = BUNDLED / f"{name}.gviz"
    written, trace = export(path, tmp_path / "t.json")
    assert trace.problems == []
    with Recording(path) as recording:
        (run,) = recording.fetch_runs()
        (graph,) = recording.fetch_graphs()
        spans = recording.fetch_graph_spans(graph.graph_id)
        operations = recording.fetch_run_stream_operations(run.run_id)
        launches = {x.launch_id: x for x in recording.fetch_launches(graph.graph_id)}
        (graph_exec,) = recording.fetch_graph_execs(graph.graph_id)
    base = trace.head["baseTimeNanoseconds"]
    expected = Counter(
        (
            graph_exec.cuda_exec_id << 32 | node,
            launches[launch].correlation_id,
            launches[launch].gpu_start_ns + start - base,
            duration,
            stream,
        )
        for launch, node, start, duration, stream in zip(
            spans.launch_id.tolist(),
            spans.node_id.tolist(),
            spans.start_ns.tolist(),
            spans.duration_ns.tolist(),
            spans.stream_id.tolist(),
            strict=True,
        )
    )
    shown = Counter(
        (
            s.arguments["graph node id"],
            s.arguments["correlation"],
            s.start_ns,
            s.end_ns - s.start_ns,
            s.arguments["stream"],
        )
        for s in spans_of(trace)
    )
    assert shown == expected
    eager = [s for s in trace.slices if s.category in WORK and "graph node id" not in s.arguments]
    assert sorted((s.start_ns + base, s.end_ns - s.start_ns) for s in eager) == sorted(
        (o.start_ns, o.duration_ns) for o in operations
    )
    assert written.launch_count == len(set(spans.launch_id.tolist()))


def test_nodes_stand_in_as_few_lanes_as_run_at_once(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "r.gviz", fork_join_shape(width=4), launches=3)
    _, trace = export(path, tmp_path / "t.json")
    assert trace.problems == []
    lanes = {s.thread for s in spans_of(trace)}
    assert {trace.thread_names[lane] for lane in lanes} == {f"lane {i}" for i in range(len(lanes))}
    for launch in {s.arguments["launch"] for s in spans_of(trace)}:
        mine = [s for s in spans_of(trace) if s.arguments["launch"] == launch]
        most = max(sum(a.start_ns <= b.start_ns < a.end_ns for a in mine) for b in mine)
        assert len({s.thread for s in mine}) == most


def test_arrows_are_the_edges_between_nodes_with_times(tmp_path: Path) -> None:
    shape = transformer_shape(layers=2)
    path = write_recording(tmp_path / "r.gviz", shape, launches=2)
    _, trace = export(path, tmp_path / "t.json")
    drawn = {
        (a.arguments["launch"], a.arguments["node"], b.arguments["node"])
        for kind, a, b in trace.arrows
        if kind == "graph_dependency"
    }
    edges = {
        (shape.node_ids[before], shape.node_ids[i])
        for i, work in enumerate(shape.works)
        for before in work.after
    }
    launches = {s.arguments["launch"] for s in spans_of(trace)}
    assert drawn == {(launch, *edge) for launch in launches for edge in edges}


def test_arrow_through_a_node_without_time_comes_from_the_last_before_it(tmp_path: Path) -> None:
    shape = fork_join_shape(stages=1, width=2, depth=1)
    path = write_recording(tmp_path / "r.gviz", shape, launches=1)
    _, trace = export(path, tmp_path / "t.json")
    # Nodes 0 (copy) and 1 (memset) meet in 2 (empty), before 3.
    copy, memset, _, split = shape.node_ids[:4]
    by_node = {s.arguments["node"]: s for s in spans_of(trace) if s.arguments["launch"] == 0}
    last = max((copy, memset), key=lambda node: by_node[node].end_ns)
    into = [
        a.arguments["node"]
        for kind, a, b in trace.arrows
        if kind == "graph_dependency" and b is by_node[split]
    ]
    assert into == [last]


def test_calls_lead_to_launches_and_operations(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "r.gviz", fork_join_shape(), launches=3)
    _, trace = export(path, tmp_path / "t.json")
    ends = Counter((a.name, b.category) for kind, a, b in trace.arrows if kind == "ac2g")
    with Recording(path) as recording:
        launches = [x for x in recording.fetch_launches(1) if x.gpu_start_ns is not None]
        operations = Counter(o.type for o in recording.fetch_run_stream_operations(1))
    assert ends["cudaGraphLaunch", "graph_launch"] == len(launches)
    assert ends["cudaLaunchKernel", "kernel"] == operations[0]
    assert ends["cudaMemcpyAsync", "gpu_memcpy"] == operations[1]


def test_ranges_hold_the_nodes_made_in_them(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "r.gviz", transformer_shape(layers=2), launches=1)
    _, trace = export(path, tmp_path / "t.json")
    ranges = trace.of("gpu_user_annotation")
    assert {r.name for r in ranges} == {"layer 0", "layer 1"}
    for r in ranges:
        mine = [s for s in spans_of(trace) if s.arguments.get("nvtx") == r.arguments["path"]]
        mine = [s for s in mine if r.start_ns <= s.start_ns <= r.end_ns]
        assert (min(s.start_ns for s in mine), max(s.end_ns for s in mine)) == (
            r.start_ns,
            r.end_ns,
        )


def test_iterations_of_a_loop_are_all_there(tmp_path: Path) -> None:
    path = write_loop_recording(tmp_path / "loop.gviz", iterations=5)
    _, trace = export(path, tmp_path / "t.json")
    assert trace.problems == []
    iterations = Counter(s.arguments.get("iteration", 0) for s in spans_of(trace))
    assert set(iterations) == set(range(5))
    inside = [
        (a.arguments.get("iteration", 0), b.arguments.get("iteration", 0))
        for kind, a, b in trace.arrows
        if kind == "graph_dependency" and "in graph" in a.arguments and "in graph" in b.arguments
    ]
    assert inside
    assert all(a == b for a, b in inside)


def test_bodies_in_bodies_are_shown(tmp_path: Path) -> None:
    path = write_nested_recording(tmp_path / "nested.gviz", NESTED)
    _, trace = export(path, tmp_path / "t.json")
    assert trace.problems == []
    with Recording(path) as recording:
        count = sum(
            len(recording.fetch_graph_spans(g.graph_id))
            for g in recording.fetch_graphs()
            if g.parent_graph_id is None
        )
    assert len(spans_of(trace)) == count > 0


def test_chosen_launch_comes_with_what_ran_meanwhile(tmp_path: Path) -> None:
    written, trace = export(BUNDLED / "decode_step.gviz", tmp_path / "t.json", frozenset({3}))
    assert trace.problems == []
    assert written.launch_count == 1
    assert {s.arguments["launch"] for s in spans_of(trace)} == {3}
    (launch,) = trace.of("graph_launch")
    (call,) = [a for kind, a, b in trace.arrows if b is launch]
    assert call.name == "cudaGraphLaunch"
    for s in trace.of("cuda_runtime"):
        assert s.end_ns >= call.start_ns
        assert s.start_ns <= launch.end_ns


def test_launch_that_is_not_there_is_refused_and_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="no launch #77 of these graphs has node times"):
        export(BUNDLED / "decode_step.gviz", tmp_path / "t.json", frozenset({77}))
    assert list(tmp_path.iterdir()) == []


def test_compressed_file_holds_the_same(tmp_path: Path) -> None:
    for name in ("a.json", "b.json.gz"):
        export(BUNDLED / "cupy_pipeline.gviz", tmp_path / name)
    packed = (tmp_path / "b.json.gz").read_bytes()
    assert gzip.decompress(packed) == (tmp_path / "a.json").read_bytes()
    assert len(packed) < (tmp_path / "a.json").stat().st_size / 4


def test_runs_of_one_process_number_are_distinguished(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "r.gviz", fork_join_shape(), launches=2)
    database = sqlite3.connect(path)
    with database:
        columns = [r[1] for r in database.execute("PRAGMA table_info(run)")][1:]
        names = ", ".join(columns)
        database.execute(f"INSERT INTO run (run_id, {names}) SELECT 2, {names} FROM run")
    database.close()
    _, trace = export(path, tmp_path / "t.json")
    assert trace.problems == []
    assert len(trace.process_names) == len(set(trace.process_names)) >= 3


def test_names_of_all_kinds_are_exact(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "r.gviz", fork_join_shape(), launches=1)
    name = 'a "b" \\ \x01 <é 漢> \U0001f600'
    database = sqlite3.connect(path)
    with database:
        database.execute("UPDATE kernel_function SET name=?", (name,))
        database.execute("UPDATE graph SET name=?", (name,))
    database.close()
    _, trace = export(path, tmp_path / "t.json")
    assert {s.name for s in spans_of(trace) if s.category == "kernel"} == {name}
    assert {s.arguments["graph"] for s in trace.of("graph_launch")} == {name}


@pytest.mark.parametrize(
    ("intervals", "tracks"),
    [
        ([], []),
        ([(0, 10), (2, 4), (4, 10)], [0, 0, 0]),
        ([(0, 10), (5, 15)], [0, 1]),
        ([(5, 15), (0, 10), (15, 20)], [1, 0, 0]),
        ([(0, 10), (0, 10), (0, 4)], [0, 0, 0]),
        ([(3, 3), (3, 5), (5, 5)], [0, 0, 0]),
    ],
)
def test_intervals_of_a_track_never_cross(
    intervals: Sequence[tuple[int, int]], tracks: list[int]
) -> None:
    table = np.array(intervals, np.int64).reshape(len(intervals), 2)
    order, track = nest(table[:, 0], table[:, 1])
    assert track.tolist() == tracks
    keys = [(table[i, 0], -table[i, 1]) for i in order]
    assert keys == sorted(keys)


def test_overlapping_launches_get_tracks_of_their_own() -> None:
    banks = Banks()
    assert [banks.take(*when) for when in [(0, 10), (5, 8), (8, 20), (10, 12)]] == [0, 1, 1, 0]


def test_letters_are_not_escaped(tmp_path: Path) -> None:
    # Perfetto shows escapes as they stand; a surrogate alone has nothing else.
    output = tmp_path / "t.json"
    with TraceWriter(output, {"host": "Zürich"}) as file:
        file.write([slice_text("שלום \udc80", "kernel", (1, 2), (3, 4), {"domain": "é"})])
    raw = output.read_bytes()
    assert all(text.encode() in raw for text in ("Zürich", "שלום \\udc80", "é"))
    (event,) = json.loads(raw)["traceEvents"]
    assert event["name"] == "שלום \udc80"
