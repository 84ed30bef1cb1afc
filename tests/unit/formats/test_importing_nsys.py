"""SQLite exports of Nsight Systems become recordings."""

import sqlite3
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kineto_traces import trace_of, write_trace
from nsys_exports import (
    EPOCH_NS,
    GLOBAL_PID,
    GLOBAL_TID,
    PID,
    SCHEMAS,
    TID,
    WHOLE_SCHEMAS,
    Export,
    export_of,
)
from places import ROOT

from gviz.analysis.analysis import analyze
from gviz.errors import GvizError, ImportingError
from gviz.formats.importer import import_files, import_kineto, import_nsys
from gviz.recording.reader import Recording
from gviz.report.info.recording_document import info_document
from gviz.report.renderers.text_form import render_text
from gviz.report.summary import summarize
from gviz.stats.figure_fields import NotComputed

BUNDLED = ROOT / "assets" / "recordings"
#: A trace, and the recording that it is imported to.
Traced = tuple[dict[str, Any], Path]


def opened(path: Path) -> Recording:
    return Recording(import_nsys(path, path.with_name("out.gviz"), overwrite=True))


def new_export(tmp_path: Path, release: str = "2026.2") -> Export:
    return Export(tmp_path / "x.sqlite", release)


def add_kernel(export: Export, **values: Any) -> None:
    row = {
        "start": 1000,
        "end": 2000,
        "streamId": 7,
        "correlationId": 5,
        "globalPid": GLOBAL_PID,
        "demangledName": export.text("scale(float*)"),
        "shortName": export.text("scale"),
        "gridX": 1,
        "gridY": 1,
        "gridZ": 1,
        "blockX": 32,
        "blockY": 1,
        "blockZ": 1,
        "graphNodeId": 3 << 32,
        "graphId": 3,
    }
    export.add("CUPTI_ACTIVITY_KIND_KERNEL", **row | values)


def add_launch(export: Export, correlation: int = 5, **values: Any) -> None:
    row = {
        "start": 500,
        "end": 700,
        "globalTid": GLOBAL_TID,
        "correlationId": correlation,
        "nameId": export.text("cudaGraphLaunch_v10000"),
    }
    export.add("CUPTI_ACTIVITY_KIND_RUNTIME", **row | values)


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Traced]:
    """Make the trace of a bundled recording, and what it is imported to, once."""

    @cache
    def trace(name: str) -> Traced:
        folder = tmp_path_factory.mktemp(name)
        made = trace_of(BUNDLED / f"{name}.gviz", launches=3)
        return made, import_kineto(write_trace(made, folder / "t.json"), folder / "t.gviz")

    return trace


@pytest.mark.thorough
@pytest.mark.parametrize("release", SCHEMAS)
def test_an_export_says_what_a_chrome_trace_of_the_same_program_does(
    release: str, traced: Callable[[str], Traced], tmp_path: Path
) -> None:
    # Of the releases that differ most the one with copies, fills and thousands of nodes.
    trace, kineto = traced("training_step" if release in ("2022.2", "2026.2.1") else "decode_step")
    export = export_of(trace, tmp_path / "x.sqlite", release)
    with opened(export) as got, Recording(kineto) as was:
        (graph,) = got.fetch_graphs()
        (other,) = was.fetch_graphs()
        assert (graph.origin, graph.name) == (other.origin, other.name)
        assert got.fetch_nodes(1) == was.fetch_nodes(1)
        launches = got.fetch_launches(1)
        for one, two in zip(launches, was.fetch_launches(1), strict=True):
            assert (one.gpu_start_ns, one.host_start_ns) == (two.gpu_start_ns, two.host_start_ns)
            a, b = got.fetch_spans(one.launch_id), was.fetch_spans(two.launch_id)
            for name in ("node_id", "start_ns", "duration_ns", "stream_id"):
                assert np.array_equal(getattr(a, name), getattr(b, name)), name
        assert len(got.fetch_run_stream_operations(1)) == len(was.fetch_run_stream_operations(1))
        assert {f.mangled_name for f in got.fetch_functions(1).values()} == {
            f.mangled_name for f in was.fetch_functions(1).values()
        }
        (device,) = got.fetch_devices(1)
        assert (device.device_id, device.multiprocessor_count) == (0, 132)
        assert device.max_threads_per_multiprocessor == 2048
        (run,) = got.fetch_runs()
        assert (run.process_id, run.collector) == (PID, "nsys")
        is_reported = release != "2022.4"
        assert (f"Nsight Systems {release}.106" in (run.collector_reason or "")) == is_reported


