"""A recording that has rows in every table, and values in every column that may be without."""

from __future__ import annotations

import contextlib
import sqlite3
import zlib
from pathlib import Path

import numpy as np
from recordings import FIRST_NODE_ID, STARTED_NS, fork_join_shape, write_recording

from gviz.cuda import ElementType
from gviz.recording import rows
from gviz.recording.int_column import encode
from gviz.recording.rows import black_box, launch_costs, life, long_run, trials, values
from gviz.recording.writer import RecordingWriter

#: Two layers, by their ranges.
_SHAPE = fork_join_shape(2, 2, 1)
#: A kernel with arguments, and one that waits for it.
_NODE, _NEXT = FIRST_NODE_ID + 3, FIRST_NODE_ID + 4
_NOW_NS = STARTED_NS + 50_000_000
_BLOCK = 0x7F00_0000_0000
#: What rows of other recordings lack.
_MORE = (
    "UPDATE run SET rank = 0, git_revision = '0123abc', git_dirty = 1",
    f"UPDATE graph SET dot = x'{zlib.compress(b'digraph {}').hex()}', capture_stack_id = 1,"
    " capture_nvtx_path_id = 1",
    "UPDATE graph_exec SET device_memory_bytes = 2097152, instantiate_thread_id = 77",
    "UPDATE node SET autograd_name = 'MmBackward0', sequence_nr = 7, match_class = 1, stack_id = 1,"
    " max_blocks_per_multiprocessor = 2, occupancy_fraction = 0.5, priority = -1, cooperative = 0"
    f" WHERE node_id = {_NODE}",
    "UPDATE node SET memset_value = 0, memset_element_bytes = 4 WHERE type = 2",
    "UPDATE launch SET node_method = 'cupti'",
    "UPDATE stream_operation SET shared_mem_bytes = 0",
    "UPDATE node_statistics SET quantile_error_fraction = 0.01",
    "UPDATE nvtx_path SET domain = 'torch'",
    "UPDATE nvtx_path SET parent_id = 1 WHERE nvtx_path_id > 1",
)


def write_whole_recording(path: Path) -> Path:
    """Write a recording of one graph, whose run has all that any run may have."""
    write_recording(path, _SHAPE, launches=4, arguments=True, more=_write_more)
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.executescript(";".join(_MORE))
    return path


def _write_more(writer: RecordingWriter) -> None:
    _write_run(writer)
    _write_life(writer)
    _write_costs(writer)
    _write_trials(writer)
    _write_fault(writer)
    _write_values(writer)


def _write_run(writer: RecordingWriter) -> None:
    writer.insert(
        rows.Period(
            run_id=1, period_id=0, start_ns=STARTED_NS, end_ns=_NOW_NS,
            start_reason="attached", end_reason="left", left_to="another profiler",
        ),
        rows.GpuInterval(
            run_id=1, device_id=0, start_ns=STARTED_NS, end_ns=_NOW_NS, count=4, busy_count=3,
            sm_clock_mhz=1_500.0, sm_clock_low_mhz=1_200.0, temperature_celsius=88.0,
            power_watts=650.0, slowed_count=1, slowed_by="power limit",
        ),
        rows.Location(location_id=1, file="/home/me/train.py", line=41, function="f", source="x"),
        rows.StackFrame(stack_id=1, depth=0, location_id=1),
        rows.NodeParameter(
            graph_id=1, node_id=FIRST_NODE_ID, position=0, name="WidthInBytes", value=4_096
        ),
        rows.DeclaredParameter(
            function_id=1, declaration=1, position=0, name="x_ptr", type="*fp16", known_by="Triton"
        ),
        rows.NvtxRange(
            nvtx_range_id=1, run_id=1, nvtx_path_id=1, thread_id=4242, start_ns=STARTED_NS + 1,
            end_ns=_NOW_NS,
        ),
    )  # fmt: skip


def _write_life(writer: RecordingWriter) -> None:
    one = encode(np.array([1]))
    writer.insert(
        life.CaptureFailure(
            capture_failure_id=1, run_id=1, graph_id=1, start_ns=1, end_ns=9, mode=0, thread_id=77,
            stream_id=7, result=901, result_name="CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
            error_call="cuStreamSynchronize", error_api="cudaStreamSynchronize", error_ns=5,
            error_thread_id=77, error_stream_id=7, error_result=900,
            error_result_name="CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", stack_id=1,
            nvtx_path_id=1, rule="synchronising call", explanation="It waits.", fix="Move it out.",
        ),
        life.InstantiateFailure(
            instantiate_failure_id=1, run_id=1, graph_id=1, call="cuGraphInstantiateWithFlags",
            start_ns=30, end_ns=31, thread_id=77, flags=0, result=1, detail=2, detail_name="ERROR",
            node_id=_NODE, explanation="Refused.",
        ),
        life.GraphUpdate(
            graph_update_id=1, run_id=1, graph_exec_id=1, kind="graph", call="cuGraphExecUpdate_v2",
            node_id=None, count=1, first_ns=70, last_ns=70, total_ns=900, result=910, detail=2,
            detail_name="TOPOLOGY_CHANGED", failing_node_id=_NODE, difference="another topology",
        ),
        long_run.LaunchBin(
            graph_exec_id=1, measure="host", node_level=0, start_ns=_NOW_NS, count=1,
            total_ns=5_000, min_ns=5_000, max_ns=5_000, bucket=one, bucket_count=one,
        ),
        long_run.LaunchCost(
            graph_exec_id=1, node_level=0, count=3, gpu_median_ns=9_000.0, host_count=3,
            host_median_ns=5_000.0, method="measured: events",
        ),
    )  # fmt: skip


