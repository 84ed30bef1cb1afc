"""Stands for PyTorch 2.11 in the contract's programs: what its CUDAGraph asks of the driver."""

from __future__ import annotations

from types import ModuleType, SimpleNamespace
from typing import Any

__version__ = "2.11.0+cu130"

#: Set by the program: contract.driver.Driver, and the current stream.
state = SimpleNamespace(driver=None, stream=0)


class _Bytes(list[int]):
    def tolist(self) -> list[int]:
        return list(self)


class _Generator:
    def __init__(self) -> None:
        self.offset = 0

    def get_state(self) -> _Bytes:
        return _Bytes(self.offset.to_bytes(16, "little"))


class _CUDAGraph:
    """The C++ side."""

    def __init__(self, keep_graph: bool = False) -> None:
        self.keep_graph = keep_graph
        self.graph = self.exec = 0
        self.random = False  # as if a kernel in it drew random numbers

    def capture_begin(self, pool: Any = None, capture_error_mode: str = "global") -> None:
        modes = {"global": 0, "thread_local": 1, "relaxed": 2}
        state.driver.begin_capture(state.stream, modes[capture_error_mode])

    def capture_end(self) -> None:
        self.graph = state.driver.end_capture(state.stream)
        if not self.keep_graph:
            _CUDAGraph.instantiate(self)  # in C++: no wrapper sees it
            state.driver.destroy_graph(self.graph)
            self.graph = 0

    def instantiate(self) -> None:
        if self.exec:
            state.driver.destroy_exec(self.exec)
        self.exec = state.driver.instantiate(self.graph, 1 | 8)

    def replay(self) -> None:
        if not self.exec:
            _CUDAGraph.instantiate(self)
        if self.random:
            cuda.default_generators[0].offset += 4
        state.driver.launch_graph(self.exec, state.stream)

    def reset(self) -> None:
        if self.exec:
            state.driver.destroy_exec(self.exec)
        self.exec = 0

    def raw_cuda_graph(self) -> int:
        if not self.keep_graph:
            raise RuntimeError("keep_graph")
        return int(self.graph)

    def raw_cuda_graph_exec(self) -> int:
        if not self.exec:
            raise RuntimeError("instantiate")
        return int(self.exec)


class CUDAGraph(_CUDAGraph):
    """The Python side."""

    __module__ = "torch.cuda.graphs"

    def capture_begin(self, pool: Any = None, capture_error_mode: str = "global") -> None:
        super().capture_begin(pool, capture_error_mode)

    def capture_end(self) -> None:
        super().capture_end()

    def instantiate(self) -> None:
        super().instantiate()

    def replay(self) -> None:
        super().replay()

    def reset(self) -> None:
        super().reset()

    # raw_cuda_graph and raw_cuda_graph_exec are inherited here, to be patched on the class all
    # the same.


cuda: Any = ModuleType("torch.cuda")
cuda.CUDAGraph = CUDAGraph
cuda.current_stream = lambda device=None: SimpleNamespace(cuda_stream=state.stream)
cuda.current_device = lambda: 0
cuda.device_count = lambda: 1
cuda.default_generators = (_Generator(),)
_C = SimpleNamespace(_cuda_getCurrentRawStream=lambda device: state.stream)
