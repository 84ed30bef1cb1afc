"""Accuracy of node times from events against CUPTI's, on a GPU: one graph, one process.

The encoder of 88 nodes is captured twice, under the events collector and under CUPTI; nodes are
compared by their place. The medians of each node over its launches are taken, then the errors of
those. Also shown: what CUPTI gives for the operations that the events collector calibrates with
(collectors/csrc/events/calibrate.c holds them as references). Prints a table and a JSON line.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import torch

import gviz
from gviz.collectors.watching import watch_native
from gviz.cuda.node_type import node_type_name
from gviz.recording.reader import Recording

LAUNCHES = 60
#: Calibrated against in collectors/csrc/events/calibrate.c, ns.
REFERENCES = {"KERNEL": 832, "MEMSET": 944, "MEMCPY": 960}


def encoder() -> Callable[[], object]:
    """Return the step of an 8-layer encoder, forward: 88 nodes."""
    layer = torch.nn.TransformerEncoderLayer(
        1024, 16, 4096, dropout=0.0, batch_first=True, device="cuda", dtype=torch.float16
    )
    model = torch.nn.TransformerEncoder(layer, 8, enable_nested_tensor=False).eval()
    inputs = torch.randn(1, 16, 1024, device="cuda", dtype=torch.float16)
    return lambda: model(inputs)


def record(step: Callable[[], object], collector: str, output: Path) -> None:
    """Capture and replay under a collector."""
    with gviz.profile(output, collector=collector, node_launches=LAUNCHES, eager_operations=0):
        graph = torch.cuda.CUDAGraph()
        with torch.no_grad(), torch.cuda.graph(graph):
            step()
        for _ in range(LAUNCHES + 2):
            graph.replay()
            torch.cuda.synchronize()
        if collector == "cupti" and not watch_native.launch_reference(20):
            raise RuntimeError("the calibration's operations could not be launched")
        del graph


def medians(
    output: Path,
) -> tuple[dict[int, tuple[str, float]], dict[str, float], dict[str, float]]:
    """Return (kind, median ns) of each timed node, the references, and the biases, ns."""
    with Recording(output) as recording:
        graphs = [g for g in recording.fetch_graphs() if g.parent_graph_id is None]
        biases = {
            m.name.split("_")[2].upper(): m.value or 0.0
            for m in recording.fetch_measurements(1)
            if m.name.startswith("event_bias_")
        }
        found: dict[int, tuple[str, float]] = {}
        references: dict[str, list[float]] = defaultdict(list)
        for number, graph in enumerate(graphs):
            times = {s.node_id: s.median_ns for s in recording.fetch_statistics(graph.graph_id)}
            for node in recording.fetch_nodes(graph.graph_id):
                if node.node_id not in times:
                    continue
                kind, time = node_type_name(node.type), times[node.node_id]
                if number == 0:
                    found[node.node_id] = (kind, time)
                else:
                    references[kind].append(time)
        return found, {k: statistics.median(v) for k, v in references.items()}, biases


def errors(
    events: dict[int, tuple[str, float]], cupti: dict[int, tuple[str, float]]
) -> dict[str, list[float]]:
    """Return the signed errors of all nodes that events time, and of each kind, us.

    Events do not time the ends of programmatic edges.
    """
    if any(cupti.get(node_id, ("", 0))[0] != kind for node_id, (kind, _) in events.items()):
        raise RuntimeError("the two captures differ: nodes cannot be compared by place")
    found: dict[str, list[float]] = defaultdict(list)
    for node_id, (kind, ours) in events.items():
        error = (ours - cupti[node_id][1]) / 1e3
        found["all"].append(error)
        found[kind].append(error)
    return found


def summary(values: list[float]) -> dict[str, float]:
    """Return the figures of one row, us."""
    sizes = sorted(abs(v) for v in values)
    return {
        "nodes": len(values),
        "median_abs_us": statistics.median(sizes),
        "p95_abs_us": sizes[min(len(sizes) - 1, int(0.95 * len(sizes)))],
        "offset_us": statistics.median(values),
        "worst_us": sizes[-1],
    }


def main() -> int:
    """Measure and print."""
    step = encoder()
    side = torch.cuda.Stream()
    with torch.no_grad(), torch.cuda.stream(side):
        for _ in range(3):
            step()
    side.synchronize()
    with tempfile.TemporaryDirectory() as folder:
        # CUPTI last: what it patches into kernels may stay.
        for collector in ("events", "cupti"):
            record(step, collector, Path(folder) / f"{collector}.gviz")
        ours, _, biases = medians(Path(folder) / "events.gviz")
        theirs, references, _ = medians(Path(folder) / "cupti.gviz")
    rows = {kind: summary(values) for kind, values in errors(ours, theirs).items()}
    print(f"{'':10}{'nodes':>8}{'median':>10}{'p95':>10}{'offset':>10}{'worst':>10}   (us)")
    for kind, row in rows.items():
        print(
            f"{kind:10}{row['nodes']:8.0f}" + "".join(f"{v:10.3f}" for v in list(row.values())[1:])
        )
    print("\nthe calibration's own operations, ns")
    for kind, value in references.items():
        known = f"reference {REFERENCES[kind]:6}   bias {biases.get(kind, 0):8.0f}"
        print(f"{kind:10} CUPTI {value:8.0f}   {known}")
    facts = {"bench": "gpu_events_accuracy", "gpu": torch.cuda.get_device_name(), "errors": rows,
             "references_ns": references, "biases_ns": biases}  # fmt: skip
    print(json.dumps(facts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
