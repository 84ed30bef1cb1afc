"""Graphs' lives on a real GPU, through PyTorch and CuPy: what breaks captures, updates."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gviz.model.life_summary import FailedCapture, failed_captures
from gviz.recording.reader import Recording

pytestmark = pytest.mark.gpu

Record = Callable[..., Recording]

#: Each program breaks a capture in a function called culprit, and goes on.
TORCH_HEAD = """
import torch
x = torch.ones(64, 64, device="cuda")
torch.mm(x, x)
torch.cuda.synchronize()
def attempt(culprit, **options):
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(graph, **options):
            y = torch.mm(x, x)
            culprit(y)
    except Exception as error:
        print("failed:", type(error).__name__, flush=True)
"""
TORCH_TAIL = """

torch.cuda.synchronize()
assert float(torch.mm(x, x)[0, 0]) == 64.0
"""

TORCH = {
    "item": (
        "def culprit(y):\n    return y.sum().item()\nattempt(culprit)",
        "synchronising call",
        "cudaStreamSynchronize",
    ),
    "nonzero": (
        "def culprit(y):\n    return y.nonzero()\nattempt(culprit)",
        "synchronising call",
        "cudaStreamSynchronize",
    ),
    "synchronize": (
        "def culprit(y):\n    torch.cuda.synchronize()\nattempt(culprit)",
        "synchronising call",
        "cudaDeviceSynchronize",
    ),
    "malloc": (
        "import ctypes\n"
        "library = ctypes.CDLL('libcudart.so.13')\n"
        "def culprit(y):\n"
        "    out = ctypes.c_void_p()\n"
        "    library.cudaMalloc(ctypes.byref(out), ctypes.c_size_t(4096))\n"
        "attempt(culprit)",
        "unsafe call",
        "cudaMalloc",
    ),
    "other thread": (
        "import ctypes, threading\n"
        "library = ctypes.CDLL('libcudart.so.13')\n"
        "def culprit(y):\n"
        "    out = ctypes.c_void_p()\n"
        "    def allocate():\n"
        "        library.cudaMalloc(ctypes.byref(out), ctypes.c_size_t(4096))\n"
        "    thread = threading.Thread(target=allocate)\n"
        "    thread.start()\n"
        "    thread.join()\n"
        "attempt(culprit, capture_error_mode='global')",
        "cross-thread call in global mode",
        "cudaMalloc",
    ),
    "event": (
        "event = torch.cuda.Event()\n"
        "event.record(torch.cuda.Stream())\n"
        "def culprit(y):\n    torch.cuda.current_stream().wait_event(event)\nattempt(culprit)",
        "uncaptured dependency",
        "cudaStreamWaitEvent",
    ),
    "unjoined": (
        "side = torch.cuda.Stream()\n"
        "def culprit(y):\n"
        "    side.wait_stream(torch.cuda.current_stream())\n"
        "    with torch.cuda.stream(side):\n"
        "        torch.mm(y, y)\n"
        "attempt(culprit)",
        "unjoined stream",
        "cudaStreamEndCapture",
    ),
}

CUPY = """
import cupy as cp
stream = cp.cuda.Stream(non_blocking=True)
a = cp.ones(1 << 12, dtype=cp.float32)
b = cp.empty_like(a)
cp.multiply(a, cp.float32(2), out=b)
cp.cuda.Device().synchronize()
def culprit():
    stream.synchronize()
with stream:
    stream.begin_capture()
    cp.multiply(a, cp.float32(2), out=b)
    try:
        culprit()
    except cp.cuda.runtime.CUDARuntimeError as error:
        print("failed:", error, flush=True)
    try:
        stream.end_capture()
    except cp.cuda.runtime.CUDARuntimeError as error:
        print("failed:", error, flush=True)
stream = cp.cuda.Stream(non_blocking=True)
with stream:
    for _ in range(3):
        stream.begin_capture()
        cp.multiply(a, cp.float32(3), out=b)
        graph = stream.end_capture()
        for _ in range(2):
            graph.launch(stream)
        stream.synchronize()