def _write_costs(writer: RecordingWriter) -> None:
    figures = dict.fromkeys(("median", "low", "high", "minimum", "maximum", "p99", "mean"), 4.0)
    counts = {"reading_count": 3, "outlier_count": 0, "warm_up_count": 1}
    writer.insert(
        launch_costs.CostFigure(
            cost_figure_id=1, run_id=1, experiment="launch", subject="relaunch", quantity="host",
            topology="straight line", width=1, node_count=10, parameter="attached",
            parameter_value=1.0, unit="ns", deviation=0.5, **figures, **counts,
        ),
        launch_costs.CostModel(
            cost_model_id=1, run_id=1, subject="relaunch", quantity="host",
            topology="straight line", width=1, fixed_ns=900.0, per_node_ns=20.0,
            residual_fraction=0.01, worst_fraction=-0.02, smallest_node_count=10,
            largest_node_count=100, figure_count=3,
        ),
        launch_costs.CostGap(run_id=1, experiment="traffic", reason="There was no time for it."),
    )  # fmt: skip


def _write_trials(writer: RecordingWriter) -> None:
    writer.insert(
        trials.GraphTrial(
            trial_id=1, run_id=1, graph_id=1, graph_exec_id=1, kind="implied", count=40,
            unedited_ns=400_000.0, edited_ns=390_000.0, gain_ns=10_000.0, low_ns=9_000.0,
            high_ns=11_000.0, results="equal", start_ns=_NOW_NS, held_ns=1_000_000,
            saved_bytes=4_096,
        ),
        trials.GraphTrial(
            trial_id=2, run_id=1, graph_id=1, graph_exec_id=1, kind="delay", refusal="A loop."
        ),
        trials.GraphTrialEdit(
            trial_id=1, position=0, kind="cut", graph_id=1, node_id=_NODE, to_node_id=_NEXT
        ),
        trials.GraphTrialEdit(
            trial_id=2, position=0, kind="delay", graph_id=1, node_id=_NODE, value_ns=2_000
        ),
    )  # fmt: skip


def _write_fault(writer: RecordingWriter) -> None:
    writer.insert(
        black_box.Fault(
            fault_id=1, run_id=1, kind="error", result=700, time_ns=_NOW_NS, graph_id=1,
            graph_exec_id=1, crumbs=9, crumbs_left=3, core_dump="/tmp/core", kernel="split_kernel",
            program_counter=0x7F00_1234,
        ),
        *(
            black_box.FaultNode(
                fault_id=1, position=at, role=role, graph_id=1, node_id=FIRST_NODE_ID + at
            )
            for at, role in enumerate(("last", "last", "last", "running", "next"))
        ),
        black_box.FaultAddress(
            fault_id=1, position=0, graph_id=1, node_id=_NODE, argument=0, address=_BLOCK + 512,
            state="freed", block_address=_BLOCK, block_bytes=1 << 20, freed_ns=_NOW_NS - 1_000,
        ),
    )  # fmt: skip


def _write_values(writer: RecordingWriter) -> None:
    counted = {"nan_count": 1, "infinite_count": 0, "zero_count": 2, "finite_count": 1_021}
    spread = {"least": -1.0, "greatest": 1.0, "mean": 0.1}
    writer.insert(
        values.ValueReading(
            reading_id=1, run_id=1, graph_id=1, graph_exec_id=1, results="equal", repeats="equal",
            start_ns=_NOW_NS, held_ns=2_000_000, saved_bytes=4_096, probed_bytes=8_192,
            plain_ns=400_000, probed_ns=900_000, unexplained_bytes=0, refusal="The rest is large.",
        ),
        *(
            values.NodeValue(
                reading_id=1, graph_id=1, node_id=_NODE, position=0, offset=0, start=0, side=side,
                place=0, address=_BLOCK + 512, bytes=4_096, extent="next",
                element=int(ElementType.FLOAT), hash=7, **counted, **spread,
            )
            for side in ("before", "after")
        ),
    )  # fmt: skip
