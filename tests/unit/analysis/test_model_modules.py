"""Modules of a model: from stacks of PyTorch's modules, from ranges called after them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from recordings import Shape, Work, write_recording

import gviz.assets
from gviz.analysis.model_layers import find_model_layers
from gviz.analysis.model_modules import (
    ModelModules,
    find_model_modules,
    module_calls,
    modules_of_ranges,
)
from gviz.analysis.subject import GraphSubject
from gviz.recording import rows
from gviz.recording.reader import Recording
from gviz.stats.figure_fields import NotComputed

RECORDINGS = Path(gviz.assets.__path__[0]) / "recordings"


def modules_of(path: Path) -> ModelModules | None:
    with Recording(path) as recording:
        (run,) = recording.fetch_runs()
        graph = recording.fetch_graphs(run.run_id)[0]
        subject = GraphSubject(recording, graph, recording.fetch_devices(run.run_id))
        layers = subject.once(find_model_layers)
        return find_model_modules(subject, None if isinstance(layers, NotComputed) else layers)


def stack(*frames: tuple[str, int]) -> Sequence[rows.Location]:
    """Return a stack of functions and lines, given outermost first, innermost first."""
    found = [
        rows.Location(location_id=at, file="model.py", line=line, function=function, source=None)
        for at, (function, line) in enumerate(frames)
    ]
    return found[::-1]


def test_module_is_what_pytorchs_base_class_calls() -> None:
    calls = module_calls(
        stack(
            ("main", 9),
            ("Module._call_impl", 1), ("Net.forward", 20),
            ("Module._wrapped_call_impl", 2), ("Module._call_impl", 1), ("Block.forward", 30),
            ("Block.inner", 33),
            ("Module._call_impl", 1), ("Linear.forward", 40),
            ("Helper.multiply", 50),
        )
    )  # fmt: skip
    assert [(call.name, call.line) for call in calls] == [("Net", 9), ("Block", 20), ("Linear", 33)]


def test_ranges_that_are_called_after_modules_tell_them() -> None:
    assert modules_of_ranges(["step", "layers.3"]) == ("layers.3",)
    assert modules_of_ranges(["model.layers.3", "model.layers.3.mlp"]) == ("model.layers.3", "mlp")
    assert modules_of_ranges(["Module: h.11.attn.c_proj"]) == ("h.11", "attn.c_proj")
    assert modules_of_ranges(["layer 3", "attention"]) == ()


def test_training_step_has_modules_of_numbered_layers() -> None:
    found = modules_of(RECORDINGS / "training_step.gviz")
    assert found is not None
    assert found.source == "stacks"
    layers = {
        path[1] for path in found.paths if len(path) > 1 and path[1].startswith("TransformerEnc")
    }
    assert layers == {f"TransformerEncoderLayer {n}" for n in range(24)}
    paths = [found.paths[at] if at >= 0 else () for at in found.code.tolist()]
    first = [
        path for path in paths if path[:2] == ("TransformerEncoder", "TransformerEncoderLayer 0")
    ]
    inside = list(dict.fromkeys(path[2] for path in first if len(path) > 2))
    # In the order of the forward pass; modules of one class by where they are called.
    assert inside == ["MultiheadAttention", "LayerNorm 0", "Linear", "LayerNorm 1"]
    assert found.is_inferred[found.code >= 0].all()
    # Neither loss nor optimizer is in a module.
    assert 0.6 < np.mean(found.code >= 0) < 0.8
    assert {found.instances()[at] for at in found.code[found.code >= 0].tolist()} >= layers


def test_recording_without_modules_has_none() -> None:
    assert modules_of(RECORDINGS / "decode_step_h200.gviz") is None
    assert modules_of(RECORDINGS / "nested_torch.gviz") is None


def test_ranges_of_a_recording_give_modules_their_instances(tmp_path: Path) -> None:
    names = [f"model.layers.{layer}.{part}" for layer in range(4) for part in ("attn", "mlp.up")]
    works = [
        Work(f"{name[-4:]} kernel", 2_000, (at - 1,) if at else (), nvtx=name)
        for at, name in enumerate(["embed", *names])
    ]
    found = modules_of(
        write_recording(tmp_path / "x.gviz", Shape("model", tuple(works)), launches=2)
    )
    assert found is not None
    assert found.source == "ranges"
    assert found.code.tolist() == [-1, *range(8)]
    assert found.paths[:3] == (
        ("model.layers.0", "attn"), ("model.layers.0", "mlp.up"), ("model.layers.1", "attn"),
    )  # fmt: skip
    assert found.instances()[::2] == tuple(f"model.layers.{layer}" for layer in range(4))
    assert not found.is_inferred.any()