@pytest.mark.parametrize("release", WHOLE_SCHEMAS)
def test_graph_level_exports_have_whole_launches(release: str, tmp_path: Path) -> None:
    export = new_export(tmp_path, release)
    add_launch(export)
    add_launch(export, 6, start=5000, end=5100)
    for correlation, start in ((5, 1000), (6, 6000)):
        export.add(
            "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
            start=start,
            end=start + 400,
            streamId=7,
            correlationId=correlation,
            globalPid=GLOBAL_PID,
            graphId=2,
            graphExecId=4,
        )
    with opened(export.finish()) as got:
        (graph,) = got.fetch_graphs()
        assert graph.topology_id is None
        assert [e.cuda_exec_id for e in got.fetch_graph_execs(1)] == [4]
        found = got.fetch_launches(1)
        assert [(x.gpu_start_ns, x.gpu_end_ns, x.node_level) for x in found] == [
            (EPOCH_NS + 1000, EPOCH_NS + 1400, 0),
            (EPOCH_NS + 6000, EPOCH_NS + 6400, 0),
        ]
        assert [x.host_start_ns for x in found] == [EPOCH_NS + 500, EPOCH_NS + 5000]


def test_nodes_know_the_ranges_in_which_their_originals_were_made(tmp_path: Path) -> None:
    export = new_export(tmp_path)
    for start, end, text in ((0, 400, "step"), (100, 200, "layer")):
        export.add(
            "NVTX_EVENTS", start=start, end=end, eventType=59, text=text, globalTid=GLOBAL_TID
        )
    export.add("NVTX_EVENTS", start=90, end=None, eventType=34, text="mark", globalTid=GLOBAL_TID)
    for node, original, start in (
        (1 << 32, None, 150),
        (1 << 32 | 1, None, 250),
        (3 << 32, 1 << 32, 300),
        (3 << 32 | 1, 1 << 32 | 1, 300),
    ):
        export.add(
            "CUDA_GRAPH_NODE_EVENTS",
            start=start,
            end=start,
            globalTid=GLOBAL_TID,
            graphNodeId=node,
            originalGraphNodeId=original,
        )
    add_launch(export)
    add_kernel(export)
    add_kernel(export, start=3000, end=3100, graphNodeId=3 << 32 | 1)
    with opened(export.finish()) as got:
        paths = got.fetch_nvtx_paths(1)
        first, second = got.fetch_nodes(1)
        assert (first.created_ns, first.created_thread_id) == (EPOCH_NS + 150, TID)
        assert paths[first.nvtx_path_id or 0].text == "layer"
        assert paths[second.nvtx_path_id or 0].text == "step"


def test_nodes_know_when_they_were_made_without_any_range(tmp_path: Path) -> None:
    export = new_export(tmp_path)
    for node, original, start in ((1 << 32, None, 150), (3 << 32, 1 << 32, 300)):
        export.add(
            "CUDA_GRAPH_NODE_EVENTS",
            start=start,
            end=start,
            globalTid=GLOBAL_TID,
            graphNodeId=node,
            originalGraphNodeId=original,
        )
    add_launch(export)
    add_kernel(export)
    with opened(export.finish()) as got:
        (node_row,) = got.fetch_nodes(1)
        assert (node_row.created_ns, node_row.nvtx_path_id) == (EPOCH_NS + 150, None)


def test_until_2022_nodes_are_reported_where_graphs_are_since(tmp_path: Path) -> None:
    export = new_export(tmp_path, "2022.2")
    export.add("NVTX_EVENTS", start=0, end=400, eventType=59, text="step", globalTid=GLOBAL_TID)
    for node, original, start in ((1 << 32, None, 150), (3 << 32, 1 << 32, 300)):
        export.add(
            "CUDA_GRAPH_EVENTS",
            start=start,
            end=start,
            globalTid=GLOBAL_TID,
            graphNodeId=node,
            originalGraphNodeId=original,
        )
    add_launch(export)
    add_kernel(export)
    with opened(export.finish()) as got:
        (node_row,) = got.fetch_nodes(1)
        assert (node_row.created_ns, node_row.created_thread_id) == (EPOCH_NS + 150, TID)
        assert got.fetch_nvtx_paths(1)[node_row.nvtx_path_id or 0].text == "step"


def graph_event(export: Export, start: int, **values: Any) -> None:
    """Add a row of CUDA_GRAPH_EVENTS: 94 made an executable, 95 a graph, 96 a clone."""
    export.add("CUDA_GRAPH_EVENTS", start=start, end=start, globalTid=GLOBAL_TID, **values)


def add_call(export: Export, name: str, start: int, end: int, **values: Any) -> None:
    add_launch(export, 0, start=start, end=end, nameId=export.text(name), **values)


