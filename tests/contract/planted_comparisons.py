"""Comparisons on the fake driver with planted times: a program for test_planted_comparisons.py.

Each comparison is of the same kernels with call and node times, noise, drift and cold first
iterations of a seed. What is printed has the truth beside it: the same work without noise, drift
and cold calls, measured by the same events, at the drift that the readings were taken at.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import CDLL, Structure, byref, c_double, c_uint32, c_uint64
from typing import Any

from contract.driver import Arguments, Driver

import gviz
from gviz.collectors.comparing import both_ways

#: Kernels of an iteration, each of 2 us.
NODES = 8
COLD_ITERATIONS = 2


class Plan(Structure):
    """struct plan of tests/fake/fake.h."""

    _fields_ = (
        ("seed", c_uint64), ("call_ns", c_double), ("launch_ns", c_double), ("scale", c_double),
        ("noise", c_double), ("drift_per_s", c_double), ("cold_factor", c_double),
        ("attached_ns", c_double), ("recorded_ns", c_double),
        ("cold_calls", c_uint32), ("cold_launches", c_uint32),
    )  # fmt: skip


class Library:
    """Stands for PyTorch or CuPy; its clock is the fake driver's."""

    name = "driver"

    def __init__(self) -> None:
        self.fake = CDLL("libcuda.so.1")
        self.fake.fake_now_ns.restype = c_uint64
        self.fake.fake_drift.restype = c_double
        self.cuda = Driver()
        self.stream = self.cuda.stream()
        self.events = (self.cuda.event(), self.cuda.event())
        self.drifts: list[float] = []
        #: Of the kernels: comparisons of one recording are of work that can be distinguished.
        self.blocks = 1

    def plan(self, **times: float) -> None:
        """Plant times from here on."""
        self.fake.fake_set_plan(byref(Plan(scale=times.pop("scale", 1.0), **times)))

    def work(self) -> None:
        """Launch the kernels one after the other."""
        for _ in range(NODES):
            self.cuda.launch("empty", Arguments(), self.stream, grid=(self.blocks, 1, 1))

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Work on the one stream."""
        yield

    def synchronize(self) -> None:
        """Wait for it."""
        self.cuda.wait(self.stream)

    def capture(self, function: Callable[[], Any]) -> tuple[Callable[[], Any], Any]:
        """Capture the stream."""
        self.cuda.begin_capture(self.stream)
        results = function()
        graph_exec = self.cuda.instantiate(self.cuda.end_capture(self.stream))
        return (lambda: self.cuda.launch_graph(graph_exec, self.stream)), results

    def time(self, call: Callable[[], Any]) -> tuple[float, float]:
        """Return elapsed and host time on an idle GPU, and keep the drift of that moment."""
        begin, end = self.events
        self.synchronize()
        self.drifts.append(self.fake.fake_drift())
        self.cuda.record(begin, self.stream)
        started = self.fake.fake_now_ns()
        call()
        host = self.fake.fake_now_ns() - started
        self.cuda.record(end, self.stream)
        self.cuda.wait(self.stream)
        return self.cuda.elapsed_ns(begin, end), float(host)

    def to_host(self, value: Any) -> None:
        """Return None: there are no results."""

    def random_state(self) -> None:
        """Return None: none are drawn."""

    def same_random_state(self, state: Any) -> bool:
        """Return True."""
        return True


class Truth:
    """The saving of elapsed and of host time, as a function of the drift."""

    def __init__(self, library: Library, **times: float) -> None:
        launch, _ = library.capture(library.work)
        self.at: list[list[float]] = []
        for scale in (1.0, 2.0):
            library.plan(scale=scale, **times)
            launch()
            sides = [library.time(call) for call in (library.work, launch)]
            self.at.append([eager - graph for eager, graph in zip(*sides, strict=True)])

    def saved_ns(self, drift: float) -> list[float]:
        """Return both; all is linear in how much longer calls and nodes take."""
        return [one + (drift - 1) * (two - one) for one, two in zip(*self.at, strict=True)]


def run_program(library: Library, output: str, planted: dict[str, float], launches: int) -> None:
    """Record a program that warms up eagerly, captures, and waits for each launch."""
    library.plan(seed=1, cold_calls=NODES, cold_launches=1, **planted)
    with gviz.profile(output, node_launches=launches):
        for _ in range(launches):
            library.work()
            library.synchronize()
        launch, _ = library.capture(library.work)
        for _ in range(launches):
            launch()
            library.synchronize()


def main(output: str, seeds: int, options: dict[str, Any]) -> None:
    """Compare once a seed, inside one profile or (``alone``) each in its own."""
    alone, cold = options.pop("alone", False), options.pop("cold_let_in", False)
    planted = options.pop("planted")
    if cold:
        both_ways._UNTIMED = 0
    times = {"call_ns": planted["call_ns"], "launch_ns": planted["launch_ns"]}
    library = Library()
    both_ways.choose = lambda capture, function: library
    truth = Truth(library, **times)
    found: list[dict[str, Any]] = []
    if options.pop("automatic", False):
        run_program(library, output, planted, options["launches"])
        print(
            json.dumps([{"truth": dict(zip(("elapsed", "host"), truth.saved_ns(1), strict=True))}])
        )
        return

    def compare(seed: int, **where: Any) -> None:
        library.plan(seed=seed, cold_calls=COLD_ITERATIONS * NODES, cold_launches=1, **planted)
        library.drifts.clear()
        library.blocks = seed + 1
        one = gviz.compare_stream(library.work, name=f"seed {seed}", **options, **where)
        drifts = library.drifts[-2 * options["launches"] :]
        sides = {
            name: {"saved": side.saved_ns, "low": side.interval.low, "high": side.interval.high}
            for name, side in (("elapsed", one.alternation.elapsed), ("host", one.alternation.host))
        }
        expected = truth.saved_ns(sum(drifts) / len(drifts))
        found.append(
            sides | {"truth": dict(zip(("elapsed", "host"), expected, strict=True)),
                     "state": one.alternation.state.value, "text": str(one)}
        )  # fmt: skip

    if alone:
        for seed in range(seeds):
            compare(seed, path=f"{seed}-{output}")
    else:
        with gviz.profile(output, eager_operations=200_000):
            for seed in range(seeds):
                compare(seed)
    library.fake.fake_set_plan(None)
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3]))
