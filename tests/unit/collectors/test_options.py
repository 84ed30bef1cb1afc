"""Arguments of gviz.profile and gviz run, checked before anything starts."""

from __future__ import annotations

import pytest

from gviz.collectors.native import (
    POLICY_ALL,
    POLICY_EVERY,
    POLICY_FIRST,
    POLICY_PERIOD,
    RANGE_NVTX,
    RANGE_PROFILER,
)
from gviz.collectors.options import ProfileOptions, parse_node_launches
from gviz.errors import UsageError


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
        ("every:10s", POLICY_PERIOD, 10_000),
        ("every:1.5ms", POLICY_PERIOD, 2),
        ("every:2min", POLICY_PERIOD, 120_000),
        ("every:1h", POLICY_PERIOD, 3_600_000),
        ("all", POLICY_ALL, 0),
        (2**32 - 1, POLICY_FIRST, 2**32 - 1),
    ],
)
def test_node_launches_are_understood(value: int | str, policy: int, count: int) -> None:
    assert parse_node_launches(value) == (policy, count)


@pytest.mark.parametrize(
    "value",
    ["", "none", "-1", -1, "1.5", 1.5, "every", "every:", "every:0", "every:-2", "every: 3",
     "every:x", "every:0s", "every:-1s", "every:10 s", "every:2000h", "every:3d",
     "ALL", "20 launches", "1e3", None, True, "²", 2**32, "every:4294967296"],
)  # fmt: skip
def test_other_node_launches_are_a_usage_error_that_names_the_forms(value: str) -> None:
    with pytest.raises(UsageError, match="give a number, every:K, every:10s or all"):
        parse_node_launches(value)


def test_options_reach_the_native_library() -> None:
    wanted = ProfileOptions(node_launches="every:5", eager_operations=0).native()
    assert (wanted.policy, wanted.policy_count) == (POLICY_EVERY, 5)
    assert wanted.eager_operations == 0


@pytest.mark.parametrize(
    ("node_times", "windows", "collector"),
    [("auto", False, "auto"), ("events", False, "events"), ("cupti", True, "events")],
)
def test_node_times_begin_without_cupti(node_times: str, windows: bool, collector: str) -> None:
    options = ProfileOptions(node_times=node_times)
    assert (options.native().cupti_windows, options.measured_by) == (windows, collector)


def test_node_times_and_a_collector_say_the_same_thing() -> None:
    with pytest.raises(UsageError, match="both say what measures"):
        ProfileOptions(node_times="cupti", collector="cupti")


@pytest.mark.parametrize(
    ("text", "number"), [("cudaProfilerApi", RANGE_PROFILER), ("nvtx:a:b", RANGE_NVTX)]
)
def test_capture_range_begins_without_recording(text: str, number: int) -> None:
    wanted = ProfileOptions(capture_range=text).native()
    assert (wanted.capture_range, wanted.paused) == (number, True)
    with pytest.raises(UsageError, match="says when recording begins"):
        ProfileOptions(capture_range=text, delay_s=1)


def test_options_survive_the_way_to_a_child() -> None:
    options = ProfileOptions(name="ä", node_launches="all", duration_s=2.5, toggle_signal="USR2")
    assert ProfileOptions.from_json(options.to_json()) == options


@pytest.mark.parametrize(
    ("option", "value", "stated"),
    [
        ("eager_operations", -1, "eager_operations is -1"),
        ("eager_operations", 2**32, "eager_operations is 4294967296"),
        ("collector", "magic", "auto, cupti, events, topology"),
        ("delay_s", -1, "delay is -1 s"),
        ("delay_s", float("nan"), "delay is nan s"),
        ("duration_s", float("inf"), "duration is inf s"),
        ("max_launches", 0, "max_launches is 0"),
        ("toggle_signal", "SIGKILL", "no signal that a program can catch"),
        ("toggle_signal", "SIGNONE", "no signal that a program can catch"),
        ("node_times", "magic", "auto, cupti, events"),
        ("black_box", "magic", "off, core, layer, node"),
        ("stall", "30", "give a time such as 30s"),
        ("stall", "30s", "seen by crumbs only"),
        ("dump", "", "the pattern of dump is empty"),
        ("dump", "x" * 128, "the pattern of dump is longer than 127 bytes"),
        ("dump_limit_mib", 0.5, "the limit of dump is 0.5 MiB; give 1 to 4096"),
        ("capture_range", "nvtx:", "give cudaProfilerApi, or nvtx:NAME"),
        ("capture_range", "profiler", "give cudaProfilerApi, or nvtx:NAME"),
    ],
)
def test_option_out_of_range_is_a_usage_error(option: str, value: object, stated: str) -> None:
    with pytest.raises(UsageError, match=stated):
        ProfileOptions(**{option: value})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "pattern", "dumped", "limit"),
    [
        ({"values": "*"}, b"", b"", 0),
        ({"values": "*", "dump": "*mix*", "dump_limit_mib": 1.5}, b"", b"*mix*", 3 << 19),
        ({"dump": "*mix*"}, b"*mix*", b"*mix*", 64 << 20),
        ({"dump": "*"}, b"", b"", 64 << 20),
    ],
)
def test_values_and_contents_reach_the_native_library(
    given: dict[str, object], pattern: bytes, dumped: bytes, limit: int
) -> None:
    native = ProfileOptions(**given).native()  # type: ignore[arg-type]
    assert native.values_ns == 2_000_000_000
    found = (native.values_pattern, native.dump_pattern, native.dump_bytes)
    assert found == (pattern, dumped, limit)


def test_black_box_reaches_the_native_library() -> None:
    options = ProfileOptions(black_box="layer", stall="1.5s")
    native = options.native()
    assert (native.black_box, native.stall_ns) == (2, 1_500_000_000)
    assert options.measured_by == "topology"
    assert ProfileOptions(black_box="core").measured_by == "auto"


@pytest.mark.parametrize("other", [{"collector": "cupti"}, {"node_times": "events"}])
def test_crumbs_and_node_times_exclude_each_other(other: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="crumbs need every launch"):
        ProfileOptions(black_box="node", **other)  # type: ignore[arg-type]
    assert ProfileOptions(black_box="core", **other).black_box == "core"  # type: ignore[arg-type]
