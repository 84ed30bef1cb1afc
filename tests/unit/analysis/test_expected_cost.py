"""Expected costs of calls by launch costs, and break-even of shorter and longer graphs."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from cost_recordings import write
from planned_recordings import Plan, Planned, chain_edges, in_a_row, subject_of

from gviz.analysis.analysis import analyze
from gviz.analysis.launch_costs import recorded
from gviz.analysis.launch_costs.fit import CostLine
from gviz.analysis.launch_costs.recorded import LaunchCosts
from gviz.analysis.results.expected_costs import (
    CostSource,
    ExpectedCost,
    LengthTable,
    expected_cost,
)
from gviz.assets import recordings as bundled
from gviz.errors import GvizError
from gviz.recording.merge import merge_recordings
from gviz.recording.reader import Recording
from gviz.stats.figure_fields import NotComputed

BUNDLED = Path(next(iter(bundled.__path__)))


def line(
    who: str, fixed: float, per_node: float, quantity: str = "host", **changes: object
) -> CostLine:
    found = CostLine(who, quantity, "straight line", 1, fixed, per_node, 0.02, 0.03, 1, 100, 5)
    return dataclasses.replace(found, **changes)  # type: ignore[arg-type]


LINES = (
    line("stream", 0, 4_000), line("relaunch", 1_000, 100), line("first", 2_000, 1_000),
    line("capture", 0, 300), line("instantiate", 20_000, 1_000), line("upload", 1_000, 1_000),
    line("first launch after upload", 1_500, 2), line("stream", 5_000, 4_000, "finish"),
    line("relaunch", 6_000, 1_000, "finish"),
)  # fmt: skip
COSTS = LaunchCosts("GPU", "13.0", Path("x.gviz"), LINES, "same")


def plan(count: int = 4, **changes: object) -> Plan:
    nodes = in_a_row(*(Planned(f"k{i}", 0, 5_000) for i in range(count)))
    return Plan(nodes, chain_edges(count), **changes)  # type: ignore[arg-type]


def found(path: Path, costs: LaunchCosts = COSTS) -> ExpectedCost:
    result = expected_cost(subject_of(path), costs)
    assert isinstance(result, ExpectedCost)
    return result


def test_calls_stand_beside_their_lines(tmp_path: Path) -> None:
    result = found(plan().write(tmp_path / "x.gviz"))
    assert {c.name: (c.expected_ns, c.measured_ns) for c in result.calls} == {
        "capture": (1_200, 1_000_000),
        "instantiation": (24_000, 200_000),
        "upload": (5_000, 50_000),
        "first launch call": (1_508, 5_000),  # it was uploaded before
        "launch call": (1_400, 5_000),
    }
    assert [c.with_node_times for c in result.calls] == [False, False, False, True, False]
    assert not any(c.is_extrapolated for c in result.calls)
    assert (result.topology, result.width, result.parallelism) == ("straight line", 1, 1)


def test_without_an_upload_the_first_call_uploads(tmp_path: Path) -> None:
    path = plan(graph_exec={"upload_start_ns": None, "upload_end_ns": None}).write(tmp_path / "x")
    calls = {c.name: (c.expected_ns, c.measured_ns) for c in found(path).calls}
    assert calls["upload"] == (5_000, None)
    assert calls["first launch call"] == (6_000, 5_000)


def test_graph_longer_than_what_was_measured_is_extrapolated(tmp_path: Path) -> None:
    result = found(plan(101).write(tmp_path / "x.gviz"))
    assert all(c.is_extrapolated for c in result.calls)


def test_launches_with_node_times_only_are_marked_as_such(tmp_path: Path) -> None:
    calls = found(plan(plain_launches=0).write(tmp_path / "x.gviz")).calls
    assert calls[-1].with_node_times


def test_other_lengths_keep_the_fixed_part(tmp_path: Path) -> None:
    table = found(plan(16, eager_iterations=3).write(tmp_path / "x.gviz")).by_length
    assert isinstance(table, LengthTable)
    assert table.node_count == (1, 2, 4, 8, 16, 32, 64, 128, 256)
    at = table.node_count.index(32)
    # Capture in proportion; instantiation keeps 20 us of 200, upload 1 us of 50.
    assert table.setup_ns[at] == 2_000_000 + (20_000 + 360_000) + (1_000 + 98_000)
    # Stream calls of 6 us a node; a launch call of 5 us keeps 1 us.
    assert table.host_saved_ns[at] == 2 * 96_000 - (1_000 + 8_000)
    assert table.host_launches[at] == 2_479_000 // 183_000 + 1
    assert table.elapsed_saved_ns is not None
    assert table.stream_is_measured


def test_its_own_length_is_the_measured_break_even(tmp_path: Path) -> None:
    path = plan(16, eager_iterations=3).write(tmp_path / "x.gviz")
    with Recording(path) as recording:
        (graph,) = analyze(recording).runs[0].graphs
    assert isinstance(graph.expected_cost, ExpectedCost)
    table = graph.expected_cost.by_length
    assert isinstance(table, LengthTable)
    assert not isinstance(graph.break_even, NotComputed)
    at = table.node_count.index(16)
    assert table.setup_ns[at] == pytest.approx(graph.break_even.setup.total_ns)
    assert table.elapsed_saved_ns is not None
    assert table.elapsed_saved_ns[at] == pytest.approx(graph.break_even.elapsed.saved.mean_ns)
    assert table.elapsed_launches is not None
    assert table.elapsed_launches[at] == graph.break_even.elapsed.launches


def test_without_a_stream_side_the_line_stands_for_it(tmp_path: Path) -> None:
    table = found(plan(16).write(tmp_path / "x.gviz")).by_length
    assert isinstance(table, LengthTable)
    assert not table.stream_is_measured
    assert (table.elapsed_saved_ns, table.elapsed_launches) == (None, None)
    assert table.host_saved_ns[table.node_count.index(16)] == 16 * 4_000 - 5_000


def test_shape_is_the_nearest_and_rather_one_that_joins(tmp_path: Path) -> None:
    wide = [
        line("relaunch", 1_000, 1, topology=topology, width=width)
        for topology in ("parallel lines", "fork-join") for width in (1, 2, 4)
    ]  # fmt: skip
    costs = dataclasses.replace(COSTS, lines=(*LINES, *wide))
    nodes = [Planned(f"k{i}", 0, 5_000) for i in range(8)]
    fork = Plan(nodes, [(0, i) for i in range(1, 7)] + [(i, 7) for i in range(1, 7)])
    result = found(fork.write(tmp_path / "x.gviz"), costs)
    assert (result.topology, result.width) == ("fork-join", 2)
    assert result.parallelism == pytest.approx(8 / 3)
    result = found(plan().write(tmp_path / "y.gviz"), costs)
    assert (result.topology, result.width) == ("straight line", 1)


@pytest.mark.parametrize(
    ("changes", "stated"),
    [
        ({"graph_exec": {"instantiate_start_ns": None}}, "before gviz attached"),
        ({"launch": {"host_start_ns": None, "host_end_ns": None}}, "no launch call"),
        ({"launches": 0, "plain_launches": 0}, "no launch call"),
    ],
)
def test_what_other_lengths_lack_is_reported(
    tmp_path: Path, changes: dict[str, object], stated: str
) -> None:
    result = found(plan(**changes).write(tmp_path / "x.gviz"))
    assert isinstance(result.by_length, NotComputed)
    assert stated in result.by_length.not_computed


def test_costs_without_lines_are_reported(tmp_path: Path) -> None:
    subject = subject_of(plan().write(tmp_path / "x.gviz"))
    for costs in (None, dataclasses.replace(COSTS, lines=())):
        assert isinstance(expected_cost(subject, costs), NotComputed)
    few = expected_cost(subject, dataclasses.replace(COSTS, lines=(line("relaunch", 1, 1),)))
    assert isinstance(few, ExpectedCost)
    assert isinstance(few.by_length, NotComputed)


# -- which costs ---------------------------------------------------------------------------------


def source(path: Path, **changes: Path) -> CostSource:
    with Recording(path) as recording:
        result = analyze(recording, **changes).runs[0].launch_costs  # type: ignore[arg-type]
    assert isinstance(result, CostSource)
    return result


def test_named_costs_are_used_whatever_their_gpu(tmp_path: Path) -> None:
    result = source(BUNDLED / "cupy_pipeline.gviz", costs_path=write(tmp_path / "c.gviz"))
    assert (result.gpu, result.origin, result.fits) == ("GPU A", "given", "another GPU")
    assert "another GPU" in result.description


def test_costs_in_the_recording_win_among_equals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    kept = recorded.kept_folder()
    kept.mkdir(parents=True)
    write(kept / "k.gviz", "NVIDIA H100 80GB HBM3")
    pipeline = BUNDLED / "cupy_pipeline.gviz"
    assert (source(pipeline).origin, source(pipeline).fits) == ("kept", "same")
    bench = write(tmp_path / "bench.gviz", "NVIDIA H100 80GB HBM3", scale=2)
    both = merge_recordings([pipeline, bench], tmp_path / "both.gviz")
    assert (source(both).origin, Path(source(both).path)) == ("given", both)


def test_bundled_costs_are_marked_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    result = source(plan().write(tmp_path / "x.gviz"))
    assert (result.origin, result.fits) == ("bundled", "another GPU")
    assert result.description.endswith("(bundled with gviz; another GPU)")


def test_named_file_without_costs_is_an_error_that_names_gviz_bench(tmp_path: Path) -> None:
    path = plan().write(tmp_path / "x.gviz")
    with Recording(path) as recording, pytest.raises(GvizError, match="gviz bench"):
        analyze(recording, costs_path=path)
