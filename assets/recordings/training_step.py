"""A training step in PyTorch, forward, backward and update, captured whole.

    python training_step.py training_step.gviz

A transformer encoder of 24 layers. One step is 2,000 nodes and more.
"""

import sys

import torch

import gviz

LAYERS, WIDTH, HEADS, TOKENS, BATCH = 24, 512, 8, 64, 8
LAUNCHES = 20


def main(output: str) -> None:
    with gviz.profile(output, name="PyTorch training step", node_launches=10):
        torch.manual_seed(7)
        layer = torch.nn.TransformerEncoderLayer(
            WIDTH, HEADS, 4 * WIDTH, dropout=0.0, batch_first=True, device="cuda"
        )
        model = torch.nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, foreach=False)
        inputs = torch.randn(BATCH, TOKENS, WIDTH, device="cuda")
        target = torch.randn(BATCH, TOKENS, WIDTH, device="cuda")

        def step() -> None:
            with torch.cuda.nvtx.range("forward"):
                loss = torch.nn.functional.mse_loss(model(inputs), target)
            with torch.cuda.nvtx.range("backward"):
                loss.backward()
            with torch.cuda.nvtx.range("update"):
                optimizer.step()
                optimizer.zero_grad(set_to_none=False)

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
        torch.cuda.synchronize()


if __name__ == "__main__":
    main(sys.argv[1])