@pytest.mark.parametrize("release", ["2025.5", "2026.2.1"])
def test_an_executable_knows_its_graph_and_the_call_that_made_it(
    release: str, tmp_path: Path
) -> None:
    export = new_export(tmp_path, release)
    graph_event(export, 100, eventClass=95, graphId=1)
    # Another thread instantiates at the same time; this one did so before.
    other = PID << 24 | 99
    add_call(export, "cudaGraphInstantiate_v12000", 190, 260, globalTid=other)
    add_call(export, "cudaGraphInstantiate_v12000", 150, 160)
    add_call(export, "cudaGraphInstantiate_v12000", 200, 250)
    graph_event(export, 210, eventClass=95, graphId=2)
    graph_event(export, 240, eventClass=94, graphId=1, graphExecId=2)
    add_launch(export)
    export.add(
        "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", start=1000, end=1400, streamId=7, correlationId=5,
        globalPid=GLOBAL_PID, graphId=1, graphExecId=2,
    )  # fmt: skip
    with opened(export.finish()) as got:
        (graph,) = got.fetch_graphs()
        assert (graph.name, graph.cuda_graph_id) == ("graph 1 (executable 2)", 1)
        (made,) = got.fetch_graph_execs(graph.graph_id)
        assert made.cuda_exec_id == 2
        assert made.instantiate_start_ns == EPOCH_NS + 200
        assert made.instantiate_end_ns == EPOCH_NS + 250
        assert made.instantiate_thread_id == TID


def test_an_executable_that_was_made_before_knows_its_graph_only(tmp_path: Path) -> None:
    export = new_export(tmp_path)
    add_launch(export)
    export.add(
        "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", start=1000, end=1400, streamId=7, correlationId=5,
        globalPid=GLOBAL_PID, graphId=1, graphExecId=2,
    )  # fmt: skip
    add_call(export, "cudaGraphInstantiate_v12000", 150, 160)
    with opened(export.finish()) as got:
        assert got.fetch_graphs()[0].name == "graph 1 (executable 2)"
        (made,) = got.fetch_graph_execs(1)
        assert (made.instantiate_start_ns, made.instantiate_thread_id) == (None, None)


def test_what_is_known_as_a_whole_only_is_marked_as_such(tmp_path: Path) -> None:
    export = new_export(tmp_path)
    add_launch(export)
    export.add(
        "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", start=1000, end=1400, streamId=7, correlationId=5,
        globalPid=GLOBAL_PID, graphId=1, graphExecId=2,
    )  # fmt: skip
    with opened(export.finish()) as got:
        assert any("as a whole only" in note.text for note in got.fetch_notes(1))
        shown = render_text(info_document(summarize(got)), 200)
        assert (
            "Nodes and edges not recorded: the trace has the graph's launches as a whole" in shown
        )
        assert "recorded:\n" not in shown
        (graph,) = analyze(got).runs[0].graphs
        for stated in (graph.ledger, graph.dominance, graph.device_launch, graph.expected_cost):
            assert isinstance(stated, NotComputed)
            assert "--cuda-graph-trace=node" in stated.not_computed


def test_domains_of_ranges_have_their_names(tmp_path: Path) -> None:
    export = new_export(tmp_path)
    add_kernel(export)
    for number, text, pid in ((1, "MPI", PID), (2, "NCCL", PID), (3, "other's", 5)):
        export.add(
            "NVTX_EVENTS", start=0, eventType=75, text=text, domainId=number, globalTid=pid << 24
        )
    numbers = (0, 1, 2, 3, None)
    for place, number in enumerate(numbers):
        export.add(
            "NVTX_EVENTS", start=10 * place, end=10 * place + 5, eventType=59, domainId=number,
            textId=export.text(f"range {place}"), globalTid=GLOBAL_TID,
        )  # fmt: skip
    with opened(export.finish()) as got:
        paths = got.fetch_nvtx_paths(1)
        found = [paths[r.nvtx_path_id] for r in got.fetch_nvtx_ranges(1)]
        assert [p.domain for p in found] == [None, "MPI", "NCCL", "domain 3", None]
        assert [p.text for p in found] == [f"range {place}" for place in range(5)]


def test_ranges_that_were_started_and_ended_are_counted(tmp_path: Path) -> None:
    export = new_export(tmp_path)
    add_kernel(export)
    for start in (1, 2):
        export.add(
            "NVTX_EVENTS", start=start, end=9, eventType=60, text="async", globalTid=GLOBAL_TID
        )
    with opened(export.finish()) as got:
        assert got.fetch_nvtx_ranges(1) == []
        (note,) = (n.text for n in got.fetch_notes(1) if "NVTX" in n.text)
        assert note.startswith("2 ranges of NVTX")


