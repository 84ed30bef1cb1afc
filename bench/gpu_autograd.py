"""Operations of the forward pass that autograd's nodes get, on a GPU: how many, and the right ones.

Run on a machine with a GPU and PyTorch: python -P bench/gpu_autograd.py [--layers N]

A training step of a transformer encoder is captured by torch.cuda.graph under gviz.profile and
under gviz run; plainly, and with what is hard beside it: weights that layers share, a custom
function, in-place operations, writes into views, work of no autograd node. The truth is planted
without sequence numbers: each layer has an NVTX range in the forward pass, and hooks on the layers'
outputs open one on autograd's thread as the backward pass comes to each layer.

Prints, for each program and way: nodes of autograd, those with an operation, those of which the
numbers are equal, operations of a wrong layer, nodes that analyses put into a wrong layer or in
none, nodes without a line of the forward pass, and the median time of a capture. The exit code is 1
if a layer is wrong, or fewer than 99 of 100 nodes have an operation with a line.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np

#: Of autograd's nodes that must have an operation.
_LEAST_SHARE = 0.99
_WIDTH, _HEADS, _TOKENS, _BATCH = 256, 4, 32, 4
_CAPTURES = 7
PROGRAMS = ("plain", "hard")
_BACKWARD = "backward of layer"


@dataclass(frozen=True, slots=True)
class Found:
    """Counts of the nodes that autograd created in a recording."""

    nodes: int
    with_operation: int
    exact: int
    wrong_operations: int
    wrong_layers: int
    without_layer: int
    without_line: int


# -- the program ---------------------------------------------------------------------------


class BackwardRanges:
    """NVTX ranges on autograd's thread, one after the other."""

    def __init__(self) -> None:
        self._is_open = False

    def at(self, text: str) -> Callable[[Any], None]:
        """Return a tensor's hook that ends the range before and begins one."""
        import torch

        def begin(_gradient: Any) -> None:
            if self._is_open:
                torch.cuda.nvtx.range_pop()
            torch.cuda.nvtx.range_push(text)
            self._is_open = True

        return begin


def scale_function() -> Any:
    """Return a custom function of autograd, whose forward runs without gradients."""
    import torch

    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            (gradient,) = gradients
            return gradient * 2

    return Scale.apply


