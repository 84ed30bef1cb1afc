"""The programs of the contract: each drives the CUDA driver API and prints, as JSON, what it did.

Run as ``python programs.py NAME COLLECTOR OUTPUT [OPTIONS]``. COLLECTOR is ``gviz`` (record
into OUTPUT; OPTIONS is a JSON object of arguments for gviz.profile), ``gviz_first`` (the same,
entered before the driver is initialised), ``observer`` (subscribe to
CUPTI without gviz, write what was seen into OUTPUT) or ``none``.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from ctypes import byref, c_float, c_uint, c_ulonglong, c_void_p
from functools import partial
from pathlib import Path
from typing import Any

from contract import driver
from contract.cases import GRAPH_SHAPES, NODE_KINDS, Facts, build_shape, spin
from contract.driver import Arguments, Driver, DriverError, Handle
from contract.left_spool import leave_spool
from contract.life_programs import LIFE_PROGRAMS
from contract.nested import NESTED_PROGRAMS
from contract.watched import WATCHED

from gviz.spool.records import GPU_STATES, spool_of

Profile = Callable[[], AbstractContextManager[Any]]

COUNT = 1024
COUNT_BYTES = 4 * COUNT
_LEGACY_STREAM = 0


def launch_times(cuda: Driver, graph: Handle, times: int, stream: Handle) -> Handle:
    """Instantiate; launch and wait the given number of times; return the executable."""
    graph_exec = cuda.instantiate(graph)
    for _ in range(times):
        cuda.launch_graph(graph_exec, stream)
        cuda.wait(stream)
    return graph_exec


def _code(action: Callable[[], Any]) -> int:
    """Return the CUresult that an action ends with."""
    try:
        action()
    except DriverError as error:
        return error.code
    return 0


# -- built node by node ------------------------------------------------------------------------


def shapes(cuda: Driver, profile: Profile) -> Facts:
    """Every shape, launched three times."""
    stream = cuda.stream()
    with profile():
        for shape in GRAPH_SHAPES.values():
            launch_times(cuda, build_shape(cuda, shape), 3, stream)
    return {"launches": 3}


def kinds(cuda: Driver, profile: Profile, real: bool) -> Facts:
    """One graph a kind: a kernel and a node of the kind after it, launched twice."""
    stream = cuda.stream()
    facts: Facts = {}
    with profile():
        for name, kind in NODE_KINDS.items():
            if real and not kind.real:
                continue
            graph = cuda.graph()
            first = cuda.add_kernel(graph, [], "spin", spin(2))
            facts[name] = kind.add(cuda, graph, first)
            launch_times(cuda, graph, 2, stream)
    return {"kinds": facts, "launches": 2}


def fake_kinds(cuda: Driver, profile: Profile) -> Facts:
    """The kinds, with those that a real driver wants more for."""
    return kinds(cuda, profile, real=False)


def real_kinds(cuda: Driver, profile: Profile) -> Facts:
    """The kinds that need no more than a GPU."""
    return kinds(cuda, profile, real=True)


def children(cuda: Driver, profile: Profile) -> Facts:
    """Child graphs, two levels deep, and a sibling; each kernel has a grid of its own."""
    stream = cuda.stream()
    with profile():
        inner, outer, sibling, graph = (cuda.graph() for _ in range(4))
        cuda.add_kernel(inner, [], "spin", spin(2), grid=(5, 1, 1))
        first = cuda.add_kernel(outer, [], "spin", spin(2), grid=(3, 1, 1))
        child = cuda.add_child(outer, [first], inner)
        cuda.add_kernel(outer, [child], "spin", spin(2), grid=(4, 1, 1))
        cuda.add_kernel(sibling, [], "spin", spin(2), grid=(6, 1, 1))
        first = cuda.add_kernel(graph, [], "spin", spin(2), grid=(1, 1, 1))
        second = cuda.add_child(graph, [first], outer)
        third = cuda.add_child(graph, [second], sibling)
        cuda.add_kernel(graph, [third], "spin", spin(2), grid=(2, 1, 1))
        launch_times(cuda, graph, 3, stream)
    return {"grids": [1, 2, 3, 4, 5, 6], "launches": 3}


def branches(cuda: Driver, profile: Profile) -> Facts:
    """A SWITCH that takes its third branch in every launch."""
    stream = cuda.stream()
    with profile():
        graph = cuda.graph()
        first = cuda.add_kernel(graph, [], "spin", spin(2), grid=(1, 1, 1))
        _node, bodies = cuda.add_conditional(graph, [first], 2, 2, 4)
        for i, body in enumerate(bodies):
            cuda.add_kernel(body, [], "spin", spin(2), grid=(10 + i, 1, 1))
        launch_times(cuda, graph, 3, stream)
    return {"taken_grids": [1, 12], "launches": 3}


# -- captured ------------------------------------------------------------------------------------


class _Axpy:
    """y = 3 x + y on the device, with its memory."""

    def __init__(self, cuda: Driver) -> None:
        self.cuda = cuda
        self.x, self.y = cuda.allocate(COUNT_BYTES), cuda.allocate(COUNT_BYTES)
        self.out = cuda.allocate_pinned(COUNT_BYTES)
        self.arguments = Arguments(
            c_uint(COUNT), c_float(3.0), c_ulonglong(self.x), c_ulonglong(self.y)
        )
        cuda.upload_floats(self.x, [float(i) for i in range(COUNT)])

    def enqueue(self, stream: Handle) -> None:
        """Clear y, run twice, copy y to the host."""
        self.cuda.set32(self.y, 0, COUNT, stream)
        for _ in range(2):
            self.cuda.launch("axpy", self.arguments, stream, grid=(8, 1, 1), block=(128, 1, 1))
        self.cuda.copy(self.out, self.y, COUNT_BYTES, stream)

    def result(self) -> list[float]:
        """Return the first values on the host."""
        return list((c_float * 4).from_address(self.out))

    def facts(self) -> Facts:
        """Return what a recording must say about the nodes."""
        return {
            "arguments": [a.hex() for a in self.arguments.to_bytes()],
            "x": self.x,
            "y": self.y,
            "out": self.out,
            "bytes": COUNT_BYTES,
            "result": self.result(),
        }


def captured(cuda: Driver, profile: Profile) -> Facts:
    """One captured stream: memset, two kernels, a copy to the host, a host function."""
    stream, work, called = cuda.stream(), _Axpy(cuda), []
    with profile():
        cuda.begin_capture(stream)
        work.enqueue(stream)
        cuda.host_function(stream, lambda _data: called.append(1))
        graph = cuda.end_capture(stream)
        graph_exec = launch_times(cuda, graph, 5, stream)
        cuda.destroy_exec(graph_exec)
        cuda.destroy_graph(graph)
    return {**work.facts(), "launches": 5, "called": len(called)}


def fork_join(cuda: Driver, profile: Profile) -> Facts:
    """A capture that forks to a second stream and joins it."""
    main, side = cuda.stream(), cuda.stream()
    fork, join = cuda.event(timing=False), cuda.event(timing=False)
    with profile():
        cuda.begin_capture(main)
        cuda.launch("spin", spin(5), main, grid=(1, 1, 1))
        cuda.record(fork, main)
        cuda.wait_event(side, fork)
        cuda.launch("spin", spin(50), main, grid=(2, 1, 1))
        cuda.launch("spin", spin(50), side, grid=(3, 1, 1))
        cuda.record(join, side)
        cuda.wait_event(main, join)
        cuda.launch("spin", spin(5), main, grid=(4, 1, 1))
        launch_times(cuda, cuda.end_capture(main), 4, main)
    return {"launches": 4}


def warm_up(cuda: Driver, profile: Profile) -> Facts:
    """The same work three times on a stream, then captured and launched four times."""
    stream, work = cuda.stream(), _Axpy(cuda)
    with profile():
        for _ in range(3):
            work.enqueue(stream)
            cuda.wait(stream)
        cuda.begin_capture(stream)
        work.enqueue(stream)
        launch_times(cuda, cuda.end_capture(stream), 4, stream)
    return {**work.facts(), "iterations": 3, "launches": 4}


def captured_launch(cuda: Driver, profile: Profile) -> Facts:
    """A graph launched into a capturing stream: the driver refuses it; then a proper launch."""
    stream = cuda.stream()
    with profile():
        inner = cuda.graph()
        cuda.add_kernel(inner, [], "spin", spin(2), grid=(5, 1, 1))
        inner_exec = cuda.instantiate(inner)
        cuda.begin_capture(stream)
        cuda.launch("spin", spin(2), stream, grid=(1, 1, 1))
        launch = _code(lambda: cuda.launch_graph(inner_exec, stream))
        end = _code(lambda: cuda.end_capture(stream))
        for _ in range(3):
            cuda.launch_graph(inner_exec, stream)
            cuda.wait(stream)
    return {"launch": launch, "end": end, "launches": 3}


def failed_capture(cuda: Driver, profile: Profile) -> Facts:
    """Captures that break, each in its own way, then one that works."""
    codes: dict[str, int] = {}
    work = _Axpy(cuda)
    blocking, other = cuda.stream(non_blocking=False), cuda.stream()

    def attempt(name: str, action: Callable[[], Any]) -> None:
        codes[name] = _code(action)

    with profile():
        cuda.begin_capture(blocking, driver.CAPTURE_GLOBAL)
        attempt("legacy stream", lambda: cuda.launch("empty", Arguments(), _LEGACY_STREAM))
        attempt("end after that", lambda: cuda.end_capture(blocking))
        cuda.begin_capture(blocking, driver.CAPTURE_GLOBAL)
        attempt("allocate", lambda: cuda.allocate(4096))
        attempt("end after that too", lambda: cuda.end_capture(blocking))
        cuda.begin_capture(blocking, driver.CAPTURE_GLOBAL)
        attempt("synchronize", lambda: cuda.wait(blocking))
        attempt("end a third time", lambda: cuda.end_capture(blocking))
        event = cuda.event()
        cuda.begin_capture(blocking)
        cuda.record(event, blocking)
        cuda.wait_event(other, event)
        cuda.launch("empty", Arguments(), other)
        attempt("unjoined", lambda: cuda.end_capture(blocking))
        attempt("end without begin", lambda: cuda.end_capture(blocking))
        cuda.begin_capture(other)
        work.enqueue(other)
        launch_times(cuda, cuda.end_capture(other), 2, other)
    return {**work.facts(), "codes": codes, "launches": 2}


def refused(cuda: Driver, profile: Profile) -> Facts:
    """Graphs that the driver does not clone or instantiate."""
    clone = c_void_p()
    with profile():
        allocating = cuda.graph()
        cuda.add_alloc(allocating, [], 1 << 20)
        branching = cuda.graph()
        _node, (body,) = cuda.add_conditional(branching, [], 0, 1, 1)
        cuda.add("EventRecordNode", body, [], c_void_p(cuda.event()))
        plain = build_shape(cuda, GRAPH_SHAPES["single"])
        codes = {
            name: _code(lambda g=graph: cuda.call("cuGraphClone", byref(clone), c_void_p(g)))
            for name, graph in (
                ("clone plain", plain),
                ("clone alloc", allocating),
                ("clone conditional", branching),
            )
        }
        codes["event in body"] = _code(lambda: cuda.instantiate(branching))
        codes["alloc once"] = _code(lambda: cuda.instantiate(allocating))
        codes["alloc twice"] = _code(lambda: cuda.instantiate(allocating))
    return {"codes": codes}


# -- lives ---------------------------------------------------------------------------------------


def repeated(cuda: Driver, profile: Profile) -> Facts:
    """A chain of three kernels, launched ten times."""
    stream = cuda.stream()
    with profile():
        launch_times(cuda, build_shape(cuda, GRAPH_SHAPES["chain"]), 10, stream)
    return {"launches": 10, "nodes": 4}


def many(cuda: Driver, profile: Profile) -> Facts:
    """A graph of one short kernel, launched thousands of times, a hundred in flight."""
    stream, launches = cuda.stream(), 5_000
    with profile():
        graph_exec = cuda.instantiate(build_shape(cuda, GRAPH_SHAPES["single"]))
        for i in range(launches):
            cuda.launch_graph(graph_exec, stream)
            if i % 100 == 99:
                cuda.wait(stream)
    return {"launches": launches, "nodes": 1}


def sampled(cuda: Driver, profile: Profile) -> Facts:
    """Launches until the writer has six lines about the GPU, or one that says why not."""
    states = spool_of(Path(sys.argv[3])) / GPU_STATES
    stream, text, until = cuda.stream(), "", time.monotonic() + 30
    with profile():
        graph_exec = cuda.instantiate(build_shape(cuda, GRAPH_SHAPES["single"]))
        while text.count("\n") < 6 and "failure" not in text and time.monotonic() < until:
            cuda.launch_graph(graph_exec, stream)
            cuda.wait(stream)
            time.sleep(0.02)
            text = states.read_text() if states.exists() else ""
    return {"lines": text.count("\n")}


def thinned(cuda: Driver, profile: Profile) -> Facts:
    """The same graph, where events may take next to no time: none but those always recorded."""
    from gviz.collectors import native

    native.NativeOptions = partial(native.NativeOptions, event_cost_fraction=1e-9)
    return many(cuda, profile)


def dozens(cuda: Driver, profile: Profile) -> Facts:
    """A chain of three kernels, launched 80 times, each waited for."""
    stream = cuda.stream()
    with profile():
        launch_times(cuda, build_shape(cuda, GRAPH_SHAPES["chain"]), 80, stream)
    return {"launches": 80, "nodes": 4}


def many_texts(cuda: Driver, profile: Profile) -> Facts:
    """More different NVTX texts than are recorded, then a node under one that is."""
    from gviz.collectors import native

    texts, stream = 70_000, cuda.stream()
    with profile():
        cuda.synchronize()
        native.nvtx_push("outer")
        for i in range(texts):
            native.nvtx_push(f"step {i}")
            native.nvtx_pop()
        native.nvtx_push("beyond")
        graph = cuda.graph()
        cuda.add_kernel(graph, [], "spin", spin(2))
        native.nvtx_pop()
        native.nvtx_push("step 0")
        cuda.add_kernel(graph, [], "spin", spin(2))
        native.nvtx_pop()
        native.nvtx_pop()
        launch_times(cuda, graph, 1, stream)
    return {"texts": texts, "launches": 1}


def many_ranges(cuda: Driver, profile: Profile) -> Facts:
    """More NVTX ranges than are recorded, of the same texts, then nodes under such texts."""
    from gviz.collectors import native

    ranges, stream = 100_200, cuda.stream()
    with profile():
        cuda.synchronize()
        for i in range(ranges // 2):
            native.nvtx_push("even" if i % 2 else "odd")
            native.nvtx_push("inner")
            native.nvtx_pop()
            native.nvtx_pop()
        graph = cuda.graph()
        for text in ("odd", "even", "odd", "even"):
            native.nvtx_push(text)
            native.nvtx_push("inner")
            cuda.add_kernel(graph, [], "spin", spin(2))
            native.nvtx_pop()
            native.nvtx_pop()
        launch_times(cuda, graph, 1, stream)
    return {"ranges": ranges + 8, "launches": 1}


def queued(cuda: Driver, profile: Profile) -> Facts:
    """Twelve launches in flight at once, waited for at the end only."""
    stream = cuda.stream()
    with profile():
        graph_exec = cuda.instantiate(build_shape(cuda, GRAPH_SHAPES["diamond"]))
        for _ in range(12):
            cuda.launch_graph(graph_exec, stream)
        cuda.synchronize()
    return {"launches": 12, "nodes": 4}


def late(cuda: Driver, profile: Profile) -> Facts:
    """Instantiated and launched before the profile, launched on inside it."""
    stream = cuda.stream()
    graph_exec = launch_times(cuda, build_shape(cuda, GRAPH_SHAPES["chain"]), 2, stream)
    with profile():
        for _ in range(3):
            cuda.launch_graph(graph_exec, stream)
            cuda.wait(stream)
    return {"launches": 3, "nodes": 4}


def updated(cuda: Driver, profile: Profile) -> Facts:
    """An executable changed in place: one node's parameters, a whole update, a refused one."""
    stream = cuda.stream()
    with profile():
        graph = build_shape(cuda, GRAPH_SHAPES["chain"])
        graph_exec = launch_times(cuda, graph, 1, stream)
        node = cuda.nodes(graph)[0]
        cuda.set_kernel_params(graph_exec, node, "spin", spin(4), (1, 1, 1))
        cuda.launch_graph(graph_exec, stream)
        accepted = cuda.update(graph_exec, build_shape(cuda, GRAPH_SHAPES["chain"]))
        refused = cuda.update(graph_exec, build_shape(cuda, GRAPH_SHAPES["diamond"]))
        cuda.launch_graph(graph_exec, stream)
        cuda.wait(stream)
    return {"launches": 3, "accepted": accepted, "refused": refused}


