"""Forecasts: which operations repeat as an iteration, and what a graph of one would take."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gviz.analysis.launch_costs.fit import CostLine
from gviz.analysis.launch_costs.forecast import forecast_iteration
from gviz.analysis.launch_costs.recorded import LaunchCosts
from gviz.analysis.launch_costs.repetition import Repetition, find_repetition


def tokens(*names: object) -> np.ndarray:
    return np.array(names, np.int64)


# -- iterations ------------------------------------------------------------------------------------


@given(
    layers=st.integers(1, 12),
    layer=st.integers(2, 9),
    head=st.integers(1, 5),
    count=st.integers(2, 6),
    before=st.integers(0, 20),
    after=st.integers(0, 7),
)
def test_iterations_of_layers_are_found_and_not_the_layers(
    layers: int, layer: int, head: int, count: int, before: int, after: int
) -> None:
    one = [*list(range(layer)) * layers, *range(100, 100 + head)]
    stray = [*range(1000, 1000 + before)], [*range(2000, 2000 + after)]
    found = find_repetition(tokens(*stray[0], *one * count, *stray[1]))
    assert found is not None
    assert found.period == len(one)
    assert (found.first, found.count) == (before, count)


def test_nothing_repeats() -> None:
    for sequence in ([], [1], [1, 2, 3, 4, 5, 6, 7, 8, 9]):
        assert find_repetition(tokens(*sequence)) is None


def test_bounds_of_an_iteration() -> None:
    assert Repetition(first=3, period=10, count=2).bounds(1) == (13, 23)


# -- one iteration ---------------------------------------------------------------------------------

LINE = CostLine("relaunch", "device", "straight line", 1, 2000, 932, 0.01, 0.01, 1, 2000, 9)
HOST = dataclasses.replace(LINE, quantity="host", fixed_ns=2000, per_node_ns=1)
COSTS = LaunchCosts("GPU", "13.0", Path("x.gviz"), (LINE, HOST), "same")


def test_gaps_close_to_what_lies_between_nodes_of_a_graph() -> None:
    start, duration = tokens(0, 5000, 6050, 20_000), tokens(1000, 1000, 500, 4000)
    found = forecast_iteration(start, duration, COSTS, host_ns=(10, 9010))
    assert found is not None
    assert found.gap_ns == pytest.approx(100)
    assert (found.stream_ns, found.busy_ns) == (24_000, 6500)
    assert found.graph_ns == pytest.approx(6500 + 100 + 50 + 100)  # a shorter gap stays
    assert found.gain == pytest.approx(24_000 / 6750)
    assert (found.stream_host_ns, found.graph_host_ns) == (9000, 2004)


def test_overlap_stays_as_it_was() -> None:
    found = forecast_iteration(tokens(0, 10, 20), tokens(100, 200, 30), COSTS)
    assert found is not None
    assert found.graph_ns == found.stream_ns == 210
    assert found.stream_host_ns is None


def test_waiting_for_other_processes_is_a_gap_that_closes() -> None:
    start, duration, waited = tokens(0, 1000, 9000), tokens(900, 7900, 1000), tokens(0, 6900, 0)
    found = forecast_iteration(start, duration, COSTS, waited_ns=waited)
    assert found is not None
    assert (found.stream_ns, found.busy_ns) == (10_000, 9_800)  # as it was
    assert found.graph_ns == pytest.approx(900 + 100 + 1_000 + 100 + 1_000)


def test_without_a_cost_line_there_is_no_forecast() -> None:
    assert (
        forecast_iteration(tokens(0), tokens(1), dataclasses.replace(COSTS, lines=(HOST,))) is None
    )
    assert forecast_iteration(tokens(), tokens(), COSTS) is None
