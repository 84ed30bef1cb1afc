"""The words of edits, and what is no edit."""

from __future__ import annotations

import pytest

from gviz.errors import UsageError
from gviz.whatif import Edit, EditKind, parse_edit

EDITS = [
    ("off", "attention", Edit(EditKind.OFF, "attention"), "attention off"),
    ("scale", "norm=0.5", Edit(EditKind.SCALE, "norm", factor=0.5), "norm at 50.0% of its time"),
    ("cut", "12:15", Edit(EditKind.CUT, "12", "15"), "15 no longer waits for 12"),
    (
        "cut",
        "*:3,10-12",
        Edit(EditKind.CUT, "*", "3,10-12"),
        "3,10-12 no longer waits for anything",
    ),
    (
        "cut",
        "at::native::fill*:at::gemm",
        Edit(EditKind.CUT, "at::native::fill*", "at::gemm"),
        "at::gemm no longer waits for at::native::fill*",
    ),
    ("fuse", "#12-#15", Edit(EditKind.FUSE, "12", "15"), "12 to 15 fused"),
    ("fuse", "norm-GEMM", Edit(EditKind.FUSE, "norm", "GEMM"), "norm to GEMM fused"),
    ("order", "priority", Edit(EditKind.ORDER, "priority"), "order by priority"),
    ("delay", "GEMM=2us", Edit(EditKind.DELAY, "GEMM", delay_ns=2000), "2.00 µs behind GEMM"),
]


@pytest.mark.parametrize(("kind", "text", "edit", "words"), EDITS)
def test_edit_is_parsed_and_described(kind: str, text: str, edit: Edit, words: str) -> None:
    assert parse_edit(EditKind(kind), text) == edit
    assert edit.describe() == words


@pytest.mark.parametrize("edit", [row[2] for row in EDITS])
def test_edit_is_read_back_from_its_value(edit: Edit) -> None:
    assert parse_edit(edit.kind, edit.value) == edit


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        ("off", " ", "--off attention"),
        ("scale", "attention", "--scale attention=0.5"),
        ("scale", "attention=half", "a number from 0 on"),
        ("scale", "attention=-1", "a number from 0 on"),
        ("scale", "=0.5", "--scale attention=0.5"),
        ("cut", "a::b", "--cut 12:15"),
        ("cut", "a:b:c", "--cut 12:15"),
        ("fuse", "operator->-a", "--fuse 12-15"),
        ("order", "size", "--order priority"),
        ("delay", "attention=2", "as 2us"),
    ],
)
def test_wrong_edit_is_refused_with_an_example(kind: str, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_edit(EditKind(kind), text)
