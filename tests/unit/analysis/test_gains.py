"""Gains of changes: nodes side by side share the GPU, and what is not known widens the range."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from planned_recordings import MULTIPROCESSORS, Plan, Planned, chain_edges, in_a_row, subject_of

from gviz.analysis.launch import UNTRIED, LaunchChange, Setting, SharedLaunch
from gviz.analysis.subject import GraphSubject
from gviz.cuda import NodeType
from gviz.errors import CycleError

#: Blocks of which 8 fit a multiprocessor, so that one kernel fills the GPU.
FULL = 8 * MULTIPROCESSORS


def fork(blocks: int, left_ns: int = 10_000, right_ns: int = 10_000) -> Plan:
    """Return two independent nodes behind one, each on its queue, at the same time."""
    nodes = [
        Planned("fork", 0, 5_000),
        Planned("left", 5_400, left_ns, queue=7, blocks=blocks),
        Planned("right", 5_400, right_ns, queue=8, blocks=blocks),
    ]
    return Plan(nodes, [(0, 1), (0, 2)])


def subject_with(plan: Plan, folder: Path) -> GraphSubject:
    return subject_of(plan.write(folder / "planned.gviz"))


def absent(subject: GraphSubject, *vertices: int) -> LaunchChange:
    return LaunchChange(absent=np.isin(np.arange(len(subject.model.row)), vertices))


def gain(subject: GraphSubject, change: LaunchChange, memory: float, gap: float = 1.0) -> float:
    return subject.gains.gain_under(Setting(memory, gap), change)


def test_work_beside_the_longest_brings_nothing_where_there_is_room(tmp_path: Path) -> None:
    subject = subject_with(fork(blocks=16), tmp_path)
    assert gain(subject, absent(subject, 2), memory=0.5) == pytest.approx(0.0)


@pytest.mark.parametrize(
    ("blocks", "memory"), [(FULL, 0.0), (16, 1.0)], ids=["multiprocessors", "memory"]
)
def test_work_beside_another_slows_it_down_where_they_share(
    tmp_path: Path, blocks: int, memory: float
) -> None:
    subject = subject_with(fork(blocks), tmp_path)
    # Each is 5 us of work, and took 10 beside the other.
    assert gain(subject, absent(subject, 2), memory) == pytest.approx(5_000.0)


def test_node_that_ran_longer_gets_the_gpu_alone_for_its_rest(tmp_path: Path) -> None:
    subject = subject_with(fork(FULL, left_ns=10_000, right_ns=16_000), tmp_path)
    # 10 us side by side are 5 of work each; the right one has 6 more.
    assert gain(subject, absent(subject, 1), memory=0.0) == pytest.approx(5_000.0)
    assert gain(subject, absent(subject, 2), memory=0.0) == pytest.approx(11_000.0)


def test_shortened_work_counts_by_its_part(tmp_path: Path) -> None:
    subject = subject_with(fork(FULL), tmp_path)
    duration = subject.model.duration_ns * np.array([1.0, 0.5, 0.5])
    assert gain(subject, LaunchChange(duration_ns=duration), memory=0.0) == pytest.approx(5_000.0)


def test_programmatic_dependent_starts_in_the_same_part_of_what_it_waits_for(
    tmp_path: Path,
) -> None:
    nodes = [Planned("a", 0, 10_000), Planned("b", 8_000, 10_000, queue=8)]
    subject = subject_with(Plan(nodes, [(0, 1, 1)]), tmp_path)
    half = LaunchChange(duration_ns=subject.model.duration_ns * np.array([0.5, 1.0]))
    assert gain(subject, half, memory=0.0) == pytest.approx(4_000.0)


def test_node_that_started_before_the_end_of_what_it_waits_for_starts_as_early(
    tmp_path: Path,
) -> None:
    """Clocks of two queues differ by some 100 ns."""
    nodes = [Planned("a", 0, 10_000), Planned("b", 9_900, 10_000, queue=8)]
    subject = subject_with(Plan(nodes, [(0, 1)]), tmp_path)
    half = LaunchChange(duration_ns=subject.model.duration_ns * np.array([0.5, 1.0]))
    # It starts when 99 % of the other are done, of 5 us as of 10.
    assert gain(subject, half, memory=0.0) == pytest.approx(4_950.0)


def test_gap_of_an_absent_node_goes_as_far_as_it_is_assumed_to(tmp_path: Path) -> None:
    nodes = in_a_row(*(Planned(name, 0, 5_000) for name in "abc"))
    subject = subject_with(Plan(nodes, chain_edges(3)), tmp_path)
    gone = absent(subject, 1)
    assert gain(subject, gone, 0.5, gap=1.0) == pytest.approx(5_400.0)
    assert gain(subject, gone, 0.5, gap=0.0) == pytest.approx(5_000.0)


def test_range_covers_every_setting_and_the_error(tmp_path: Path) -> None:
    subject = subject_with(fork(blocks=16), tmp_path)
    gone = absent(subject, 2)
    found = subject.gains.gain(gone)
    each = [subject.gains.gain_under(s, gone) for s in (UNTRIED.likely, *UNTRIED.others)]
    assert found.gain_ns == each[0]
    assert found.low_ns == pytest.approx(min(each) * 0.75)
    assert found.high_ns == pytest.approx(max(each))
    assert found.low_ns <= found.gain_ns <= found.high_ns


def test_chain_has_one_gain_whatever_is_shared(tmp_path: Path) -> None:
    nodes = in_a_row(*(Planned(name, 0, 5_000, blocks=FULL) for name in "abc"))
    subject = subject_with(Plan(nodes, chain_edges(3)), tmp_path)
    change = LaunchChange(duration_ns=subject.model.duration_ns * 0.9)
    found = subject.gains.gain(change)
    assert found.gain_ns == pytest.approx(1_500.0)
    assert (found.low_ns, found.high_ns) == pytest.approx((1_125.0, 1_500.0))
    # The shortcut for what runs in a row is what would be played.
    filled = np.ones(3)
    played = SharedLaunch(subject.model, filled, UNTRIED.likely).gain_ns(change)
    assert played == pytest.approx(found.gain_ns)


@pytest.mark.parametrize("memory", [0.0, 1.0])
def test_delay_behind_a_node_takes_nothing_from_what_runs_beside(
    tmp_path: Path, memory: float
) -> None:
    nodes = [*fork(FULL).nodes, Planned("after", 15_800, 5_000)]
    subject = subject_with(Plan(nodes, [(0, 1), (0, 2), (1, 3)]), tmp_path)
    delayed = LaunchChange(delay_ns=np.array([0.0, 2_000.0, 0.0, 0.0]))
    assert gain(subject, delayed, memory) == pytest.approx(-2_000.0)


def test_nodes_that_would_wait_for_each_other_are_an_error(tmp_path: Path) -> None:
    nodes = in_a_row(*(Planned(name, 0, 5_000) for name in "abc"))
    subject = subject_with(Plan(nodes, chain_edges(3)), tmp_path)
    with pytest.raises(CycleError, match="wait for each other"):
        gain(subject, LaunchChange(added=((2, 0),)), memory=0.5)


def test_programmatic_edge_holds_its_node_until_the_work_that_was_done_by_then(
    tmp_path: Path,
) -> None:
    # The first of two full nodes has ended when the other has done a third of its work, in half of
    # its time; its dependent starts then. Played again, the launch is as long as it was.
    nodes = [
        Planned("short", 0, 10_000, queue=7, blocks=FULL),
        Planned("long", 0, 20_000, queue=8, blocks=FULL),
        Planned("dependent", 10_000, 10_000, queue=7, blocks=16),
    ]
    subject = subject_with(Plan(nodes, [(1, 2, 1)]), tmp_path)
    shared = SharedLaunch(subject.model, np.array([1.0, 1.0, 0.1]), Setting(0.0, 1.0))
    assert shared.whole_ns == pytest.approx(20_000.0)


def test_node_without_a_time_triggers_nothing_before_what_it_waits_for_has_ended(
    tmp_path: Path,
) -> None:
    # The last starts 100 ns too early, by the clock of another queue.
    nodes = [
        Planned("first", 0, 5_000),
        Planned("empty", kind=NodeType.EMPTY),
        Planned("last", 4_900, 5_000, queue=8),
    ]
    subject = subject_with(Plan(nodes, [(0, 1), (1, 2, 1)]), tmp_path)
    assert subject.held.gap_ns[2] == -100
