"""Capturing a function's work, with stand-ins for PyTorch and CuPy."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gviz.collectors.comparing.capturing import choose
from gviz.errors import CollectorError, UsageError


class _CudaRuntimeError(RuntimeError):
    pass


class Stream:
    """Stands for CuPy's stream."""

    def __init__(self, **options: object) -> None:
        self.calls: list[str] = []

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *error: object) -> None:
        self.calls.append("left")

    def begin_capture(self) -> None:
        self.calls.append("begin")

    def end_capture(self) -> Any:
        self.calls.append("end")
        if "broken" in self.calls:
            raise _CudaRuntimeError("cudaErrorStreamCaptureInvalidated: the capture is broken")
        return SimpleNamespace(launch=lambda stream: stream.calls.append("launch"))

    def synchronize(self) -> None:
        self.calls.append("synchronize")


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch) -> Any:
    module: Any = ModuleType("cupy")
    module.ndarray = type("ndarray", (), {"__module__": "cupy"})
    module.asnumpy = lambda array: np.zeros(2)
    runtime = SimpleNamespace(CUDARuntimeError=_CudaRuntimeError, deviceSynchronize=lambda: None)
    module.cuda = SimpleNamespace(
        Stream=Stream,
        MemoryPool=lambda: SimpleNamespace(malloc=None),
        using_allocator=lambda allocator: nullcontext(),
        runtime=runtime,
    )
    monkeypatch.setitem(sys.modules, "cupy", module)
    return module


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> Any:
    module: Any = ModuleType("torch")
    module.Tensor = type("Tensor", (), {"__module__": "torch"})
    module.allocations = 0
    module.cuda = SimpleNamespace(
        Stream=lambda: SimpleNamespace(),
        is_available=lambda: True,
        is_initialized=lambda: True,
        memory_stats=lambda: {"allocation.all.allocated": module.allocations},
    )
    monkeypatch.setitem(sys.modules, "torch", module)
    return module


@pytest.fixture(autouse=True)
def nothing_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("torch", "cupy"):
        monkeypatch.delitem(sys.modules, name, raising=False)


@dataclass
class Output:
    value: Any


def test_owner_of_the_results_captures(torch: Any, cupy: Any) -> None:
    assert choose("auto", lambda: (1, {"x": [torch.Tensor()]})).name == "torch"
    assert choose("auto", lambda: Output(cupy.ndarray())).name == "cupy"
    parameter = type("Parameter", (torch.Tensor,), {"__module__": "elsewhere"})
    assert choose("auto", parameter).name == "torch"


def test_library_that_allocates_captures_where_nothing_is_returned(torch: Any, cupy: Any) -> None:
    def allocate() -> None:
        torch.allocations += 1

    assert choose("auto", allocate).name == "torch"
    assert choose("auto", lambda: None).name == "cupy"


def test_only_library_loaded_captures_where_nothing_is_returned(torch: Any) -> None:
    assert choose("auto", lambda: None).name == "torch"


def test_given_library_captures_without_calling_the_function(torch: Any, cupy: Any) -> None:
    assert choose("cupy", lambda: pytest.fail("called")).name == "cupy"
    assert choose("torch", lambda: pytest.fail("called")).name == "torch"


def test_work_of_two_libraries_must_be_decided(torch: Any, cupy: Any) -> None:
    with pytest.raises(UsageError, match="cupy and torch: give capture='torch' or"):
        choose("auto", lambda: (torch.Tensor(), cupy.ndarray()))


def test_work_of_no_library_must_be_decided() -> None:
    with pytest.raises(UsageError, match="neither PyTorch's nor CuPy's"):
        choose("auto", lambda: None)


def test_jax_is_reported_to_record_the_program() -> None:
    array = type("ArrayImpl", (), {"__module__": "jaxlib._jax"})
    with pytest.raises(UsageError, match="JAX captures its command buffers itself"):
        choose("auto", array)


def test_unknown_library_is_refused() -> None:
    with pytest.raises(UsageError, match="'numba'; give auto, torch or cupy"):
        choose("numba", lambda: None)


def test_torch_without_a_gpu_is_reported(torch: Any) -> None:
    torch.cuda.is_available = lambda: False
    with pytest.raises(CollectorError, match="sees no GPU"):
        choose("torch", lambda: None)


def test_cupy_captures_its_stream(cupy: Any) -> None:
    library: Any = choose("cupy", lambda: None)
    launch, results = library.capture(lambda: "results")
    launch()
    assert results == "results"
    assert library._stream.calls == ["begin", "end", "launch"]


def test_cublas_in_a_capture_is_explained_and_the_capture_ended(cupy: Any) -> None:
    library: Any = choose("cupy", lambda: None)

    def refused() -> None:
        raise NotImplementedError("calling cuBLAS API during stream capture is unsupported")

    with pytest.raises(CollectorError, match=r"cuBLAS API.*write it with PyTorch"):
        library.capture(refused)
    assert library._stream.calls == ["begin", "end"]


def test_waiting_in_a_capture_is_explained_and_the_capture_ended(cupy: Any) -> None:
    library: Any = choose("cupy", lambda: None)

    def waiting() -> None:
        library._stream.calls.append("broken")
        raise _CudaRuntimeError("cudaErrorStreamCaptureUnsupported: operation not permitted")

    with pytest.raises(CollectorError, match="nothing in it may wait for the GPU"):
        library.capture(waiting)
    assert library._stream.calls == ["begin", "broken", "end"]


def test_error_of_the_function_itself_comes_out(cupy: Any) -> None:
    library: Any = choose("cupy", lambda: None)
    with pytest.raises(ZeroDivisionError):
        library.capture(lambda: 1 // 0)
    assert library._stream.calls == ["begin", "end"]
