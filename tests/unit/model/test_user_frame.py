"""Python stacks in a line: function, modules around it, the own line."""

from __future__ import annotations

import pytest

from gviz.model.user_frame import call_line, call_names
from gviz.recording import rows

TORCH = "/env/site-packages/torch/nn/modules/"
OWN = (("/run/train.py", 31, "main.<locals>.step"), ("/run/train.py", 52, "<module>"))
LAYER = (
    (TORCH + "normalization.py", 217, "LayerNorm.forward"),
    (TORCH + "module.py", 1790, "Module._call_impl"),
    (TORCH + "transformer.py", 956, "TransformerEncoderLayer.forward"),
    (TORCH + "transformer.py", 540, "TransformerEncoder.forward"),
)
NORM = ((TORCH + "../functional.py", 2935, "layer_norm"),)


def stack(*frames: tuple[str, int, str]) -> list[rows.Location]:
    return [
        rows.Location(location_id=at, file=file, line=line, function=function)
        for at, (file, line, function) in enumerate(frames, 1)
    ]


@pytest.mark.parametrize(
    ("frames", "text"),
    [
        ((), ""),
        (OWN, "step:31"),
        (NORM, "layer_norm"),
        ((*NORM, *OWN), "layer_norm < step:31"),
        (
            (*NORM, *LAYER, *OWN),
            "layer_norm < LayerNorm < TransformerEncoderLayer:956 < step:31",
        ),
        (LAYER, "LayerNorm < TransformerEncoderLayer < TransformerEncoder:540"),
    ],
)
def test_line_names_function_modules_and_own_line(
    frames: tuple[tuple[str, int, str], ...], text: str
) -> None:
    assert call_line(stack(*frames)) == text


def test_names_leave_out_frames_that_say_nothing() -> None:
    names = call_names(stack(*NORM, *LAYER, *OWN))
    modules = ["LayerNorm", "TransformerEncoderLayer", "TransformerEncoder"]
    assert names == ["layer_norm", *modules, "step"]
