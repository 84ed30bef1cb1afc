"""A program of one framework: launches graphs, alone or by three threads, and prints its figures.

Run by bench/gpu_gate.py and bench/gpu_residue.py, plain and watched: program.py KIND NODES, where
KIND is torch, training, encoder, serving, compile, jax or cupy. With GVIZ_BENCH_PROFILER set,
torch.profiler runs once before.
"""

from __future__ import annotations

import ctypes
import json
import os
import statistics
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WAITED, QUEUED, ROUNDS = 400, 60, 5
#: Launches before any is measured: past the windows and copies of what watches.
SETTLE = 130
#: Graphs that a chain's program captures, as those of several sizes do. From the sixth turn of
#: eager work and capture on, each launch of 20 small kernels takes 24.7 and not 21.0 µs (H100,
#: driver 580), whether or not anything watches; what watches brings that turn forward.
OTHER_GRAPHS = 8
#: Behind a spin of this, launches queue until one does not return within BLOCKED_S.
SPIN_S, BLOCKED_S, QUEUE_LIMIT = 0.3, 0.002, 1500
CLOCKS_A_SECOND = 1.7e9  # of an H100, about
CLOSINGS, BETWEEN_S, THREADS = 200, 0.01, 3
ANSWERS = ("closed", "busy", "backing off", "forbidden", "unknown", "taken", "overrun")
#: What is done while the gate is closed: little, so that launches are to be as many.
WORK_US = 100


@dataclass(frozen=True, slots=True)
class Work:
    """Launches of a framework: how they are made, waited for, and read."""

    launch: Callable[[], None]
    wait: Callable[[], None]
    spin: Callable[[float], None] | None
    result: Callable[[], float]


def torch_work(nodes: int, *, compiled: bool) -> Work:
    """Return a captured chain, or a compiled function whose kernels Triton launches."""
    import torch

    x = torch.ones(1024, device="cuda")

    def chain(y: Any) -> Any:
        for _ in range(nodes if not compiled else 4):
            y = y * 1.0 + 0.5
        return y

    def spin(seconds: float) -> None:
        torch.cuda._sleep(int(seconds * CLOCKS_A_SECOND))

    if compiled:
        function = torch.compile(chain)
        held = [function(x)]

        def launch() -> None:
            held[0] = function(x)

        return Work(launch, torch.cuda.synchronize, spin, lambda: float(held[0].sum()))
    others = [capture(chain, x) for _ in range(OTHER_GRAPHS)]
    graph, y = others.pop()
    graph.others = others
    return Work(graph.replay, torch.cuda.synchronize, spin, lambda: float(y.sum()))


def capture(function: Callable[[Any], Any], x: Any) -> tuple[Any, Any]:
    """Return the graph of a call, captured after a warm-up, and what it gives."""
    import torch

    graph = torch.cuda.CUDAGraph()
    function(x)
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        y = function(x)
    return graph, y


def training_work(layers: int) -> Work:
    """Return a captured training step: branches on a second stream, backward, an optimizer."""
    import torch

    torch.manual_seed(0)
    blocks = [torch.nn.Linear(256, 256, device="cuda") for _ in range(layers)]
    optimizer = torch.optim.SGD([p for block in blocks for p in block.parameters()], lr=1e-4)
    x, side = torch.ones(64, 256, device="cuda"), torch.cuda.Stream()

    def step() -> Any:
        optimizer.zero_grad(set_to_none=False)
        y = x
        for block in blocks:
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                beside = torch.tanh(y)
            y = block(y)
            torch.cuda.current_stream().wait_stream(side)
            y = y + beside
        loss = y.square().mean()
        loss.backward()
        optimizer.step()
        return loss

    warm = torch.cuda.Stream()
    with torch.cuda.stream(warm):
        step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = step()
    return Work(graph.replay, torch.cuda.synchronize, None, lambda: float(loss.detach()))


def encoder_work(layers: int) -> Work:
    """Return an encoder's step, captured: 11 nodes a layer."""
    import torch

    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(
        1024, 16, 4096, dropout=0.0, batch_first=True, device="cuda", dtype=torch.float16
    )
    model = torch.nn.TransformerEncoder(layer, layers, enable_nested_tensor=False).eval()
    inputs = torch.ones(1, 16, 1024, device="cuda", dtype=torch.float16)
    with torch.no_grad():
        model(inputs)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            outputs = model(inputs)
    return Work(graph.replay, torch.cuda.synchronize, None, lambda: float(outputs.float().sum()))


