"""Programs with nodes inside nodes, and of memory that graphs allocate.

Kernels are told apart by the x of their grids.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from ctypes import byref, c_int, c_size_t, c_uint, c_ulonglong, c_void_p
from typing import Any

from contract.cases import Facts, spin
from contract.conditional import add_loop, choose, count_down, load_conditional_kernels
from contract.driver import Arguments, Driver, Handle
from contract.params import EdgeData, KernelAttribute, LaunchConfig

Profile = Callable[[], AbstractContextManager[Any]]

IF, WHILE, SWITCH = 0, 1, 2
#: Iterations of the loop of the mixed graph and of the loop alone.
ITERATIONS = 3
LOOP_ITERATIONS = 10
OUTER, INNER = 3, 4


def _launch(cuda: Driver, graph: Handle, times: int, stream: Handle) -> Handle:
    graph_exec = cuda.instantiate(graph)
    for _ in range(times):
        cuda.launch_graph(graph_exec, stream)
        cuda.wait(stream)
    return graph_exec


def _kernel(cuda: Driver, graph: Handle, after: list[Handle], grid: int) -> Handle:
    return cuda.add_kernel(graph, after, "spin", spin(2), grid=(grid, 1, 1))


def _chain(cuda: Driver, graph: Handle, *grids: int) -> None:
    before: list[Handle] = []
    for grid in grids:
        before = [_kernel(cuda, graph, before, grid)]


# -- one graph with everything in it -----------------------------------------------------


def _mixed_graph(cuda: Driver, counter: int, if_value: int, switch_value: int) -> Handle:
    """Build the graph of tests/golden/dot/conditional_mix; bodies are filled in last first."""
    graph, child, inner, last = (cuda.graph() for _ in range(4))
    _chain(cuda, inner, 16)
    first = _kernel(cuda, child, [], 15)
    _kernel(cuda, child, [cuda.add_child(child, [first], inner)], 21)
    _chain(cuda, last, 25)
    node = _kernel(cuda, graph, [], 10)
    node, (then, otherwise) = cuda.add_conditional(graph, [node], IF, if_value, 2)
    node = _kernel(cuda, graph, [node], 20)
    node = cuda.add_memset(graph, [node], counter, ITERATIONS, 1)
    node, loop, handle = add_loop(cuda, graph, [node])
    node, cases = cuda.add_conditional(graph, [node], SWITCH, switch_value, 3)
    cuda.add_child(graph, [_kernel(cuda, graph, [node], 24)], last)
    for case, grids in zip(cases[::-1], ((22, 23), (19,), (18,)), strict=True):
        _chain(cuda, case, *grids)
    node = _kernel(cuda, loop, [], 14)
    node = cuda.add_child(loop, [node], child)
    node, (inside,) = cuda.add_conditional(loop, [node], IF, 1, 1)
    cuda.add_kernel(loop, [node], "count_down", count_down(handle, counter), block=(1, 1, 1))
    _chain(cuda, inside, 17)
    _chain(cuda, otherwise, 13)
    _chain(cuda, then, 11, 12)
    return graph


def mixed(cuda: Driver, profile: Profile) -> Facts:
    """IF/ELSE, WHILE around child graphs and an IF, SWITCH: thrice, so that all branches run."""
    stream, counter = cuda.stream(), cuda.allocate(4)
    load_conditional_kernels(cuda)
    values = [(1, 2), (0, 0), (0, 1)]
    with profile():
        for if_value, switch_value in values:
            _launch(cuda, _mixed_graph(cuda, counter, if_value, switch_value), 2, stream)
    taken = [[11, 12, 22, 23], [13, 18], [13, 19]]
    return {"launches": 2, "taken": taken, "iterations": ITERATIONS}


def deep(cuda: Driver, profile: Profile) -> Facts:
    """Bodies inside the first branch of an IF/ELSE, and nodes destroyed at both levels."""
    stream = cuda.stream()
    with profile():
        for value in (1, 0):
            graph, child = cuda.graph(), cuda.graph()
            _chain(cuda, child, 13)
            first = _kernel(cuda, graph, [], 1)
            gone = _kernel(cuda, graph, [], 90)
            node, (then, otherwise) = cuda.add_conditional(graph, [first], IF, value, 2)
            _kernel(cuda, graph, [node], 2)
            cuda.call("cuGraphDestroyNode", c_void_p(gone))
            first = _kernel(cuda, then, [], 11)
            gone = _kernel(cuda, then, [], 91)
            node, (inside,) = cuda.add_conditional(then, [first], IF, 1, 1)
            node = cuda.add_child(then, [node], child)
            _kernel(cuda, then, [node], 14)
            cuda.call("cuGraphDestroyNode", c_void_p(gone))
            _chain(cuda, inside, 12)
            _chain(cuda, otherwise, 15)
            _launch(cuda, graph, 2, stream)
    return {"launches": 2}


# -- loops -------------------------------------------------------------------------------


def loop(cuda: Driver, profile: Profile) -> Facts:
    """A WHILE between two kernels."""
    stream, counter = cuda.stream(), cuda.allocate(4)
    load_conditional_kernels(cuda)
    with profile():
        graph = cuda.graph()
        node = _kernel(cuda, graph, [], 1)
        node = cuda.add_memset(graph, [node], counter, LOOP_ITERATIONS, 1)
        node, body, handle = add_loop(cuda, graph, [node])
        _kernel(cuda, graph, [node], 2)
        node = _kernel(cuda, body, [], 10)
        cuda.add_kernel(body, [node], "count_down", count_down(handle, counter), block=(1, 1, 1))
        _launch(cuda, graph, 3, stream)
    return {"launches": 3, "iterations": LOOP_ITERATIONS}


def loop_in_loop(cuda: Driver, profile: Profile) -> Facts:
    """A WHILE inside a WHILE: the inner one starts afresh in each turn of the outer one."""
    stream, counters = cuda.stream(), cuda.allocate(8)
    load_conditional_kernels(cuda)
    with profile():
        graph = cuda.graph()
        node = cuda.add_memset(graph, [], counters, OUTER, 1)
        _node, body, outer = add_loop(cuda, graph, [node])
        node = cuda.add_memset(body, [], counters + 4, INNER, 1)
        inner = cuda.conditional_handle(body, 1)
        node = cuda.add_kernel(body, [node], "choose", choose(inner, 1), block=(1, 1, 1))
        node, (inside,) = cuda.add_conditional(body, [node], WHILE, 1, 1, handle=inner)
        cuda.add_kernel(body, [node], "count_down", count_down(outer, counters), block=(1, 1, 1))
        node = _kernel(cuda, inside, [], 30)
        arguments = count_down(inner, counters + 4)
        cuda.add_kernel(inside, [node], "count_down", arguments, block=(1, 1, 1))
        _launch(cuda, graph, 2, stream)
    return {"launches": 2, "iterations": OUTER * INNER}


# -- launches in a queue -----------------------------------------------------------------


def _queue(cuda: Driver, graph: Handle, times: int, stream: Handle) -> None:
    graph_exec = cuda.instantiate(graph)
    for _ in range(times):
        cuda.launch_graph(graph_exec, stream)
    cuda.wait(stream)


def branch_first(cuda: Driver, profile: Profile) -> Facts:
    """An IF with a kernel after it and none before, launched without waiting."""
    stream = cuda.stream()
    with profile():
        graph = cuda.graph()
        node, (body,) = cuda.add_conditional(graph, [], IF, 1, 1)
        cuda.add_kernel(body, [], "spin", spin(50), grid=(10, 1, 1))
        _kernel(cuda, graph, [node], 2)
        _queue(cuda, graph, 8, stream)
    return {"launches": 8}


def branch_alone(cuda: Driver, profile: Profile) -> Facts:
    """An IF and nothing else, launched without waiting, as often as launches are always timed."""
    stream = cuda.stream()
    with profile():
        graph = cuda.graph()
        _node, (body,) = cuda.add_conditional(graph, [], IF, 1, 1)
        node = cuda.add_kernel(body, [], "spin", spin(100), grid=(10, 1, 1))
        cuda.add_kernel(body, [node], "spin", spin(100), grid=(11, 1, 1))
        _queue(cuda, graph, 5, stream)
    return {"launches": 5}


# -- bodies by other ways ----------------------------------------------------------------


def captured_body(cuda: Driver, profile: Profile) -> Facts:
    """The body of an IF that is captured from a stream."""
    stream = cuda.stream()
    with profile():
        graph = cuda.graph()
        node, (body,) = cuda.add_conditional(graph, [_kernel(cuda, graph, [], 1)], IF, 1, 1)
        into = (c_void_p(body), None, None, c_size_t(0), c_int(1))
        cuda.call("cuStreamBeginCaptureToGraph", c_void_p(stream), *into)
        cuda.launch("spin", spin(2), stream, grid=(10, 1, 1))
        cuda.launch("spin", spin(2), stream, grid=(11, 1, 1))
        cuda.call("cuStreamEndCapture", c_void_p(stream), None)
        _kernel(cuda, graph, [node], 2)
        _launch(cuda, graph, 2, stream)
    return {"launches": 2}


def captured_conditional(cuda: Driver, profile: Profile) -> Facts:
    """An IF added to a stream's capture while it goes on, its body captured from another."""
    stream, side = cuda.stream(), cuda.stream()
    with profile():
        cuda.begin_capture(stream)
        cuda.launch("spin", spin(2), stream, grid=(1, 1, 1))
        status, capture_id, graph = c_int(), c_ulonglong(), c_void_p()
        before, kinds, count = c_void_p(), c_void_p(), c_size_t()
        found = (byref(x) for x in (status, capture_id, graph, before, kinds, count))
        cuda.call("cuStreamGetCaptureInfo_v3", c_void_p(stream), *found)
        after = [c_void_p.from_address((before.value or 0) + 8 * i) for i in range(count.value)]
        handles = [handle.value or 0 for handle in after]
        node, (body,) = cuda.add_conditional(graph.value or 0, handles, IF, 1, 1)
        following = (c_void_p * 1)(node)
        replace = c_uint(1)  # CU_STREAM_SET_CAPTURE_DEPENDENCIES
        cuda.call(
            "cuStreamUpdateCaptureDependencies_v2",
            c_void_p(stream),
            following,
            None,
            c_size_t(1),
            replace,
        )
        into = (c_void_p(body), None, None, c_size_t(0), c_int(1))
        cuda.call("cuStreamBeginCaptureToGraph", c_void_p(side), *into)
        cuda.launch("spin", spin(2), side, grid=(10, 1, 1))
        cuda.launch("spin", spin(2), side, grid=(11, 1, 1))
        cuda.call("cuStreamEndCapture", c_void_p(side), None)
        cuda.launch("spin", spin(2), stream, grid=(2, 1, 1))
        _launch(cuda, cuda.end_capture(stream), 2, stream)
    return {"launches": 2}


