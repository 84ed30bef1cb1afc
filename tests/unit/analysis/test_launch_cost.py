"""Launch costs: shapes of work, figures, fitted lines, break-even, and finding them again."""

from __future__ import annotations

import os
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from cost_recordings import figure, write
from hypothesis import given
from hypothesis import strategies as st

from gviz.analysis.launch_costs import recorded
from gviz.analysis.launch_costs.figure import Subject, make_figures
from gviz.analysis.launch_costs.fit import fit_lines
from gviz.analysis.launch_costs.lookup import Figures
from gviz.analysis.launch_costs.recorded import (
    bundled_costs,
    find_costs,
    read_figures,
    read_lines,
)
from gviz.analysis.launch_costs.repayment import break_even
from gviz.analysis.launch_costs.shape import (
    Call,
    Shape,
    fork_join,
    parallel_lines,
    straight_line,
)
from gviz.analysis.launch_costs.slowed import describe_slowed, slowed_figures
from gviz.errors import RecordingError
from gviz.recording.reader import Recording

# -- shapes ----------------------------------------------------------------------------------------


def edges_of(shape: Shape) -> list[tuple[int, int]]:
    """Return the edges of the graph that capturing the shape gives, by order of its operations.

    CUDA's rule (CUDA C++ Programming Guide, cross-stream dependencies): an operation depends
    on the last ones of its stream, and on those that the events waited for had recorded.
    """
    last: dict[int, set[int]] = {}
    recorded: dict[int, set[int]] = {}
    edges: list[tuple[int, int]] = []
    node = 0
    for kind, stream, event in shape.calls.tolist():
        if kind == Call.RECORD:
            recorded[event] = set(last.get(stream, set()))
        elif kind == Call.WAIT:
            last[stream] = last.get(stream, set()) | recorded.get(event, set())
        else:
            edges += [(before, node) for before in sorted(last.get(stream, set()))]
            last[stream] = {node}
            node += 1
    return edges


def graph_of(shape: Shape) -> nx.DiGraph:
    graph = nx.DiGraph()
    graph.add_nodes_from(range(shape.node_count))
    graph.add_edges_from(edges_of(shape))
    return graph


@pytest.mark.parametrize("length", [1, 2, 7, 100])
def test_straight_line_is_one_path(length: int) -> None:
    shape = straight_line(length)
    assert edges_of(shape) == [(i, i + 1) for i in range(length - 1)]
    assert shape.node_count == length


def test_kinds_of_a_line_take_iterations() -> None:
    shape = straight_line(5, (Call.EMPTY, Call.MEMSET))
    assert shape.calls[:, 0].tolist() == [0, 2, 0, 2, 0]


@pytest.mark.parametrize("width", [2, 4, 64])
@pytest.mark.parametrize("length", [1, 70, 1000])
def test_fork_join_is_blocks_between_single_kernels(width: int, length: int) -> None:
    shape = fork_join(length, width)
    graph = graph_of(shape)
    blocks = (shape.node_count - 1) // (width + 1)
    assert shape.node_count == 1 + blocks * (width + 1) >= width + 2
    assert abs(shape.node_count - length) <= max(width + 2, (width + 1) / 2)
    assert nx.dag_longest_path_length(graph) == 2 * blocks
    assert nx.transitive_reduction(graph).number_of_edges() == 2 * blocks * width
    assert [n for n in graph if graph.in_degree(n) == 0] == [0]
    assert [n for n in graph if graph.out_degree(n) == 0] == [shape.node_count - 1]


@pytest.mark.parametrize("width", [1, 2, 5, 64])
@pytest.mark.parametrize("length", [1, 100])
def test_parallel_lines_leave_a_single_entry(width: int, length: int) -> None:
    shape = parallel_lines(length, width)
    graph = graph_of(shape)
    line = (shape.node_count - 1) // width
    assert shape.node_count == 1 + width * line
    assert sorted(d for _, d in graph.out_degree() if d != 1) == sorted(
        [0] * width + ([width] if width > 1 else [])
    )
    assert nx.dag_longest_path_length(graph) == line
    joined = {stream for kind, stream, _ in shape.calls.tolist() if kind == Call.RECORD}
    assert joined == ({*range(width)} if width > 1 else set())  # a capture must join its streams


