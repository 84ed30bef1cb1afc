"""gviz bench: what it measures, keeps and says, on the fake driver and on a real GPU."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from contract.backend import Backend

from gviz.analysis.launch_costs.lookup import Figures
from gviz.analysis.launch_costs.recorded import read_figures, read_lines
from gviz.recording.reader import Recording

_TIMEOUT_S = 120

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture(scope="module")
def start(backend: Backend, tmp_path_factory: pytest.TempPathFactory) -> Start:
    """Start gviz bench in a folder, with a user's folder of its own."""

    def begin(folder: Path, *options: str) -> subprocess.Popen[str]:
        environment = {**backend.environment, "XDG_DATA_HOME": str(folder / "data")}
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "gviz", "bench", *options],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return begin


@pytest.fixture(scope="module")
def bench(start: Start, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, object]]:
    """The folder of one quick bench, and what it printed as JSON."""
    folder = tmp_path_factory.mktemp("bench")
    child = start(folder, "--quick", "--json")
    output, errors = child.communicate(timeout=_TIMEOUT_S)
    assert child.returncode == 0, errors
    assert "look at it with: gviz view bench.gviz" in errors
    return folder, json.loads(output)


def figures_of(folder: Path) -> Figures:
    with Recording(folder / "bench.gviz") as recording:
        return Figures(read_figures(recording, 1))


def test_every_experiment_has_figures_or_says_why_not(
    bench: tuple[Path, dict[str, object]], backend: Backend
) -> None:
    folder, printed = bench
    found = {figure.experiment for figure in figures_of(folder).all}
    with Recording(folder / "bench.gviz") as recording:
        missing = {gap.experiment.partition(":")[0] for gap in recording.fetch_cost_gaps(1)}
    expected = {"launch", "second_stream", "life", "loop", "kernel_time", "idle", "node_kinds"}
    expected |= {"threads", "jitter", "device_launch", "traffic", "batch"}
    assert found | missing >= expected
    assert found >= expected - {"device_launch", "traffic", "batch"}
    assert next(iter(printed)) == "bench_version"
    assert len(printed["figures"]) == len(figures_of(folder).all)  # type: ignore[arg-type]
    if backend.is_real:
        assert "device_launch" in found


def test_figures_hold_together(bench: tuple[Path, dict[str, object]], backend: Backend) -> None:
    found = figures_of(bench[0])
    for figure in found.all:
        assert figure.minimum <= figure.low <= figure.median <= figure.high <= figure.maximum
        assert figure.reading_count > 0
        assert figure.outlier_count < figure.reading_count
    for nodes in found.node_counts("launch", "relaunch", "device"):
        relaunch = found.one("launch", "relaunch", "device", nodes)
        stream = found.one("launch", "stream", "finish", nodes)
        assert relaunch is not None
        assert stream is not None
        assert relaunch.median < 1.2 * stream.median
    for nodes in found.node_counts("life", "update", "host"):
        changed, same = (
            found.one("life", s, "host", nodes) for s in ("update", "update, same arguments")
        )
        assert changed is not None
        assert same is not None
        # A driver that copies nothing where nothing changed.
        assert not backend.is_real or nodes < 100 or changed.median > 2 * same.median
    if backend.is_real:  # what graphs are for
        long = max(found.node_counts("launch", "relaunch", "host"))
        stream, relaunch = (found.one("launch", s, "host", long) for s in ("stream", "relaunch"))
        assert relaunch is not None
        assert stream is not None
        assert relaunch.median < stream.median / 20


def test_lines_are_kept_with_the_recording(bench: tuple[Path, dict[str, object]]) -> None:
    with Recording(bench[0] / "bench.gviz") as recording:
        lines = read_lines(recording, 1)
        (run,) = recording.fetch_runs()
        (device,) = recording.fetch_devices(1)
    assert (run.source, run.state) == ("bench", "completed")
    assert run.driver_version
    assert device.multiprocessor_count
    wanted = {("stream", "host"), ("first", "host"), ("relaunch", "host"), ("relaunch", "device")}
    straight = {(x.subject, x.quantity) for x in lines if x.topology == "straight line"}
    assert straight >= wanted | {("capture", "host"), ("instantiate", "host"), ("update", "host")}


def test_a_copy_is_kept_for_analyses(bench: tuple[Path, dict[str, object]]) -> None:
    (kept,) = (bench[0] / "data" / "gviz" / "bench").iterdir()
    assert kept.read_bytes() == (bench[0] / "bench.gviz").read_bytes()


def test_the_recording_can_be_shown(
    bench: tuple[Path, dict[str, object]], gviz: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    done = gviz("info", str(bench[0] / "bench.gviz"))
    assert done.returncode == 0
    assert "bench of" in done.stdout


def test_what_is_there_is_not_replaced_unasked(
    bench: tuple[Path, dict[str, object]], start: Start
) -> None:
    before = (bench[0] / "bench.gviz").read_bytes()
    child = start(bench[0], "--quick")
    _, errors = child.communicate(timeout=_TIMEOUT_S)
    assert child.returncode == 1
    assert "bench.gviz" in errors
    assert "measuring" not in errors  # not after six minutes
    assert (bench[0] / "bench.gviz").read_bytes() == before


def test_no_such_gpu_is_a_sentence(start: Start, tmp_path: Path) -> None:
    child = start(tmp_path, "--device", "99")
    _, errors = child.communicate(timeout=_TIMEOUT_S)
    assert child.returncode == 1
    assert "there is no device 99" in errors
    assert "gviz demo" in errors
    assert "Traceback" not in errors
    assert list(tmp_path.iterdir()) == []


def test_no_driver_is_a_sentence(tmp_path: Path) -> None:
    if any(Path("/dev").glob("nvidia[0-9]*")):
        pytest.skip("there is a driver here")
    command = [sys.executable, "-P", "-m", "gviz", "bench"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=_TIMEOUT_S)
    assert done.returncode == 1
    assert "no CUDA driver" in done.stderr
    assert "gviz doctor" in done.stderr
    assert "Traceback" not in done.stderr


def test_interrupted_keeps_what_was_measured(start: Start, tmp_path: Path) -> None:
    child = start(tmp_path, "--quick", "-o", "part.gviz")
    assert child.stderr is not None
    for line in child.stderr:
        if "capture, instantiation" in line:
            break
    time.sleep(0.2)
    child.send_signal(signal.SIGINT)
    output, errors = child.communicate(timeout=_TIMEOUT_S)
    assert child.returncode == 130, errors
    assert "what was measured is kept" in errors
    assert "Time a kernel" in output
    with Recording(tmp_path / "part.gviz") as recording:
        (run,) = recording.fetch_runs()
        assert run.state == "aborted"
        assert {f.experiment for f in read_figures(recording, 1)} >= {"launch"}
        assert any("interrupted" in note.text for note in recording.fetch_notes(1))
    assert not os.path.exists(tmp_path / "data")  # half a bench is no model of a GPU