def body_before(cuda: Driver, profile: Profile) -> Facts:
    """A conditional node added before the profile; a child graph after it, instantiated inside."""
    stream = cuda.stream()
    graph, child = cuda.graph(), cuda.graph()
    _chain(cuda, child, 11)
    first = _kernel(cuda, graph, [], 1)
    node, (body,) = cuda.add_conditional(graph, [first], IF, 1, 1)
    _chain(cuda, body, 10)
    with profile():
        cuda.add_child(graph, [node], child)
        _launch(cuda, graph, 2, stream)
    return {"launches": 2}


def template_gone(cuda: Driver, profile: Profile) -> Facts:
    """Graphs with bodies made, launched and destroyed again and again."""
    stream = cuda.stream()
    with profile():
        for iteration in range(4):
            graph = cuda.graph()
            _node, bodies = cuda.add_conditional(graph, [], SWITCH, iteration % 2, 2)
            for i, body in enumerate(bodies):
                _chain(cuda, body, 10 + i)
            graph_exec = _launch(cuda, graph, 1, stream)
            cuda.destroy_exec(graph_exec)
            cuda.destroy_graph(graph)
    return {"launches": 1, "graphs": 4}


# -- edges -------------------------------------------------------------------------------


def programmatic(cuda: Driver, profile: Profile) -> Facts:
    """Programmatic edges: added by hand, and captured from two kernels in a row."""
    stream = cuda.stream()
    edge = EdgeData(from_port=1, to_port=0, type=1)
    with profile():
        graph = cuda.graph()
        first, second, third = (_kernel(cuda, graph, [], i) for i in (1, 2, 3))
        cuda.add_edges(graph, [(first, second)], edge)
        cuda.add_edges(graph, [(second, third)])
        _launch(cuda, graph, 2, stream)
        cuda.begin_capture(stream)
        cuda.launch("spin", spin(2), stream, grid=(1, 1, 1))
        launch_programmatic(cuda, stream, 2)
        _launch(cuda, cuda.end_capture(stream), 2, stream)
    return {"launches": 2}