def serving_work(layers: int) -> Work:
    """Return a server's loop: a graph for each of six batches, eager work between launches."""
    import torch

    torch.manual_seed(0)
    blocks = [torch.nn.Linear(1024, 1024, device="cuda") for _ in range(layers)]
    batches = (1, 2, 4, 8, 16, 32)
    inputs = [torch.ones(batch, 1024, device="cuda") for batch in batches]
    filled = torch.zeros(32, 1024, device="cuda")
    graphs, outputs = [], []
    with torch.no_grad():
        for x in inputs:
            y = x
            for block in blocks:  # warm
                y = torch.tanh(block(y))
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                y = x
                for block in blocks:
                    y = torch.tanh(block(y))
            graphs.append(graph)
            outputs.append(y)
    turn = [0]

    def launch() -> None:
        number = turn[0] % len(batches)
        turn[0] += 1
        filled.fill_(1.0)
        inputs[number].copy_(filled[: batches[number]])
        graphs[number].replay()

    return Work(launch, torch.cuda.synchronize, None, lambda: float(outputs[0].sum()))


def cupy_work(nodes: int) -> Work:
    """Return a captured chain of CuPy."""
    import cupy

    stream = cupy.cuda.Stream(non_blocking=True)
    spinning = cupy.RawKernel(
        'extern "C" __global__ void spin(long long n)'
        "{ long long t = clock64(); while (clock64() - t < n) ; }",
        "spin",
    )
    with stream:
        x = cupy.ones(1024, dtype=cupy.float32)
        x += 1
        spinning((1,), (1,), (1,))
        stream.synchronize()
        stream.begin_capture()
        for _ in range(nodes):
            x += 1
        graph = stream.end_capture()
        x[...] = 0
    stream.synchronize()

    def spin(seconds: float) -> None:
        with stream:
            spinning((1,), (1,), (int(seconds * CLOCKS_A_SECOND),))

    return Work(
        lambda: graph.launch(stream), stream.synchronize, spin, lambda: float(x.sum()) % 1024
    )


