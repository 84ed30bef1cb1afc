"""Programs of several processes on a real GPU: torch.multiprocessing and torchrun.

Each program runs in a process of its own, as a user's would.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gviz.recording import rows
from gviz.recording.reader import Recording

pytestmark = pytest.mark.gpu

#: Captures three kernels and launches the graph five times.
WORK = """
import torch
def work(rank):
    torch.cuda.set_device(0)
    x = torch.ones(1 << 12, device="cuda")
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(2):
            y = x * 2 + 1
    side.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = ((x * 2) + 1).sqrt()
    for _ in range(5):
        graph.replay()
    torch.cuda.synchronize()
    assert abs(float(y[0]) - 3 ** 0.5) < 1e-5
"""

SPAWN = (
    WORK
    + """
if __name__ == "__main__":
    torch.multiprocessing.spawn(work, nprocs=2)
"""
)

FORKED_BEFORE_CUDA = (
    WORK
    + """
if __name__ == "__main__":
    context = torch.multiprocessing.get_context("fork")
    processes = [context.Process(target=work, args=(i,)) for i in range(2)]
    for process in processes: process.start()
    for process in processes: process.join()
    assert [p.exitcode for p in processes] == [0, 0]
"""
)

RANKS = (
    WORK
    + """
import os
import torch.distributed as dist
dist.init_process_group("gloo")
work(dist.get_rank())
total = torch.tensor([dist.get_rank() + 1.0])
dist.all_reduce(total)
# One write: the ranks share a pipe.
os.write(1, f"total {float(total)}\\n".encode())
dist.destroy_process_group()
"""
)

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run a command under gviz into out.gviz."""
    pytest.importorskip("torch")

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        gviz = [sys.executable, "-P", "-m", "gviz", "run", "-o", "out.gviz"]
        return subprocess.run(
            [*gviz, *command],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return run


def script(folder: Path, text: str) -> str:
    path = folder / "train.py"
    path.write_text(text)
    return str(path)


def check_run(recording: Recording, row: rows.Run) -> None:
    """Check that a run holds the whole graph of ``work`` with its times and stacks."""
    assert row.state == "completed"
    assert row.collector == "events"
    assert any(lib.name == "torch" for lib in recording.fetch_libraries(row.run_id))
    (graph,) = [g for g in recording.fetch_graphs(row.run_id) if g.parent_graph_id is None]
    nodes = recording.fetch_nodes(graph.graph_id)
    assert len(nodes) == 3
    launches = recording.fetch_launches(graph.graph_id)
    spans = [launch.span_count for launch in launches]
    assert spans[0] == 0  # the graph's own launch; copies take the place of later ones
    assert set(spans[1:]) <= {0, 3}
    assert sum(spans) > 0
    for node in nodes:
        assert node.stack_id is not None, node.stack_reason
        assert "work" in {frame.function for frame in recording.fetch_stack(node.stack_id)}


@pytest.mark.parametrize("text", [SPAWN, FORKED_BEFORE_CUDA], ids=["spawn", "fork"])
def test_torch_multiprocessing_gives_two_runs(run: Run, tmp_path: Path, text: str) -> None:
    done = run(script(tmp_path, text))
    assert done.returncode == 0, done.stderr
    with Recording(tmp_path / "out.gviz") as recording:
        runs = recording.fetch_runs()
        assert [r.name for r in runs] == [f"train pid {r.process_id}" for r in runs]
        assert len(runs) == 2
        for row in runs:
            check_run(recording, row)
    assert not (tmp_path / "out.gviz-spool").exists()


@pytest.mark.quick
def test_torchrun_gives_a_run_a_rank(run: Run, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    if not (torch.distributed.is_available() and torch.distributed.is_gloo_available()):
        pytest.skip("this torch has no gloo")
    torchrun = Path(sys.executable).with_name("torchrun")
    launcher = (str(torchrun),) if torchrun.exists() else ("-m", "torch.distributed.run")
    options = ("--standalone", "--nproc-per-node=2")
    done = run(*launcher, *options, script(tmp_path, RANKS))
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("total 3.0") == 2
    with Recording(tmp_path / "out.gviz") as recording:
        runs = recording.fetch_runs()
        assert [row.rank for row in runs] == [0, 1], [(r.name, r.command) for r in runs]
        assert [row.name.rpartition(" rank ")[2] for row in runs] == ["0", "1"]
        for row in runs:
            check_run(recording, row)


def test_failed_rank_keeps_the_others_recording(run: Run, tmp_path: Path) -> None:
    # Rank 1 fails when rank 0 has recorded something, and waits until it is ended.
    text = (
        WORK
        + f"""
import os, pathlib, time
work(0)
there = pathlib.Path({str(tmp_path / "there")!r})
if os.environ["RANK"] == "0":
    there.touch()
    time.sleep(60)
while not there.exists():
    time.sleep(0.01)
raise SystemExit(5)
"""
    )
    torchrun = Path(sys.executable).with_name("torchrun")
    launcher = (str(torchrun),) if torchrun.exists() else ("-m", "torch.distributed.run")
    done = run(*launcher, "--standalone", "--nproc-per-node=2", script(tmp_path, text))
    assert done.returncode == 1
    with Recording(tmp_path / "out.gviz") as recording:
        runs = recording.fetch_runs()
        assert [row.rank for row in runs] == [0, 1]
        # The launcher may have ended rank 0 before it closed its recording.
        assert runs[1].state == "completed"
