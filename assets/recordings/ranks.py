"""A decode step split over the ranks of a job, one of which has more to do.

Every layer ends in an all-reduce. The weights of layer 5 are three times as wide on rank 1 as
elsewhere, as those of an expert that more tokens go to: the others wait for it there.

Run on a machine with two GPUs:
gviz run -o ranks_h200.gviz torchrun --nproc-per-node=2 ranks.py
"""

from __future__ import annotations

import os

import torch
import torch.distributed as dist

LAYERS, TOKENS, SIZE, INNER = 8, 64, 2048, 4096
SLOW_RANK, SLOW_LAYER, TIMES = 1, 5, 3
LAUNCHES = 60


def weights(inner: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the weights of a layer, up and down."""
    up = torch.randn(SIZE, inner, device="cuda", dtype=torch.half) * 0.01
    down = torch.randn(inner, SIZE, device="cuda", dtype=torch.half) * 0.01
    return up, down


def step() -> torch.Tensor:
    """Run all layers."""
    y = x
    with torch.cuda.nvtx.range("decode"):
        for i, (up, down) in enumerate(layers):
            with torch.cuda.nvtx.range(f"layer {i}"):
                y = torch.relu(y @ up) @ down
                dist.all_reduce(y)
    return y


def work() -> None:
    """Run the step three times on a stream, then as a graph."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    for _ in range(LAUNCHES):
        graph.replay()
        torch.cuda.synchronize()


rank = int(os.environ["RANK"])
torch.cuda.set_device(rank)
dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
torch.manual_seed(rank)
layers = [
    weights(INNER * (TIMES if (rank, i) == (SLOW_RANK, SLOW_LAYER) else 1)) for i in range(LAYERS)
]
x = torch.randn(TOKENS, SIZE, device="cuda", dtype=torch.half)
work()
dist.destroy_process_group()
