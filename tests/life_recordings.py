"""A recording of graphs' lives: a capture that broke, a refused instantiation, updates."""

from __future__ import annotations

from pathlib import Path

from gviz.recording import rows
from gviz.recording.writer import RecordingWriter

LIBRARY_LINE = "torch._C._cuda_synchronize()"
OWN_LINE = "loss = step(x).item()"


def write_life_recording(path: Path) -> Path:
    """Write one run: graph 1 with two executables, graph 2 a failed capture of one node."""
    with RecordingWriter(path) as writer:
        writer.insert(
            rows.Run(run_id=1, name="train.py", state="completed", source="run"),
            rows.Topology(topology_id=1, hash="0" * 64, node_count=1, edge_count=0),
            rows.Graph(
                graph_id=1, run_id=1, name="step", origin="capture", topology_id=1,
                capture_start_ns=100, capture_end_ns=5_100, capture_mode=1, capture_thread_id=77,
                capture_stream_id=13, destroyed_ns=9_000,
            ),
            rows.Graph(graph_id=2, run_id=1, name="failed capture", origin="failed capture"),
            rows.Node(graph_id=1, node_id=0, exec_node_id=0, type=0, name="gemm"),
            rows.Node(graph_id=2, node_id=0, exec_node_id=None, type=0, name="gemm"),
        )  # fmt: skip
        for number, earlier in ((1, None), (2, 1)):
            writer.insert(
                rows.GraphExec(
                    graph_exec_id=number, run_id=1, graph_id=1, cuda_exec_id=10 + number,
                    instantiate_start_ns=6_000, instantiate_end_ns=8_000, flags=0, launch_count=2,
                    destroyed_ns=None if number == 2 else 9_500, device_memory_bytes=2 << 20,
                    could_update_graph_exec_id=earlier,
                ),
                *(
                    rows.Launch(
                        launch_id=2 * number + i, run_id=1, graph_id=1, graph_exec_id=number,
                        side="graph", ordinal=2 * number + i - 2, host_start_ns=10_000,
                        host_end_ns=10_000 + (700 if i == 0 else 300),
                    )
                    for i in range(2)
                ),
            )  # fmt: skip
        _insert_failures(writer)
        _insert_updates(writer)
    return path


def _insert_failures(writer: RecordingWriter) -> None:
    frames = (
        ("/venv/lib/python3.12/site-packages/torch/cuda/__init__.py", 1040, LIBRARY_LINE),
        ("/home/user/train.py", 41, "    " + OWN_LINE),
    )
    for depth, (file, line, source) in enumerate(frames):
        writer.insert(
            rows.StackFrame(stack_id=1, depth=depth, location_id=depth + 1),
            rows.Location(
                location_id=depth + 1, file=file, line=line, function="main", source=source
            ),
        )
    writer.insert(
        rows.CaptureFailure(
            capture_failure_id=1, run_id=1, graph_id=2, start_ns=1, end_ns=9, mode=0, thread_id=77,
            result=901, result_name="CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
            error_call="cuStreamSynchronize", error_api="cudaStreamSynchronize", error_result=900,
            error_result_name="CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", stack_id=1,
            rule="synchronising call", explanation="It waits.", fix="Move it out.",
        ),
        rows.CaptureFailure(
            capture_failure_id=2, run_id=1, graph_id=None, start_ns=20, mode=2, thread_id=78,
            rule="never ended", explanation="It was never ended.", fix="End it.",
            stack_reason="the interpreter was shutting down",
        ),
        rows.InstantiateFailure(
            instantiate_failure_id=1, run_id=1, graph_id=None, call="cuGraphInstantiateWithFlags",
            start_ns=30, end_ns=31, thread_id=77, flags=0, result=2,
            explanation="Refused: out of device memory.",
        ),
    )  # fmt: skip


def _insert_updates(writer: RecordingWriter) -> None:
    writer.insert(
        rows.GraphUpdate(
            graph_update_id=1, run_id=1, graph_exec_id=2, kind="node", node_id=0,
            call="cuGraphExecKernelNodeSetParams_v2", count=2954, first_ns=50, last_ns=60,
            total_ns=2954 * 500, result=0,
        ),
        rows.GraphUpdate(
            graph_update_id=2, run_id=1, graph_exec_id=2, kind="graph", node_id=None,
            call="cuGraphExecUpdate_v2", count=1, first_ns=70, last_ns=70, total_ns=900,
            result=910, detail=2, detail_name="TOPOLOGY_CHANGED",
            difference="the new graph has 2 nodes, the executable 1 (TOPOLOGY_CHANGED)",
        ),
    )  # fmt: skip
