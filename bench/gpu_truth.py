"""Truth of node times, on a GPU: kernels that spin for a known time, as gviz records them.

The kernels spin for a number of SM clock cycles (clock64), whose rate is calibrated against events
around two long spins, before and after. What a kernel takes beyond its spinning (start, end) is a
constant that nobody knows; so slopes are compared, and the constant is reported. Three graphs: a
chain, and 4 and 16 branches beside each other, whose spans must overlap.
Prints a table and a JSON line. Needs CuPy.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import cupy
import numpy as np

import gviz
from gviz.recording.arrays import SpanArrays
from gviz.recording.reader import Recording
from gviz.stats.arrays import IntArray

#: How long the kernels spin (us).
WANTED_US = (2, 10, 50)
#: Each branch spins so long, one kernel after another (us).
BRANCH_US = (50, 10, 2, 50, 10, 2)
WIDTHS = {"chain": 1, "4 wide": 4, "16 wide": 16}
LAUNCHES = 60
CALIBRATIONS = 15
WARM_UP_MS = 300

SOURCE = r"""
extern "C" __global__ void spin(long long cycles) {
    long long start = clock64();
    while (clock64() - start < cycles) {
    }
}
"""


@dataclass(frozen=True, slots=True)
class Truth:
    """One graph's recorded durations, by how long its kernels spun.

    Attributes
    ----------
    median_us
        Of all spans, by wanted duration.
    sum_us, union_us
        Of the spans of one launch: all durations, and the time in which any ran; medians.
    spans
        How many were recorded.
    """

    median_us: dict[int, float]
    sum_us: float
    union_us: float
    spans: int

    def slope_us(self, most: int, least: int) -> float:
        """Return how much longer the recorded times of one duration are than of another."""
        return self.median_us[most] - self.median_us[least]


def spinner() -> Callable[[cupy.cuda.Stream, int], None]:
    """Return what launches a spin of so many cycles into a stream."""
    kernel = cupy.RawKernel(SOURCE, "spin")
    kernel.compile()

    def spin(stream: cupy.cuda.Stream, cycles: int) -> None:
        with stream:
            kernel((1,), (32,), (np.int64(cycles),))

    return spin


def cycles_per_us(spin: Callable[[cupy.cuda.Stream, int], None]) -> float:
    """Return the SM clock, from the difference of a long and a short spin by events."""
    stream = cupy.cuda.Stream(non_blocking=True)
    start, end = cupy.cuda.Event(), cupy.cuda.Event()

    def milliseconds(cycles: int) -> float:
        start.record(stream)
        spin(stream, cycles)
        end.record(stream)
        stream.synchronize()
        return float(cupy.cuda.get_elapsed_time(start, end))

    short, long = 2_000_000, 20_000_000
    spin(stream, WARM_UP_MS * 1_500_000)  # idle clocks are lower
    rates = [
        (long - short) / (milliseconds(long) - milliseconds(short)) / 1e3
        for _ in range(CALIBRATIONS)
    ]
    return statistics.median(rates)


def capture(
    spin: Callable[[cupy.cuda.Stream, int], None], width: int, rate: float
) -> cupy.cuda.graph.Graph:
    """Return a graph of ``width`` branches between a first and a last kernel."""
    main = cupy.cuda.Stream(non_blocking=True)
    sides = [cupy.cuda.Stream(non_blocking=True) for _ in range(width - 1)]
    # Made before: some modes forbid making an event in a capture.
    fork, *joins = (cupy.cuda.Event(disable_timing=True) for _ in range(width))
    main.begin_capture()
    spin(main, round(WANTED_US[0] * rate))
    fork.record(main)
    for side in sides:
        side.wait_event(fork)
    for stream in (main, *sides):
        for us in BRANCH_US:
            spin(stream, round(us * rate))
    for side, join in zip(sides, joins, strict=True):
        join.record(side)
        main.wait_event(join)
    spin(main, round(WANTED_US[0] * rate))
    return main.end_capture()


def union_ns(start_ns: IntArray, duration_ns: IntArray) -> int:
    """Return the time in which at least one of the intervals ran."""
    order = np.argsort(start_ns)
    start, end = start_ns[order], (start_ns + duration_ns)[order]
    reached = np.maximum.accumulate(end)
    begin = np.concatenate([start[:1], np.maximum(start[1:], reached[:-1])])
    return int(np.maximum(end - begin, 0).sum())


def spun_us(recording: Recording, graph_id: int, rate: float) -> dict[int, int]:
    """Return how long each node spun, by node_id, from its argument as recorded."""
    found = {}
    for node in recording.fetch_nodes(graph_id):
        (cycles,) = recording.fetch_arguments(graph_id, node.node_id)
        us = int.from_bytes(cycles.value, "little") / rate
        found[node.node_id] = min(WANTED_US, key=lambda wanted: abs(wanted - us))
    return found


def analyse(spans: SpanArrays, spun: dict[int, int]) -> Truth:
    """Return what was recorded of a graph, its first launch left out."""
    later = spans.launch_id > spans.launch_id.min()
    wanted = np.array([spun[n] for n in spans.node_id.tolist()])
    sums, unions = [], []
    for launch in np.unique(spans.launch_id[later]):
        mine = spans.launch_id == launch
        sums.append(int(spans.duration_ns[mine].sum()))
        unions.append(union_ns(spans.start_ns[mine], spans.duration_ns[mine]))
    return Truth(
        {us: float(np.median(spans.duration_ns[later & (wanted == us)])) / 1e3 for us in WANTED_US},
        statistics.median(sums) / 1e3,
        statistics.median(unions) / 1e3,
        len(spans),
    )


def record(
    spin: Callable[[cupy.cuda.Stream, int], None], rate: float, path: Path
) -> dict[str, Truth]:
    """Record every graph node by node; return what the recording says."""
    stream = cupy.cuda.Stream(non_blocking=True)
    with gviz.profile(path, node_launches=1_000, eager_operations=0):
        for width in WIDTHS.values():
            graph = capture(spin, width, rate)
            spin(stream, WARM_UP_MS * 1_500_000)
            for _ in range(LAUNCHES):
                graph.launch(stream)
                stream.synchronize()
    with Recording(path) as recording:
        graphs = [g.graph_id for g in recording.fetch_graphs()]
        return {
            name: analyse(recording.fetch_graph_spans(g), spun_us(recording, g, rate))
            for name, g in zip(WIDTHS, graphs, strict=True)
        }


def main() -> int:
    """Calibrate, record, compare."""
    spin = spinner()
    before = cycles_per_us(spin)
    with tempfile.TemporaryDirectory() as folder:
        found = record(spin, before, Path(folder) / "truth.gviz")
    after = cycles_per_us(spin)
    print(f"SM clock {before:.1f} MHz, afterwards {after:.1f}")
    print(f"{'':8} {'2 us':>8} {'10 us':>8} {'50 us':>8} {'50-10':>8} {'10-2':>8} "
          f"{'offset':>8} {'sum':>9} {'union':>9}")  # fmt: skip
    results = {}
    for name, truth in found.items():
        row = {
            **{f"{us}_us": truth.median_us[us] for us in WANTED_US},
            "slope_50_10_us": truth.slope_us(50, 10),
            "slope_10_2_us": truth.slope_us(10, 2),
            "offset_us": truth.median_us[10] - 10,
            "sum_us": truth.sum_us,
            "union_us": truth.union_us,
        }
        print(f"{name:8}", *(f"{v:8.2f}" for v in list(row.values())[:6]),
              f"{truth.sum_us:9.1f} {truth.union_us:9.1f}")  # fmt: skip
        results[name] = {**row, "spans": truth.spans}
    gpu = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    clocks = {"clock_mhz": before, "clock_after_mhz": after, "launches": LAUNCHES}
    print(json.dumps({"bench": "gpu_truth", "gpu": gpu, **clocks, **results}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
