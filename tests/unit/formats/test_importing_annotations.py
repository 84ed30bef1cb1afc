"""Words of programs about nodes that they capture (``mark_kernels``), in Chrome traces."""

from pathlib import Path
from typing import Any

import pytest
from inspected import inspected
from kineto_traces import write_trace

from gviz.analysis.results.dominant_nodes import dominance
from gviz.analysis.subject import GraphSubject
from gviz.app.files.library import Library
from gviz.app.views.graph_data import graph_view
from gviz.cuda.node_type import CopyKind
from gviz.formats.importer import import_files
from gviz.formats.traces import trace as trace_columns
from gviz.recording.reader import Recording
from gviz.stats.figure_fields import NotComputed

EXEC = 2


def launch(correlation: int, ts: int) -> dict[str, Any]:
    return {
        "ph": "X", "cat": "cuda_runtime", "name": "cudaGraphLaunch", "pid": 9, "tid": 9, "ts": ts,
        "dur": 1, "args": {"correlation": correlation},
    }  # fmt: skip


def work(node: int, correlation: int, ts: int, cat: str = "kernel", **args: Any) -> dict[str, Any]:
    name = {"kernel": f"k{node}", "gpu_memcpy": "Memcpy", "gpu_memset": "Memset (Device)"}[cat]
    reported = {
        "device": 0, "stream": 7, "correlation": correlation, "graph id": EXEC,
        "graph node id": EXEC << 32 | node,
    }  # fmt: skip
    return {
        "ph": "X", "cat": cat, "name": name, "pid": 0, "tid": 7, "ts": ts, "dur": 2,
        "args": reported | args,
    }  # fmt: skip


def trace_of(*nodes: dict[str, Any], launches: int = 2) -> dict[str, Any]:
    """Return the trace that PyTorch's exporter writes of launches of annotated nodes."""
    events = []
    for iteration in range(launches):
        events.append(launch(iteration + 1, 1000 * iteration))
        for place, args in enumerate(nodes):
            rest = {key: value for key, value in args.items() if key != "cat"}
            cat = args.get("cat", "kernel")
            events.append(
                work(place, iteration + 1, 1000 * iteration + 10 * place + 5, cat, **rest)
            )
    return {"cudaGraphInlineAnnotated": True, "traceEvents": events}


def imported(trace: dict[str, Any], folder: Path) -> Recording:
    path = write_trace(trace, folder / "t.json")
    import_files([path], folder / "out.gviz", overwrite=True)
    return Recording(folder / "out.gviz")


def annotations_of(recording: Recording) -> list[str | None]:
    paths = recording.fetch_nvtx_paths(1)
    nodes = recording.fetch_nodes(1)
    return [None if n.nvtx_path_id is None else paths[n.nvtx_path_id].text for n in nodes]


def test_an_annotation_is_the_range_of_its_node(tmp_path: Path) -> None:
    trace = trace_of(
        {"name": "phase_a", "layer": "0", "Process Group Description": "tp"},
        {"cat": "gpu_memcpy", "name": "phase_a"},
        {"cat": "gpu_memset", "module_fqn": "layers.0.attention.wq"},
        {"str": "an early version's"},
        {},
    )
    with imported(trace, tmp_path) as got:
        assert annotations_of(got) == [
            "phase_a", "phase_a", "layers.0.attention.wq", "an early version's", None,
        ]  # fmt: skip
        paths = got.fetch_nvtx_paths(1)
        assert len(paths) == 3
        assert all(path.parent_id is None and path.domain is None for path in paths.values())
        assert got.fetch_nvtx_ranges(1) == []
        assert [x.span_count for x in got.fetch_launches(1)] == [5, 5]


def test_the_inspector_says_which_module_made_a_node(tmp_path: Path) -> None:
    imported(trace_of({"name": "layers.0.attention.wq"}, {"name": "norm"}), tmp_path).close()
    library = Library([tmp_path / "out.gviz"])
    view = graph_view(library, "out", 1)
    found = [inspected(library, "out", view, (node,)) for node in (0, 1)]
    assert ["layers.0.attention.wq" in text for text in found] == [True, False]
    assert ["norm" in text for text in found] == [False, True]


@pytest.mark.parametrize("stated", [5, None, "", ["phase"], {"name": "phase"}, True])
def test_what_is_no_text_is_no_annotation(stated: Any, tmp_path: Path) -> None:
    with imported(trace_of({"name": stated}), tmp_path) as got:
        assert annotations_of(got) == [None]


