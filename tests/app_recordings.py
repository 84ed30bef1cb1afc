"""Recordings with what the pages must show: stacks, arguments, an aborted run, an import."""

from __future__ import annotations

import struct
from pathlib import Path

from gviz.app.views.graph_data import GraphView
from gviz.cuda.node_type import CopyKind, NodeType, not_timed_reason
from gviz.recording import rows
from gviz.recording.writer import RecordingWriter

ALLOCATION = 0x7F00_0000_0000
OWN_LINE = "y = torch.nn.functional.silu(x @ w)"


def write_detailed_recording(path: Path) -> Path:
    """Write one run that was aborted, with a kernel (node 11) and a copy (node 12)."""
    with RecordingWriter(path) as writer:
        writer.insert(
            rows.Run(
                run_id=1,
                name="train <b>.py",
                state="aborted",
                source="run",
                started_ns=1_790_000_000_000_000_000,
                collector="cupti",
                collector_reason="CUPTI 13.0 was free",
            ),
            rows.Device(run_id=1, device_id=0, name="NVIDIA H100 80GB HBM3"),
            rows.Device(run_id=1, device_id=1, name="NVIDIA H100 80GB HBM3"),
            rows.Note(note_id=1, run_id=1, kind="warning", text="The process was killed."),
            rows.Measurement(
                run_id=1,
                name="launch_event_cost_ns",
                value=1530.0,
                unit="ns",
                method="measured: two launches with and without events",
            ),
            rows.Topology(topology_id=1, hash="0" * 64, node_count=2, edge_count=1),
            rows.Graph(graph_id=1, run_id=1, name="step", origin="capture", topology_id=1),
            rows.Edge(topology_id=1, from_node=11, to_node=12, type=0, from_port=0, to_port=0),
            rows.KernelFunction(
                function_id=1,
                run_id=1,
                mangled_name="_Z4siluPf",
                name="void silu<float>(float*, int, float)",
                registers=32,
                static_shared_mem_bytes=1024,
                local_mem_bytes=0,
            ),
        )
        _insert_origin(writer)
        _insert_nodes(writer)
    return path


def _insert_origin(writer: RecordingWriter) -> None:
    frames = (
        ("/venv/lib/python3.11/site-packages/torch/nn/functional.py", 2371, "silu", "return _C()"),
        ("/home/user/train.py", 41, "Block.forward", "    " + OWN_LINE),
        ("/home/user/train.py", 97, "<module>", None),
    )
    for depth, (file, line, function, source) in enumerate(frames):
        writer.insert(
            rows.Location(
                location_id=depth + 1, file=file, line=line, function=function, source=source
            ),
            rows.StackFrame(stack_id=1, depth=depth, location_id=depth + 1),
        )
    writer.insert(
        rows.NvtxPath(nvtx_path_id=1, run_id=1, parent_id=None, domain=None, text="step"),
        rows.NvtxPath(nvtx_path_id=2, run_id=1, parent_id=1, domain=None, text="layer 3"),
    )


def _insert_nodes(writer: RecordingWriter) -> None:
    writer.insert(
        rows.Node(
            graph_id=1,
            node_id=11,
            exec_node_id=11,
            type=0,
            name="silu",
            function_id=1,
            device_id=0,
            grid_x=64,
            grid_y=2,
            grid_z=1,
            block_x=128,
            block_y=1,
            block_z=1,
            shared_mem_bytes=2048,
            occupancy_fraction=0.75,
            priority=-1,
            capture_stream_id=13,
            stack_id=1,
            nvtx_path_id=2,
        ),
        rows.Node(
            graph_id=1,
            node_id=12,
            exec_node_id=12,
            type=1,
            name="MEMCPY DtoH",
            copy_kind=int(CopyKind.DTOH),
            bytes=4096,
            source_address=ALLOCATION,
            destination_address=0x5500_0000_1000,
            stack_reason="created without Python",
        ),
    )
    values = (struct.pack("<Q", ALLOCATION + 512), struct.pack("<i", 4096), struct.pack("<f", 0.5))
    for position, value in enumerate(values):
        pointer = position == 0
        writer.insert(
            rows.Argument(
                graph_id=1,
                node_id=11,
                position=position,
                size_bytes=len(value),
                value=value,
                allocation_address=ALLOCATION if pointer else None,
                allocation_bytes=1 << 20 if pointer else None,
            )
        )


def write_imported_recording(path: Path) -> Path:
    """Write what an import of a DOT dump makes: a graph without times, edges known."""
    with RecordingWriter(path) as writer:
        writer.insert(
            rows.Run(
                run_id=1, name="dump.dot", state="completed", source="import", collector="dot"
            ),
            rows.Topology(topology_id=1, hash="0" * 64, node_count=2, edge_count=1),
            rows.Graph(graph_id=1, run_id=1, name="dump", origin="dot", topology_id=1),
            rows.Edge(topology_id=1, from_node=1, to_node=2, type=0, from_port=0, to_port=0),
            rows.Node(graph_id=1, node_id=1, exec_node_id=None, type=0, name="kernel"),
            rows.Node(
                graph_id=1,
                node_id=2,
                exec_node_id=None,
                type=int(NodeType.HOST),
                name="HOST",
                not_timed_reason=not_timed_reason(NodeType.HOST),
            ),
            rows.Graph(graph_id=2, run_id=1, name="nothing", origin="dot"),
        )
    return path


def measured(view: GraphView) -> dict[int, rows.NodeStatistics]:
    """Return the statistics of the nodes of a view's level that have some, by node id."""
    found = ((node.node_id, view.statistics_of(node)) for node in view.nodes.values())
    return {node_id: times for node_id, times in found if times is not None}