def test_times_on_the_wall_clock_stay_as_they_are(tmp_path: Path) -> None:
    export = new_export(tmp_path)
    export.add("META_DATA_EXPORT", name="EXPORT_PARAM_TIME_NORMALIZE", value="true")
    add_kernel(export, start=EPOCH_NS + 5, end=EPOCH_NS + 9, graphNodeId=None, graphId=None)
    with opened(export.finish()) as got:
        assert got.fetch_run_stream_operations(1)[0].start_ns == EPOCH_NS + 5


def gpu(export: Export, number: int, name: str, **values: Any) -> None:
    export.add("TARGET_INFO_GPU", id=number, name=name, **values)


def test_a_run_has_the_gpus_that_its_process_used(tmp_path: Path) -> None:
    export = new_export(tmp_path)
    for number in range(3):
        gpu(export, number, f"GPU at {number}")
    # CUDA_VISIBLE_DEVICES: each process has a device 0, of another GPU.
    for pid, visible in ((5, (2, 0)), (6, (1,))):
        for ordinal, number in enumerate(visible):
            export.add("TARGET_INFO_CUDA_DEVICE", gpuId=number, cudaId=ordinal, pid=pid)
        add_kernel(export, globalPid=pid << 24, deviceId=0)
    with opened(export.finish()) as got:
        names = [[d.name for d in got.fetch_devices(run)] for run in (1, 2)]
        assert names == [["GPU at 2"], ["GPU at 1"]]


def test_without_ordinals_of_processes_those_of_the_machine_count(tmp_path: Path) -> None:
    export = new_export(tmp_path, "2024.5")
    for number, ordinal in ((0, 3), (1, 2), (2, 1), (3, 0)):
        gpu(export, number, f"GPU at {number}", cuDevice=ordinal)
    add_kernel(export, deviceId=0)
    with opened(export.finish()) as got:
        assert [(d.device_id, d.name) for d in got.fetch_devices(1)] == [(0, "GPU at 3")]


def test_a_gpu_that_is_not_named_is_reported_and_the_driver_is_known(tmp_path: Path) -> None:
    export = new_export(tmp_path, "2026.2.1")
    export.add("TARGET_INFO_SYSTEM_ENV", name="CudaDriverVersion", value="13000")
    add_kernel(export)
    with opened(export.finish()) as got:
        assert got.fetch_devices(1) == []
        assert got.fetch_runs()[0].driver_version == "13.0"
        assert any("does not name the GPU" in note.text for note in got.fetch_notes(1))


def test_each_process_is_a_run(tmp_path: Path) -> None:
    export = new_export(tmp_path)
    for pid in (5, 6):  # correlation ids are the processes' own
        add_launch(export, globalTid=pid << 24 | 1)
        add_kernel(export, globalPid=pid << 24, end=2000 + pid)
    with opened(export.finish()) as got:
        assert [run.process_id for run in got.fetch_runs()] == [5, 6]
        assert [run.name for run in got.fetch_runs()] == ["x (process 5)", "x (process 6)"]
        ends = [got.fetch_launches(g.graph_id)[0].gpu_end_ns for g in got.fetch_graphs()]
        assert ends == [EPOCH_NS + 2005, EPOCH_NS + 2006]


def test_unknown_columns_and_missing_ones_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    with sqlite3.connect(path) as db:
        db.executescript(
            "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, name TEXT, novelty);"
            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (5, 9, 'k<int>', 1);"
        )
    with opened(path) as got:
        (operation,) = got.fetch_run_stream_operations(1)
        assert (operation.name, operation.start_ns, operation.duration_ns) == ("k<int>", 5, 4)


@pytest.mark.parametrize(
    "values",
    [
        {"start": "x"},
        {"end": 10},
        {"start": -(1 << 62)},
        {"end": 1 << 62},
        {"start": 0, "end": 0},
        {"start": b"\x01"},
        {"end": float("inf")},
        # Alone they are times, not on the clock of the recording.
        {"end": EPOCH_NS},
        {"start": EPOCH_NS, "end": EPOCH_NS + 5},
    ],
)
def test_rows_without_usable_times_are_counted(values: dict[str, Any], tmp_path: Path) -> None:
    export = new_export(tmp_path)
    add_kernel(export, **values)
    add_kernel(export)
    with opened(export.finish()) as got:
        assert len(got.fetch_nodes(1)) == 1
        counted = {m.name: m.value for m in got.fetch_measurements(1)}
        assert counted["activity_records_invalid"] == 1


