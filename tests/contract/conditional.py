"""Kernels that set the value of a conditional handle, on a real driver and on the fake one.

They call the device runtime (``cudaGraphSetConditional``), so a real driver must link them
with libcudadevrt.a, which the CUDA toolkit and the package nvidia-cuda-runtime bring.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import site
import sys
from collections.abc import Iterator
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint, c_uint32, c_ulonglong, c_void_p
from pathlib import Path

from contract.driver import Arguments, Driver, Handle

#: count_down(handle, address): the number at the address goes down by one and becomes the
#: handle's value. choose(handle, value): the handle takes the value.
PTX = r"""
.version 7.0
.target sm_70
.address_size 64

.extern .func cudaGraphSetConditional
(
    .param .b64 cudaGraphSetConditional_param_0,
    .param .b32 cudaGraphSetConditional_param_1
);

.visible .entry count_down(
    .param .u64 count_down_param_0,
    .param .u64 count_down_param_1
)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [count_down_param_0];
    ld.param.u64 %rd2, [count_down_param_1];
    cvta.to.global.u64 %rd3, %rd2;
    ld.global.u32 %r1, [%rd3];
    sub.u32 %r2, %r1, 1;
    st.global.u32 [%rd3], %r2;
    {
    .param .b64 param0;
    st.param.b64 [param0], %rd1;
    .param .b32 param1;
    st.param.b32 [param1], %r2;
    call.uni cudaGraphSetConditional, (param0, param1);
    }
    ret;
}

.visible .entry choose(
    .param .u64 choose_param_0,
    .param .u32 choose_param_1
)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [choose_param_0];
    ld.param.u32 %r1, [choose_param_1];
    {
    .param .b64 param0;
    st.param.b64 [param0], %rd1;
    .param .b32 param1;
    st.param.b32 [param1], %r1;
    call.uni cudaGraphSetConditional, (param0, param1);
    }
    ret;
}
"""

_INPUT_PTX, _INPUT_LIBRARY = 1, 4


def find_cudadevrt() -> Path | None:
    """Return libcudadevrt.a of an installed toolkit or package, None where there is none."""
    return next((path for path in _places() if path.is_file()), None)


def _places() -> Iterator[Path]:
    for folder in [*site.getsitepackages(), *sys.path]:
        for package in ("cu13", "cuda_runtime"):
            yield Path(folder, "nvidia", package, "lib", "libcudadevrt.a")
    nvcc = shutil.which("nvcc")
    roots = [os.environ.get("CUDA_HOME"), nvcc and Path(nvcc).resolve().parent.parent]
    for root in [*filter(None, roots), "/usr/local/cuda"]:
        yield Path(root, "lib64", "libcudadevrt.a")
        yield Path(root, "targets", "x86_64-linux", "lib", "libcudadevrt.a")


def load_conditional_kernels(cuda: Driver) -> None:
    """Add ``count_down`` and ``choose`` to the driver's functions."""
    name = ctypes.create_string_buffer(128)
    cuda.call("cuDeviceGetName", name, c_int(len(name)), c_int(0))
    image = PTX.encode() if name.value == b"gviz fake GPU" else _link(cuda)
    module = c_void_p()
    cuda.call("cuModuleLoadData", byref(module), c_char_p(image))
    for kernel in ("count_down", "choose"):
        function = c_void_p()
        cuda.call("cuModuleGetFunction", byref(function), module, c_char_p(kernel.encode()))
        cuda.functions[kernel] = function.value or 0


def _link(cuda: Driver) -> bytes:
    """Return the kernels linked with the device runtime."""
    library = find_cudadevrt()
    assert library is not None, "libcudadevrt.a was not found"
    state, image, size = c_void_p(), c_void_p(), c_size_t()
    none = (c_uint(0), None, None)
    text = PTX.encode() + b"\0"
    cuda.call("cuLinkCreate_v2", *none, byref(state))
    cuda.call(
        "cuLinkAddData_v2", state, c_int(_INPUT_PTX), text, c_size_t(len(text)), b"kernels", *none
    )
    cuda.call("cuLinkAddFile_v2", state, c_int(_INPUT_LIBRARY), os.fsencode(library), *none)
    cuda.call("cuLinkComplete", state, byref(image), byref(size))
    found = ctypes.string_at(image, size.value)
    cuda.call("cuLinkDestroy", state)
    return found


def count_down(handle: int, address: int) -> Arguments:
    """Arguments of the kernel."""
    return Arguments(c_ulonglong(handle), c_ulonglong(address))


def choose(handle: int, value: int) -> Arguments:
    """Arguments of the kernel."""
    return Arguments(c_ulonglong(handle), c_uint32(value))


def add_loop(cuda: Driver, graph: Handle, after: list[Handle]) -> tuple[Handle, Handle, int]:
    """Add a WHILE that a count_down in its body ends; return node, body and handle."""
    handle = cuda.conditional_handle(graph, 1)
    node, (body,) = cuda.add_conditional(graph, after, 1, 1, 1, handle=handle)
    return node, body, handle