def jax_work(nodes: int) -> Work:
    """Return a compiled chain of matrix products; XLA makes a graph of it where it likes."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def function(x: Any) -> Any:
        for _ in range(min(nodes, 50)):
            x = jnp.tanh(x @ x)
        return x

    x = jnp.eye(64) * 0.5
    held = [function(x)]

    def launch() -> None:
        held[0] = function(x)

    return Work(launch, lambda: held[0].block_until_ready(), None, lambda: float(held[0].sum()))


def timed(call: Callable[[], None]) -> float:
    """Return the microseconds of a call."""
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1e6


def measure(work: Work) -> dict[str, Any]:
    """Return medians over rounds: waited launches, launch calls, queued launches."""
    waited, calls, queued = [], [], []
    for _ in range(ROUNDS):
        work.wait()
        for _ in range(WAITED // ROUNDS):
            start = time.perf_counter()
            calls.append(timed(work.launch))
            work.wait()
            waited.append((time.perf_counter() - start) * 1e6)
        start = time.perf_counter()
        for _ in range(QUEUED):
            work.launch()
        work.wait()
        queued.append((time.perf_counter() - start) * 1e6 / QUEUED)
    found = {
        "waited p50": statistics.median(waited),
        "waited p99": statistics.quantiles(waited, n=100)[98],
        "call p50": statistics.median(calls),
        "queued": statistics.median(queued),
    }
    if work.spin is not None:
        work.spin(SPIN_S)
        depth = 0
        while depth < QUEUE_LIMIT and timed(work.launch) < BLOCKED_S * 1e6:
            depth += 1
        work.wait()
        found["queue depth"] = depth
    return found


class _Counts(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_uint64) for name in ("closed", "busy", "held", "overrun")),
        *((name, ctypes.c_uint64) for name in ("longest_hold_ns", "polled")),
        *((name, ctypes.c_uint64) for name in ("without_stub", "without_mark")),
        ("busy_with", ctypes.c_char * 64),
    ]


class _Gate(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("run_closed", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)),
        ("is_inside", ctypes.CFUNCTYPE(ctypes.c_bool)),
        ("read_counts", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Counts))),
        ("read_holes", ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t)),
    ]


class _Hole(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char * 64),
        ("caller", ctypes.c_char * 64),
        ("count", ctypes.c_uint64),
    ]


def find_gate() -> _Gate | None:
    """Return the gate of this process, or None in a plain one."""
    try:
        return _Gate.in_dll(ctypes.CDLL(None), "gviz_gate")
    except ValueError:
        return None


def close_beside_threads(works: list[Work], gate: _Gate | None) -> dict[str, Any]:
    """Launch and wait in a thread for each work; where there is a gate, close it 200 times."""
    stop, counts = threading.Event(), [0] * len(works)

    def launch(number: int) -> None:
        while not stop.is_set():
            works[number].launch()
            works[number].wait()
            counts[number] += 1

    threads = [threading.Thread(target=launch, args=(n,)) for n in range(len(works))]
    answers: dict[str, int] = {}
    # A function of libc: a held thread may have the GIL, so the work must not need it.
    work = ctypes.cast(ctypes.CDLL(None).usleep, ctypes.c_void_p)
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    time.sleep(0.5)
    for _ in range(CLOSINGS if gate is not None else 0):
        assert gate is not None
        answer = ANSWERS[gate.run_closed(work, WORK_US)]
        answers[answer] = answers.get(answer, 0) + 1
        time.sleep(BETWEEN_S)
    if gate is None:
        time.sleep(CLOSINGS * BETWEEN_S)
    time.sleep(0.5)
    stop.set()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - start
    return {"launches a second, three threads": sum(counts) / seconds, "answers": answers}


def subscribe_to_cupti() -> int | None:
    """Return what cuptiSubscribe answers, 0 where nobody is subscribed; None: it is not loaded.

    PyTorch loads libcupti by itself, so that a map of it does not say who uses it.
    """
    maps = Path("/proc/self/maps").read_text()
    paths = {line.split()[-1] for line in maps.splitlines() if "libcupti" in line}
    if not paths:
        return None
    answers = []
    for path in paths:
        library, handle = ctypes.CDLL(path), ctypes.c_void_p()
        callback = ctypes.cast(ctypes.CDLL(None).usleep, ctypes.c_void_p)  # none is enabled
        answers.append(library.cuptiSubscribe(ctypes.byref(handle), callback, None))
        if answers[-1] == 0:
            library.cuptiUnsubscribe(handle)
    return max(answers)


def make_work(kind: str, nodes: int) -> Work:
    """Return the work of a framework."""
    match kind:
        case "torch" | "compile":
            return torch_work(nodes, compiled=kind == "compile")
        case "training":
            return training_work(nodes)
        case "encoder":
            return encoder_work(nodes)
        case "serving":
            return serving_work(nodes)
        case "cupy":
            return cupy_work(nodes)
        case _:
            return jax_work(nodes)


def profile_once(work: Work) -> None:
    """Launch under torch.profiler, which keeps its subscription to CUPTI."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]):
        work.launch()
        work.wait()


def main(kind: str, nodes: int) -> int:
    """Measure and print a line of JSON."""
    work = make_work(kind, nodes)
    if os.environ.get("GVIZ_BENCH_PROFILER"):
        profile_once(work)
    for _ in range(SETTLE):
        work.launch()
        work.wait()
    found = measure(work)
    found["result"] = work.result()
    gate = find_gate()
    if kind == "torch":  # a graph each: CUDA allows no two launches of one at once
        works = [torch_work(nodes, compiled=False) for _ in range(THREADS)]
        found |= close_beside_threads(works, gate)
        found["results of threads"] = [each.result() for each in works]
    if gate is not None:
        counts, holes = _Counts(), (_Hole * 64)()
        gate.read_counts(ctypes.byref(counts))
        held = {name: getattr(counts, name) for name, _ in _Counts._fields_}
        found["gate"] = held | {"busy_with": counts.busy_with.decode()}
        number = gate.read_holes(ctypes.cast(holes, ctypes.c_void_p), 64)
        found["holes"] = [(h.name.decode(), h.caller.decode(), h.count) for h in holes[:number]]
    if kind == "training":
        found["cuptiSubscribe answers"] = subscribe_to_cupti()
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
