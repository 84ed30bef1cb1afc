"""Other profilers beside gviz on a real GPU: torch.profiler, jax.profiler, Nsight Compute.

Each program runs in a process of its own: PyTorch's profiler keeps CUPTI until its process ends.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gviz.recording import rows
from gviz.recording.reader import Recording

pytestmark = pytest.mark.gpu

RUN = 1
_ROOT = Path(__file__).parent.parent.parent

#: Twelve kernels in a graph; cuda_events() tells how many GPU events a torch profile has.
TORCH = """
import gviz, torch
from torch.profiler import ProfilerActivity, profile as torch_profile
BOTH = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
x = torch.ones(4096, device="cuda")
def captured(kernels=12):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(kernels):
            x.add_(1.0)
    return graph
def replay(graph, times):
    for _ in range(times):
        graph.replay()
    torch.cuda.synchronize()
def cuda_events(profiler):
    return sum(event.device_type.name == "CUDA" for event in profiler.events())
"""

#: A jitted function that JAX turns into a command buffer; device_planes() counts GPU traces.
JAX = """
import glob, gviz, jax, jax.numpy as jnp
@jax.jit
def f(x, ws):
    for w in ws:
        x = jnp.tanh(x @ w) + x
    return x.sum(axis=0)
key = jax.random.key(0)
ws = [jax.random.normal(key, (128, 128)) for _ in range(6)]
x = jax.random.normal(key, (64, 128))
def run(times):
    for _ in range(times):
        f(x, ws).block_until_ready()
def device_planes(folder):
    found = glob.glob(folder + "/**/*.xplane.pb", recursive=True)
    assert found, "no trace was written"
    # Kernels, not only the plane's name: the matrix products are there by name.
    return sum(b"/device:GPU:0" in (text := open(path, "rb").read()) and
               (b"gemm" in text or b"fusion" in text) for path in found)
