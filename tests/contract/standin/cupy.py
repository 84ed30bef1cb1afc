"""Stands for CuPy in the contract's programs: capturing streams, and graphs that launch."""

from __future__ import annotations

from types import ModuleType, SimpleNamespace
from typing import Any

state = SimpleNamespace(driver=None)


class Graph:
    """An extension type in CuPy: its methods cannot be replaced."""

    __module__ = "cupy.cuda.graph"
    __slots__ = ("graph", "graphExec")

    def __init__(self, graph: int, graph_exec: int) -> None:
        self.graph, self.graphExec = graph, graph_exec

    def launch(self, stream: Any = None) -> None:
        on = cuda.get_current_stream() if stream is None else stream
        state.driver.launch_graph(self.graphExec, on.ptr)

    def upload(self, stream: Any = None) -> None:
        pass

    def debug_dot_str(self, flags: int = 0) -> str:
        return "digraph {}"


class _BaseStream:
    def __init__(self, ptr: int) -> None:
        self.ptr = ptr

    def begin_capture(self, mode: int | None = None) -> None:
        state.driver.begin_capture(self.ptr, 2 if mode is None else mode)

    def end_capture(self) -> Graph:
        graph = state.driver.end_capture(self.ptr)
        return Graph(graph, state.driver.instantiate(graph))


class Stream(_BaseStream):
    pass


cuda: Any = ModuleType("cupy.cuda")
cuda.stream = ModuleType("cupy.cuda.stream")
cuda.stream._BaseStream = _BaseStream
cuda.Graph = Graph
cuda.Stream = Stream
cuda.current = None
cuda.get_current_stream = lambda: cuda.current
