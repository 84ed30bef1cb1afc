"""Samples of GPUs as rows: whose, when, in how many intervals, and what cannot be read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gviz.spool.folding.run import fold_gpu_states
from gviz.spool.folding.run.gpu_states import MOST_INTERVALS, FoldedGpuStates
from gviz.spool.records import GPU_STATES, DeviceRecord
from gviz.spool.streams import Contents

GPU, OTHER = "0000:01:00.0", "0000:02:00.0"


def sample(time_ns: int, gpu: str = GPU, **values: Any) -> dict[str, Any]:
    state = {"busy_percent": 50, "sm_clock_mhz": 1980, "temperature_celsius": 60, "slowed_by": []}
    return {"gpu": gpu, "time_ns": time_ns, **state, **values}


def folded(
    folder: Path, *lines: dict[str, Any] | str, spool: str = "", ended_ns: int = 1_000
) -> FoldedGpuStates:
    """Return what becomes of a job's lines, in a process that ran from 10 ns on."""
    job = folder / "a.gviz-spool"
    job.mkdir()
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    (job / GPU_STATES).write_text("".join(f"{text}\n" for text in texts))
    contents = Contents()
    contents.metadata["started_ns"] = 10
    contents.counters.append(("ended_ns", ended_ns, "ns", ""))
    contents.devices.append(DeviceRecord(3, 9, 0, 132, 2048, 1, GPU.encode().ljust(32, b"\0")))
    return fold_gpu_states(contents, job / spool, 1)


def test_samples_are_those_of_the_process_and_its_gpu(tmp_path: Path) -> None:
    lines = (sample(9), sample(20), sample(21, OTHER), sample(30), sample(1_001))
    found = folded(tmp_path, *lines, spool="17-2")
    assert [(row.device_id, row.start_ns, row.count) for row in found.rows] == [
        (3, 20, 1), (3, 30, 1),
    ]  # fmt: skip
    measured = found.measurement()
    assert measured is not None
    assert measured[:2] == (2.0, "samples")


def test_many_samples_share_rows(tmp_path: Path) -> None:
    lines = [sample(10 + at, sm_clock_mhz=1000 + at % 2) for at in range(5 * MOST_INTERVALS)]
    found = folded(tmp_path, *lines)
    assert len(found.rows) == MOST_INTERVALS
    assert sum(row.count for row in found.rows) == 5 * MOST_INTERVALS
    first = found.rows[0]
    assert (first.sm_clock_mhz, first.sm_clock_low_mhz) == (1000, 1000)


def test_clocks_are_those_of_busy_samples(tmp_path: Path) -> None:
    idle = [sample(10 + at, busy_percent=0, sm_clock_mhz=345) for at in range(MOST_INTERVALS)]
    busy = [sample(200 + at, sm_clock_mhz=1500) for at in range(MOST_INTERVALS)]
    mixed = [line for pair in zip(idle, busy, strict=True) for line in pair]
    for at, line in enumerate(mixed):
        line["time_ns"] = 20 + at
    found = folded(tmp_path, *mixed)
    assert {row.sm_clock_mhz for row in found.rows} == {1500}
    assert {row.busy_count for row in found.rows} == {1}


def test_a_lowered_clock_is_a_warning(tmp_path: Path) -> None:
    slow = [sample(30 + at, sm_clock_mhz=1200, slowed_by=["power limit"]) for at in range(3)]
    ((kind, text),) = folded(tmp_path, sample(20), *slow).notes
    assert kind == "warning"
    assert "GPU 3 ran at 1,200 MHz to 1,980 MHz, its clock lowered in 75.0%" in text


def test_lines_that_are_cut_or_wrong_are_left_out(tmp_path: Path) -> None:
    bad = ['{"gpu": "0000:01', "[]", '{"gpu": null}', '{"time_ns": "x"}']
    wrong = sample(40, sm_clock_mhz="fast", temperature_celsius=-4, slowed_by=7)
    found = folded(tmp_path, *bad, sample(20), wrong)
    assert [row.sm_clock_mhz for row in found.rows] == [1980, None]
    assert found.rows[1].temperature_celsius is None
    assert found.notes == []


def test_why_there_are_no_samples_is_said(tmp_path: Path) -> None:
    found = folded(tmp_path, {"gpu": GPU, "time_ns": 20, "failure": "GPU is lost"})
    assert found.measurement() == (None, "samples", "not measured: GPU 3: GPU is lost")


def test_a_run_without_a_sample_says_so(tmp_path: Path) -> None:
    measured = folded(tmp_path).measurement()
    assert measured is not None
    assert measured[0] is None
    assert "no sample was taken" in measured[2]


def test_a_spool_beside_which_nobody_sampled_says_nothing(tmp_path: Path) -> None:
    assert fold_gpu_states(Contents(), tmp_path, 1).measurement() is None