def twice(cuda: Driver, profile: Profile) -> Facts:
    """Two profiles one after the other; the first one's executable goes on in the second."""
    stream = cuda.stream()
    with profile():
        first = launch_times(cuda, build_shape(cuda, GRAPH_SHAPES["chain"]), 2, stream)
    with profile():
        cuda.launch_graph(first, stream)
        launch_times(cuda, build_shape(cuda, GRAPH_SHAPES["diamond"]), 3, stream)
    return {"late_launches": 1, "launches": 3}


def forking(cuda: Driver, profile: Profile) -> Facts:
    """A child process is forked between two launches, and ends at once."""
    stream = cuda.stream()
    with profile():
        graph_exec = launch_times(cuda, build_shape(cuda, GRAPH_SHAPES["chain"]), 2, stream)
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)
        cuda.launch_graph(graph_exec, stream)
        cuda.wait(stream)
    return {"launches": 3, "nodes": 4}


def threads(cuda: Driver, profile: Profile) -> Facts:
    """Four threads, each with a stream, a capture and launches of its own."""
    thread_ids: list[int] = []

    def work(index: int) -> None:
        cuda.make_current()
        thread_ids.append(threading.get_native_id())
        stream = cuda.stream()
        cuda.begin_capture(stream)
        for _ in range(index + 1):
            cuda.launch("spin", spin(2), stream, grid=(index + 1, 1, 1))
        launch_times(cuda, cuda.end_capture(stream), 10, stream)

    with profile():
        workers = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    return {"launches": 10, "threads": len(workers), "thread_ids": thread_ids}


