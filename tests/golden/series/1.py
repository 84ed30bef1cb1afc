"""One token's step through the layers of a small decoder.

python token_step.py token_step.gviz
"""

import math
import sys

import torch

import gviz

LAYERS, WIDTH, HEADS, CACHE, BATCH = 4, 1024, 16, 256, 8
LAUNCHES = 30


def weight(rows: int, columns: int) -> torch.Tensor:
    return torch.randn(rows, columns, device="cuda", dtype=torch.float16) / math.sqrt(rows)


class Layer:
    """Weights and key-value cache of a layer."""

    def __init__(self) -> None:
        self.query, self.key, self.value = (weight(WIDTH, WIDTH) for _ in range(3))
        self.output = weight(WIDTH, WIDTH)
        self.up, self.down = weight(WIDTH, 4 * WIDTH), weight(4 * WIDTH, WIDTH)
        shape = (BATCH, HEADS, CACHE, WIDTH // HEADS)
        self.keys = torch.randn(shape, device="cuda", dtype=torch.float16)
        self.values = torch.randn(shape, device="cuda", dtype=torch.float16)

    def normalise(self, hidden: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.layer_norm(hidden, (WIDTH,))

    def project(self, normal: torch.Tensor) -> list[torch.Tensor]:
        parts = [normal @ self.query, normal @ self.key, normal @ self.value]
        return [part.view(BATCH, HEADS, 1, WIDTH // HEADS) for part in parts]

    def attend(self, query: torch.Tensor) -> torch.Tensor:
        scores = (query @ self.keys.transpose(-1, -2)) / math.sqrt(WIDTH // HEADS)
        return scores.softmax(-1) @ self.values

    def step(self, hidden: torch.Tensor) -> torch.Tensor:
        with torch.cuda.nvtx.range("attention"):
            query, key, value = self.project(self.normalise(hidden))
            self.keys[:, :, -1:] = key
            self.values[:, :, -1:] = value
            hidden = hidden + self.attend(query).reshape(BATCH, WIDTH) @ self.output
        with torch.cuda.nvtx.range("mlp"):
            inner = torch.nn.functional.gelu(self.normalise(hidden) @ self.up)
            return hidden + inner @ self.down


def main(output: str) -> None:
    with gviz.profile(output, name="token step", node_launches=10), torch.no_grad():
        torch.manual_seed(7)
        layers = [Layer() for _ in range(LAYERS)]
        token = torch.randn(BATCH, WIDTH, device="cuda", dtype=torch.float16)

        def step() -> torch.Tensor:
            hidden = token
            for number, layer in enumerate(layers):
                with torch.cuda.nvtx.range(f"layer {number}"):
                    hidden = layer.step(hidden)
            return hidden

        warm = torch.cuda.Stream()
        with torch.cuda.stream(warm):
            for _ in range(3):
                step()
        warm.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.nvtx.range("token step"), torch.cuda.graph(graph):
            step()
        for _ in range(LAUNCHES):
            graph.replay()
            torch.cuda.synchronize()


if __name__ == "__main__":
    main(sys.argv[1])
