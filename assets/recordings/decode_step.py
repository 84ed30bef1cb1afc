"""One decode step of a small transformer in PyTorch, with parallel branches.

    python decode_step.py decode_step.gviz

Sixteen layers; the query, key and value projections run on three streams, the two halves of
the gated MLP on two. Three eager steps come first, then the captured step is launched.
"""

import math
import sys

import torch

import gviz

LAYERS, WIDTH, HEADS, CACHE, BATCH = 16, 1024, 16, 512, 4
LAUNCHES = 60


class Layer:
    """Weights, key-value cache and one step of a decoder layer."""

    def __init__(self, index: int, side: list[torch.cuda.Stream]) -> None:
        def weight(rows: int, columns: int) -> torch.Tensor:
            return torch.randn(rows, columns, device="cuda", dtype=torch.float16) / math.sqrt(rows)

        self.name, self.side = f"layer {index}", side
        self.query, self.key, self.value = (weight(WIDTH, WIDTH) for _ in range(3))
        self.output = weight(WIDTH, WIDTH)
        self.gate, self.up = weight(WIDTH, 4 * WIDTH), weight(WIDTH, 4 * WIDTH)
        self.down = weight(4 * WIDTH, WIDTH)
        shape = (BATCH, HEADS, CACHE, WIDTH // HEADS)
        self.keys = torch.randn(shape, device="cuda", dtype=torch.float16)
        self.values = torch.randn(shape, device="cuda", dtype=torch.float16)

    def beside(self, work: list, inputs: torch.Tensor) -> list[torch.Tensor]:
        """Run ``work`` side by side: the first here, the others on side streams."""
        here = torch.cuda.current_stream()
        results = []
        for stream, function in zip([here, *self.side], work, strict=False):
            if stream is not here:
                stream.wait_stream(here)
            with torch.cuda.stream(stream):
                results.append(function(inputs))
        for stream in self.side[: len(work) - 1]:
            here.wait_stream(stream)
        return results

    def attention(self, hidden: torch.Tensor, position: int) -> torch.Tensor:
        def heads(x: torch.Tensor) -> torch.Tensor:
            return x.view(BATCH, HEADS, 1, WIDTH // HEADS)

        normal = torch.nn.functional.layer_norm(hidden, (WIDTH,))
        query, key, value = self.beside(
            [
                lambda x: heads(x @ self.query),
                lambda x: heads(x @ self.key),
                lambda x: heads(x @ self.value),
            ],
            normal,
        )
        self.keys[:, :, position : position + 1] = key
        self.values[:, :, position : position + 1] = value
        scores = (query @ self.keys.transpose(-1, -2)) / math.sqrt(WIDTH // HEADS)
        mixed = scores.softmax(-1) @ self.values
        return hidden + mixed.reshape(BATCH, WIDTH) @ self.output

    def mlp(self, hidden: torch.Tensor) -> torch.Tensor:
        normal = torch.nn.functional.layer_norm(hidden, (WIDTH,))
        gate, up = self.beside(
            [lambda x: torch.nn.functional.silu(x @ self.gate), lambda x: x @ self.up], normal
        )
        return hidden + (gate * up) @ self.down

    def step(self, hidden: torch.Tensor, position: int) -> torch.Tensor:
        torch.cuda.nvtx.range_push(self.name)
        torch.cuda.nvtx.range_push("attention")
        hidden = self.attention(hidden, position)
        torch.cuda.nvtx.range_pop()
        torch.cuda.nvtx.range_push("mlp")
        hidden = self.mlp(hidden)
        torch.cuda.nvtx.range_pop()
        torch.cuda.nvtx.range_pop()
        return hidden


def main(output: str) -> None:
    with gviz.profile(output, name="PyTorch decode step"), torch.no_grad():
        torch.manual_seed(7)
        side = [torch.cuda.Stream() for _ in range(2)]
        layers = [Layer(i, side) for i in range(LAYERS)]
        hidden = torch.randn(BATCH, WIDTH, device="cuda", dtype=torch.float16)

        def step() -> torch.Tensor:
            state = hidden
            for layer in layers:
                state = layer.step(state, CACHE - 1)
            return state

        warm = torch.cuda.Stream()
        with torch.cuda.stream(warm):
            for _ in range(3):
                step()
        warm.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            step()
        for _ in range(LAUNCHES):
            graph.replay()
            torch.cuda.synchronize()  # a decoder reads the token before it goes on


if __name__ == "__main__":
    main(sys.argv[1])
