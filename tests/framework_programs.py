"""Programs of every framework gviz was tried with; each makes graphs, launches them, and checks
its own results.

They are texts, run in processes of their own as a user's script is, by the GPU tests and by
tests/gpu/coverage_table.py.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

#: A launch more than these has no node times.
LAUNCHES = 30


@dataclass(frozen=True, slots=True)
class Program:
    """A program and the modules it needs.

    Attributes
    ----------
    framework
        What it stands for in the table of docs/frameworks.md.
    """

    framework: str
    needs: tuple[str, ...]
    text: str


_CORE_KERNEL = """
import numpy as np
from cuda.bindings import driver
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch
device = Device()
device.set_current()
stream = device.create_stream()
arch = "".join(str(part) for part in device.compute_capability)
code = 'extern "C" __global__ void add_one(int* p) { atomicAdd(p, 1); }'
options = ProgramOptions(std="c++17", arch=f"sm_{arch}")
kernel = Program(code, code_type="c++", options=options).compile("cubin").get_kernel("add_one")
config = LaunchConfig(grid=1, block=32)
error, address = driver.cuMemAlloc(4096)
assert error == 0
address = int(address)
driver.cuMemsetD32(address, 0, 1024)
def value():
    out = np.zeros(1, np.int32)
    assert driver.cuMemcpyDtoH(out.ctypes.data, address, 4)[0] == 0
    return int(out[0])
"""

_NUMBA = """
import numpy as np
if not hasattr(np, "row_stack"):  # numba-cuda 0.30 uses it at import, NumPy 2.5 has it no more
    np.row_stack = np.vstack
from numba import cuda
from cuda.core import Device
device = Device()
device.set_current()
stream = device.create_stream()
@cuda.jit
def add_one(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] += 1
a = cuda.to_device(np.zeros(1024, dtype=np.float32))
add_one[8, 128, stream](a)  # compiled and loaded before the capture
stream.sync()
builder = device.create_graph_builder().begin_building()
add_one[8, 128, builder](a)
add_one[8, 128, builder](a)
graph = builder.end_building().complete()
for _ in range(30):
    graph.launch(stream)
stream.sync()
assert a.copy_to_host()[0] == 61.0
"""

_CORE_BUILDER = f"""{_CORE_KERNEL}
from cuda.core.graph import GraphBuilder
builder = device.create_graph_builder().begin_building()
launch(builder, config, kernel, address)
left, right = builder.split(2)
launch(left, config, kernel, address)
launch(right, config, kernel, address)
builder = GraphBuilder.join(left, right)
launch(builder, config, kernel, address)
graph = builder.end_building().complete()
for _ in range(30):
    graph.launch(stream)
stream.sync()
assert value() == 30 * 4 * 32
"""

_CORE_DEFINITION = f"""{_CORE_KERNEL}
from cuda.core.graph import GraphDefinition
definition = GraphDefinition()
node = definition.memset(address, np.uint32(0), 1)
node = node.launch(config, kernel, address)
node.launch(config, kernel, address)
graph = definition.instantiate()
for _ in range(30):
    graph.launch(stream)
stream.sync()
assert value() == 2 * 32
"""

_TRITON = """
import torch, triton
import triton.language as tl
@triton.jit
def scale_kernel(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(y + at, tl.load(x + at, mask=inside) * 2.0, mask=inside)
x = torch.ones(4096, device="cuda")
y = torch.empty_like(x)
def work():
    scale_kernel[(4,)](x, y, x.numel(), BLOCK=1024)
    return y.add(1.0)
work()
torch.cuda.synchronize()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    z = work()
for _ in range(30):
    graph.replay()
torch.cuda.synchronize()
assert float(z[0]) == 3.0
"""

_COMPILE = """
import torch
@torch.compile(mode="reduce-overhead", dynamic=False)
def scaled_tanh(x):
    return (torch.tanh(x) * 2 + 1) @ x.T
with torch.no_grad():
    for rows in (8, 16):
        x = torch.randn(rows, 64, device="cuda")
        for _ in range(8):
            torch.compiler.cudagraph_mark_step_begin()
            y = scaled_tanh(x)
        torch.cuda.synchronize()
        assert torch.allclose(y, (torch.tanh(x) * 2 + 1) @ x.T, atol=1e-2)
"""

_COMPILE_TRAINING = """
import torch
class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(64, 64)
    def forward(self, x):
        return torch.nn.functional.gelu(self.linear(x))
block = Block().cuda()
compiled = torch.compile(block, mode="reduce-overhead")
x = torch.randn(8, 64, device="cuda")
for _ in range(8):
    torch.compiler.cudagraph_mark_step_begin()
    block.zero_grad(set_to_none=True)  # gradients are outputs of the graph: not to be added to
    compiled(x).square().mean().backward()
torch.cuda.synchronize()
assert block.linear.weight.grad is not None
"""

_GRAPHED = """
import torch
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.GELU()).cuda()
x = torch.randn(8, 64, device="cuda", requires_grad=True)
graphed = torch.cuda.make_graphed_callables(model, (x,))
for _ in range(30):
    graphed(x).sum().backward()