assert float(b[0]) == 3.0
"""


def run_profiled(folder: Path, text: str) -> tuple[Recording, str]:
    """Run a program under ``gviz run``; return its recording and output."""
    program, output = folder / "program.py", folder / "out.gviz"
    program.write_text(text)
    done = subprocess.run(
        [sys.executable, "-P", "-m", "gviz", "run", "-o", str(output), str(program)],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return Recording(output), done.stdout


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Record]:
    opened: dict[str, tuple[Recording, str]] = {}

    def run(name: str, text: str) -> Recording:
        if name not in opened:
            opened[name] = run_profiled(tmp_path_factory.mktemp("life"), text)
        recording, stated = opened[name]
        assert "failed:" in stated, "the capture did not break"
        return recording

    yield run
    for recording, _ in opened.values():
        recording.close()


def only_failure(recording: Recording) -> FailedCapture:
    (failure,) = failed_captures(recording, 1)
    return failure


def stack_functions(recording: Recording, failure: FailedCapture) -> list[str]:
    stack_id = failure.failure.stack_id
    assert stack_id is not None, failure.failure.stack_reason
    return [frame.function for frame in recording.fetch_stack(stack_id)]


@pytest.mark.parametrize("name", TORCH)
class TestTorch:
    """Operations that break a torch.cuda.graph."""

    def failure(self, record: Record, name: str) -> tuple[Recording, FailedCapture]:
        pytest.importorskip("torch")
        text = TORCH_HEAD + TORCH[name][0] + TORCH_TAIL
        recording = record(name, text)
        return recording, only_failure(recording)

    def test_rule_and_runtime_function(self, record: Record, name: str) -> None:
        _, found = self.failure(record, name)
        _text, rule, function = TORCH[name]
        assert found.failure.rule == rule
        assert (found.failure.error_api or "").startswith(function)
        assert found.failure.fix

    def test_python_line_is_the_programs(self, record: Record, name: str) -> None:
        recording, found = self.failure(record, name)
        functions = stack_functions(recording, found)
        if name == "other thread":
            assert any("allocate" in f for f in functions), functions
        elif name != "unjoined":  # found out at the end of the with block
            assert any("culprit" in f for f in functions), functions
        assert found.place is not None
        assert found.place.file.endswith("program.py")

    def test_nodes_until_then_are_kept(self, record: Record, name: str) -> None:
        recording, found = self.failure(record, name)
        assert found.node_count >= 1
        assert found.failure.graph_id is not None
        nodes = recording.fetch_nodes(found.failure.graph_id)
        if name != "unjoined":
            assert any(n.grid_x for n in nodes), "kernels are known by name and shape"
            assert any(n.name != "KERNEL" for n in nodes)
        assert all(n.capture_stream_id is not None for n in nodes)


class TestCupy:
    """The same for CuPy, and graphs captured again for every step."""

    def recording(self, record: Record) -> Recording:
        pytest.importorskip("cupy")
        return record("cupy", CUPY)

    def test_synchronize_in_a_capture(self, record: Record) -> None:
        recording = self.recording(record)
        found = only_failure(recording)
        assert found.failure.rule == "synchronising call"
        assert found.failure.error_api == "cudaStreamSynchronize"
        assert "culprit" in stack_functions(recording, found)
        assert found.node_count == 1

    def test_captures_of_equal_work_could_be_updates(self, record: Record) -> None:
        recording = self.recording(record)
        graphs = [g for g in recording.fetch_graphs(1) if g.origin == "capture"]
        execs = [e for g in graphs for e in recording.fetch_graph_execs(g.graph_id)]
        assert len(execs) == 3
        assert [e.could_update_graph_exec_id for e in execs] == [
            None,
            execs[0].graph_exec_id,
            execs[1].graph_exec_id,
        ]
