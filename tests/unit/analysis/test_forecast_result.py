"""Will a graph help: iterations of eager recordings found, and forecasts of captured ones."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest
from cost_recordings import write as write_costs
from planned_recordings import STARTED_NS, Plan, Planned, chain_edges, in_a_row
from recordings import write_loop_recording

from gviz.analysis.analysis import analyze
from gviz.analysis.launch_costs.recorded import bundled_costs
from gviz.analysis.results.forecasts import RunForecast, run_forecast
from gviz.analysis.run_subject import RunSubject
from gviz.assets import recordings as bundled
from gviz.model import launch_times
from gviz.recording import rows
from gviz.recording.reader import Recording
from gviz.recording.writer import RecordingWriter
from gviz.report.analysis.analysis_document import analysis_documents
from gviz.report.renderers.text_form import render_texts
from gviz.stats.figure_fields import NotComputed

BUNDLED = Path(next(iter(bundled.__path__)))


@dataclass(frozen=True)
class Step:
    """An iteration of an eager program: kernels called one after the other.

    The GPU does each ``wait_ns`` after its call returned, or when the one before has ended.
    ``blocks`` are its batch.
    """

    blocks: int
    kernels: int = 6
    duration_ns: int = 2_000
    call_ns: int = 5_000
    wait_ns: int = 1_000
    range: str | None = None
    kind: int = 0


def write_eager(path: Path, steps: Iterable[Step], *, calls_known: bool = True) -> Path:
    """Write a run of eager iterations, without any graph."""
    clock, number, free = STARTED_NS, 0, 0
    texts: dict[str, int] = {}
    with RecordingWriter(path) as writer:
        writer.insert(
            rows.Run(
                run_id=1, name="eager", state="completed", source="profile", collector="cupti",
                started_ns=STARTED_NS, ended_ns=STARTED_NS + 10**9, driver_version="13.0",
            ),
            rows.Device(run_id=1, device_id=0, name="NVIDIA H100 80GB HBM3"),
        )  # fmt: skip
        for at, step in enumerate(steps):
            begin = clock
            for kernel in range(step.kernels):
                number += 1
                called, clock = clock, clock + step.call_ns
                start = max(clock + step.wait_ns, free)
                free = start + step.duration_ns
                grid = {} if step.kind else {"grid_x": step.blocks, "grid_y": 1, "grid_z": 1}
                calls = {"host_start_ns": called, "host_end_ns": clock} if calls_known else {}
                writer.insert(
                    rows.StreamOperation(
                        operation_id=number, run_id=1, type=step.kind, name=f"kernel {kernel}",
                        start_ns=start, duration_ns=step.duration_ns, stream_id=7,
                        device_id=0, correlation_id=number, thread_id=1, **grid, **calls,
                    )
                )  # fmt: skip
            if step.range is not None:
                if step.range not in texts:
                    texts[step.range] = len(texts) + 1
                    writer.insert(
                        rows.NvtxPath(
                            nvtx_path_id=texts[step.range], run_id=1, parent_id=None, domain=None,
                            text=step.range,
                        )
                    )  # fmt: skip
                writer.insert(
                    rows.NvtxRange(
                        nvtx_range_id=at + 1, run_id=1, nvtx_path_id=texts[step.range], thread_id=1,
                        start_ns=begin - 10, end_ns=clock + 10,
                    )
                )  # fmt: skip
            clock = max(clock, free) + 50_000
        if texts:  # a range around all of them, opened long before
            around = len(texts) + 1
            writer.insert(
                rows.NvtxPath(
                    nvtx_path_id=around, run_id=1, parent_id=None, domain=None, text="training"
                ),
                rows.NvtxRange(
                    nvtx_range_id=10**6, run_id=1, nvtx_path_id=around, thread_id=1,
                    start_ns=STARTED_NS - 10**9, end_ns=clock,
                ),
            )  # fmt: skip
    return path


def forecast(path: Path, costs: Path | None = None) -> RunForecast | NotComputed:
    with Recording(path) as recording:
        return run_forecast(
            RunSubject(recording, recording.fetch_runs()[0], costs_path=costs)
        )  # fmt: skip


def test_each_batch_size_has_a_forecast_of_its_own(tmp_path: Path) -> None:
    sizes = (1, 4, 16)
    steps = [
        Step(batch * 8, duration_ns=2_000 * batch, range=f"batch {batch}")
        for batch in sizes for _ in range(4)
    ]  # fmt: skip
    found = forecast(write_eager(tmp_path / "x.gviz", steps))
    assert isinstance(found, RunForecast)
    assert [p.range for p in found.passes] == ["batch 1", "batch 4", "batch 16"]
    assert [p.block_count for p in found.passes] == [48, 192, 768]
    assert {(p.pass_count, p.operation_count, p.graph_id) for p in found.passes} == {(4, 6, None)}
    assert found.left_over_count == 0
    # Kernels start every 5 us and take 2: the gaps close. Of 32 us each they leave none.
    small, _, large = found.passes
    assert small.stream_ns == 27_000
    assert small.busy_ns == 12_000
    assert small.graph_ns == pytest.approx(12_000 + 5 * small.gap_ns)
    assert small.stream_host_ns == 30_000
    assert large.stream_ns == large.busy_ns == 6 * 32_000
    assert large.gain == 1.0
    gains = [p.gain for p in found.passes]
    assert gains == sorted(gains, reverse=True)
    assert {p.measured_graph_ns for p in found.passes} == {None}


def test_without_ranges_sizes_are_reported_by_their_blocks(tmp_path: Path) -> None:
    steps = [Step(batch) for batch in (8, 32) for _ in range(3)]
    path = write_eager(tmp_path / "x.gviz", steps)
    with Recording(path) as recording:
        text = render_texts(analysis_documents(analyze(recording)), 100)
    assert "3 of 48 blocks" in text
    assert "3 of 192 blocks" in text
    assert "There is no graph in what was recorded" in text


def test_iterations_without_times_of_calls_have_no_host_time(tmp_path: Path) -> None:
    found = forecast(write_eager(tmp_path / "x.gviz", [Step(8)] * 3, calls_known=False))
    assert isinstance(found, RunForecast)
    (one,) = found.passes
    assert (one.pass_count, one.stream_host_ns, one.range) == (3, None, None)


def test_copies_alone_are_no_iteration(tmp_path: Path) -> None:
    found = forecast(write_eager(tmp_path / "x.gviz", [Step(0, kind=1)] * 5))
    assert isinstance(found, NotComputed)
    assert "no kernels among 30 operations" in found.not_computed


def test_a_few_operations_that_repeat_by_chance_are_no_iteration(tmp_path: Path) -> None:
    found = forecast(write_eager(tmp_path / "x.gviz", [Step(8, kernels=2)] * 3))
    assert isinstance(found, NotComputed)
    found = forecast(write_eager(tmp_path / "y.gviz", [Step(8, kernels=2)] * 4))
    assert isinstance(found, RunForecast)


def test_what_does_not_repeat_is_reported(tmp_path: Path) -> None:
    found = forecast(write_eager(tmp_path / "x.gviz", [Step(8)]))
    assert isinstance(found, NotComputed)
    assert "no iteration to capture" in found.not_computed
    found = forecast(write_loop_recording(tmp_path / "y.gviz"))
    assert isinstance(found, NotComputed)
    assert "no operation outside graphs" in found.not_computed


def test_costs_without_device_times_are_reported(tmp_path: Path) -> None:
    path = write_eager(tmp_path / "x.gviz", [Step(8)] * 3)
    found = forecast(path, write_costs(tmp_path / "c.gviz"))
    assert isinstance(found, NotComputed)
    assert "lack the device time" in found.not_computed


def test_captured_iterations_show_the_error_of_their_forecast(tmp_path: Path) -> None:
    nodes = in_a_row(*(Planned(f"k{i}", 0, 5_000) for i in range(6)))
    plan = Plan(nodes, chain_edges(6), eager_iterations=3, stream_call_ns=9_000)
    found = forecast(plan.write(tmp_path / "x.gviz"))
    assert isinstance(found, RunForecast)
    (one,) = found.passes
    assert one.graph_id == 1
    assert one.stream_ns == 5 * 9_000 + 5_000
    assert one.measured_graph_ns == 6 * 5_000 + 5 * 400
    assert one.error_fraction == pytest.approx((30_000 + 5 * one.gap_ns) / 32_000 - 1)


def test_forecast_is_held_against_plain_launches_where_copies_timed_the_nodes(
    tmp_path: Path,
) -> None:
    nodes = in_a_row(*(Planned(f"k{i}", 0, 5_000) for i in range(6)))
    plan = Plan(nodes, chain_edges(6), eager_iterations=3, launch={"node_method": "events"})
    path = plan.write(tmp_path / "x.gviz")
    found = forecast(path)
    assert isinstance(found, RunForecast)
    with Recording(path) as recording:
        plain_ns = launch_times(recording, 1).median_ns
    assert found.passes[0].measured_graph_ns == plain_ns != 6 * 5_000 + 5 * 400


def test_waiting_of_ranks_is_left_out_of_their_forecasts() -> None:
    with Recording(BUNDLED / "ranks_h200.gviz") as recording:
        found = [
            run_forecast(RunSubject(recording, run, costs_path=bundled_costs()))
            for run in recording.fetch_runs()
        ]
    for one, waited_ns, error in zip(found, (1.07e6, 3e3), (-0.227, -0.137), strict=True):
        assert isinstance(one, RunForecast)
        (passes,) = one.passes
        assert passes.collective_count == 8
        # Rank 0 waits in its eager iterations, rank 1 does not; a graph's waiting is in its time.
        assert passes.collective_wait_ns == pytest.approx(waited_ns, rel=0.1)
        assert passes.error_fraction == pytest.approx(error, abs=0.01)


@pytest.mark.parametrize(
    ("name", "error"), [("cupy_pipeline", -0.07), ("decode_step", -0.04), ("training_step", -0.06)]
)
def test_bundled_programs_were_forecast_within_a_tenth(name: str, error: float) -> None:
    """docs/bench.md has the table."""
    found = forecast(BUNDLED / f"{name}.gviz", bundled_costs())
    assert isinstance(found, RunForecast)
    assert found.passes[0].error_fraction == pytest.approx(error, abs=0.005)
