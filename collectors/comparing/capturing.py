"""Capturing a function's work with the library that owns it: PyTorch or CuPy."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter_ns
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from gviz.errors import CollectorError, UsageError

Function = Callable[[], Any]


class Capturing(Protocol):
    """Operations that :func:`gviz.compare_stream` needs of a library."""

    name: str

    def scope(self) -> Any:
        """Return a context in which the library works on this object's stream."""

    def synchronize(self) -> None:
        """Wait for the device."""

    def capture(self, function: Function) -> tuple[Function, Any]:
        """Return a function that launches the graph of ``function``, and its results' places."""

    def time(self, call: Function) -> tuple[float, float]:
        """Return GPU and host time (ns) of a call, the GPU idle before; waits for its end."""

    def to_host(self, value: Any) -> npt.NDArray[Any] | None:
        """Return an array of the library as numpy, None for anything else."""

    def random_state(self) -> Any:
        """Return the state of the device's random numbers, None where it is not known."""

    def set_random_state(self, state: Any) -> None:
        """Set that state."""

    def same_random_state(self, state: Any) -> bool:
        """Return whether no random numbers were drawn since ``state``."""


class TorchCapturing:
    """PyTorch: torch.cuda.graph on a side stream, as its documentation says."""

    name = "torch"

    def __init__(self) -> None:
        self._torch: Any = importlib.import_module("torch")
        if not self._torch.cuda.is_available():
            raise CollectorError(
                "PyTorch sees no GPU (torch.cuda.is_available() is false); install a build for CUDA"
            )
        self._stream = self._torch.cuda.Stream()

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Work on the side stream, after what is queued and before what follows."""
        outer = self._torch.cuda.current_stream()
        self._stream.wait_stream(outer)
        try:
            with self._torch.cuda.stream(self._stream):
                yield
        finally:
            outer.wait_stream(self._stream)

    def synchronize(self) -> None:
        """Wait for the device."""
        self._torch.cuda.synchronize()

    def capture(self, function: Function) -> tuple[Function, Any]:
        """Capture with torch.cuda.graph, in a memory pool of its own."""
        graph = self._torch.cuda.CUDAGraph()
        try:
            with self._torch.cuda.graph(graph, stream=self._stream):
                results = function()
        except RuntimeError as error:
            raise CollectorError(
                f"PyTorch could not capture the function: {_first_line(error)}; nothing in it may "
                "wait for the GPU (item(), cpu(), print of a tensor) or depend on its values"
            ) from error
        return graph.replay, results

    def time(self, call: Function) -> tuple[float, float]:
        """Return GPU and host time (ns)."""
        begin, end = (self._torch.cuda.Event(enable_timing=True) for _ in range(2))
        self.synchronize()
        host = _between(begin, end, self._stream, call)
        return 1e6 * float(begin.elapsed_time(end)), host

    def to_host(self, value: Any) -> npt.NDArray[Any] | None:
        """Return a tensor as numpy."""
        torch = self._torch
        if not isinstance(value, torch.Tensor):
            return None
        tensor = value.detach()
        if tensor.layout != torch.strided:
            tensor = tensor.to_dense()
        if tensor.is_quantized:
            tensor = tensor.dequantize()
        # numpy knows neither bfloat16 nor the 8-bit floats.
        if tensor.is_floating_point() and tensor.dtype not in (torch.float32, torch.float64):
            tensor = tensor.float()
        copied: npt.NDArray[Any] = tensor.cpu().resolve_conj().resolve_neg().numpy().copy()
        return copied

    def random_state(self) -> Any:
        """Return the state of this device's generator."""
        return self._torch.cuda.get_rng_state()

    def set_random_state(self, state: Any) -> None:
        """Set the state of this device's generator."""
        self._torch.cuda.set_rng_state(state)

    def same_random_state(self, state: Any) -> bool:
        """Return whether the generator stands where it stood."""
        return bool(self._torch.equal(state, self._torch.cuda.get_rng_state()))


