"""SQLite exports of Nsight Systems become recordings."""

import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kineto_traces import trace_of, write_trace
from nsys_exports import EPOCH_NS, GLOBAL_PID, GLOBAL_TID, PID, SCHEMAS, TID, Export, export_of

from gviz.errors import GvizError, ImportingError
from gviz.importing.importer import import_files, import_kineto, import_nsys
from gviz.recording.reader import Recording

BUNDLED = Path(__file__).parents[2] / "assets" / "recordings"


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


@pytest.mark.parametrize("release", SCHEMAS)
def test_an_export_says_what_a_chrome_trace_of_the_same_program_does(
    release: str, tmp_path: Path
) -> None:
    trace = trace_of(BUNDLED / "training_step.gviz", launches=3)
    kineto = import_kineto(write_trace(trace, tmp_path / "t.json"), tmp_path / "t.gviz")
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


@pytest.mark.parametrize("release", SCHEMAS)
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


def test_a_damaged_schema_is_told_though_it_is_no_text(tmp_path: Path) -> None:
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


def test_reports_that_only_nsight_reads_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "x.nsys-rep").write_bytes(b"\x01\x02report")
    with pytest.raises(ImportingError, match="nsys export --type sqlite"):
        import_files([tmp_path / "x.nsys-rep"], tmp_path / "out.gviz")
