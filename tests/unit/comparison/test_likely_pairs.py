"""Pairs of recordings to compare: one GPU, one program, neighbours, the newest."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest
from noisy_recordings import Write, alter, writer_into

from gviz.comparison.likely_pairs import likeliest_pair, places_to_judge
from gviz.recording.reader import Recording

OTHER_GPU = "UPDATE device SET name='another GPU'"
OTHER_PROGRAM = "UPDATE run SET name='another program'"
OTHER_GRAPH = (
    "UPDATE graph SET name='other'",
    "UPDATE topology SET hash='x'",
    "UPDATE node SET name=name || 'x', grid_x=77",
)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a recording; each has a name of its own."""
    return writer_into(tmp_path)


def begun(write: Write, at: int, *changes: str) -> Path:
    """Write a recording that was begun at a time, and change it."""
    return alter(write(), f"UPDATE run SET started_ns={at}", *changes)


def chosen(paths: Sequence[Path]) -> list[int] | None:
    """Return the places of the two that are chosen; None: none are."""
    with ExitStack() as stack:
        found = likeliest_pair([stack.enter_context(Recording(path)) for path in paths])
        return None if found is None else [paths.index(one.path) for one in found]


def test_newest_two_in_order_of_time_whatever_their_order_in_the_folder(write: Write) -> None:
    assert chosen([begun(write, at) for at in (30, 10, 20)]) == [2, 0]


def test_recording_of_several_runs_was_begun_with_its_first(write: Write) -> None:
    more = (
        "CREATE TEMP TABLE more AS SELECT * FROM run",
        "UPDATE more SET run_id=2, started_ns=100",
        "INSERT INTO run SELECT * FROM more",
    )
    assert chosen([begun(write, 10, *more), begun(write, 20)]) == [0, 1]


def test_recordings_without_a_time_are_in_the_order_given(write: Write) -> None:
    paths = [begun(write, 30), alter(write(), "UPDATE run SET started_ns=NULL"), begun(write, 10)]
    assert chosen(paths) == [1, 2]


def test_one_gpu_and_one_program_come_before_time(write: Write) -> None:
    paths = [begun(write, 1), begun(write, 2, OTHER_PROGRAM), begun(write, 3, OTHER_GPU)]
    assert chosen(paths) == [0, 1]
    paths.append(begun(write, 4, OTHER_PROGRAM))
    assert chosen(paths) == [1, 3]


def test_without_a_graph_in_common_nothing_is_chosen(write: Write) -> None:
    paths = [begun(write, 1), begun(write, 2, *OTHER_GRAPH)]
    assert chosen(paths) is None
    assert chosen(paths[:1]) is None
    assert chosen([*paths, begun(write, 3)]) == [0, 2]


def test_of_many_recordings_neighbours_are_looked_at() -> None:
    places = places_to_judge(1000)
    assert places[:2] == [(0, 1), (1, 2)]
    assert len(places) == 100
