"""Node times from events against CUPTI's and against plain launches, on a GPU.

Five graphs are captured in one process, twice under the events collector and then under CUPTI;
nodes are compared by their place. The medians of each node over its launches are taken, then the
differences of those. The launches are behind a kernel that keeps the GPU until the call has
returned, and on an idle GPU. Of graphs whose nodes stand in one chain, the times of the first are
added up and held against the graph's launches without events. Prints a table and a JSON line.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch

import gviz
from gviz.recording import Recording, rows

LAUNCHES = 40
#: How long the GPU is kept, in its clocks: about 0.2 ms.
BUSY_CLOCKS = 400_000
Step = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Compared:
    """One graph: times by events less CUPTI's of its nodes, us.

    Attributes
    ----------
    behind
        Whether its launches were behind a kernel.
    nodes, chain
        Nodes compared, and whether all nodes of the graph are timed and stand in one chain.
    median_us, p95_us, offset_us, worst_us
        Median, 95th percentile and largest of the sizes; the median with its sign.
    sum_us, cupti_sum_us, plain_us
        Times of all nodes together, CUPTI's, and what a launch without either takes.
    extra_ns
        Bias that the graph's nodes have beyond the GPU's chains.
    """

    program: str
    behind: bool
    nodes: int
    chain: bool
    median_us: float
    p95_us: float
    offset_us: float
    worst_us: float
    sum_us: float
    cupti_sum_us: float
    plain_us: float
    extra_ns: float


def encoder() -> Step:
    """Return the forward pass of an 8-layer encoder: 88 nodes, some with programmatic edges."""
    layer = torch.nn.TransformerEncoderLayer(
        1024, 16, 4096, dropout=0.0, batch_first=True, device="cuda", dtype=torch.float16
    )
    model = torch.nn.TransformerEncoder(layer, 8, enable_nested_tensor=False).eval()
    inputs = torch.randn(1, 16, 1024, device="cuda", dtype=torch.float16)
    return lambda: model(inputs)


def pointwise(size: int) -> Step:
    """Return 48 elementwise kernels in a chain."""
    x, y = torch.randn(2, size, device="cuda")

    def step() -> None:
        for _ in range(16):
            x.add_(y)
            x.mul_(0.99)
            y.sin_()

    return step


def products() -> Step:
    """Return 48 products of matrices in a chain."""
    a, b, c = torch.randn(3, 1024, 1024, device="cuda", dtype=torch.float16) / 32

    def step() -> None:
        for _ in range(24):
            torch.mm(a, b, out=c)
            torch.mm(c, b, out=a)

    return step


def training() -> Step:
    """Return a training step: 120 nodes."""
    parts = [torch.nn.Linear(256, 256), torch.nn.LayerNorm(256), torch.nn.GELU()] * 6
    model = torch.nn.Sequential(*parts).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    inputs = torch.randn(64, 256, device="cuda")

    def step() -> None:
        model(inputs).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)

    return step


PROGRAMS: dict[str, Callable[[], Step]] = {
    "encoder": encoder,
    "pointwise, 16 KiB": lambda: pointwise(1 << 12),
    "pointwise, 64 MiB": lambda: pointwise(1 << 24),
    "matrix products": products,
    "training step": training,
}


#: Name, collector, and whether launches are behind a kernel.
RECORDED = (("behind", "events", True), ("idle", "events", False), ("cupti", "cupti", True))


def record(step: Step, collector: str, behind: bool, output: Path) -> None:
    """Capture and replay under a collector: first the launches with node times, then plain ones."""
    with gviz.profile(output, collector=collector, node_launches=LAUNCHES, eager_operations=0):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            step()
        for _ in range(3 * LAUNCHES):
            if behind:
                torch.cuda._sleep(BUSY_CLOCKS)
            graph.replay()
            torch.cuda.synchronize()
        del graph


def node_times(recording: Recording) -> tuple[rows.Graph, dict[int, float]]:
    """Return the one graph, and the median of each timed node, ns."""
    (graph,) = [g for g in recording.fetch_graphs() if g.parent_graph_id is None]
    times = {s.node_id: s.median_ns for s in recording.fetch_statistics(graph.graph_id)}
    return graph, times


def compare(program: str, behind: bool, ours: Path, theirs: Path) -> Compared:
    """Compare the recordings of one program."""
    with Recording(ours) as events, Recording(theirs) as cupti:
        graph, found = node_times(events)
        other, truth = node_times(cupti)
        kinds = [n.type for n in events.fetch_nodes(graph.graph_id)]
        if kinds != [n.type for n in cupti.fetch_nodes(other.graph_id)]:
            raise RuntimeError("the two captures differ: nodes cannot be compared by place")
        edges = len(events.fetch_edges(graph.topology_id))
        plain = [
            c.gpu_median_ns for c in events.fetch_launch_costs(graph.graph_id) if c.node_level == 0
        ]
        extra = {m.name: m.value for m in events.fetch_measurements(1)}.get("event_extra_bias_ns")
    # Events do not time the ends of programmatic edges.
    error = np.array([found[n] - truth[n] for n in found]) / 1e3
    sizes = np.abs(error)
    return Compared(
        program=program,
        behind=behind,
        nodes=len(found),
        chain=len(found) == len(kinds) and edges == len(kinds) - 1,
        median_us=float(np.median(sizes)),
        p95_us=float(np.percentile(sizes, 95)),
        offset_us=float(np.median(error)),
        worst_us=float(sizes.max()),
        sum_us=sum(found.values()) / 1e3,
        cupti_sum_us=sum(truth[n] for n in found) / 1e3,
        plain_us=(plain[0] or float("nan")) / 1e3,
        extra_ns=float("nan") if extra is None else extra,
    )


def main() -> int:
    """Measure and print."""
    torch.manual_seed(0)
    steps = {}
    for program, make in PROGRAMS.items():
        steps[program] = make()
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            for _ in range(3):
                steps[program]()
        side.synchronize()
    with tempfile.TemporaryDirectory() as folder:
        # CUPTI last: what it patches into kernels may stay.
        path = Path(folder)
        for name, collector, behind in RECORDED:
            for number, step in enumerate(steps.values()):
                record(step, collector, behind, path / f"{name}{number}.gviz")
        with Recording(path / "behind0.gviz") as recording:
            biases = {
                m.name: m.value
                for m in recording.fetch_measurements(1)
                if m.name.startswith(("event_bias_", "event_early_bias_", "events_calibration"))
            }
        found = [
            compare(program, name == "behind", path / f"{name}{i}.gviz", path / f"cupti{i}.gviz")
            for name in ("behind", "idle")
            for i, program in enumerate(steps)
        ]
    print(f"{'us':27}{'nodes':>7}{'median':>9}{'p95':>9}{'offset':>9}{'worst':>9}"
          f"{'sum':>10}{'CUPTI':>10}{'plain':>10}{'extra ns':>10}")  # fmt: skip
    for x in found:
        print(f"{x.program:20}{'behind' if x.behind else 'idle':7}{x.nodes:7}"
              f"{x.median_us:9.3f}{x.p95_us:9.3f}{x.offset_us:9.3f}"
              f"{x.worst_us:9.3f}{x.sum_us:10.1f}{x.cupti_sum_us:10.1f}{x.plain_us:10.1f}"
              f"{x.extra_ns:10.0f}")  # fmt: skip
    for name, value in biases.items():
        print(f"{name:44} {value:10.0f}")
    facts = {"bench": "gpu_events_accuracy", "gpu": torch.cuda.get_device_name(),
             "biases_ns": biases, "programs": [asdict(x) for x in found]}  # fmt: skip
    print(json.dumps(facts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
