"""Make the traces, dumps and recordings of two training steps, on a GPU with PyTorch.

Run: python -P tests/golden/traces/make_pairs.py branches|foreach trace|recording FOLDER

``branches`` runs three towers on three streams; ``foreach`` ends in an optimizer whose kernels take
many tensors each. A trace and the dump are of one process; the recording is of the same program in
another, for CUPTI serves one at a time.
"""

from __future__ import annotations

import gzip
import sys
from collections.abc import Callable
from pathlib import Path

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile

Step = Callable[[], None]


def branches() -> Step:
    """Return a training step of three towers, each on a stream of its own."""
    towers = nn.ModuleList(
        [
            nn.Sequential(*[x for _ in range(4) for x in (nn.Linear(256, 256), nn.ReLU())])
            for _ in range(3)
        ]
    ).cuda()
    head = nn.Linear(256, 8).cuda()
    parameters = [*towers.parameters(), *head.parameters()]
    optimizer = torch.optim.SGD(parameters, lr=1e-3, foreach=False)
    inputs = torch.randn(64, 256, device="cuda")
    sides = [torch.cuda.Stream() for _ in range(3)]

    def step() -> None:
        main = torch.cuda.current_stream()
        parts = []
        for side, tower in zip(sides, towers, strict=True):
            side.wait_stream(main)
            with torch.cuda.stream(side):
                parts.append(tower(inputs))
        for side in sides:
            main.wait_stream(side)
        head(parts[0] + parts[1] + parts[2]).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)

    return step


def foreach() -> Step:
    """Return a training step of an encoder with a foreach optimizer."""
    layer = nn.TransformerEncoderLayer(256, 4, 512, dropout=0.0, batch_first=True, device="cuda")
    model = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, foreach=True, capturable=True)
    inputs = torch.randn(4, 32, 256, device="cuda")

    def step() -> None:
        model(inputs).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)

    return step


def record(step: Step, path: Path) -> None:
    """Record twelve launches, eight of them with node times."""
    import gviz

    with gviz.profile(path, node_launches=8, eager_operations=0):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            step()
        for _ in range(12):
            graph.replay()
            torch.cuda.synchronize()


def trace(step: Step, stem: Path) -> None:
    """Write a dump of the graph, and a trace of three eager iterations and twelve replays."""
    graph = torch.cuda.CUDAGraph(keep_graph=True)
    graph.enable_debug_mode()
    with torch.cuda.graph(graph):
        step()
    graph.debug_dump(f"{stem}.dot")
    graph.instantiate()
    for _ in range(3):
        graph.replay()
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as found:
        for _ in range(3):
            step()
        torch.cuda.synchronize()
        for _ in range(8):
            graph.replay()
            torch.cuda.synchronize()
        for _ in range(4):
            graph.replay()
        torch.cuda.synchronize()
    written = Path(f"{stem}.json")
    found.export_chrome_trace(str(written))
    Path(f"{stem}.json.gz").write_bytes(gzip.compress(written.read_bytes(), 9))
    written.unlink()


def main() -> int:
    """Make what the arguments name."""
    program, what, folder = sys.argv[1:]
    torch.manual_seed(0)
    step = {"branches": branches, "foreach": foreach}[program]()
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    stem = Path(folder) / f"{program}_torch_2.11"
    if what == "recording":
        record(step, stem.with_name(stem.name + ".gviz"))
    else:
        trace(step, stem)
    return 0


if __name__ == "__main__":
    sys.exit(main())