@pytest.mark.parametrize(("length", "width"), [(0, 1), (10, 0), (10, 65)])
def test_impossible_shapes_are_refused(length: int, width: int) -> None:
    with pytest.raises(ValueError, match="at most 64 wide"):
        parallel_lines(length, width)


# -- figures ---------------------------------------------------------------------------------------


def test_a_figure_counts_outliers_and_leaves_out_what_was_not_taken() -> None:
    readings = [999.0, 10, 11, 12, 13, -1, 12, 1000]
    about = Subject("launch", "stream", "host", straight_line(2))
    (found,) = make_figures(about, readings, warm_up=1)
    assert (found.reading_count, found.outlier_count, found.warm_up_count) == (6, 1, 1)
    assert (found.median, found.minimum, found.maximum) == (12, 10, 1000)
    assert found.low <= found.median <= found.high <= found.p99 <= found.maximum
    assert (found.topology, found.width, found.node_count) == ("straight line", 1, 2)


@pytest.mark.parametrize("readings", [[], [-1, -1], [5, 5]])
def test_no_reading_is_no_figure(readings: list[float]) -> None:
    assert not list(make_figures(Subject("launch", "stream", "device"), readings, warm_up=2))


# -- lines -----------------------------------------------------------------------------------------


@given(fixed=st.floats(0, 1e5), per_node=st.floats(1, 1e4))
def test_a_line_without_noise_is_found(fixed: float, per_node: float) -> None:
    figures = [
        figure("relaunch", "host", fixed + per_node * n, straight_line(n)) for n in (1, 10, 500)
    ]
    (line,) = fit_lines(figures)
    assert line.fixed_ns == pytest.approx(fixed, rel=1e-6, abs=1e-3)
    assert line.per_node_ns == pytest.approx(per_node, rel=1e-6)
    assert line.residual_fraction < 1e-6
    assert line.cost_ns(100) == pytest.approx(fixed + 100 * per_node)
    assert (line.smallest_node_count, line.largest_node_count, line.figure_count) == (1, 500, 3)


def test_lines_are_fitted_a_shape_each_and_not_to_a_single_length() -> None:
    figures = [figure("stream", "host", 10.0 * n, straight_line(n)) for n in (1, 2)]
    figures += [figure("stream", "host", 7.0, fork_join(10, 2))]
    figures += [figure("stream", "host", 7.0 * n, straight_line(n), "idle") for n in (1, 2)]
    (line,) = fit_lines(figures)
    assert (line.topology, line.figure_count) == ("straight line", 2)


def test_the_worst_residual_keeps_its_sign() -> None:
    medians = {1: 100.0, 2: 200.0, 4: 400.0, 8: 400.0}
    (line,) = fit_lines([figure("x", "host", m, straight_line(n)) for n, m in medians.items()])
    residuals = [(m - line.cost_ns(n)) / m for n, m in medians.items()]
    assert line.worst_fraction == pytest.approx(max(residuals, key=abs))
    assert line.residual_fraction == pytest.approx(float(np.sqrt(np.mean(np.square(residuals)))))


# -- break-even ------------------------------------------------------------------------------------


@given(
    stream=st.integers(1, 2000),
    capture=st.integers(0, 5000),
    instantiate=st.integers(0, 5000),
    first=st.integers(1, 3000),
    again=st.integers(1, 2000),
)
def test_break_even_is_the_first_launch_that_pays(
    stream: int, capture: int, instantiate: int, first: int, again: int
) -> None:
    found = break_even(
        stream_ns=stream,
        capture_ns=capture,
        instantiate_ns=instantiate,
        first_ns=first,
        again_ns=again,
    )
    paid = [
        n for n in range(1, 20_000) if capture + instantiate + first + (n - 1) * again <= n * stream
    ]
    if found.launches is None:
        assert paid == []
    else:
        assert found.launches == paid[0]


