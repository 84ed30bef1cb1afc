"""A graph and its work eagerly, timed alternately: figures of readings, and rows of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gviz.model import AlternatingReadings, read_alternation
from gviz.recording import rows
from gviz.recording.reader import Recording
from gviz.recording.writer import RecordingWriter
from gviz.stats import CuptiState

READINGS = AlternatingReadings(
    "step",
    CuptiState.PLAIN,
    graph=np.array([[100.0, 10.0], [110.0, 10.0], [120.0, 13.0]]),
    eager=np.array([[600.0, 500.0], [620.0, 520.0], [610.0, 510.0]]),
)
RUN = rows.Run(run_id=1, name="r", state="completed", source="profile")
GRAPH = rows.Graph(graph_id=1, run_id=1, name="step", origin="capture")


def write(path: Path, *graphs: rows.Graph, figures: list[rows.CostFigure]) -> Path:
    with RecordingWriter(path) as writer:
        writer.insert(RUN, *graphs, *figures)
    return path


def test_saving_is_of_neighbours() -> None:
    found = READINGS.summarize()
    assert (found.elapsed.graph_ns, found.elapsed.eager_ns) == (110, 610)
    assert found.elapsed.saved_ns == 500
    # Differences of 500, 510 and 490: deviation 10, 4.3027 of it over the root of three.
    assert found.elapsed.interval.low == pytest.approx(500 - 4.3027 * 10 / 3**0.5)
    assert found.host.saved_ns == 499
    assert (found.elapsed.count, found.state) == (3, CuptiState.PLAIN)


def test_drift_of_both_sides_is_in_no_difference() -> None:
    drift = np.linspace(0, 1_000, 3)[:, None]
    drifting = replace(READINGS, graph=READINGS.graph + drift, eager=READINGS.eager + drift)
    assert drifting.summarize().elapsed.interval == READINGS.summarize().elapsed.interval


def test_recording_has_the_same_figures(tmp_path: Path) -> None:
    path = write(tmp_path / "x.gviz", GRAPH, figures=READINGS.to_rows(1, 1))
    with Recording(path) as recording:
        assert read_alternation(recording, GRAPH) == READINGS.summarize()
        assert read_alternation(recording, replace(GRAPH, name="other")) is None


def test_comparisons_that_cannot_be_distinguished_are_not_used(tmp_path: Path) -> None:
    other = replace(GRAPH, graph_id=2)
    path = write(tmp_path / "x.gviz", GRAPH, other, figures=READINGS.to_rows(1, 1))
    with Recording(path) as recording:
        assert read_alternation(recording, GRAPH) is None
    twice = [*READINGS.to_rows(1, 1), *READINGS.to_rows(1, 7)]
    with Recording(write(tmp_path / "y.gviz", GRAPH, figures=twice)) as recording:
        assert read_alternation(recording, GRAPH) is None


def test_readings_survive_json() -> None:
    again = AlternatingReadings.from_json(READINGS.to_json())
    assert again.to_json() == READINGS.to_json()


@pytest.mark.parametrize(
    "change",
    [
        {"name": 3},
        {"state": "other"},
        {"graph": [[1.0, 2.0]]},
        {"graph": [], "eager": []},
        {"graph": [[1.0, float("nan")]] * 3},
    ],
)
def test_what_are_no_readings_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        AlternatingReadings.from_json(READINGS.to_json() | change)
