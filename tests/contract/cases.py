"""The contract's tables of cases: shapes of graphs, and kinds of nodes.

A new kind of node, or a shape that once went wrong, is one row here.
"""

from __future__ import annotations

from collections.abc import Callable
from ctypes import byref, c_ulonglong, c_void_p
from dataclasses import dataclass
from typing import Any

from contract import driver
from contract.driver import Arguments, Driver, Handle
from contract.params import BatchMemOp, BatchMemOpParams, NodeParams, SemaphoreParams

Facts = dict[str, Any]


def spin(us: float) -> Arguments:
    """Arguments of a kernel that takes about ``us`` microseconds."""
    return Arguments(c_ulonglong(int(us * 1000)))


# -- shapes ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GraphShape:
    """A graph of kernels: how many nodes, and its edges by index."""

    node_count: int
    edges: tuple[tuple[int, int], ...] = ()


GRAPH_SHAPES = {
    "empty": GraphShape(0),
    "single": GraphShape(1),
    "chain": GraphShape(4, ((0, 1), (1, 2), (2, 3))),
    "fan_out": GraphShape(5, ((0, 1), (0, 2), (0, 3), (0, 4))),
    "fan_in": GraphShape(5, ((0, 4), (1, 4), (2, 4), (3, 4))),
    "diamond": GraphShape(4, ((0, 1), (0, 2), (1, 3), (2, 3))),
    "disconnected": GraphShape(4, ((0, 1), (2, 3))),
    "chain_100": GraphShape(100, tuple((i, i + 1) for i in range(99))),
}


def build_shape(cuda: Driver, shape: GraphShape) -> Handle:
    """Build a graph whose node ``i`` is a kernel with a grid of ``i + 1`` blocks."""
    graph = cuda.graph()
    nodes = [
        cuda.add_kernel(graph, [], "spin", spin(2), grid=(i + 1, 1, 1))
        for i in range(shape.node_count)
    ]
    if shape.edges:
        cuda.add_edges(graph, [(nodes[a], nodes[b]) for a, b in shape.edges])
    return graph


# -- kinds of nodes -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NodeKind:
    """A kind of node: how to add one, its CUgraphNodeType, whether it gets a span a launch.

    ``add`` takes the driver, the graph and the node it follows, and returns what a recording
    must say about the node. ``real`` is false where a real driver needs more than a GPU.
    """

    add: Callable[[Driver, Handle, Handle], Facts]
    type: int
    timed: bool
    real: bool = True


def _add_kernel(cuda: Driver, graph: Handle, after: Handle) -> Facts:
    arguments = Arguments(c_ulonglong(3000))
    cuda.add_kernel(graph, [after], "spin", arguments, grid=(7, 2, 3), block=(16, 4, 2))
    return {
        "name": "spin",
        "grid": [7, 2, 3],
        "block": [16, 4, 2],
        "arguments": [a.hex() for a in arguments.to_bytes()],
    }


def _add_memcpy(cuda: Driver, graph: Handle, after: Handle) -> Facts:
    source, destination = cuda.allocate(4096), cuda.allocate(4096)
    ends = (driver.MEMORY_DEVICE, destination), (driver.MEMORY_DEVICE, source)
    cuda.add_memcpy(graph, [after], *ends, 4096)
    return {
        "bytes": 4096,
        "copy_kind": 8,
        "source_address": source,
        "destination_address": destination,
    }


def _add_memset(cuda: Driver, graph: Handle, after: Handle) -> Facts:
    address = cuda.allocate(4096)
    cuda.add_memset(graph, [after], address, 7, 1024)
    return {
        "bytes": 4096,
        "destination_address": address,
        "memset_value": 7,
        "memset_element_bytes": 4,
    }


def _add_host(cuda: Driver, graph: Handle, after: Handle) -> Facts:
    cuda.add_host(graph, [after], lambda _data: None)
    return {"parameters": {"user data": "0x0"}}


def _add_empty(cuda: Driver, graph: Handle, after: Handle) -> Facts:
    cuda.add("EmptyNode", graph, [after])
    return {}