torch.cuda.synchronize()
assert x.grad is not None
"""

_TORCH = """
import torch
model = torch.nn.Sequential(*[torch.nn.Linear(64, 64) for _ in range(4)]).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
x = torch.randn(8, 64, device="cuda")
def step():
    with torch.profiler.record_function("forward"):
        loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=False)
side = torch.cuda.Stream()
with torch.cuda.stream(side):
    for _ in range(3):
        step()
side.synchronize()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    step()
for _ in range(30):
    graph.replay()
torch.cuda.synchronize()
"""

_CUPY = """
import cupy as cp
from cupyx.profiler import time_range
stream = cp.cuda.Stream(non_blocking=True)
a = cp.ones(1 << 16, dtype=cp.float32)
b = cp.empty_like(a)
host = cp.cuda.alloc_pinned_memory(b.nbytes)
def work():
    with stream:
        b.data.memset_async(0, b.nbytes, stream)
        with time_range("scale"):
            cp.multiply(a, cp.float32(2), out=b)
        cp.add(a, b, out=b)
        cp.cuda.runtime.memcpyAsync(host.ptr, b.data.ptr, b.nbytes, 2, stream.ptr)
for _ in range(2):
    work()
stream.begin_capture()
work()
graph = stream.end_capture()
for _ in range(30):
    graph.launch(stream)
stream.synchronize()
assert float(b[0]) == 3.0
"""

_JAX = """
import jax, jax.numpy as jnp
@jax.jit
def f(x, ws):
    for w in ws:
        x = jnp.tanh(x @ w) + x
    return x.sum(axis=0)
key = jax.random.key(0)
ws = [jax.random.normal(key, (128, 128)) for _ in range(6)]
x = jax.random.normal(key, (64, 128))
for _ in range(8):
    f(x, ws).block_until_ready()
"""

_WARP = """
import numpy as np
import warp as wp
wp.init()
@wp.kernel
def add_one(a: wp.array(dtype=float)):
    i = wp.tid()
    a[i] = a[i] + 1.0
a = wp.zeros(1024, dtype=float, device="cuda")
wp.launch(add_one, dim=1024, inputs=[a], device="cuda")
wp.synchronize()
with wp.ScopedCapture(device="cuda") as capture:
    wp.launch(add_one, dim=1024, inputs=[a], device="cuda")
    wp.launch(add_one, dim=1024, inputs=[a], device="cuda")
for _ in range(30):
    wp.capture_launch(capture.graph)
wp.synchronize()
assert a.numpy()[0] == 61.0
"""

PROGRAMS = {
    "torch": Program("PyTorch, torch.cuda.graph", ("torch",), _TORCH),
    "graphed": Program("PyTorch, make_graphed_callables", ("torch",), _GRAPHED),
    "compile": Program("torch.compile, reduce-overhead", ("torch", "triton"), _COMPILE),
    "compile_training": Program(
        "torch.compile, reduce-overhead, training", ("torch", "triton"), _COMPILE_TRAINING
    ),
    "triton": Program("Triton kernel in a PyTorch graph", ("torch", "triton"), _TRITON),
    "cupy": Program("CuPy, stream capture", ("cupy",), _CUPY),
    "jax": Program("JAX, command buffers", ("jax",), _JAX),
    "numba": Program("Numba, cuda.core GraphBuilder", ("numba", "cuda.core.graph"), _NUMBA),
    "core_builder": Program("cuda.core GraphBuilder", ("cuda.core.graph",), _CORE_BUILDER),
    "core_definition": Program("cuda.core GraphDefinition", ("cuda.core.graph",), _CORE_DEFINITION),
    "warp": Program("Warp, ScopedCapture", ("warp",), _WARP),
}


def profiled(text: str, output: Path, options: str = "") -> str:
    """Return a program inside a profile block."""
    body = "\n".join("    " + line for line in text.strip().splitlines())
    return f"import gviz\nwith gviz.profile({str(output)!r}, {options}) as profile:\n{body}\n"


def run_script(folder: Path, text: str, *command: str) -> subprocess.CompletedProcess[str]:
    """Write ``text`` as program.py and run it with a command before its name."""
    program = folder / "program.py"
    program.write_text(text)
    return subprocess.run(
        [sys.executable, "-P", *command, str(program)],
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
        env=os.environ | {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"},
    )
