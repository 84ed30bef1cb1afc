"""What to record: the arguments of gviz.profile and gviz run, checked before anything starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from gviz.collectors.native import POLICY_ALL, POLICY_EVERY, POLICY_FIRST
from gviz.collectors.session import SessionOptions, parse_node_launches
from gviz.errors import GvizError, RecordingError, UsageError


@pytest.mark.parametrize(
    ("value", "policy", "count"),
    [
        (20, POLICY_FIRST, 20),
        (0, POLICY_FIRST, 0),
        ("7", POLICY_FIRST, 7),
        (" 7 ", POLICY_FIRST, 7),
        ("007", POLICY_FIRST, 7),
        ("every:1", POLICY_EVERY, 1),
        ("every:100", POLICY_EVERY, 100),
        ("all", POLICY_ALL, 0),
        (2**32 - 1, POLICY_FIRST, 2**32 - 1),
    ],
)
def test_node_launches_are_understood(value: int | str, policy: int, count: int) -> None:
    assert parse_node_launches(value) == (policy, count)


@pytest.mark.parametrize(
    "value",
    ["", "none", "-1", -1, "1.5", 1.5, "every", "every:", "every:0", "every:-2", "every: 3",
     "every:x", "ALL", "20 launches", "1e3", None, True, "²", 2**32, "every:4294967296"],
)  # fmt: skip
def test_other_node_launches_are_a_usage_error_that_names_the_forms(value: str) -> None:
    with pytest.raises(UsageError, match="give a number, every:K or all"):
        parse_node_launches(value)


def parse(path: Path, **changes: object) -> SessionOptions:
    arguments: dict[str, object] = {"name": None, "node_launches": 20, "eager_operations": 100}
    arguments |= changes
    overwrite = bool(arguments.pop("overwrite", False))
    return SessionOptions.parse(path, *arguments.values(), overwrite=overwrite)  # type: ignore[arg-type]


def test_name_is_the_files_stem_unless_given(tmp_path: Path) -> None:
    assert parse(tmp_path / "decode.gviz").name == "decode"
    assert parse(tmp_path / "decode.gviz", name="batch 1").name == "batch 1"


def test_options_reach_the_native_library(tmp_path: Path) -> None:
    options = parse(tmp_path / "x.gviz", node_launches="every:5", eager_operations=0)
    assert (options.native.policy, options.native.policy_count) == (POLICY_EVERY, 5)
    assert options.native.eager_operations == 0
    assert (options.node_launches, options.source) == ("every:5", "profile")


@pytest.mark.parametrize("operations", [-1, 2**32])
def test_eager_operations_out_of_range_are_a_usage_error(tmp_path: Path, operations: int) -> None:
    with pytest.raises(UsageError, match=f"eager_operations is {operations}"):
        parse(tmp_path / "x.gviz", eager_operations=operations)


def test_existing_recording_is_an_error_unless_it_may_be_replaced(tmp_path: Path) -> None:
    path = tmp_path / "x.gviz"
    path.write_text("precious")
    with pytest.raises(RecordingError, match="exists"):
        parse(path)
    assert parse(path, overwrite=True).overwrite
    assert path.read_text() == "precious"


def test_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(GvizError, match="there is no directory"):
        parse(tmp_path / "none" / "x.gviz")
