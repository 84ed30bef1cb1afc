"""Recordings that lack what others have: launches, times, edges, graphs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from recordings import STARTED_NS

from gviz.recording import rows
from gviz.recording.writer import RecordingWriter


def _run(writer: RecordingWriter, name: str, **differing: object) -> None:
    given: dict[str, object] = {
        "run_id": 1,
        "name": name,
        "state": "completed",
        "source": "run",
        "started_ns": STARTED_NS,
        "ended_ns": STARTED_NS + 2_000_000_000,
        "collector": "cupti",
    }
    writer.insert(rows.Run(**given | differing))  # type: ignore[arg-type]
    writer.insert(rows.Device(run_id=1, device_id=0, name="NVIDIA H100 80GB HBM3"))


def _graph(writer: RecordingWriter, nodes: int, *, edges: bool = True) -> None:
    if edges:
        writer.insert(
            rows.Topology(topology_id=1, hash="0" * 64, node_count=nodes, edge_count=nodes - 1)
        )
        for node in range(1, nodes):
            writer.insert(
                rows.Edge(
                    topology_id=1, from_node=node, to_node=node + 1, type=0, from_port=0, to_port=0
                )
            )
    writer.insert(
        rows.Graph(
            graph_id=1,
            run_id=1,
            name="the graph",
            origin="capture" if edges else "late",
            topology_id=1 if edges else None,
        )
    )
    for node in range(1, nodes + 1):
        writer.insert(
            rows.Node(graph_id=1, node_id=node, exec_node_id=node, type=0, name=f"kernel_{node}")
        )


def _launches(writer: RecordingWriter, count: int, *, nodes: int) -> None:
    """Insert launches with node times, or without any where ``nodes`` is 0."""
    writer.insert(
        rows.GraphExec(graph_exec_id=1, run_id=1, graph_id=1, cuda_exec_id=4, launch_count=count)
    )
    for i in range(count):
        start = STARTED_NS + 1_000_000 * (i + 1)
        writer.insert(
            rows.Launch(
                launch_id=i + 1,
                run_id=1,
                graph_id=1,
                graph_exec_id=1,
                side="graph",
                ordinal=i,
                host_start_ns=start,
                host_end_ns=start + 5_000,
                node_level=int(bool(nodes)),
                gpu_start_ns=start + 8_000 if nodes else None,
                gpu_end_ns=start + 8_000 + 3_000 * nodes if nodes else None,
                span_count=nodes,
            )
        )
        for node in range(1, nodes + 1):
            writer.insert_tuples(rows.Span, [(i + 1, 1, node, 0, 3_000 * (node - 1), 2_500, 7)])
    for node in range(1, nodes + 1):
        writer.insert(
            rows.NodeStatistics(
                graph_id=1,
                node_id=node,
                count=count,
                total_ns=2_500 * count,
                median_ns=2_500.0,
                p5_ns=2_500.0,
                p95_ns=2_500.0,
                min_ns=2_500,
                max_ns=2_500,
                mad_ns=0.0,
                start_median_ns=3_000.0 * (node - 1),
            )
        )


def write_no_launches(path: Path) -> Path:
    """Write a graph that was instantiated and never launched."""
    with RecordingWriter(path) as writer:
        _run(writer, "never launched")
        _graph(writer, 3)
    return path


def write_no_times(path: Path) -> Path:
    """Write a graph that was launched, but not one launch node by node."""
    with RecordingWriter(path) as writer:
        _run(writer, "no node times")
        _graph(writer, 3)
        _launches(writer, 4, nodes=0)
    return path


def write_no_edges(path: Path) -> Path:
    """Write a graph that was instantiated before gviz attached: known from its records only."""
    with RecordingWriter(path) as writer:
        _run(writer, "attached late")
        _graph(writer, 3, edges=False)
        _launches(writer, 2, nodes=3)
    return path


def write_one_node(path: Path) -> Path:
    """Write a graph of one kernel, launched once."""
    with RecordingWriter(path) as writer:
        _run(writer, "one node")
        _graph(writer, 1)
        _launches(writer, 1, nodes=1)
    return path


def write_only_stream(path: Path) -> Path:
    """Write a program that used streams and no graph."""
    with RecordingWriter(path) as writer:
        _run(writer, "streams only")
        for i in range(1, 6):
            writer.insert(
                rows.StreamOperation(
                    operation_id=i,
                    run_id=1,
                    type=0,
                    name="kernel",
                    start_ns=STARTED_NS + 10_000 * i,
                    duration_ns=4_000,
                    stream_id=7,
                    device_id=0,
                    correlation_id=i,
                )
            )
    return path


def write_nothing(path: Path) -> Path:
    """Write a program that was killed before it did anything on a GPU."""
    with RecordingWriter(path) as writer:
        _run(writer, "nothing", state="aborted", ended_ns=None)
        writer.insert(
            rows.Note(
                note_id=1, run_id=1, kind="information", text="the program did not initialise CUDA"
            )
        )
    return path


def write_no_runs(path: Path) -> Path:
    """Write a recording without a run."""
    with RecordingWriter(path):
        pass
    return path


#: By the file's name: who writes it.
BARE: dict[str, Callable[[Path], Path]] = {
    "no_launches": write_no_launches,
    "no_times": write_no_times,
    "no_edges": write_no_edges,
    "one_node": write_one_node,
    "only_stream": write_only_stream,
    "nothing": write_nothing,
    "no_runs": write_no_runs,
}
