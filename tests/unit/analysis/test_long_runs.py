"""Long runs: no object a launch row, of which there may be 100,000."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from nested_recordings import NESTED, write_nested_recording
from planned_recordings import Plan, Planned, chain_edges, in_a_row

from gviz.analysis import analysis_to_json, analyze
from gviz.app.files import Library
from gviz.app.html_file.launches import check_launches
from gviz.app.views import graph_view
from gviz.app.views.timeline.timeline_side import graph_zero, timed_launches
from gviz.comparison.compared_tree import ComparedTree
from gviz.comparison.ranks.recorded import read_side
from gviz.formats.perfetto.export import write_trace
from gviz.formats.svg.picture import draw_launch
from gviz.model import read_nested_times, read_timed_tree
from gviz.model.stream_comparison import read_sides
from gviz.recording import rows
from gviz.recording.reader import Recording

#: Launches of the long run, and those of them with node times.
LAUNCHES, TIMED = 20_000, 5


@pytest.fixture(scope="module")
def long_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    nodes = in_a_row(*(Planned(name, duration_ns=5_000) for name in "abc"))
    plan = Plan(
        nodes,
        chain_edges(len(nodes)),
        launches=TIMED,
        plain_launches=LAUNCHES - TIMED,
        between_calls_ns=5_000,
        eager_iterations=3,
    )
    path = plan.write(tmp_path_factory.mktemp("long") / "long.gviz")
    with closing(sqlite3.connect(path)) as database, database:
        # As in a run that was in windows all along: the spans are dropped, the GPU times kept.
        database.execute(
            "UPDATE launch SET gpu_start_ns=host_end_ns + 1000, gpu_end_ns=host_end_ns + 4000 "
            "WHERE gpu_start_ns IS NULL"
        )
    return path


def _zero(recording: Recording) -> object:
    launches = timed_launches(recording, read_timed_tree(recording, 1))
    assert len(launches) == TIMED
    return [graph_zero(recording, launch) for launch in launches]


def _check_saved_file(recording: Recording) -> None:
    view = graph_view(Library([recording.path]), "long", 1)
    check_launches(recording, [view], ["all"])


@pytest.mark.parametrize(
    "use",
    [
        lambda r: analysis_to_json(analyze(r)),
        lambda r: draw_launch(r, 1),
        lambda r: read_side(ComparedTree(r, 1)),
        _check_saved_file,
        _zero,
    ],
    ids=["analysis", "picture", "ranks", "saved file", "timeline"],
)
def test_only_launches_with_spans_become_objects(
    long_run: Path, monkeypatch: pytest.MonkeyPatch, use: Callable[[Recording], Any]
) -> None:
    made = count_launch_rows(monkeypatch)
    with Recording(long_run) as recording:
        use(recording)
    assert sum(made) < 200


def test_times_in_bodies_are_read_without_the_other_launches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_nested_recording(tmp_path / "nested.gviz", NESTED, launches=TIMED)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(
            "WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < ?) "
            "INSERT INTO launch (launch_id, run_id, graph_id, side, ordinal, node_level, "
            "span_count, ambiguous_count) SELECT i, 1, 1, 'graph', i, 0, 0, 0 FROM n",
            (LAUNCHES,),
        )
    made = count_launch_rows(monkeypatch)
    with Recording(path) as recording:
        read_nested_times(recording, read_timed_tree(recording, 1))
    assert sum(made) == TIMED


def test_sides_of_a_graph_are_read_without_its_other_launches(
    long_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = count_launch_rows(monkeypatch)
    sides = read_sides(long_run, "planned")
    assert sides is not None
    assert (sides.graph.recorded_count, sides.stream.recorded_count) == (TIMED - 1, 2)
    assert sum(made) == TIMED + 3


@pytest.mark.thorough
def test_perfetto_requests_spans_only_where_there_are_some(
    long_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    requested: list[int] = []
    fetch = Recording.fetch_spans

    def fetch_spans(self: Recording, launch_id: int) -> Any:
        requested.append(launch_id)
        return fetch(self, launch_id)

    monkeypatch.setattr(Recording, "fetch_spans", fetch_spans)
    with Recording(long_run) as recording:
        written = write_trace(recording, tmp_path / "long.json", [1], None)
        launches = recording.fetch_launches_with_spans(1)
    assert written.launch_count == LAUNCHES
    assert sorted(requested) == [launch.launch_id for launch in launches]


def count_launch_rows(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return where it will stand how many objects of launch rows each query made."""
    made: list[int] = []
    fetch = Recording._fetch

    def counted(self: Recording, row: type, tail: str, *parameters: Any) -> Any:
        found = fetch(self, row, tail, *parameters)
        if row is rows.Launch:
            made.append(len(found))
        return found

    monkeypatch.setattr(Recording, "_fetch", counted)
    return made
