"""Parts of a model as the pages have them: names of layers, one by one and together."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import gviz.assets
from gviz.app.views.model_parts import read_model_parts
from gviz.model import build_anew, read_timed_tree
from gviz.recording.reader import Recording

RECORDINGS = Path(gviz.assets.__path__[0]) / "recordings"


def test_nodes_have_the_names_of_their_layers() -> None:
    with Recording(RECORDINGS / "decode_step_h200.gviz") as recording:
        parts = read_model_parts(recording, read_timed_tree(recording, 1, build_anew), build_anew)
    names = parts.layer_names()
    assert names[:20] == ["layer 0"] * 20
    assert parts.words(range(1)) == ["layer 0"]
    assert parts.layers_of(np.arange(len(names))) == "layer 0..15"
    assert parts.layers_of(np.array([0, 319])) == "2 × layer"
    assert parts.modules is None


def test_layers_and_modules_that_repeats_tell_are_inferred() -> None:
    with Recording(RECORDINGS / "training_step.gviz") as recording:
        parts = read_model_parts(recording, read_timed_tree(recording, 1, build_anew), build_anew)
    names = parts.layer_names()
    first = [at for at, name in enumerate(names) if name == "TransformerEncoderLayer 0 (inferred)"]
    assert parts.layers_of(np.array(first)) == "TransformerEncoderLayer 0 (inferred)"
    (words,) = parts.words(range(first[0], first[0] + 1))
    assert words == (
        "TransformerEncoder › TransformerEncoderLayer 0 › MultiheadAttention (inferred)"
    )
    outside = [at for at, name in enumerate(names) if name is None]
    assert outside
    assert parts.layers_of(np.array([first[0], outside[0]])) is None
    # Phases are those of the breakdown.
    assert set(parts.phase.values) == {"forward", "backward", "update"}