def launch_programmatic(cuda: Driver, stream: Handle, grid: int) -> None:
    attributes = (KernelAttribute * 1)()
    attributes[0].id = 6  # PROGRAMMATIC_STREAM_SERIALIZATION
    attributes[0].value[0] = 1
    config = LaunchConfig(
        grid=(grid, 1, 1),
        block=(32, 1, 1),
        stream=stream,
        attributes=attributes,
        attribute_count=1,
    )
    arguments: Arguments = spin(2)
    function = c_void_p(cuda.functions["spin"])
    cuda.call("cuLaunchKernelEx", byref(config), function, arguments.array, None)


# -- memory ------------------------------------------------------------------------------


def memory(cuda: Driver, profile: Profile) -> Facts:
    """Allocations freed in their graph, in another graph, and by the program."""
    stream = cuda.stream()
    with profile():
        inside = cuda.graph()
        node, own = cuda.add_alloc(inside, [], 1 << 20)
        node = _kernel(cuda, inside, [node], 1)
        cuda.add("MemFreeNode", inside, [node], c_ulonglong(own))
        _launch(cuda, inside, 2, stream)
        giver, taker, leaver = (cuda.graph() for _ in range(3))
        _node, given = cuda.add_alloc(giver, [], 2 << 20)
        cuda.add("MemFreeNode", taker, [], c_ulonglong(given))
        _launch(cuda, giver, 1, stream)
        _launch(cuda, taker, 1, stream)
        _node, left = cuda.add_alloc(leaver, [], 3 << 20)
        _launch(cuda, leaver, 1, stream)
        cuda.call("cuMemFreeAsync", c_ulonglong(left), c_void_p(stream))
        cuda.wait(stream)
    return {"addresses": [own, given, left]}