def test_break_evens_need_every_part() -> None:
    shape = straight_line(10)
    parts = [
        figure("stream", "host", 100, shape),
        figure("relaunch", "host", 10, shape),
        figure("first", "host", 40, shape),
        figure("instantiate", "host", 200, shape, "life"),
    ]
    assert Figures(parts).break_evens() == []
    (found,) = Figures([*parts, figure("capture", "host", 40, shape, "life")]).break_evens()
    assert found.node_count == 10
    assert found.found.launches == 3  # 270 paid once, 90 gained each launch


# -- recordings ------------------------------------------------------------------------------------


def test_results_come_back_as_they_were(tmp_path: Path) -> None:
    path = write(tmp_path / "b.gviz")
    with Recording(path) as recording:
        figures, lines = read_figures(recording, 1), read_lines(recording, 1)
        assert figures == [figure("relaunch", "host", n, straight_line(n)) for n in (10, 20)]
        assert lines == fit_lines(figures)
        gaps = {gap.experiment: gap.reason for gap in recording.fetch_cost_gaps(1)}
        assert gaps == {"traffic": "not told", "batch": "no torch"}
        assert [note.text for note in recording.fetch_notes(1)] == ["busy"]


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's folder of bench recordings; nothing is bundled."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setattr(recorded, "bundled_costs", lambda: tmp_path / "bundled.gviz")
    folder = recorded.kept_folder()
    folder.mkdir(parents=True)
    assert folder == tmp_path / "data" / "gviz" / "bench"
    return folder


def test_the_best_fitting_costs_are_found(kept: Path, tmp_path: Path) -> None:
    write(tmp_path / "bundled.gviz", "GPU H")
    found = find_costs("GPU A", "13.0")
    assert found is not None
    assert (found.gpu, found.fits) == ("GPU H", "another GPU")
    assert "GPU H" in found.describe()
    assert "another GPU" in found.describe()
    write(kept / "other.gviz", "GPU A", "12.8")
    assert find_costs("GPU A", "13.0").fits == "same GPU, another driver"  # type: ignore[union-attr]
    write(kept / "same.gviz", "GPU A", "13.0", scale=2)
    found = find_costs("GPU A", "13.0")
    assert found is not None
    assert (found.fits, found.path.name) == ("same", "same.gviz")
    line = found.line("relaunch", "host")
    assert line is not None
    assert line.per_node_ns == pytest.approx(2)
    assert found.line("relaunch", "host", "fork-join", 2) is None


def test_a_given_recording_wins_among_equals_and_newer_kept_ones_do(
    kept: Path, tmp_path: Path
) -> None:
    for age, name in enumerate(["new", "old"]):
        path = write(kept / f"{name}.gviz")
        os.utime(path, (1e9 - age, 1e9 - age))
    assert find_costs("GPU A", "13.0").path.name == "new.gviz"  # type: ignore[union-attr]
    given_path = write(tmp_path / "given.gviz")
    assert find_costs("GPU A", "13.0", given=[given_path]).path == given_path  # type: ignore[union-attr]


def test_broken_files_of_the_folder_are_passed_over_and_given_ones_are_not(
    kept: Path, tmp_path: Path
) -> None:
    (kept / "broken.gviz").write_bytes(b"nothing")
    assert find_costs("GPU A", "13.0") is None
    with pytest.raises(RecordingError, match="not a gviz recording"):
        find_costs("GPU A", "13.0", given=[kept / "broken.gviz"])


def test_host_times_above_those_of_longer_graphs_are_reported() -> None:
    smooth = [figure("update", "host", 300.0 * n, straight_line(n), "life") for n in (64, 100, 256)]
    # Short calls go up and down; times on the device are not the host's.
    short = [figure("relaunch", "host", 9e3 / n, straight_line(n)) for n in (1, 5)]
    device = [figure("first", "device", 1e6 / n, straight_line(n)) for n in (1, 5)]
    assert describe_slowed([*smooth, *short, *device]) == []
    slowed = figure("update", "host", 123_456.0, straight_line(128), "life")
    (warning,) = describe_slowed([*smooth, slowed])
    assert "update, 128 kernels: 123 µs" in warning
    assert slowed_figures([*smooth, slowed]) == [slowed]


def test_bundled_costs_were_not_slowed() -> None:
    with Recording(bundled_costs()) as recording:
        assert describe_slowed(read_figures(recording, 1)) == []
