"""The laboratory without a GPU: plans, shapes, what a GPU's state says against its figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from gviz.collectors.launchcost import device_launch
from gviz.collectors.launchcost.bench import EXPERIMENTS, describe_state
from gviz.collectors.launchcost.launches import QUEUE_CALLS, queue_limit_ns, shapes
from gviz.collectors.launchcost.plan import full_plan, quick_plan
from gviz.cuda import GpuState, open_gpu


def test_a_quiet_gpu_says_nothing() -> None:
    quiet = GpuState(busy_percent=0, sm_clock_mhz=1980, sm_clock_max_mhz=1980, other_processes=0)
    assert describe_state(quiet, "before", idle=True) == []
    assert describe_state(GpuState(), "before", idle=True) == []  # one that tells nothing


def test_a_busy_gpu_is_reported_with_the_evidence() -> None:
    state = GpuState(busy_percent=83, other_processes=2)
    busy, others = describe_state(state, "before", idle=True)
    assert "83%" in busy
    assert "too high" in busy
    assert "2 other process(es)" in others
    # After the measurement the GPU was busy with it.
    assert describe_state(state, "after", idle=False) == [others.replace("before", "after")]


def test_a_slowed_gpu_is_reported_with_the_evidence() -> None:
    state = GpuState(
        sm_clock_mhz=1200, sm_clock_max_mhz=1980, slowed_by=("thermal slowdown", "power limit")
    )
    (slowed,) = describe_state(state, "after", idle=False)
    assert "thermal slowdown, power limit" in slowed
    assert "1200 of 1980 MHz" in slowed


def test_without_the_management_library_there_is_no_state() -> None:
    with open_gpu("0000:ff:1f.7") as gpu:
        assert gpu is None


@pytest.mark.parametrize("plan", [quick_plan(), full_plan()], ids=["quick", "full"])
def test_each_shape_is_measured_once(plan: object) -> None:
    found = [(s.topology, s.width, s.node_count) for s in shapes(plan)]  # type: ignore[arg-type]
    assert len(found) == len(set(found))
    assert {(t, w) for t, w, _ in found} >= {
        ("straight line", 1),
        ("fork-join", 2),
        ("fork-join", 4),
        ("parallel lines", 64),
    }
    lengths = [n for t, _, n in found if t == "straight line"]
    assert (min(lengths), max(lengths)) == (1, 2000)


def test_work_may_wait_longer_than_it_takes_to_send() -> None:
    slowest_call_ns = 10_000
    for nodes in (1, QUEUE_CALLS):
        assert queue_limit_ns(nodes) > 2 * slowest_call_ns * nodes


def test_experiments_have_names_of_their_own() -> None:
    names = [experiment.name for experiment in EXPERIMENTS]
    assert len(names) == len(set(names)) == 13
    assert all(experiment.weight > 0 for experiment in EXPERIMENTS)


def test_the_device_runtime_is_found_where_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GVIZ_CUDADEVRT", str(tmp_path / "named.a"))
    assert device_launch.find_library() == tmp_path / "named.a"
    monkeypatch.delenv("GVIZ_CUDADEVRT")
    monkeypatch.setattr(device_launch, "_WHEELS", ("no-such-wheel",))
    monkeypatch.delenv("CUDA_PATH", raising=False)
    folder = tmp_path / "cuda" / "lib64"
    folder.mkdir(parents=True)
    (folder / device_launch.LIBRARY).touch()
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "cuda"))
    assert device_launch.find_library() == folder / device_launch.LIBRARY