def test_calls_and_ranges_beyond_the_clock_are_left_out(tmp_path: Path) -> None:
    export = new_export(tmp_path)
    add_kernel(export)
    add_launch(export, end=EPOCH_NS)
    export.add(
        "NVTX_EVENTS", start=1, end=EPOCH_NS, eventType=59, text="step", globalTid=GLOBAL_TID
    )
    export.add("CUDA_GRAPH_NODE_EVENTS", start=EPOCH_NS, globalTid=GLOBAL_TID, graphNodeId=3 << 32)
    with opened(export.finish()) as got:
        (launch,) = got.fetch_launches(1)
        assert launch.host_start_ns is None
        assert got.fetch_nvtx_ranges(1) == []
        assert got.fetch_nodes(1)[0].created_ns is None


@pytest.mark.parametrize(
    "values",
    [
        {"gridX": "4"},
        {"gridX": -4},
        {"streamId": "x"},
        {"demangledName": 99},
        {"graphNodeId": -1},
        {"graphNodeId": "x"},
        {"correlationId": None},
        {"globalPid": "x"},
        {"globalPid": -5},
        {"demangledName": b"\xff"},
        {"deviceId": 1 << 62},
        {"deviceId": 1 << 31},
        {"gridX": 1 << 53, "gridY": 1 << 53},
        {"registersPerThread": 1 << 61},
    ],
)
def test_odd_values_do_no_harm(values: dict[str, Any], tmp_path: Path) -> None:
    export = new_export(tmp_path)
    add_launch(export)
    add_kernel(export, **values)
    add_kernel(export, start=5000, end=5001)
    with opened(export.finish()) as got:
        assert got.fetch_runs()


def database(path: Path, script: str) -> None:
    with sqlite3.connect(path) as db:
        db.executescript(script)


BAD = {
    "other program": ("CREATE TABLE t (a);", "an SQLite file of another program"),
    "no cuda": (
        "CREATE TABLE StringIds (id, value); CREATE TABLE OSRT_API (start, end);",
        "has no CUDA tables",
    ),
    "no rows": ("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end);", "holds no kernel"),
    "no times": ("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, x);", "has no column end"),
    "view": (
        "CREATE TABLE StringIds (id, value); CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH "
        "RECURSIVE r(start) AS (SELECT 1 UNION ALL SELECT start FROM r) SELECT start, 2 AS end "
        "FROM r;",
        "has no CUDA tables",
    ),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_exports_are_refused_in_words(what: str, tmp_path: Path) -> None:
    script, sentence = BAD[what]
    path = tmp_path / "x.sqlite"
    database(path, script)
    with pytest.raises(GvizError, match=sentence):
        import_files([path], tmp_path / "out.gviz")
    assert not (tmp_path / "out.gviz").exists()


@pytest.mark.parametrize("keep", [16, 100, 5000, 0.5])
def test_cut_exports_are_refused_in_words(keep: float, tmp_path: Path) -> None:
    trace = trace_of(BUNDLED / "decode_step.gviz", launches=1)
    path = export_of(trace, tmp_path / "x.sqlite", "2026.2")
    content = path.read_bytes()
    path.write_bytes(content[: int(keep if keep > 1 else keep * len(content))])
    with pytest.raises(GvizError, match=r"cannot be read as SQLite|has no CUDA|another program"):
        import_files([path], tmp_path / "out.gviz")


def test_a_damaged_schema_is_reported_though_it_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    database(path, "CREATE TABLE StringIds (id, value); CREATE TABLE OSRT_API (start, end);")
    path.write_bytes(path.read_bytes().replace(b"TABLE OSRT", b"TA\xaeLE OSRT"))
    with pytest.raises(ImportingError, match="cannot be read as SQLite: malformed"):
        import_nsys(path, tmp_path / "out.gviz")


def test_names_of_gigabytes_are_refused(tmp_path: Path) -> None:
    export = new_export(tmp_path)
    export.db.execute("INSERT INTO StringIds VALUES (9, zeroblob(100000000))")
    add_kernel(export, demangledName=9)
    with pytest.raises(ImportingError, match="cannot be read as SQLite"):
        import_nsys(export.finish(), tmp_path / "out.gviz")


def test_reports_that_only_nsight_reads_are_distinguished(tmp_path: Path) -> None:
    (tmp_path / "x.nsys-rep").write_bytes(b"\x01\x02report")
    with pytest.raises(ImportingError, match="nsys export --type sqlite"):
        import_files([tmp_path / "x.nsys-rep"], tmp_path / "out.gviz")
