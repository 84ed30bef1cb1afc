"""The cost of a long run on a GPU.

interleaved: launches of a training step of about 2,500 nodes with gviz attached (outside its
windows) and without, in one process in alternating blocks; the difference of the launch times
with a 95% confidence interval (bootstrap over pairs of neighbouring blocks).
memory: 100,000 launches of a graph of 100 nodes; peak memory of the writer process, size of the
recording, and the launch time beside that of the same launches without gviz.
Run: python -P bench/gpu_long_run.py [interleaved] [memory] [--launches N] [--node-launches ...]
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

import gviz
from gviz.recording.reader import Recording

sys.path.insert(0, str(Path(__file__).resolve().parent))

from gpu_overhead import launch_times, prepared, training
from long_run import PeakMemory

BLOCK = 50
#: Launches before any is measured.
WARM_UP = 100
#: Past the window: two launches recorded, and the few until it closes.
SETTLE = 20


def chain(nodes: int) -> Callable[[], object]:
    """Return small kernels in a chain."""
    x = torch.ones(1024, device="cuda")

    def step() -> None:
        for _ in range(nodes):
            x.add_(1.0)

    return step


def block_times(graph: torch.cuda.CUDAGraph, *, attached: bool) -> tuple[float, float]:
    """Return GPU and host microseconds a launch of one block."""
    if not attached:
        for _ in range(SETTLE):
            graph.replay()
        torch.cuda.synchronize()
        return launch_times(graph, BLOCK)
    with (
        tempfile.TemporaryDirectory() as folder,
        gviz.profile(Path(folder) / "x.gviz", node_launches=2, eager_operations=0),
    ):
        for _ in range(SETTLE):
            graph.replay()
        torch.cuda.synchronize()
        return launch_times(graph, BLOCK)


def confidence(ratios: np.ndarray, rounds: int = 10_000) -> tuple[float, float]:
    """Return the 95% interval of the median ratio, by bootstrap."""
    rng = np.random.default_rng(1)
    chosen = rng.choice(ratios, (rounds, len(ratios)))
    low, high = np.percentile(np.median(chosen, axis=1), (2.5, 97.5))
    return float(low), float(high)


def interleaved(launches: int) -> dict[str, float]:
    """Return how much longer launches take with gviz attached, outside its windows."""
    graph = prepared(training, WARM_UP, grad=True)
    pairs = []
    for i in range(max(2, launches // (2 * BLOCK))):
        # Each order half of the time, so that a drift of the clocks falls out.
        order = (False, True) if i % 2 == 0 else (True, False)
        times = {attached: block_times(graph, attached=attached) for attached in order}
        pairs.append([*times[False], *times[True]])
    plain_gpu, plain_host, gpu, host = np.array(pairs).T
    low, high = confidence(gpu / plain_gpu)
    return {
        "launches": 2 * BLOCK * len(pairs),
        "plain_gpu_us": float(np.median(plain_gpu)),
        "gviz_gpu_us": float(np.median(gpu)),
        "gpu_ratio": float(np.median(gpu / plain_gpu)),
        "gpu_ratio_low": low,
        "gpu_ratio_high": high,
        "plain_host_us": float(np.median(plain_host)),
        "gviz_host_us": float(np.median(host)),
    }


def memory(launches: int, node_launches: str) -> dict[str, float]:
    """Return what many launches of a 100-node graph leave behind, and what they cost."""
    graph = prepared(lambda: chain(100), WARM_UP, grad=False)
    plain_gpu, plain_host = launch_times(graph, launches)
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "long.gviz"
        profile = gviz.profile(output, node_launches=node_launches)
        with profile:
            writer = profile._session._writer
            assert writer is not None
            peak = PeakMemory(writer._process.pid)
            gpu, host = launch_times(graph, launches)
            spool = sum(p.stat().st_size for p in Path(f"{output}-spool").iterdir())
        size = output.stat().st_size
        with Recording(output) as recording:
            count, recorded = recording.count_launches(1)
            known = recording.fetch_weighted_durations(1, "graph", "host").count
    assert count == known == launches + 1, (count, known)
    return {
        "launches": launches,
        "recorded_launches": recorded,
        "writer_peak_mib": peak.mib(),
        "file_mb": size / 1e6,
        "spool_mb": spool / 1e6,
        "plain_gpu_us": plain_gpu,
        "gviz_gpu_us": gpu,
        "plain_host_us": plain_host,
        "gviz_host_us": host,
        "gpu_ratio": gpu / plain_gpu,
    }


def main() -> int:
    """Measure, print a table and a JSON line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("parts", nargs="*", help="interleaved, memory (default: both)")
    parser.add_argument("--launches", type=int, help="default: 5000 interleaved, 100000 memory")
    parser.add_argument("--node-launches", default="every:1000", help="of the memory part")
    arguments = parser.parse_args()
    parts = arguments.parts or ["interleaved", "memory"]
    results: dict[str, dict[str, float]] = {}
    if "interleaved" in parts:
        results["interleaved"] = interleaved(arguments.launches or 5_000)
    if "memory" in parts:
        results["memory"] = memory(arguments.launches or 100_000, arguments.node_launches)
    for name, row in results.items():
        print(name)
        for label, value in row.items():
            print(f"  {label:24} {value:14.3f}")
    goals = "goals: gpu_ratio below 1.01, writer_peak_mib below 200 MB, file_mb below 20"
    print(goals)
    shape = {"gpu": torch.cuda.get_device_name(), "node_launches": arguments.node_launches}
    print(json.dumps({"bench": "gpu_long_run", **shape, **results}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
