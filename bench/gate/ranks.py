"""One rank of a job of two: a decode and a training step with all-reduces, each a graph.

Run by bench/gpu_ranks.py under torchrun: ranks.py FOLDER PLANTED, PLANTED: none, slow, other,
mismatch or long (launches for so long that a hundred windows fit). Each rank writes rank_R.json
with its figures into FOLDER; what is planted is on rank 1.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

LAYERS, TOKENS, SIZE, INNER = 8, 64, 2048, 4096
#: Launches before any is measured: past the copies that time nodes.
SETTLE, WAITED, QUEUED, ROUNDS = 130, 400, 60, 5
LONG_S = 10.0
SLOW_LAYER, OTHER_LAYER, MISMATCHED_LAYER = 5, 3, 6
#: Clocks that a layer spins, and that a slow one does.
SPIN, LONG_SPIN = 1_000, 60_000


class Decode:
    """A decode step split over the ranks: each layer ends in an all-reduce."""

    def __init__(self, planted: str) -> None:
        self.planted = planted if rank == 1 else "none"
        torch.manual_seed(rank)
        self.layers = [
            (
                torch.randn(SIZE, INNER, device="cuda", dtype=torch.half) * 0.01,
                torch.randn(INNER, SIZE, device="cuda", dtype=torch.half) * 0.01,
            )
            for _ in range(LAYERS)
        ]
        self.x = torch.randn(TOKENS, SIZE, device="cuda", dtype=torch.half)

    def __call__(self) -> torch.Tensor:
        """Run all layers."""
        y = self.x
        for i, (up, down) in enumerate(self.layers):
            with torch.cuda.nvtx.range(f"layer {i}"):
                slow = self.planted == "slow" and i == SLOW_LAYER
                torch.cuda._sleep(LONG_SPIN if slow else SPIN)
                y = torch.relu(y @ up) @ down
                if self.planted == "other" and i == OTHER_LAYER:
                    y = torch.tanh(y)
                # Eager work has all of its collectives: the job is to stand still in a launch.
                capturing = torch.cuda.is_current_stream_capturing()
                if self.planted == "mismatch" and capturing and i >= MISMATCHED_LAYER:
                    continue
                dist.all_reduce(y)
        return y


class Training:
    """A training step: forward, backward, gradients averaged over the ranks, weights updated."""

    def __init__(self) -> None:
        torch.manual_seed(1)
        self.blocks = [torch.nn.Linear(1024, 1024, device="cuda") for _ in range(LAYERS)]
        self.weights = [p for block in self.blocks for p in block.parameters()]
        self.optimizer = torch.optim.SGD(self.weights, lr=1e-5)
        self.x = torch.randn(256, 1024, device="cuda", generator=seeded(rank))

    def __call__(self) -> torch.Tensor:
        """Make one step."""
        self.optimizer.zero_grad(set_to_none=False)
        y = self.x
        for i, block in enumerate(self.blocks):
            with torch.cuda.nvtx.range(f"layer {i}"):
                y = torch.tanh(block(y))
        loss = y.square().mean()
        loss.backward()
        for weight in self.weights:
            if weight.grad is not None:
                dist.all_reduce(weight.grad)
        self.optimizer.step()
        return loss.detach()


def seeded(seed: int) -> torch.Generator:
    """Return a generator of its own."""
    return torch.Generator("cuda").manual_seed(seed)


def capture(step: Callable[[], torch.Tensor]) -> tuple[torch.cuda.CUDAGraph, torch.Tensor]:
    """Return the graph of a step, captured after a warm-up, and what it gives."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = step()
    return graph, result


def measure(graph: torch.cuda.CUDAGraph, seconds: float) -> dict[str, Any]:
    """Launch and wait, then launch behind each other; times in us, of both ranks in step."""
    for _ in range(SETTLE):
        graph.replay()
        torch.cuda.synchronize()
    waited: list[float] = []
    # Both launch as often: the slower clock would leave the other rank alone in an all-reduce.
    count = max(WAITED, agreed(int(seconds / per_launch(graph)))) if seconds else WAITED
    for _ in range(count):
        before = time.perf_counter_ns()
        graph.replay()
        torch.cuda.synchronize()
        waited.append((time.perf_counter_ns() - before) / 1e3)
    queued = []
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    for _ in range(ROUNDS):
        dist.barrier()
        torch.cuda.synchronize()
        start.record()
        for _ in range(QUEUED):
            graph.replay()
        end.record()
        torch.cuda.synchronize()
        queued.append(start.elapsed_time(end) * 1e3 / QUEUED)
    ranked = sorted(waited)
    return {
        "launches": count,
        "waited p50": ranked[count // 2],
        "waited p99": ranked[int(count * 0.99)],
        "waited most": ranked[-1],
        "waited over 2 x p50": sum(1 for one in waited if one > 2 * ranked[count // 2]),
        "queued": statistics.median(queued),
    }


def per_launch(graph: torch.cuda.CUDAGraph) -> float:
    """Return seconds that a launch takes, waited for."""
    before = time.perf_counter()
    for _ in range(50):
        graph.replay()
        torch.cuda.synchronize()
    return (time.perf_counter() - before) / 50


def agreed(count: int) -> int:
    """Return the first rank's count on all ranks."""
    said = torch.tensor([count], device="cuda")
    dist.broadcast(said, 0)
    return int(said.item())


def checksum(result: torch.Tensor) -> str:
    """Return all bits of a result."""
    return bytes(result.cpu().reshape(-1).view(torch.uint8).numpy()).hex()[:64] + str(
        float(result.double().sum())
    )


def main() -> None:
    """Run the steps, and write what they took and gave."""
    folder, planted = Path(sys.argv[1]), sys.argv[2]
    found: dict[str, Any] = {"planted": planted}
    seconds = LONG_S / 2 if planted == "long" else 0.0
    graph, result = capture(Decode(planted))
    if planted == "mismatch":
        print("launching", flush=True)
        graph.replay()
        torch.cuda.synchronize()
        time.sleep(600)  # rank 1: the other waits in an all-reduce until somebody ends the job
    found["decode"] = measure(graph, seconds)
    found["decode result"] = checksum(result)
    if planted in ("none", "long"):
        training, loss = capture(Training())
        for _ in range(20):
            training.replay()
        torch.cuda.synchronize()
        found["training result"] = checksum(loss)
        found["training"] = measure(training, seconds)
    (folder / f"rank_{rank}.json").write_text(json.dumps(found))


rank = int(os.environ["RANK"])
torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", rank)))
dist.init_process_group("nccl", device_id=torch.device("cuda", torch.cuda.current_device()))
main()
# No graph is left by now: NCCL waits for those that hold its communicator.
dist.destroy_process_group()
