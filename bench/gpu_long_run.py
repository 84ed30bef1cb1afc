"""The cost of a long run on a GPU.

interleaved: launches of a training step of about 2,500 nodes with gviz attached (outside its
windows) and without, in one process in alternating blocks; the difference of the launch times
with a 95% confidence interval (bootstrap over pairs of neighbouring blocks).
memory: 100,000 launches of a graph of 100 nodes; peak memory of the writer process, size of the
recording, and the launch time beside that of the same launches without gviz.
soak: a program without a framework that launches and waits for --seconds, plain and under
`gviz run --collector events --every 1s`: launches a second, memory of the process and of the GPU
after a tenth, half and all of the time, and what the recording says of all that.
windows: three threads that launch a graph each, without a framework, by PyTorch, torch.compile and
JAX (--only), plain and in windows of CUPTI as often as it may: launches a second, the longest step,
windows, launches and node records against those of the program, invalid times. With --keep FOLDER
the recordings stay there.
Run: python -P bench/gpu_long_run.py [--part interleaved|memory|soak|windows] [--launches N]
[--node-launches ...] [--seconds 45] [--only driver,jax]; without --part interleaved and memory.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import gviz
from gviz.recording.reader import Recording

sys.path.insert(0, str(Path(__file__).resolve().parent))

from gpu_gate import SOURCES, run
from long_run import PeakMemory

if TYPE_CHECKING:
    import torch

BLOCK = 50
#: Launches before any is measured.
WARM_UP = 100
#: Nodes of the graph of a soak.
SOAKED_NODES = 20
#: Past the window: two launches recorded, and the few until it closes.
SETTLE = 20


def chain(nodes: int) -> Callable[[], object]:
    """Return small kernels in a chain."""
    import torch

    x = torch.ones(1024, device="cuda")

    def step() -> None:
        for _ in range(nodes):
            x.add_(1.0)

    return step


def block_times(graph: torch.cuda.CUDAGraph, *, attached: bool) -> tuple[float, float]:
    """Return GPU and host microseconds a launch of one block."""
    import torch
    from gpu_overhead import launch_times

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
    from gpu_overhead import prepared, training

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
    from gpu_overhead import launch_times, prepared

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


def soak(seconds: float) -> dict[str, float]:
    """Return what launching for so long costs and leaves behind, plain and watched."""
    program = [str(SOURCES / "soak.py"), str(seconds), str(SOAKED_NODES)]
    plain = run([sys.executable, "-P", *program], {})
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "soak.gviz"
        options = ["-o", str(output), "--collector", "events", "--every", "1s"]
        found = run([sys.executable, "-P", "-m", "gviz", "run", *options, *program], {})
        if plain["status"] != 0 or found["status"] != 0:
            raise SystemExit(f"a program failed: {plain}, {found}")
        return _soaked("plain", plain, seconds) | _soaked("gviz", found, seconds) | _kept(output)


def _soaked(side: str, found: dict[str, Any], seconds: float) -> dict[str, float]:
    early, _, late = found["own_mib"]
    early_device, _, late_device = found["device_mib"]
    return {
        f"{side}_launches": found["launches"],
        f"{side}_launches_a_second": found["launches"] / seconds,
        f"{side}_own_mib_grown": late - early,
        f"{side}_device_mib_grown": late_device - early_device,
    }


def _kept(output: Path) -> dict[str, float]:
    """Return what a recording holds."""
    with Recording(output) as recording:
        (graph,) = recording.fetch_graphs()
        launches = recording.fetch_launches(graph.graph_id)
        measured = {m.name: m.value or 0.0 for m in recording.fetch_measurements(1)}
        names = ("launches_counted", "launches_by_copy", "copy_times_lost", "gate_holes",
                 "activity_records_invalid", "launches_with_impossible_times")  # fmt: skip
        return {
            "recorded_launches": recording.count_launches(graph.graph_id)[0],
            "rows": len(launches),
            "timed_by_copy": sum(launch.node_method == "events" for launch in launches),
            "file_mb": output.stat().st_size / 1e6,
            **{name: measured.get(name, 0.0) for name in names},
        }


def windows(kind: str, seconds: float, folder: Path) -> dict[str, Any]:
    """Return what windows beside three threads cost and what they recorded."""
    program = [str(SOURCES / "threads.py"), kind, str(seconds), str(SOAKED_NODES)]
    output = folder / f"windows_{kind}.gviz"
    options = ["-o", str(output), "--overwrite", "--node-times", "cupti", "--every", "20ms"]
    found = {"plain": run([sys.executable, "-P", *program], {})}
    found["gviz"] = run([sys.executable, "-P", "-m", "gviz", "run", *options, *program], {})
    failed = [side for side, figures in found.items() if figures["status"] != 0]
    if failed or not output.exists():
        return {"failed": failed, **found}
    figures: dict[str, Any] = {
        "results equal": found["plain"]["results"] == found["gviz"]["results"],
        "launches of the program": found["gviz"]["all_launches"],
    }
    for side, values in found.items():
        figures[f"{side} launches a second"] = sum(values["launches"]) / seconds
        figures[f"{side} longest step, ms"] = max(values["longest_ms"])
    return figures | _visited(output)


#: Measurements of a recording that say how windows went.
_WINDOW_FIGURES = (
    "launches_counted", "cupti_windows", "cupti_window_longest_ns", "cupti_window_holes",
    "gate_closed", "gate_busy", "gate_longest_hold_ns", "activity_records",
    "activity_records_dropped", "activity_records_invalid", "launches_with_impossible_times",
    "launches_without_node_times",
)  # fmt: skip


def _visited(output: Path) -> dict[str, Any]:
    """Return what a recording says of its windows."""
    with Recording(output) as recording:
        graphs = list(recording.fetch_graphs())
        launches = [x for g in graphs for x in recording.fetch_launches(g.graph_id)]
        run_ids = [row.run_id for row in recording.fetch_runs()]
        measured = {m.name: m.value for r in run_ids for m in recording.fetch_measurements(r)}
        return {
            "launches counted": sum(recording.count_launches(g.graph_id)[0] for g in graphs),
            "launches with node times": sum(bool(x.node_level) for x in launches),
            "spans of such a launch": sorted({x.span_count for x in launches if x.node_level}),
            **{name: measured[name] for name in _WINDOW_FIGURES if name in measured},
            "notes": [n.text for r in run_ids for n in recording.fetch_notes(r)],
        }


def measure_windows(only: str, seconds: float, keep: Path | None) -> dict[str, Any]:
    """Measure the programs that --only names, one after the other; print each."""
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for kind in only.split(","):
            results[kind] = windows(kind, seconds, keep or Path(folder))
            print(f"{kind}: {json.dumps(results[kind], indent=1)}", flush=True)
    return results


def main() -> int:
    """Measure, print a table and a JSON line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--part", choices=("interleaved", "memory", "soak", "windows"))
    parser.add_argument("--seconds", type=float, default=45.0, help="of the soak, each side")
    parser.add_argument("--launches", type=int, help="default: 5000 interleaved, 100000 memory")
    parser.add_argument("--node-launches", default="every:1000", help="of the memory part")
    parser.add_argument("--only", default="driver,torch,compile,jax", help="of the windows")
    parser.add_argument("--keep", type=Path, help="a folder for the recordings of the windows")
    arguments = parser.parse_args()
    if arguments.part == "windows":
        measure_windows(arguments.only, arguments.seconds, arguments.keep)
        return 0
    parts = [arguments.part] if arguments.part else ["interleaved", "memory"]
    results: dict[str, dict[str, float]] = {}
    if "interleaved" in parts:
        results["interleaved"] = interleaved(arguments.launches or 5_000)
    if "memory" in parts:
        results["memory"] = memory(arguments.launches or 100_000, arguments.node_launches)
    if "soak" in parts:
        results["soak"] = soak(arguments.seconds)
    for name, row in results.items():
        print(name)
        for label, value in row.items():
            print(f"  {label:24} {value:14.3f}")
    goals = "goals: gpu_ratio below 1.01, writer_peak_mib below 200 MB, file_mb below 20"
    print(goals)
    print(json.dumps({"bench": "gpu_long_run", "arguments": vars(arguments), **results}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