def _add_event_record(cuda: Driver, graph: Handle, after: Handle) -> Facts:
    event = cuda.event()
    cuda.add("EventRecordNode", graph, [after], c_void_p(event))
    return {"parameters": {"event": hex(event)}}


def _add_event_wait(cuda: Driver, graph: Handle, after: Handle) -> Facts:
    event = cuda.event()
    cuda.record(event, cuda.stream())
    cuda.add("EventWaitNode", graph, [after], c_void_p(event))
    return {"parameters": {"event": hex(event)}}


def _add_child(cuda: Driver, graph: Handle, after: Handle) -> Facts:
    child = cuda.graph()
    cuda.add_kernel(child, [], "spin", spin(2), grid=(9, 1, 1))
    cuda.add_child(graph, [after], child)
    return {}


def _add_alloc(cuda: Driver, graph: Handle, after: Handle) -> Facts:
    node, address = cuda.add_alloc(graph, [after], 1 << 20)
    cuda.add("MemFreeNode", graph, [node], c_ulonglong(address))
    return {"bytes": 1 << 20, "destination_address": address}


def _add_free(cuda: Driver, graph: Handle, after: Handle) -> Facts:
    node, address = cuda.add_alloc(graph, [], 1 << 20)
    cuda.add("MemFreeNode", graph, [node, after], c_ulonglong(address))
    return {"destination_address": address}


def _add_batch_mem_op(cuda: Driver, graph: Handle, after: Handle) -> Facts:
    write_value_32 = 2
    address = cuda.allocate(4096)
    operation = BatchMemOp(operation=write_value_32, address=address, value=1)
    operations = (BatchMemOp * 1)(operation)
    params = BatchMemOpParams(ctx=cuda.context, count=1, operations=operations)
    cuda.add("BatchMemOpNode", graph, [after], byref(params))
    reported = {"operations": "1", "operation 0": f"WRITE_VALUE_32 {hex(address)} = 0x1"}
    return {"parameters": reported}


def _add_semaphore(kind: str) -> Callable[[Driver, Handle, Handle], Facts]:
    def add(cuda: Driver, graph: Handle, after: Handle) -> Facts:
        cuda.add(f"ExternalSemaphores{kind}Node", graph, [after], byref(SemaphoreParams()))
        return {"parameters": {"semaphores": "0"}}

    return add


def _add_conditional(cuda: Driver, graph: Handle, after: Handle) -> Facts:
    _node, (body,) = cuda.add_conditional(graph, [after], 0, 1, 1)
    cuda.add_kernel(body, [], "spin", spin(2), grid=(9, 1, 1))
    return {"conditional_type": "if", "parameters": {"branches": "1"}}


def _add_unknown(cuda: Driver, graph: Handle, after: Handle) -> Facts:
    cuda.add_any(graph, [after], NodeParams(type=99))
    return {"name": "type 99"}


NODE_KINDS = {
    "kernel": NodeKind(_add_kernel, 0, timed=True),
    "memcpy": NodeKind(_add_memcpy, 1, timed=True),
    "memset": NodeKind(_add_memset, 2, timed=True),
    "host": NodeKind(_add_host, 3, timed=False),
    "child_graph": NodeKind(_add_child, 4, timed=False),
    "empty": NodeKind(_add_empty, 5, timed=False),
    "wait_event": NodeKind(_add_event_wait, 6, timed=False),
    "event_record": NodeKind(_add_event_record, 7, timed=False),
    # Importing a semaphore takes Vulkan or NvSci beside CUDA.
    "ext_semas_signal": NodeKind(_add_semaphore("Signal"), 8, timed=False, real=False),
    "ext_semas_wait": NodeKind(_add_semaphore("Wait"), 9, timed=False, real=False),
    "mem_alloc": NodeKind(_add_alloc, 10, timed=False),
    "mem_free": NodeKind(_add_free, 11, timed=False),
    "batch_mem_op": NodeKind(_add_batch_mem_op, 12, timed=False),
    "conditional": NodeKind(_add_conditional, 13, timed=False),
    # A kind of some later driver.
    "unknown": NodeKind(_add_unknown, 99, timed=False, real=False),
}
