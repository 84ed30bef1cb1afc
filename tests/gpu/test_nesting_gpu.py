"""Nodes inside nodes as frameworks make them, on a real GPU.

What the driver does with nodes added by hand stands in tests/contract/test_nesting.py.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gviz.cuda.node_type import NodeType
from gviz.recording.reader import Recording

pytestmark = pytest.mark.gpu

#: A captured copy between two GPUs, and a kernel on each side of it.
TWO_GPUS = """
import torch
if torch.cuda.device_count() < 2:
    raise SystemExit(77)
here, there = torch.device("cuda:0"), torch.device("cuda:1")
a = torch.ones(1 << 16, device=here)
b = torch.zeros(1 << 16, device=there)
main, far = torch.cuda.Stream(here), torch.cuda.Stream(there)
for device in (here, there):
    torch.cuda.synchronize(device)
b.copy_(a)
b.add_(1)
for device in (here, there):
    torch.cuda.synchronize(device)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph, stream=main):
    a.mul_(1)
    fork, join = torch.cuda.Event(), torch.cuda.Event()
    fork.record(main)
    far.wait_event(fork)
    with torch.cuda.stream(far):
        b.add_(1)
        join.record(far)
    main.wait_event(join)
    a.mul_(1)
for _ in range(5):
    graph.replay()
for device in (here, there):
    torch.cuda.synchronize(device)
"""

#: A capture that allocates and frees from the stream-ordered pool.
ALLOCATING = """
import cupy as cp
pool = cp.cuda.MemoryAsyncPool()
cp.cuda.set_allocator(pool.malloc)
stream = cp.cuda.Stream(non_blocking=True)
a = cp.ones(1 << 16, dtype=cp.float32)
with stream:
    cp.add(a, a * cp.float32(2), out=a)  # compiles the kernels
    stream.synchronize()
    stream.begin_capture()
    temporary = a * cp.float32(2)
    cp.add(a, temporary, out=a)
    del temporary
    graph = stream.end_capture()
for _ in range(4):
    graph.launch(stream)
stream.synchronize()
"""


def record(tmp_path: Path, text: str) -> tuple[int, Path]:
    """Run a script under ``gviz run``; return its exit code and the recording's path."""
    script, output = tmp_path / "program.py", tmp_path / "out.gviz"
    script.write_text(text)
    command = [sys.executable, "-P", "-m", "gviz", "run", "-o", str(output), str(script)]
    done = subprocess.run(
        command, env=dict(os.environ), cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 77), done.stderr
    return done.returncode, output


def test_captured_graph_over_two_gpus_keeps_the_device_of_each_node(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    code, output = record(tmp_path, TWO_GPUS)
    if code == 77:
        pytest.skip("one GPU only")
    with Recording(output) as recording:
        graph = max(recording.fetch_graphs(), key=lambda g: g.capture_end_ns or 0)
        kernels = [n for n in recording.fetch_nodes(graph.graph_id) if n.type == NodeType.KERNEL]
        assert [n.device_id for n in kernels] == [0, 1, 0]
        assert {d.device_id for d in recording.fetch_devices(1)} == {0, 1}


@pytest.mark.quick
def test_captured_allocations_know_their_frees(tmp_path: Path) -> None:
    pytest.importorskip("cupy")
    _, output = record(tmp_path, ALLOCATING)
    with Recording(output) as recording:
        found = recording.fetch_allocations(1)
        assert [a.freed for a in found] == ["in the same graph"]
        assert found[0].bytes >= 4 << 16
        assert recording.fetch_graph_memory(1)
