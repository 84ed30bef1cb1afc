"""Names of graphs."""

from __future__ import annotations

import pytest

from gviz.cuda.graph_name import NameKind, base_name, line_name, matches, numbered

_TORCH = "/v/lib/python3.12/site-packages/torch/cuda/graphs.py"
_USER = ("/home/me/decode.py", 120, "Model.forward")

#: (what is known, frames, the name)
LINES = [
    ("library above the user", [(_TORCH, 1, "begin"), _USER], "decode.py:120 Model.forward"),
    (
        "code that torch.compile wrote",
        [("/tmp/torchinductor_me/5v/c5vah5vpvs3c7e5i6sma22de6o6gjrzs5hahkqoeoa5iswhdc5lt.py", 119,
          "Runner.call"), _USER],
        "decode.py:120 Model.forward",
    ),
    ("module level", [("/home/me/run.py", 3, "<module>")], "run.py:3"),
    ("nested function", [("/home/me/run.py", 3, "main.<locals>.step")], "run.py:3 step"),
    ("lambda", [("/home/me/run.py", 3, "main.<locals>.<lambda>")], "run.py:3 lambda"),
    (
        "standard library between",
        [("/usr/lib/python3.12/contextlib.py", 137, "__enter__"), _USER],
        "decode.py:120 Model.forward",
    ),
    ("frozen modules", [("<frozen runpy>", 88, "_run_code"), _USER], "decode.py:120 Model.forward"),
    ("notebook cell", [("/tmp/ipykernel_81/2718281828.py", 4, "<module>")], "cell:4"),
    ("exec", [("<string>", 1, "<module>")], "<string>:1"),
    (
        "installed program",
        [
            (_TORCH, 1, "__enter__"),
            ("/v/lib/python3.12/site-packages/vllm/runner.py", 9, "Runner.capture"),
            ("/usr/lib/python3.12/multiprocessing/process.py", 108, "run"),
        ],
        "runner.py:9 Runner.capture",
    ),
    ("Windows' paths", [("C:\\me\\decode.py", 7, "f")], "decode.py:7 f"),
    ("GPU libraries only", [(_TORCH, 1, "capture_begin")], None),
    (
        "compiled",
        [("/v/lib/python3.12/site-packages/torch/_inductor/cudagraph_trees.py", 9, "_record")],
        "torch.compile",
    ),
    ("nothing", [], None),
]  # fmt: skip


@pytest.mark.parametrize(("frames", "name"), [row[1:] for row in LINES], ids=[r[0] for r in LINES])
def test_line_names_the_innermost_frame_of_the_user(
    frames: list[tuple[str, int, str]], name: str | None
) -> None:
    assert line_name(frames) == name


@pytest.mark.parametrize(
    ("kind", "given", "nvtx", "expected"),
    [
        (NameKind.EXPLICIT, "mine", "decode", "mine"),
        (NameKind.FRAMEWORK, "f [8]", "decode/layer", "decode/layer"),
        (NameKind.FRAMEWORK, "f [8]", "", "f [8]"),
        (NameKind.FRAMEWORK, "", "", "decode.py:120 Model.forward"),
        (NameKind.NONE, "", "", "decode.py:120 Model.forward"),
        # Blanks name nothing.
        (NameKind.EXPLICIT, " ", " / ", "decode.py:120 Model.forward"),
    ],
)
def test_given_name_goes_before_ranges_before_framework_before_line(
    kind: NameKind, given: str, nvtx: str, expected: str
) -> None:
    assert base_name(kind, given, nvtx, [_USER]) == expected


def test_equal_names_are_numbered_and_never_collide() -> None:
    assert numbered(["a", "a", "b", "a"]) == ["a", "a (2)", "b", "a (3)"]
    assert numbered(["a", "a", "a (2)"]) == ["a", "a (3)", "a (2)"]
    assert len(set(numbered(["a", "a (2)", "a (2)", "a", "a (3)"]))) == 5


@pytest.mark.parametrize(
    ("name", "pattern", "expected"),
    [
        ("decode/layer 3", "decode*", True),
        ("Decode", "decode", False),
        ("a.py:3 f", "a.py:*", True),
        ("f [8x64]", "f [[]8x64]", True),
    ],
)
def test_pattern_is_a_shell_pattern(name: str, pattern: str, expected: bool) -> None:
    assert matches(name, pattern) is expected