"""


def run_python(
    folder: Path, text: str, *command: str, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Write ``text`` as a script and run it with a command before its name."""
    program = folder / "program.py"
    program.write_text(text)
    return subprocess.run(
        [*(command or (sys.executable, "-P")), str(program)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env=os.environ | {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"} | variables,
    )


def succeed(process: subprocess.CompletedProcess[str]) -> list[str]:
    """Return the lines that a program, which must have succeeded, printed."""
    assert process.returncode == 0, process.stderr
    return process.stdout.splitlines()


def timed_launches(path: Path) -> list[int]:
    """Return how many launches with all their node times each launched graph has."""
    with Recording(path) as recording:
        found = []
        for graph in recording.fetch_graphs():
            nodes = len(recording.fetch_nodes(graph.graph_id))
            launches = recording.fetch_launches(graph.graph_id)
            if launches:
                found.append(sum(launch.span_count == nodes > 0 for launch in launches))
        return found


def periods(path: Path) -> list[rows.Period]:
    """Return the periods of a recording."""
    with Recording(path) as recording:
        return recording.fetch_periods(RUN)


def left_to(path: Path) -> list[str | None]:
    """Return whom CUPTI was left to, by period."""
    return [period.left_to for period in periods(path)]


# -- torch.profiler ------------------------------------------------------------------------------


STARTS = {
    "context": "with torch_profile(activities=BOTH) as p:\n    replay(graph, 3)\n",
    "calls": "p = torch_profile(activities=BOTH)\np.start()\nreplay(graph, 3)\np.stop()\n",
    "schedule": """
with torch_profile(activities=BOTH, schedule=torch.profiler.schedule(wait=1, warmup=1, active=2)) \
        as p:
    for _ in range(4):
        replay(graph, 1)
        p.step()
""",
    "autograd": "with torch.autograd.profiler.profile(use_device='cuda', use_kineto=True) as p:\n"
    "    replay(graph, 3)\n    p.events = lambda: p.function_events\n",
}


def indented(text: str) -> str:
    """Return a text as the body of a block."""
    return "".join(f"    {line}\n" for line in text.strip().splitlines())


@pytest.mark.parametrize("how", STARTS)
def test_torch_profiler_started_inside_gets_its_events(tmp_path: Path, how: str) -> None:
    pytest.importorskip("torch")
    text = TORCH + (
        "with gviz.profile('x.gviz'):\n    graph = captured()\n    replay(graph, 5)\n"
        + indented(STARTS[how])
        + "    replay(captured(), 5)\n"
        + "print(cuda_events(p))\n"
    )
    process = run_python(tmp_path, text)
    (events,) = succeed(process)
    assert int(events) >= 12, "torch.profiler saw no kernels"
    assert "MULTIPLE_SUBSCRIBERS" not in process.stderr
    assert process.stderr.count("gviz leaves CUPTI to it") == 1
    assert left_to(tmp_path / "x.gviz")[0] == "torch.profiler"
    assert timed_launches(tmp_path / "x.gviz")[0] >= 5


def test_torch_profiler_inside_gviz_run_gets_its_events(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    text = TORCH + "graph = captured()\nreplay(graph, 5)\n" + STARTS["context"]
    command = (sys.executable, "-P", "-m", "gviz", "run", "-o", str(tmp_path / "x.gviz"))
    (events,) = succeed(run_python(tmp_path, text + "print(cuda_events(p))\n", *command))
    assert int(events) >= 12
    assert left_to(tmp_path / "x.gviz")[0] == "torch.profiler"
    assert timed_launches(tmp_path / "x.gviz")[0] == 5


@pytest.mark.quick
def test_torch_profiler_after_gviz_gets_its_events(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    text = (
        TORCH
        + "with gviz.profile('x.gviz'):\n    graph = captured()\n    replay(graph, 5)\n"
        + STARTS["context"]
        + "print(cuda_events(p))\n"
    )
    process = run_python(tmp_path, text)
    (events,) = succeed(process)
    assert int(events) >= 12
    assert timed_launches(tmp_path / "x.gviz") == [5]


@pytest.mark.parametrize("still", [True, False], ids=["recording", "ended"])
def test_torch_profiler_before_gviz_is_named_and_undisturbed(tmp_path: Path, still: bool) -> None:
    pytest.importorskip("torch")
    profiled = "with gviz.profile('x.gviz'):\n    replay(graph, 5)\n"
    text = TORCH + "graph = captured()\n" + STARTS["context"]
    text += indented(profiled) if still else profiled
    process = run_python(tmp_path, text + "print(cuda_events(p))\n")
    (events,) = succeed(process)
    assert int(events) >= 12
    assert "another profiler holds CUPTI" in process.stderr
    assert "torch.profiler" in process.stderr
    assert "fresh process" in process.stderr


def test_gviz_works_again_after_it_left(tmp_path: Path) -> None:
    """Kineto keeps CUPTI: the second profile says so, and torch.profiler goes on working."""
    pytest.importorskip("torch")
    text = (
        TORCH
        + "with gviz.profile('x.gviz'):\n    graph = captured()\n    replay(graph, 5)\n"
        + indented(STARTS["context"])
        + "print(cuda_events(p))\nwith gviz.profile('y.gviz'):\n    replay(graph, 5)\n"
        + STARTS["context"]
        + "print(cuda_events(p))\n"
    )
    process = run_python(tmp_path, text)
    first, second = succeed(process)
    assert int(first) >= 12
    assert int(second) >= 12
    assert "another profiler holds CUPTI" in process.stderr
    assert (tmp_path / "y.gviz").exists()


def test_nvtx_of_torch_does_not_drive_gviz_away(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    text = TORCH + (
        "with gviz.profile('x.gviz'), torch.autograd.profiler.emit_nvtx():\n"
        "    replay(captured(), 5)\n"
    )
    process = run_python(tmp_path, text)
    succeed(process)
    assert "leaves CUPTI" not in process.stderr
    assert timed_launches(tmp_path / "x.gviz") == [5]


# -- jax.profiler --------------------------------------------------------------------------------


def test_jax_profiler_started_inside_gets_its_events(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    text = JAX + (
        "with gviz.profile('x.gviz'):\n    run(6)\n    with jax.profiler.trace('traced'):\n"
        "        run(6)\n    run(6)\nprint(device_planes('traced'))\n"
    )
    process = run_python(tmp_path, text)
    assert succeed(process) == ["1"], process.stderr
    assert process.stderr.count("gviz leaves CUPTI to it") == 1
    path = tmp_path / "x.gviz"
    first, *later = periods(path)
    assert (first.end_reason, first.left_to) == ("left", "jax.profiler")
    assert timed_launches(path)
    with Recording(path) as recording:
        notes = [note.text for note in recording.fetch_notes(RUN)]
        launches = sum(
            recording.count_launches(graph.graph_id, "graph")[0]
            for graph in recording.fetch_graphs()
        )
    if later:  # JAX let CUPTI go
        assert later[0].start_reason == "returned"
        assert "gviz records again" in process.stderr
        assert launches > 6
    else:
        assert any("keeps CUPTI" in note for note in notes)


def test_jax_profiler_after_gviz_gets_its_events(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    text = JAX + (
        "with gviz.profile('x.gviz'):\n    run(6)\nwith jax.profiler.trace('traced'):\n"
        "    run(6)\nprint(device_planes('traced'))\n"
    )
    assert succeed(run_python(tmp_path, text)) == ["1"]
    assert timed_launches(tmp_path / "x.gviz")


def test_jax_profiler_around_gviz_is_named_and_undisturbed(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    text = JAX + (
        "run(2)\nwith jax.profiler.trace('traced'):\n    with gviz.profile('x.gviz'):\n"
        "        run(6)\nprint(device_planes('traced'))\n"
    )
    process = run_python(tmp_path, text)
    assert succeed(process) == ["1"]
    assert "jax.profiler is recording" in process.stderr


def test_jax_profiler_before_gviz_releases_it_or_is_reported(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    text = JAX + (
        "with jax.profiler.trace('traced'):\n    run(6)\nwith gviz.profile('x.gviz'):\n"
        "    run(6)\nprint(device_planes('traced'))\n"
    )
    process = run_python(tmp_path, text)
    assert succeed(process) == ["1"]
    recorded = bool(timed_launches(tmp_path / "x.gviz"))
    assert recorded != ("another profiler holds CUPTI" in process.stderr)


# -- Nsight Compute ------------------------------------------------------------------------------


def test_program_under_nsight_compute_goes_on(tmp_path: Path) -> None:
    ncu = shutil.which("ncu")
    if ncu is None:
        pytest.skip("ncu is not on PATH")
    pytest.importorskip("torch")
    text = TORCH + (
        "with gviz.profile('x.gviz'):\n    replay(captured(), 2)\nprint('value', float(x[0]))\n"
    )
    command = [ncu, "--target-processes", "all", "--launch-count", "2", "--metrics"]
    command += ["gpu__time_duration.sum", sys.executable, "-P"]
    process = run_python(tmp_path, text, *command)
    stated = process.stdout + process.stderr
    if "ERR_NVGPUCTRPERM" in stated or "No kernels were profiled" in stated:
        pytest.skip(f"ncu may not profile here: {stated[-300:]}")
    assert process.returncode == 0, stated
    assert "value 25.0" in process.stdout
    held = "another profiler holds CUPTI" in stated
    assert held or "nothing is recorded" in stated or timed_launches(tmp_path / "x.gviz")
    if held:
        assert "Nsight Compute" in stated


# -- nothing stays behind ------------------------------------------------------------------------


@pytest.mark.quick
def test_launch_and_capture_cost_after_gviz_what_they_did_before() -> None:
    pytest.importorskip("torch")
    process = subprocess.run(
        [sys.executable, "-P", str(_ROOT / "bench" / "gpu_residue.py")],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    found = json.loads(process.stdout.splitlines()[-1])
    # The figures are the benchmark's (docs/limits.md says what CUPTI leaves behind). Here only
    # what would be a fault on any machine, however busy: collecting that goes on.
    for side in ("stopped", "after"):
        for name, before in found["before"].items():
            assert found[side][name]["least"] <= before["median"] * 3, (side, name, found)
