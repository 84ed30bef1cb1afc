"""The process that samples GPUs, with a fake management library."""

from __future__ import annotations

import errno
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from fake.build import Fakes

from gviz.spool.processes import gpu_sampler
from gviz.spool.processes.gpu_sampler import GpuSampler
from gviz.spool.records import GPU_STATES, DeviceRecord
from gviz.spool.streams import Contents

GPU = "0000:01:00.0"
#: The process with short periods and a short deadline.
_QUICK = (
    "import sys; from gviz.spool.processes import gpu_states as g; "
    "g._PERIODS = ((float('inf'), 0.001),); g._DEADLINE_S = 0.3; sys.exit(g.main())"
)


def sampled(fakes: Fakes, folder: Path, way: str, lines: int, **variables: str) -> list[Any]:
    """Return the first lines that the process writes, and all where it ends before."""
    path = folder / "states"
    environment = {**fakes.environment(), "FAKE_NVML": way, **variables}
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", _QUICK, str(path)], stdin=subprocess.PIPE, env=environment
    )
    assert process.stdin is not None
    process.stdin.write(f"{GPU}\n".encode())
    process.stdin.flush()
    until = time.monotonic() + 30
    found: list[str] = []
    while len(found) < lines and time.monotonic() < until:
        is_over = process.poll() is not None
        found = path.read_text().splitlines() if path.exists() else []
        if is_over:
            break
        time.sleep(0.005)
    process.stdin.close()
    assert process.wait(10) in (0, 1)
    return [json.loads(line) for line in found]


def test_clock_temperature_and_reasons_are_sampled(fakes: Fakes, tmp_path: Path) -> None:
    found = sampled(fakes, tmp_path, "throttled", 3)
    first, last = found[0], found[2]
    assert (first["gpu"], first["busy_percent"], first["sm_clock_max_mhz"]) == (GPU, 80, 1980)
    assert (first["sm_clock_mhz"], first["temperature_celsius"], first["slowed_by"]) == (
        1980, 60, [],
    )  # fmt: skip
    assert (last["sm_clock_mhz"], last["temperature_celsius"]) == (1200, 90)
    assert last["slowed_by"] == ["thermal slowdown"]
    assert first["power_watts"] is None  # this GPU does not report it
    assert first["time_ns"] < last["time_ns"] <= time.time_ns()


@pytest.mark.parametrize(
    ("way", "why"), [("forbidden", "Insufficient Permissions"), ("refused", "Driver Not Loaded")]
)
def test_a_gpu_that_may_not_be_sampled_is_said_once(
    fakes: Fakes, tmp_path: Path, way: str, why: str
) -> None:
    (line,) = sampled(fakes, tmp_path, way, 1)
    assert (line["gpu"], line["failure"]) == (GPU, why)


def test_a_missing_library_is_said(fakes: Fakes, tmp_path: Path) -> None:
    (line,) = sampled(fakes, tmp_path, "", 1, LD_LIBRARY_PATH="/nowhere")
    assert "libnvidia-ml.so.1 cannot be loaded" in line["failure"]


def test_a_gpu_that_is_lost_keeps_its_samples(fakes: Fakes, tmp_path: Path) -> None:
    first, second, lost = sampled(fakes, tmp_path, "lost", 3)
    assert first["sm_clock_mhz"] == second["sm_clock_mhz"] == 1980
    assert lost["failure"] == "GPU is lost"


def test_a_library_that_does_not_answer_ends_the_process(fakes: Fakes, tmp_path: Path) -> None:
    *before, last = sampled(fakes, tmp_path, "hang", 4)
    assert len(before) == 2
    assert "did not answer within 0.3 s" in last["failure"]


def test_the_sampler_begins_with_the_first_gpu_and_ends_at_once(
    fakes: Fakes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LD_LIBRARY_PATH", "GVIZ_CUPTI"):
        monkeypatch.setenv(name, fakes.environment()[name])
    path = tmp_path / GPU_STATES
    with GpuSampler(tmp_path) as sampler:
        sampler.watch(Contents())
        assert sampler._process is None
        sampler.watch(_contents())
        sampler.watch(_contents())
        until = time.monotonic() + 30
        while not (path.exists() and path.stat().st_size) and time.monotonic() < until:
            time.sleep(0.005)
        process = sampler._process
    assert process is not None
    assert process.returncode is not None
    assert {json.loads(line)["gpu"] for line in path.read_text().splitlines()} == {GPU}


def _contents() -> Contents:
    contents = Contents()
    contents.devices.append(DeviceRecord(0, 9, 0, 132, 2048, 1, GPU.encode().ljust(32, b"\0")))
    return contents


def test_why_the_sampler_does_not_begin_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr(subprocess, "Popen", fail)
    with GpuSampler(tmp_path) as sampler:
        sampler.watch(_contents())
        sampler.watch(_contents())
    (line,) = (tmp_path / GPU_STATES).read_text().splitlines()
    assert "(Resource temporarily unavailable)" in json.loads(line)["failure"]


def test_a_sampler_that_ends_without_a_word_is_said_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends = [sys.executable, "-I", "-S", "-c", "raise SystemExit(3)"]
    monkeypatch.setattr(gpu_sampler, "own_command", lambda *_: ends)
    with GpuSampler(tmp_path) as sampler:
        sampler.watch(_contents())
        assert sampler._process is not None
        sampler._process.wait(30)
        sampler.watch(_contents())
        sampler.watch(_contents())
    (line,) = (tmp_path / GPU_STATES).read_text().splitlines()
    assert "ended with code 3" in json.loads(line)["failure"]