def test_work_outside_graphs_is_not_annotated(tmp_path: Path) -> None:
    trace = trace_of({"name": "phase"})
    trace["traceEvents"].append(
        work(0, 50, 5000, **{"graph id": 0, "graph node id": 0, "name": "eager"})
    )
    with imported(trace, tmp_path) as got:
        assert [path.text for path in got.fetch_nvtx_paths(1).values()] == ["phase"]
        assert len(got.fetch_run_stream_operations(1)) == 1


def test_a_range_of_the_host_with_that_name_is_the_same_range(tmp_path: Path) -> None:
    trace = trace_of({"name": "phase"})
    trace["traceEvents"].append(
        {"ph": "X", "cat": "user_annotation", "name": "phase", "pid": 9, "tid": 9, "ts": 1,
         "dur": 5, "args": {}}
    )  # fmt: skip
    with imported(trace, tmp_path) as got:
        assert len(got.fetch_nvtx_paths(1)) == 1
        (range_,) = got.fetch_nvtx_ranges(1)
        assert got.fetch_nodes(1)[0].nvtx_path_id == range_.nvtx_path_id


def test_streams_are_those_that_work_ran_on_not_lanes(tmp_path: Path) -> None:
    trace = trace_of(
        {"name": "a", "stream": 60, "original_stream": 21},
        {"name": "a", "stream": 60, "original_stream": 22},
        {"stream": 23, "annotated_stream": 60},
    )
    for event in trace["traceEvents"]:
        if event["cat"] == "kernel":
            event["tid"] = 60
    with imported(trace, tmp_path) as got:
        for launched in got.fetch_launches(1):
            assert got.fetch_spans(launched.launch_id).stream_id.tolist() == [21, 22, 23]
        (graph,) = got.fetch_graphs()
        assert len(got.fetch_edges(graph.topology_id).from_node) == 0


@pytest.mark.parametrize("is_reported", [True, False])
def test_streams_that_may_be_lanes_are_reported(is_reported: bool, tmp_path: Path) -> None:
    trace = trace_of({"name": "phase"})
    if not is_reported:
        del trace["cudaGraphInlineAnnotated"]
    with imported(trace, tmp_path) as got:
        reported = [n for n in got.fetch_notes(1) if "_annotate_cuda_graph_trace" in n.text]
        assert len(reported) == (not is_reported)


def test_node_ids_without_the_graph_are_of_the_graph_that_stands_beside_them(
    tmp_path: Path,
) -> None:
    trace = trace_of({"name": "first"}, {"name": "second"})
    for event in trace["traceEvents"]:
        if event["cat"] == "kernel":
            event["args"]["graph node id"] &= 0xFFFF_FFFF  # node 0 is 0
    with imported(trace, tmp_path) as got:
        (graph,) = got.fetch_graphs()
        assert [e.cuda_exec_id for e in got.fetch_graph_execs(graph.graph_id)] == [EXEC]
        assert [n.node_id for n in got.fetch_nodes(1)] == [0, 1]
        assert annotations_of(got) == ["first", "second"]
        assert got.fetch_run_stream_operations(1) == []


def test_a_copys_direction_may_stand_beside_its_name(tmp_path: Path) -> None:
    trace = trace_of(
        {"cat": "gpu_memcpy", "copy kind": "HtoD", "bytes": 64}, {"cat": "gpu_memcpy", "bytes": 8}
    )
    with imported(trace, tmp_path) as got:
        assert [n.copy_kind for n in got.fetch_nodes(1)] == [CopyKind.HTOD, None]


def test_annotations_beyond_those_kept_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace_columns, "MOST_RANGES", 1)
    with imported(trace_of({"name": "a"}, {"name": "b"}, launches=1), tmp_path) as got:
        assert annotations_of(got) == ["a", None]
        counted = {m.name: m.value for m in got.fetch_measurements(1)}
        assert counted["nvtx_ranges_left_out"] == 1


def test_nodes_are_summed_by_annotation(tmp_path: Path) -> None:
    with imported(trace_of({"name": "a"}, {"name": "b"}, {"name": "a"}), tmp_path) as got:
        (graph,) = got.fetch_graphs()
        subject = GraphSubject(got, graph, got.fetch_devices(1))
        found = dominance(subject)
        assert not isinstance(found, NotComputed)
        by_range = found.by_range
        assert not isinstance(by_range, NotComputed)
        assert dict(zip(by_range.name, by_range.total_ns, strict=True)) == {"a": 4000, "b": 2000}