class CupyCapturing:
    """CuPy: capture of a stream of its own, with memory that the graph keeps to itself."""

    name = "cupy"

    def __init__(self) -> None:
        self._cupy: Any = importlib.import_module("cupy")
        self._stream = self._cupy.cuda.Stream(non_blocking=True)
        # A launch writes where the capture allocated: nobody else may be given that memory.
        self._pool = self._cupy.cuda.MemoryPool()

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Work on the stream and in the pool, after what is queued and before what follows."""
        self.synchronize()
        with self._cupy.cuda.using_allocator(self._pool.malloc), self._stream:
            yield
        self._stream.synchronize()

    def synchronize(self) -> None:
        """Wait for the device."""
        self._cupy.cuda.runtime.deviceSynchronize()

    def capture(self, function: Function) -> tuple[Function, Any]:
        """Capture the stream; the pool holds all that is needed from earlier calls."""
        stream = self._stream
        stream.begin_capture()
        try:
            results = function()
        except BaseException as error:
            self._end_broken_capture()
            if isinstance(error, NotImplementedError):
                raise CollectorError(
                    f"CuPy refuses this in a capture: {_first_line(error)}; cuBLAS, cuSOLVER, "
                    "cuFFT and cuRAND calls cannot be captured by CuPy: compare the part without "
                    "them, or write it with PyTorch"
                ) from error
            if isinstance(error, self._cupy.cuda.runtime.CUDARuntimeError):
                raise CollectorError(
                    f"CuPy could not capture the function: {_first_line(error)}; nothing in it may "
                    "wait for the GPU (get(), item(), print of an array) or depend on its values"
                ) from error
            raise
        graph = stream.end_capture()
        return (lambda: graph.launch(stream)), results

    def _end_broken_capture(self) -> None:
        try:
            self._stream.end_capture()
        except self._cupy.cuda.runtime.CUDARuntimeError:
            return  # it was broken: that is the driver's answer, and the stream is free again

    def time(self, call: Function) -> tuple[float, float]:
        """Return GPU and host time (ns)."""
        begin, end = self._cupy.cuda.Event(), self._cupy.cuda.Event()
        self.synchronize()
        host = _between(begin, end, self._stream, call)
        return 1e6 * float(self._cupy.cuda.get_elapsed_time(begin, end)), host

    def to_host(self, value: Any) -> npt.NDArray[Any] | None:
        """Return an array as numpy."""
        if not isinstance(value, self._cupy.ndarray):
            return None
        copied: npt.NDArray[Any] = np.array(self._cupy.asnumpy(value))
        return copied

    def random_state(self) -> Any:
        """Return None: CuPy draws no random numbers in a capture."""
        return None

    def set_random_state(self, state: Any) -> None:
        """Do nothing."""

    def same_random_state(self, state: Any) -> bool:
        """Return True: see :meth:`random_state`."""
        return True


def _between(begin: Any, end: Any, stream: Any, call: Function) -> float:
    """Call between two events on a stream, wait for the second, and return the call's ns."""
    begin.record(stream)
    started = perf_counter_ns()
    call()
    host = perf_counter_ns() - started
    end.record(stream)
    end.synchronize()
    return float(host)


def choose(capture: str, function: Function) -> Capturing:
    """Return the library that owns a function's work.

    ``auto`` calls the function once and looks at what it returns, then at which library
    allocated memory meanwhile, then at which one is loaded.

    Raises
    ------
    UsageError
        If it cannot be determined.
    """
    if capture == "torch":
        return TorchCapturing()
    if capture == "cupy":
        return CupyCapturing()
    if capture != "auto":
        raise UsageError(f"capture is {capture!r}; give auto, torch or cupy")
    before = _torch_allocations()
    owners = _owners(function())
    if "jax" in owners:
        raise UsageError(
            "the function returns JAX arrays: JAX captures its command buffers itself; record the "
            "program with gviz.profile or gviz run instead"
        )
    if not owners:
        owners = {name for name in ("torch", "cupy") if name in sys.modules}
        if len(owners) == 2 and before is not None:
            owners = {"torch"} if _torch_allocations() != before else {"cupy"}
    if len(owners) != 1:
        what = " and ".join(sorted(owners)) or "neither PyTorch's nor CuPy's arrays"
        raise UsageError(
            f"the function's work belongs to {what}: give capture='torch' or capture='cupy'"
        )
    return TorchCapturing() if owners == {"torch"} else CupyCapturing()


def _owners(value: Any) -> set[str]:
    """Return the libraries whose arrays a result holds."""
    found: set[str] = set()
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            waiting += part.values()
        elif isinstance(part, (tuple, list)):
            waiting += part
        elif hasattr(part, "__dataclass_fields__") and not isinstance(part, type):
            waiting += [getattr(part, name) for name in part.__dataclass_fields__]
        else:
            modules = {c.__module__.partition(".")[0] for c in type(part).__mro__}
            found |= modules & {"torch", "cupy", "jax", "jaxlib"}
    return {"jax" if name == "jaxlib" else name for name in found}


def _torch_allocations() -> int | None:
    """Return the number of requests to PyTorch's allocator, None where PyTorch is not loaded."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_initialized():
        return None
    return int(torch.cuda.memory_stats().get("allocation.all.allocated", 0))


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