# -- several devices ---------------------------------------------------------------------


def two_devices(cuda: Driver, profile: Profile) -> Facts:
    """One graph with a kernel and a memset on each of two devices, and a copy between them."""
    stream, here = cuda.stream(), cuda.context
    address, function = cuda.allocate(4096), cuda.functions["spin"]
    there = cuda.use_device(1)
    far_address, far_function = cuda.allocate(4096), cuda.functions["spin"]
    cuda.use_device(0)
    with profile():
        graph = cuda.graph()
        node: list[Handle] = []
        for context, kernel, target in (
            (here, function, address),
            (there, far_function, far_address),
        ):
            params = cuda.kernel_params("spin", spin(2), (1, 1, 1), (32, 1, 1))
            params.func, params.ctx = kernel, context
            node = [cuda.add("KernelNode_v2", graph, node, byref(params))]
            cuda.context = context
            node = [cuda.add_memset(graph, node, target, 1, 1024)]
        cuda.context = here
        cuda.add_memcpy(graph, node, (2, far_address), (2, address), 4096)
        _launch(cuda, graph, 2, stream)
    return {"launches": 2}


NESTED_PROGRAMS: dict[str, Callable[[Driver, Profile], Facts]] = {
    f.__name__: f
    for f in (
        mixed,
        deep,
        loop,
        loop_in_loop,
        branch_first,
        branch_alone,
        captured_body,
        captured_conditional,
        body_before,
        template_gone,
        programmatic,
        memory,
        two_devices,
    )
}