def make_step(program: str, layers: int) -> Callable[[], None]:
    """Return a training step."""
    import torch
    from torch import nn

    scale = scale_function()

    def block() -> nn.Module:
        return nn.TransformerEncoderLayer(
            _WIDTH, _HEADS, 4 * _WIDTH, dropout=0.0, batch_first=True, device="cuda"
        )

    hard = program == "hard"
    shared = block()
    # Every third layer of the hard program has the weights of the first.
    blocks = [shared if hard and at % 3 == 0 else block() for at in range(layers)]
    parameters = {id(p): p for b in blocks for p in b.parameters()}.values()
    optimizer = torch.optim.SGD(list(parameters), lr=1e-3, foreach=False)
    inputs = torch.randn(_BATCH, _TOKENS, _WIDTH, device="cuda")
    target = torch.randn(_BATCH, _TOKENS, _WIDTH, device="cuda")
    ranges = BackwardRanges()

    def one_layer(at: int, x: torch.Tensor) -> torch.Tensor:
        x = blocks[at](x)
        if hard:
            x = scale(x)
            x = nn.functional.relu_(x + 1)
            buffer = torch.zeros_like(x)
            buffer[:, : _TOKENS // 2] = x[:, _TOKENS // 2 :]
            x = x + buffer
            mask = torch.ones(_TOKENS, 1, device="cuda").cumsum(0)  # of no autograd node
            x = x * mask
        return x

    def step() -> None:
        x = inputs
        with torch.cuda.nvtx.range("forward"):
            for at in range(layers):
                with torch.cuda.nvtx.range(f"layer {at}"):
                    x = one_layer(at, x)
                x.register_hook(ranges.at(f"{_BACKWARD} {at}"))
            loss = nn.functional.mse_loss(x, target)
            loss.register_hook(ranges.at("backward of the loss"))
        with torch.cuda.nvtx.range("backward"):
            loss.backward()
        with torch.cuda.nvtx.range("update"):
            optimizer.step()
            optimizer.zero_grad(set_to_none=False)

    return step


def run_program(program: str, layers: int) -> list[float]:
    """Capture and launch the step; return times of further captures."""
    import torch

    torch.manual_seed(7)
    step = make_step(program, layers)
    warm = torch.cuda.Stream()
    with torch.cuda.stream(warm):
        for _ in range(3):
            step()
    warm.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    for _ in range(5):
        graph.replay()
    torch.cuda.synchronize()
    took = []
    for _ in range(_CAPTURES):
        again = torch.cuda.CUDAGraph()
        start = time.perf_counter()
        with torch.cuda.graph(again):
            step()
        took.append(time.perf_counter() - start)
        del again
    return took


def child(way: str, program: str, layers: int, folder: Path) -> None:
    """Run the program in this process, as one of the ways says; print capture times."""
    if way == "profile":
        import gviz

        with gviz.profile(folder / "found.gviz", name=program):
            took = run_program(program, layers)
    else:
        took = run_program(program, layers)
    (folder / "took.json").write_text(json.dumps(took))


# -- what the recording says ------------------------------------------------------------------


def examine(folder: Path) -> Found:
    """Hold the recording's first graph against the truth."""
    from gviz.analysis import GraphSubject, ModelLayers, find_model_layers
    from gviz.recording import Recording, rows

    with Recording(folder / "found.gviz") as recording:
        row = recording.fetch_graphs()[0]
        subject = GraphSubject(recording, row, recording.fetch_devices(row.run_id))
        tree = subject.graph
        columns = ("autograd_name", "sequence_nr")
        made = recording.fetch_arrays(rows.Node, {"graph_id": row.graph_id}, columns)
        names, number = made.listed("autograd_name"), made.listed("sequence_nr")
        texts = [tree.nvtx.get(x or 0, "") for x in tree.nodes.listed("nvtx_path_id")]
        stacks = tree.nodes.listed("stack_id")
        found = find_model_layers(subject)
        assert isinstance(found, ModelLayers), found
    count = len(names)
    assert count == len(tree), "nodes of bodies"
    truth = np.array([_number_in(_BACKWARD, text) for text in texts])
    layer = np.where(found.of_node >= 0, found.numbers[found.of_node], -1)
    backward = np.array([name is not None for name in names])
    forward = tree.operations.forward
    known = backward & (forward >= 0)
    operation = np.array([_number_in("layer", texts[f]) if f >= 0 else -1 for f in forward])
    wrong = known & (operation != truth)
    for i in np.flatnonzero(wrong)[:10].tolist():
        print(f"  wrong: node {i} {names[i]} {number[i]}: {texts[forward[i]]!r}, not {texts[i]!r}")
    no_line = np.array([f < 0 or stacks[f] is None for f in forward])
    in_layer = backward & (truth >= 0)
    return Found(
        nodes=int(backward.sum()),
        with_operation=int(known.sum()),
        exact=int(tree.operations.is_exact.sum()),
        wrong_operations=int(wrong.sum()),
        wrong_layers=int((in_layer & (layer >= 0) & (layer != truth)).sum()),
        without_layer=int((in_layer & (layer < 0)).sum()),
        without_line=int((backward & no_line).sum()),
    )


def _number_in(kind: str, text: str) -> int:
    """Return the number of the range of a kind in a path; -1: there is none."""
    found = (part.removeprefix(f"{kind} ") for part in text.split(" › "))
    return next((int(number) for number in found if number.isdigit()), -1)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        way, program, folder = arguments.child
        child(way, program, arguments.layers, Path(folder))
        return 0
    is_right = True
    heads = (
        "nodes", "operation", "equal", "wrong", "layer", "no layer", "no line", "capture",
    )  # fmt: skip
    print(f"{'program':8} {'way':8}" + "".join(f"{head:>11}" for head in heads))
    for program in PROGRAMS:
        for way in ("none", "profile", "run"):
            with tempfile.TemporaryDirectory() as kept:
                folder = Path(kept)
                command = [sys.executable, "-P", __file__, "--layers", str(arguments.layers),
                           "--child", way, program, kept]  # fmt: skip
                if way == "run":
                    watch = [sys.executable, "-P", "-m", "gviz", "run", "-o"]
                    command = [*watch, str(folder / "found.gviz"), *command]
                subprocess.run(command, check=True)
                took = statistics.median(json.loads((folder / "took.json").read_text()))
                found = None if way == "none" else examine(folder)
            values = ["-"] * 7
            if found is not None:
                values = [f"{value:,}" for value in astuple(found)]
                is_right &= not found.wrong_operations and not found.wrong_layers
                is_right &= found.with_operation >= _LEAST_SHARE * found.nodes > 0
                is_right &= found.without_line <= (1 - _LEAST_SHARE) * found.nodes
            line = "".join(f"{value:>11}" for value in (*values, f"{took * 1e3:.1f} ms"))
            print(f"{program:8} {way:8}{line}")
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
