"""The cost of node level for a graph's launches, as the program says it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from gviz.model.launch_inflation import Inflation, inflation
from gviz.recording import rows
from gviz.recording.reader import Recording
from gviz.recording.writer import RecordingWriter

NONE = "not measured: after its first launch the executable has none without node level"


def cost(
    exec_id: int, level: int, count: int, gpu: float | None, host: float | None
) -> rows.LaunchCost:
    return rows.LaunchCost(
        graph_exec_id=exec_id, node_level=level, count=count, gpu_median_ns=gpu,
        host_count=count, host_median_ns=host, method="measured" if count else NONE,
    )  # fmt: skip


def launch(number: int, exec_id: int, level: int, call_ns: int) -> rows.Launch:
    """A launch of the graph, long after the one before had ended."""
    called = number * 10_000
    return rows.Launch(
        launch_id=number + 1, run_id=1, graph_id=1, graph_exec_id=exec_id, side="graph",
        ordinal=number, host_start_ns=called, host_end_ns=called + call_ns, node_level=level,
        event_duration_ns=100, stream_id=7,
    )  # fmt: skip


def found(
    tmp_path: Path, *costs: rows.LaunchCost, launches: Sequence[rows.Launch] = ()
) -> Inflation | None:
    path = tmp_path / "x.gviz"
    with RecordingWriter(path) as writer:
        writer.insert(rows.Run(run_id=1, name="test", state="completed", source="profile"))
        writer.insert(rows.Graph(graph_id=1, run_id=1, name="graph 1", origin="capture"))
        for exec_id in {c.graph_exec_id for c in costs}:
            writer.insert(
                rows.GraphExec(graph_exec_id=exec_id, run_id=1, graph_id=1, cuda_exec_id=exec_id)
            )
        writer.insert(*costs)
        writer.insert(*launches)
    with Recording(path) as recording:
        return inflation(recording, 1)


def test_ratio_is_of_the_executable_with_most_launches_of_both_kinds(tmp_path: Path) -> None:
    cost_ = found(
        tmp_path,
        cost(1, 0, 2, 100.0, 10.0), cost(1, 1, 900, 300.0, 90.0),
        cost(2, 0, 50, 200.0, 10.0), cost(2, 1, 19, 220.0, 65.0),
        # The first launch uploads; the other executable's calls are no part of it.
        launches=[launch(0, 2, 1, 900), launch(1, 2, 1, 64), launch(2, 2, 1, 66),
                  launch(3, 2, 0, 10), launch(4, 1, 0, 50)],
    )  # fmt: skip
    assert cost_ is not None
    assert (cost_.gpu_ratio, cost_.host_ratio) == (pytest.approx(1.1), pytest.approx(6.5))
    expected = "with node times a launch takes 1.10× the time of a plain one, host call 6.50×"
    assert cost_.to_text() == expected


def test_copy_is_not_the_launch_with_events(tmp_path: Path) -> None:
    copies = [replace(launch(i, 1, 1, 90), node_method="events") for i in range(1, 3)]
    plain = launch(3, 1, 0, 30)
    cost_ = found(
        tmp_path, cost(1, 0, 9, 100.0, 30.0), cost(1, 1, 2, 210.0, 90.0), launches=[*copies, plain]
    )
    assert cost_ is not None
    expected = "a copy with events takes 2.10× the time of a plain one, host call 3.00×"
    assert cost_.to_text() == expected


def test_missing_side_is_reported_with_its_reason(tmp_path: Path) -> None:
    cost_ = found(tmp_path, cost(1, 0, 0, None, None), cost(1, 1, 9, 300.0, 90.0))
    assert cost_ is not None
    assert cost_.gpu_ratio is None
    assert cost_.to_text() == (
        "what node times cost this graph was not measured: after its first launch the "
        "executable has none without node level"
    )


def test_graph_without_node_times_has_no_inflation(tmp_path: Path) -> None:
    assert found(tmp_path) is None