def raising(cuda: Driver, profile: Profile) -> Facts:
    """An exception out of the block."""
    stream = cuda.stream()
    with profile():
        launch_times(cuda, build_shape(cuda, GRAPH_SHAPES["single"]), 2, stream)
        raise LookupError("raised by the program")


PROGRAMS: dict[str, Callable[[Driver, Profile], Facts]] = {
    f.__name__: f
    for f in (
        shapes,
        fake_kinds,
        real_kinds,
        children,
        branches,
        captured,
        fork_join,
        warm_up,
        captured_launch,
        failed_capture,
        repeated,
        many,
        sampled,
        thinned,
        dozens,
        many_texts,
        many_ranges,
        queued,
        late,
        updated,
        threads,
        twice,
        forking,
        refused,
        raising,
        *LIFE_PROGRAMS,
    )
}
PROGRAMS |= NESTED_PROGRAMS


PROGRAMS |= {f.__name__: f for f in WATCHED}


def run(name: str, collector: str, output: Path, options: Facts) -> Facts:
    """Run a program under a collector; return what it did."""
    leave_spool()
    facts: Facts
    started_ns = time.time_ns()
    if collector == "gviz":
        import gviz

        facts = PROGRAMS[name](Driver(), lambda: gviz.profile(output, **options))
    elif collector == "gviz_first":
        import gviz

        with gviz.profile(output, **options):
            facts = PROGRAMS[name](Driver(), nullcontext)
    elif collector == "observer":
        from contract.observer import Observer

        observer = Observer(("cuGraphLaunch", "cuGraphInstantiateWithFlags"))
        facts = PROGRAMS[name](Driver(), lambda: observer)
        seen = {"events": observer.events, "records": observer.records}
        output.write_text(json.dumps(seen))
    else:
        facts = PROGRAMS[name](Driver(), nullcontext)
    return {**facts, "started_ns": started_ns, "ended_ns": time.time_ns()}


if __name__ == "__main__":
    _options = json.loads(sys.argv[4]) if len(sys.argv) > 4 else {}
    print(json.dumps(run(sys.argv[1], sys.argv[2], Path(sys.argv[3]), _options)))
