"""Importing the JSON of AMD's rocprofv3."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from rocprof_traces import NODES, rocprof_of, write_rocprof

from gviz.cuda import CopyKind
from gviz.errors import ImportingError
from gviz.formats import import_files, rocprof
from gviz.recording import Recording


def imported(trace: dict[str, Any], folder: Path) -> Recording:
    """Return the recording that it becomes."""
    import_files([write_rocprof(trace, folder / "out_results.json")], folder / "out.gviz")
    return Recording(folder / "out.gviz")


@pytest.mark.parametrize("calls", [True, False], ids=["calls", "launches alone"])
@pytest.mark.parametrize("ids", [True, False], ids=["ids", "no ids"])
def test_launches_have_their_nodes_and_times(ids: bool, calls: bool, tmp_path: Path) -> None:
    with imported(rocprof_of(ids=ids, calls=calls), tmp_path) as recording:
        (graph,) = recording.fetch_graphs()
        nodes = recording.fetch_nodes(graph.graph_id)
        launches = recording.fetch_launches(graph.graph_id)
        spans = recording.fetch_spans(launches[1].launch_id)
        notes = [note.text for note in recording.fetch_notes(1)]
    names = {node.node_id: node.name for node in nodes}
    order = spans.start_ns.argsort()
    assert [names[node] for node in spans.node_id[order].tolist()] == [
        name.partition("(")[0] for name, _ in NODES
    ]
    assert spans.duration_ns.tolist() == [1_500] * 3
    assert spans.stream_id[order].tolist() == [1, 2, 1]
    assert [(x.host_start_ns, x.host_end_ns) for x in launches] == [
        (at, at + 900) for at in (1_000_000, 2_000_000, 3_000_000)
    ]
    assert {(n.grid_x, n.grid_y, n.block_x) for n in nodes} == {(4, 2, 256)}
    assert any("as a launch dispatches them" in note for note in notes) == ids


def test_work_outside_of_graphs_and_the_gpu_are_there(tmp_path: Path) -> None:
    with imported(rocprof_of(), tmp_path) as recording:
        operations = recording.fetch_run_stream_operations(1)
        (device,) = recording.fetch_devices(1)
        (run,) = recording.fetch_runs()
    assert (run.process_id, run.collector) == (4711, "rocprofv3")
    assert (device.name, device.multiprocessor_count) == ("AMD Instinct MI300X", 304)
    kernel, copy = operations
    assert (kernel.name, kernel.start_ns, kernel.host_start_ns) == ("eager", 500_000, 499_000)
    assert (copy.start_ns, copy.bytes, copy.copy_kind) == (600_000, 4096, CopyKind.HTOD)


def test_each_process_becomes_a_run(tmp_path: Path) -> None:
    trace = rocprof_of()
    (other,) = rocprof_of()["rocprofiler-sdk-tool"]
    other["metadata"]["pid"] = 4720
    trace["rocprofiler-sdk-tool"].append(other)
    with imported(trace, tmp_path) as recording:
        assert [run.process_id for run in recording.fetch_runs()] == [4711, 4720]


def test_work_without_times_is_counted(tmp_path: Path) -> None:
    trace = rocprof_of()
    (process,) = trace["rocprofiler-sdk-tool"]
    process["buffer_records"]["kernel_dispatch"][0]["end_timestamp"] = "soon"
    with imported(trace, tmp_path) as recording:
        notes = [note.text for note in recording.fetch_notes(1)]
    assert "1 records without a usable time or number, left out." in notes


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda text: text[: len(text) // 2], "is not as rocprofv3 writes it"),
        (
            lambda text: text.replace("kernel_dispatch", "x").replace("memory_copy", "y"),
            "no kernel",
        ),
        (lambda text: text.replace('"agents": [', '"agents": [7, '), "is not as rocprofv3 writes"),
    ],
)
def test_what_cannot_be_read_is_refused(change: Any, why: str, tmp_path: Path) -> None:
    path = tmp_path / "out_results.json"
    path.write_text(change(json.dumps(rocprof_of())))
    with pytest.raises(ImportingError, match=why):
        import_files([path], tmp_path / "out.gviz")
    assert not (tmp_path / "out.gviz").exists()


def test_packed_and_large_files_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = tmp_path / "out.json.gz"
    packed.write_bytes(gzip.compress(json.dumps(rocprof_of()).encode()))
    with pytest.raises(ImportingError, match="unpack it first"):
        import_files([packed], tmp_path / "out.gviz")
    monkeypatch.setattr(rocprof, "MOST_FILE_BYTES", 100)
    path = write_rocprof(rocprof_of(), tmp_path / "out.json")
    with pytest.raises(ImportingError, match="is larger than"):
        import_files([path], tmp_path / "out.gviz")
