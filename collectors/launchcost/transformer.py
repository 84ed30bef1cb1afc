"""Experiment ``batch``: a small transformer by batch size, as stream and as graph."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gviz.analysis import Figure, Subject, make_figures
from gviz.collectors.launchcost.plan import Gap, Plan

EXPERIMENT = "batch"
#: An encoder of the size used in small language models' layers; half precision.
_LAYERS, _WIDTH, _HEADS, _TOKENS = 6, 512, 8, 64


def measure_batches(plan: Plan) -> Iterator[Figure | Gap]:
    """Measure one forward pass by batch size; needs PyTorch with CUDA."""
    try:
        torch: Any = importlib.import_module("torch")
    except ImportError:
        yield Gap(EXPERIMENT, "PyTorch is not installed")
        return
    if not torch.cuda.is_available():
        yield Gap(EXPERIMENT, f"PyTorch {torch.__version__} sees no CUDA device")
        return
    torch.manual_seed(0)
    with torch.cuda.device(plan.device), torch.inference_mode():
        layer = torch.nn.TransformerEncoderLayer(
            _WIDTH, _HEADS, 4 * _WIDTH, batch_first=True, dropout=0.0
        )
        model = torch.nn.TransformerEncoder(layer, _LAYERS, enable_nested_tensor=False)
        model = model.to("cuda", torch.float16).eval()
        for batch in plan.batches:
            tokens = torch.randn(batch, _TOKENS, _WIDTH, device="cuda", dtype=torch.float16)
            yield from _measure(plan, torch, batch, functools.partial(model, tokens))


def _measure(plan: Plan, torch: Any, batch: int, step: Callable[[], Any]) -> Iterator[Figure]:
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):  # libraries choose their kernels before the capture
            step()
    side.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    for subject, launch in (("stream", step), ("graph", graph.replay)):
        times = [_elapsed_ns(torch, launch) for _ in range(plan.repeats + plan.warm_up)]
        about = Subject(
            EXPERIMENT, subject, "elapsed", parameter="batch", parameter_value=float(batch)
        )
        yield from make_figures(about, np.array(times), warm_up=plan.warm_up)


def _elapsed_ns(torch: Any, launch: Callable[[], Any]) -> float:
    before = torch.cuda.Event(enable_timing=True)
    after = torch.cuda.Event(enable_timing=True)
    torch.cuda.synchronize()
    before.record()
    launch()
    after.record()
    torch.cuda.synchronize()
    return float(before.elapsed_time(after)) * 1e6
