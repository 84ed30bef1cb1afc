"""Recordings held against limits and baselines: limits, statuses, noise, and reports."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from bare_recordings import write_nothing
from contradicted_recordings import exchange_times
from noisy_recordings import SHAPE, Write, alter, writer_into
from places import ROOT
from planned_recordings import Plan, Planned, chain_edges, in_a_row
from recordings import (
    Shape,
    fork_join_shape,
    transformer_shape,
    write_loop_recording,
)

from gviz.analysis.advice import Ignored
from gviz.analysis.rules.rule import RULES
from gviz.checks.check import check_recording, report_to_json
from gviz.checks.check_result import FAILED, PASSED, SKIPPED, UNJUDGED, Check, CheckReport
from gviz.checks.junit import to_junit
from gviz.checks.limits import Limits, parse_limits
from gviz.checks.words import in_unit
from gviz.cuda.node_type import NodeType
from gviz.errors import UsageError
from gviz.recording.merge import merge_recordings
from gviz.recording.reader import Recording
from gviz.report.checks_document import check_document
from gviz.report.renderers.markdown_form import render_markdown
from gviz.stats.figure_fields import fields_of, result_classes

BUNDLED = ROOT / "assets" / "recordings"


@pytest.fixture
def write(tmp_path: Path) -> Write:
    return writer_into(tmp_path)


def scaled(factor: float, at: int | None = None) -> Shape:
    works = [
        dataclasses.replace(w, duration_ns=round(factor * w.duration_ns)) if at in (None, i) else w
        for i, w in enumerate(SHAPE.works)
    ]
    return Shape(SHAPE.name, tuple(works))


def check(
    path: Path, table: object, baseline: Path | None = None, ignored: tuple[Ignored, ...] = ()
) -> CheckReport:
    limits = parse_limits(table)
    with Recording(path) as recording:
        if baseline is None:
            return check_recording(recording, None, limits, ignored)
        with Recording(baseline) as before:
            return check_recording(recording, before, limits, ignored)


def only(report: CheckReport) -> Check:
    (found,) = report.checks
    return found


def statuses(report: CheckReport) -> dict[str, str]:
    return {c.what: c.status for c in report.checks}


# -- limits --------------------------------------------------------------------------------


def test_paths_that_times_contradict_are_not_judged(tmp_path: Path) -> None:
    path = exchange_times(BUNDLED / "decode_step.gviz", tmp_path / "x.gviz")
    said = "contradicted by the times"
    found = only(check(path, {"critical_path": "1 s"}))
    assert (found.status, said in found.reason) == (UNJUDGED, True)
    assert only(check(path, {"launch": "1 s"})).status == PASSED
    for what in ("critical_path", "node"):
        found = only(check(path, {"regression": {what: "5%"}}, BUNDLED / "decode_step.gviz"))
        assert (found.status, said in found.reason) == (UNJUDGED, True)


def plan(**changes: object) -> Plan:
    """Three nodes of 5 us with gaps of 400 ns: 15.8 us, of which 0.8 are idle."""
    nodes = in_a_row(*(Planned(f"k{i}", 0, 5_000) for i in range(3)))
    return Plan(nodes, chain_edges(3), **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("key", "value", "within", "beyond"),
    [
        # The plan's launches take 22.8 us without node times, their calls 5 us.
        ("launch", 22_800, "22.8 us", "22.7 us"),
        ("host", 5_000, "5000 ns", "0.0049 ms"),
        ("critical_path", 15_000, "15 us", "14.9 us"),
        ("idle", 800 / 15_800, "6%", 0.05),
        ("nodes", 3, 3, 2),
        ("lanes", 1, 1, 0),
    ],
)
def test_limit_is_kept_or_not(
    tmp_path: Path, key: str, value: float, within: object, beyond: object
) -> None:
    path = plan().write(tmp_path / "x.gviz")
    kept, exceeded = check(path, {key: within}), check(path, {key: beyond})
    assert only(kept).value == pytest.approx(value)
    assert (only(kept).status, kept.passed) == (PASSED, True)
    assert (only(exceeded).status, exceeded.passed) == (FAILED, False)
    assert only(exceeded).graph_id == 1


def test_bodies_count_as_nodes(tmp_path: Path) -> None:
    path = write_loop_recording(tmp_path / "loop.gviz")
    with Recording(path) as recording:
        count = sum(len(recording.fetch_nodes(g.graph_id)) for g in recording.fetch_graphs())
    assert only(check(path, {"nodes": 0})).value == count


def test_executables_are_held_against_their_memory(write: Write) -> None:
    path = alter(write(), "UPDATE graph_exec SET device_memory_bytes=2000000")
    assert statuses(check(path, {"exec_memory": "2 MB"})) == {"exec_memory": PASSED}
    assert statuses(check(path, {"exec_memory": "1 MiB"})) == {"exec_memory": FAILED}
    alter(path, "UPDATE graph_exec SET device_memory_bytes=NULL")
    assert statuses(check(path, {"exec_memory": "1 GB"})) == {"exec_memory": UNJUDGED}


def test_graph_memory_is_that_of_the_run(write: Write) -> None:
    path = write()
    table = {"run": {"graph_memory": "1 kB"}}
    none = only(check(path, table))
    assert (none.status, none.value, none.graph_id) == (PASSED, 0, None)
    alter(path, f"UPDATE node SET type={NodeType.MEM_ALLOC.value} WHERE grid_x IS NOT NULL")
    assert only(check(path, table)).status == UNJUDGED
    alter(path, "INSERT INTO graph_memory VALUES (1, 0, 5, 1, 1, 1000, 1001)")
    assert only(check(path, table)).status == FAILED


def test_findings_are_counted_by_rule(write: Write) -> None:
    path = write(fork_join_shape())
    every = {f"findings.{r}": PASSED for r in RULES}
    rules = dict.fromkeys(RULES, 99)
    assert statuses(check(path, {"findings": rules})) == every
    none = check(path, {"findings": {"any": 0}})
    found = only(none)
    assert found.status == FAILED
    assert found.value
    assert found.reason
    # What is left out does not count.
    ignored = tuple(Ignored(rule) for rule in RULES)
    assert check(path, {"findings": {"any": 0}}, ignored=ignored).passed


def test_findings_that_were_not_looked_for_do_not_pass(write: Write) -> None:
    path = write(launches=0)
    report = check(path, {"findings": {"device-copy": 3, "first-launch-without-upload": 9}})
    assert statuses(report)["findings.device-copy"] == UNJUDGED
    # About calls, which need no node times.
    assert statuses(report)["findings.first-launch-without-upload"] == PASSED


def test_names_have_limits_of_their_own(write: Write) -> None:
    path = write()
    table = {"nodes": 1, "graph": [{"name": f"{SHAPE.name[:3]}*", "nodes": 1_000}]}
    assert check(path, table).passed
    table["graph"] = [*table["graph"], {"name": SHAPE.name, "nodes": False}]  # type: ignore[misc]
    assert check(path, table).checks == ()
    absent = check(path, {"graph": [{"name": "no such graph", "nodes": 1}]})
    assert statuses(absent) == {"graph no such graph": UNJUDGED}
    assert not absent.passed


def test_what_was_not_measured_fails_unless_configured(write: Write) -> None:
    path = write(launches=0)
    table = {"launch": "1 s", "host": "1 s", "critical_path": "1 s", "idle": 1}
    report = check(path, table)
    assert set(statuses(report).values()) == {UNJUDGED}
    assert all(c.reason for c in report.checks)
    assert not report.passed
    assert check(path, table | {"unjudged": "pass"}).passed


def test_recording_without_graphs_does_not_pass(write: Write) -> None:
    path = alter(write(), "UPDATE graph SET origin='failed capture'")
    assert statuses(check(path, {"nodes": 9})) == {"graphs": UNJUDGED}


# -- a baseline ----------------------------------------------------------------------------

LOOSE = {"regression": {"launch": "5%", "host": "50%", "critical_path": "5%", "node": "20%"}}


def test_same_program_again_passes(write: Write) -> None:
    report = check(write(), LOOSE, write())
    assert set(statuses(report).values()) == {PASSED}
    assert len(report.checks) == 4
    assert report.passed


def test_slower_launch_fails_beyond_its_limit(write: Write) -> None:
    before, after = write(), write(scaled(1.2))
    found = statuses(check(after, LOOSE, before))
    assert (found["regression.launch"], found["regression.critical_path"]) == (FAILED, FAILED)
    assert found["regression.host"] == PASSED
    table = {"regression": {"launch": "30%", "critical_path": "30%"}}
    report = check(after, table, before)
    assert report.passed
    launch = next(c for c in report.checks if c.what == "regression.launch")
    assert launch.baseline is not None
    assert launch.limit == pytest.approx(1.3 * launch.baseline)
    # Faster is no regression.
    assert check(before, LOOSE, after).passed


def test_median_above_the_limit_within_noise_passes(write: Write) -> None:
    before, after = write(), write()
    # Launches of 1,000 to 1,900 us and of 1,050 to 1,950 us: nobody can tell them apart.
    for path, offset in ((before, 0), (after, 50_000)):
        alter(path, "UPDATE launch SET event_duration_ns=1000000 + "
              f"(ordinal * 7 % 10) * 100000 + {offset}")  # fmt: skip
    found = only(check(after, {"regression": {"launch": "1%"}}, before))
    assert found.status == PASSED
    assert found.value > (found.limit or 0)  # type: ignore[operator]
    assert found.reason == "above the limit, but not by more than noise"


def test_fused_kernel_is_judged_with_what_it_took_the_place_of() -> None:
    four, one = (BUNDLED / f"decode_step_h200{name}.gviz" for name in ("", "_fused"))
    table = {"regression": {"node": "25%"}}
    # 10.4% faster; the fused kernel takes 80% longer than the one of the four that it resembles.
    found = only(check(one, table, four))
    assert (found.status, found.value) == (PASSED, 0)
    back = only(check(four, table, one))
    assert (back.status, back.value) == (FAILED, 16)
    assert re.search(r"16 × cudnn_\S+ → nvjet_\S+ \+ 3 more up to \+75", back.reason)


def test_slower_node_is_named(write: Write) -> None:
    report = check(write(scaled(2, at=10)), {"regression": {"node": "20%"}}, write())
    found = only(report)
    assert (found.status, found.value) == (FAILED, 1)
    assert re.search(r"1 × \S+ up to \+\d+", found.reason)


def test_more_nodes_fail(write: Write) -> None:
    more = write(transformer_shape(layers=4))
    table = {"regression": {"nodes": 14}}
    assert only(check(more, table, write())).status == FAILED
    assert check(more, {"regression": {"nodes": 15}}, write()).passed


def test_times_of_another_gpu_are_not_judged(write: Write) -> None:
    before, after = write(), alter(write(), "UPDATE device SET name='NVIDIA X'")
    report = check(after, LOOSE | {"nodes": 1_000}, before)
    found = statuses(report)
    assert found.pop("nodes") == PASSED
    assert set(found.values()) == {UNJUDGED}
    assert "NVIDIA X" in report.failures()[0].reason


def test_few_launches_are_not_judged(write: Write) -> None:
    found = only(check(write(launches=2), {"regression": {"launch": "5%"}}, write()))
    assert found.status == UNJUDGED
    assert "a test takes 3" in found.reason


def test_graphs_that_went_fail_and_new_ones_are_skipped(write: Write) -> None:
    before, after = write(), write()
    alter(after, "UPDATE graph SET name='other'", "UPDATE topology SET hash='x'",
          "UPDATE node SET name=name || 'x', grid_x=77")  # fmt: skip
    report = check(after, LOOSE, before)
    assert statuses(report) == {"regression": SKIPPED, "regression.graphs": FAILED}


def test_memory_of_graphs_may_grow_by_a_share(write: Write) -> None:
    sides = [
        alter(write(), f"INSERT INTO graph_memory VALUES (1, 0, 5, 1, 1, 1, {n})")
        for n in (100, 104)
    ]
    tables = [{"regression": {"graph_memory": share}} for share in ("5%", "3%")]
    found = [only(check(sides[1], table, sides[0])).status for table in tables]
    assert found == [PASSED, FAILED]


def test_runs_without_counterpart_are_skipped(write: Write, tmp_path: Path) -> None:
    both = tmp_path / "both-all.gviz"
    merge_recordings([write(), write()], both)
    found = [(c.run_id, c.status) for c in check(both, LOOSE, write()).checks]
    assert found == [(1, PASSED)] * 4 + [(2, SKIPPED)]


def test_baseline_without_a_graph_compares_nothing_and_does_not_pass(
    write: Write, tmp_path: Path
) -> None:
    report = check(write(), LOOSE, write_nothing(tmp_path / "empty.gviz"))
    assert statuses(report) == {"regression.graphs": UNJUDGED, "regression": SKIPPED}
    assert not report.passed


def test_missing_baseline_is_reported(write: Write) -> None:
    report = check(write(), LOOSE | {"nodes": 1_000})
    assert statuses(report) == {"regression": SKIPPED, "nodes": PASSED}
    assert report.passed


# -- the configuration ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "stated"),
    [
        ([], r"\[check\] must be a table"),
        ({"launch": 5}, "unit such as"),
        ({"launch": "5 parsecs"}, "unit such as"),
        ({"launch": "-5 us"}, "unit such as"),
        ({"launch": True}, "unit such as"),
        ({"idle": 20}, "share such as"),
        ({"idle": "20"}, "share such as"),
        ({"nodes": -1}, "whole number"),
        ({"nodes": 1.5}, "whole number"),
        ({"nodes": "many"}, "whole number"),
        ({"latency": "5 us"}, "there is no 'latency'; there are launch"),
        ({"findings": {"no-such": 1}}, "device-copy"),
        ({"findings": 3}, r"\[check.findings\] must be a table"),
        ({"regression": {"idle": 1}}, "there is no 'idle'"),
        ({"regression": {"graph_memory": "x"}}, "share such as"),
        ({"run": {"launch": "1 s"}}, "graph_memory"),
        ({"graph": {"name": "x"}}, r"\[\[check.graph\]\] tables"),
        ({"graph": [{"launch": "1 s"}]}, "needs the name"),
        (
            {"graph": [{"name": "x", "findings": {"graph-rebuilt": 1}}]},
            "no 'graph-rebuilt'",
        ),
        ({"unjudged": "maybe"}, '"fail" or "pass"'),
    ],
)
def test_bad_limits_say_what_is_right(table: object, stated: str) -> None:
    with pytest.raises(UsageError, match=stated):
        parse_limits(table)


def test_units() -> None:
    found = parse_limits(
        {"launch": "1.5ms", "host": "2 µs", "exec_memory": "3 KiB", "idle": "2.5%"}
    )
    assert found.every.most == {
        "launch": 1.5e6, "host": 2e3, "exec_memory": 3 * 1024, "idle": 0.025,
    }  # fmt: skip
    assert not Limits().has_limits
    assert not Limits().has_regression


# -- reports -------------------------------------------------------------------------------


def nasty(write: Write) -> CheckReport:
    path = alter(write(), "UPDATE graph SET name=char(1) || '<b>|x*_' || char(10) || '@all'")
    table = {"nodes": 1, "lanes": 99, "exec_memory": "1 GB", "regression": {"nodes": 0}}
    return check(path, table)


def test_junit_counts_and_escapes(write: Write) -> None:
    root = ElementTree.fromstring(to_junit(nasty(write)))
    assert root.attrib["tests"] == "4"
    kinds = [child.tag for case in root.iter("testcase") for child in case]
    assert sorted(kinds) == ["error", "failure", "skipped", "system-out"]
    assert [root.attrib[k] for k in ("failures", "errors", "skipped")] == ["1", "1", "1"]
    names = {suite.attrib["name"] for suite in root}
    assert any("<b>|x*_" in name for name in names)


def test_junit_of_unjudged_that_passes_is_skipped(write: Write) -> None:
    report = check(write(launches=0), {"launch": "1 s", "unjudged": "pass"})
    root = ElementTree.fromstring(to_junit(report))
    assert [root.attrib[k] for k in ("failures", "errors", "skipped")] == ["0", "0", "1"]


def test_markdown_has_a_row_a_check_and_no_markup_of_names(write: Write) -> None:
    report = nasty(write)
    text = render_markdown(check_document(report))
    assert text.startswith("### gviz check: ✘ failed\n")
    rows = [line for line in text.splitlines() if line.startswith("|")][2:]
    assert len(rows) == len(report.checks)
    assert "<b>" not in text
    assert "\\<b\\>\\|x\\*\\_ \\@all" in text
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 7 for row in rows)


def test_json_has_every_class_and_no_nan(write: Write) -> None:
    value = json.loads(json.dumps(report_to_json(nasty(write)), allow_nan=False))
    assert list(value) == [*(f.name for f in dataclasses.fields(CheckReport)), "how"]
    for cls in result_classes(CheckReport):
        for name, how, doc in fields_of(cls):
            assert how, name
            assert doc, name


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (None, "ns", "–"),
        (940_832, "ns", "940.8 µs"),
        (12, "ns", "12 ns"),
        (2_097_152, "bytes", "2.000 MiB"),
        (0, "bytes", "0 B"),
        (0.1343, "fraction", "13.43%"),
        (20_001, "", "20,001"),
    ],
)
def test_values_are_reported_in_their_unit(value: float | None, unit: str, text: str) -> None:
    assert in_unit(value, unit) == text
