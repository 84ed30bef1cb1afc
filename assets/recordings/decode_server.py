"""A decode server in PyTorch: a graph for each batch size, and eager work between launches.

    gviz run -o decode_server.gviz decode_server.py

Requests come and end; each step takes the smallest graph that holds those at work, reads the next
tokens from its logits, and puts them into its inputs. Nothing here knows gviz.
"""

import random

import torch

LAYERS, WIDTH, HEADS, CACHE, WORDS = 4, 768, 12, 256, 4096
BATCHES = (1, 2, 4, 8, 16, 32)
STEPS = 240


class Model(torch.nn.Module):
    """A decoder whose attention looks at a cache of fixed length."""

    def __init__(self) -> None:
        super().__init__()

        def linear(rows: int, columns: int) -> torch.nn.Linear:
            return torch.nn.Linear(rows, columns, bias=False)

        self.embed = torch.nn.Embedding(WORDS, WIDTH)
        self.layers = torch.nn.ModuleList(
            torch.nn.ModuleDict(
                {
                    "norm": torch.nn.LayerNorm(WIDTH),
                    "query": linear(WIDTH, WIDTH),
                    "output": linear(WIDTH, WIDTH),
                    "after": torch.nn.LayerNorm(WIDTH),
                    "up": linear(WIDTH, 4 * WIDTH),
                    "down": linear(4 * WIDTH, WIDTH),
                }
            )
            for _ in range(LAYERS)
        )
        self.head = linear(WIDTH, WORDS)

    def forward(
        self, tokens: torch.Tensor, keys: torch.Tensor, values: torch.Tensor
    ) -> torch.Tensor:
        state, batch = self.embed(tokens), len(tokens)
        for number, layer in enumerate(self.layers):
            torch.cuda.nvtx.range_push(f"layer {number}")
            query = layer["query"](layer["norm"](state)).view(batch, HEADS, 1, WIDTH // HEADS)
            mixed = torch.nn.functional.scaled_dot_product_attention(
                query, keys[number, :batch], values[number, :batch]
            )
            state = state + layer["output"](mixed.reshape(batch, WIDTH))
            inner = torch.nn.functional.silu(layer["up"](layer["after"](state)))
            state = state + layer["down"](inner)
            torch.cuda.nvtx.range_pop()
        return self.head(state)


class Bucket:
    """The graph of one batch size, with its inputs and outputs."""

    def __init__(self, model: Model, batch: int, keys: torch.Tensor, values: torch.Tensor) -> None:
        self.batch = batch
        self.tokens = torch.zeros(batch, dtype=torch.long, device="cuda")
        warm = torch.cuda.Stream()
        with torch.cuda.stream(warm):
            for _ in range(2):
                model(self.tokens, keys, values)
        warm.synchronize()
        self.graph = torch.cuda.CUDAGraph()
        torch.cuda.nvtx.range_push(f"decode, batch {batch}")
        with torch.cuda.graph(self.graph):
            self.logits = model(self.tokens, keys, values)
        torch.cuda.nvtx.range_pop()

    def step(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return the next tokens of the requests whose last are given."""
        count = len(tokens)
        self.tokens[:count] = tokens
        self.graph.replay()
        return self.logits[:count].argmax(-1)


def main() -> None:
    torch.manual_seed(7)
    arrivals = random.Random(7)
    model = Model().half().cuda().eval()
    shape = (LAYERS, BATCHES[-1], HEADS, CACHE, WIDTH // HEADS)
    keys, values = (torch.randn(shape, device="cuda", dtype=torch.float16) for _ in range(2))
    with torch.no_grad():
        buckets = [Bucket(model, batch, keys, values) for batch in BATCHES]
        tokens = torch.ones(1, dtype=torch.long, device="cuda")
        served = 0
        for step in range(STEPS):
            share = min(step, STEPS - step) / (STEPS / 2)  # most come in the middle of the run
            wanted = 1 + int((BATCHES[-1] - 1) * share * arrivals.random())
            more = max(0, wanted - len(tokens))
            fresh = torch.ones(more, dtype=torch.long, device="cuda")
            tokens = torch.cat([tokens, fresh])[:wanted]
            bucket = next(bucket for bucket in buckets if bucket.batch >= wanted)
            tokens = bucket.step(tokens)
            served += len(tokens.tolist())  # each token goes to its reader before the next step
        print(f"{served} tokens in {STEPS} steps")


if __name__ == "__main__":
    main()
