"""Launch calls that take what the call takes, and those that wait for a full queue."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from places import ROOT

from gviz.model.launch_calls import call_times, read_launch_calls, times_of
from gviz.recording import rows
from gviz.recording.reader import Recording
from gviz.recording.writer import RecordingWriter
from gviz.stats import CuptiState

BUNDLED = ROOT / "assets" / "recordings"
STARTED = 10**9


@dataclass(frozen=True, slots=True)
class Program:
    """A program that launches one graph as fast as it can.

    Attributes
    ----------
    depth
        Launches that the queue has room for.
    call_ns, gpu_ns
        What a call and a launch take.
    pause_ns
        Between two calls.
    """

    depth: int = 4
    call_ns: int = 2_000
    gpu_ns: int = 15_000
    pause_ns: int = 100
    count: int = 30
    seed: int = 1

    def launches(self) -> Iterator[tuple[rows.Launch, bool]]:
        """Yield the launches, and whether the call waited."""
        source, at, ends = random.Random(self.seed), STARTED, list[int]()
        for number in range(self.count):
            took = round(self.call_ns * source.uniform(0.9, 1.1))
            room = ends[number - self.depth] if number >= self.depth else 0
            returned = max(at + took, room + took)
            begin = max([at + took // 2, *ends[-1:]])
            ends.append(begin + round(self.gpu_ns * source.uniform(0.98, 1.02)))
            yield (
                rows.Launch(
                    launch_id=number + 1, run_id=1, graph_id=1, graph_exec_id=1, side="graph",
                    ordinal=number, host_start_ns=at, host_end_ns=returned, stream_id=7,
                    node_level=1, gpu_start_ns=begin, gpu_end_ns=ends[-1],
                    event_duration_ns=ends[-1] - begin,
                ),
                room > at,
            )  # fmt: skip
            at = returned + self.pause_ns


def write(path: Path, launches: Sequence[rows.Launch]) -> Path:
    with RecordingWriter(path) as writer:
        writer.insert(
            rows.Run(run_id=1, name="t", state="completed", source="profile", collector="cupti")
        )
        for graph_id in sorted({launch.graph_id for launch in launches}):
            writer.insert(
                rows.Graph(graph_id=graph_id, run_id=1, name=f"g{graph_id}", origin="capture")
            )
            writer.insert(
                rows.GraphExec(graph_exec_id=graph_id, run_id=1, graph_id=graph_id, cuda_exec_id=1)
            )
        writer.insert(*launches)
    return path


def plain(launch: rows.Launch, *, every: int = 1) -> rows.Launch:
    """A launch without node times, of which every so many have the time between events."""
    event = launch.event_duration_ns if launch.ordinal % every == 0 else None
    return replace(
        launch, node_level=0, gpu_start_ns=None, gpu_end_ns=None, event_duration_ns=event
    )


@pytest.mark.parametrize("every", [0, 1, 3])
@pytest.mark.parametrize("depth", [2, 4, 9])
def test_calls_that_waited_are_told_from_the_others(depth: int, every: int, tmp_path: Path) -> None:
    made = list(Program(depth=depth).launches())
    launches = [plain(one, every=every) if every else one for one, _ in made]
    truth = np.array([waited for _, waited in made])
    assert 30 - depth - 2 < truth.sum() <= 30 - depth
    with Recording(write(tmp_path / "x.gviz", launches)) as recording:
        calls = read_launch_calls(recording, 1)
        found = call_times(recording, 1)
    assert calls.is_known.all()
    # Where the queue filled is an estimate without the times of nodes: to a launch or two.
    assert (calls.waited != truth).sum() <= (0 if not every else 2)
    if depth > 2 or not every:
        assert found.median_ns == pytest.approx(2_000, rel=0.1)
        assert np.median(found.waited_ns) == pytest.approx(13_000, rel=0.1)
        assert found.in_flight == depth
        assert found.waiting == (
            f"{len(found.waited_ns)} of 29 calls waited for a full queue ({depth} launches in "
            "flight)"
        )


def test_program_that_waits_for_each_launch_has_no_waiting_calls(tmp_path: Path) -> None:
    launches = [one for one, _ in Program(pause_ns=20_000, depth=2).launches()]
    # Some are slow for other reasons.
    slow = [replace(x, host_end_ns=(x.host_end_ns or 0) + 9_000 * (x.ordinal % 7 == 5))
            for x in launches]  # fmt: skip
    with Recording(write(tmp_path / "x.gviz", slow)) as recording:
        assert not read_launch_calls(recording, 1).waited.any()
        assert call_times(recording, 1).looked_at == 29


def test_slow_calls_over_a_deep_queue_that_is_not_full_did_not_wait(tmp_path: Path) -> None:
    launches = [one for one, _ in Program(depth=100, gpu_ns=2_500, count=60).launches()]
    slow = [
        replace(x, host_end_ns=(x.host_end_ns or 0) + 60 * (x.ordinal % 20 == 15)) for x in launches
    ]
    with Recording(write(tmp_path / "x.gviz", slow)) as recording:
        assert not read_launch_calls(recording, 1).waited.any()


def test_launches_of_other_graphs_fill_the_queue_as_well(tmp_path: Path) -> None:
    made = list(Program().launches())
    launches = [
        replace(x, graph_id=1 + x.ordinal % 2, graph_exec_id=1 + x.ordinal % 2,
                ordinal=x.ordinal // 2)
        for x, _ in made
    ]  # fmt: skip
    with Recording(write(tmp_path / "x.gviz", launches)) as recording:
        assert read_launch_calls(recording, 1).waited.tolist() == [w for _, w in made]
        assert call_times(recording, 2).median_ns == pytest.approx(2_000, rel=0.1)


def test_without_a_call_that_did_not_wait_nothing_is_known(tmp_path: Path) -> None:
    launches = [one for one, _ in Program().launches()]
    late = [replace(one, ordinal=one.ordinal) for one in launches if one.ordinal > 3]
    # What was launched before gviz attached fills the queue from the start.
    before = [replace(one, graph_id=2, graph_exec_id=2) for one in launches if one.ordinal <= 3]
    with Recording(write(tmp_path / "x.gviz", before + late)) as recording:
        found = call_times(recording, 1)
    assert found.median_ns is None
    assert found.method.startswith("not known: ")


def test_calls_that_all_waited_waited_for_all_of_their_time(tmp_path: Path) -> None:
    launches = [one for one, _ in Program().launches()]
    with Recording(write(tmp_path / "x.gviz", launches)) as recording:
        calls = read_launch_calls(recording, 1)
    found = times_of(calls, calls.waited, CuptiState.RECORDED)
    assert found.waited_ns.tolist() == calls.call_ns[calls.waited].tolist() != []


def test_without_gpu_times_calls_are_taken_as_they_are_and_it_is_said(tmp_path: Path) -> None:
    launches = [
        replace(plain(one), event_duration_ns=None) for one, _ in Program(depth=100).launches()
    ]
    with Recording(write(tmp_path / "x.gviz", launches)) as recording:
        found = call_times(recording, 1)
    assert found.median_ns == pytest.approx(2_000, rel=0.1)
    assert found.method.endswith("; whether calls waited for a full queue is not known")


def test_first_call_alone_is_cold(tmp_path: Path) -> None:
    launches = [one for one, _ in Program(count=1).launches()]
    with Recording(write(tmp_path / "x.gviz", launches)) as recording:
        found = call_times(recording, 1)
    assert (found.is_cold, len(found.alone_ns)) == (True, 1)


def test_training_step_waits_from_five_launches_in_flight_on() -> None:
    with Recording(BUNDLED / "training_step.gviz") as recording:
        calls = read_launch_calls(recording, 1)
        found = call_times(recording, 1)
    assert calls.waited.tolist() == [6 <= n <= 13 for n in range(20)]
    assert (found.state, len(found.alone_ns)) == (CuptiState.ATTACHED, 6)
    assert found.median_ns == pytest.approx(930_219)


@pytest.mark.parametrize(
    "name", ["cupy_pipeline", "decode_step", "graph_lives", "ranks_h200", "token_step_1"]
)
def test_programs_that_wait_for_each_launch_have_no_waiting_calls(name: str) -> None:
    with Recording(BUNDLED / f"{name}.gviz") as recording:
        for run in recording.fetch_runs():
            assert not read_launch_calls(recording, run.run_id).waited.any()
