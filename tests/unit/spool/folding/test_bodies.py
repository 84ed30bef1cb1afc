"""Records of conditional bodies, which name no launch, to their launches."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from spool_writing import (
    KERNEL_NAME,
    FoldRecords,
    buffer,
    conditional_record,
    graph_records,
    kernel,
    launch_record,
    node_id,
    work,
)

from gviz.cuda.node_type import NodeType
from gviz.recording.reader import Recording
from gviz.spool.folding.agreement import CONTRADICTED
from gviz.spool.records import format as f
from gviz.spool.records import table
from gviz.spool.records.format import RecordType

KERNEL, CONDITIONAL, EMPTY, EXEC = NodeType.KERNEL, NodeType.CONDITIONAL, NodeType.EMPTY, 2
IF, WHILE = 0, 1
US = 1_000
Fold = Callable[..., Recording]


@pytest.fixture
def folded(fold_records: FoldRecords) -> Fold:
    """Fold records and activities."""
    return lambda records, activities: fold_records(
        [*records, (RecordType.BUFFER, buffer(activities))]
    )


def graph_of(
    kinds: Sequence[int], edges: Sequence[tuple[int, int]], conditional: int, kind: int
) -> list[tuple[int, bytes]]:
    """Return a graph whose conditional node has a body of two kernels in a chain."""
    return [
        *graph_records(1, EXEC, kinds, edges),
        conditional_record(1, conditional, kind),
        *graph_records(3, EXEC, [KERNEL, KERNEL], [(0, 1)], parent=(1, conditional)),
    ]


def timed_launch(correlation: int, start: int, duration: int) -> list[tuple[int, bytes]]:
    """Return a launch call with an event-measured duration."""
    flags = f.LAUNCH_NODE_LEVEL | f.LAUNCH_EVENTS
    values = (EXEC, correlation, start, start + 10, 1, 0, 7, flags, correlation)
    return [
        (RecordType.LAUNCH, table.LAUNCH.pack(*values)),
        (RecordType.LAUNCH_TIME, table.LAUNCH_TIME.pack(correlation, duration)),
    ]


def counts(recording: Recording) -> list[tuple[int, int]]:
    """Return (spans, ambiguous spans) of each launch."""
    return [(x.span_count, x.ambiguous_count) for x in recording.fetch_launches(1)]


def test_conditional_node_first_takes_the_launch_whose_next_node_follows(folded: Fold) -> None:
    graph = graph_of([CONDITIONAL, KERNEL], [(0, 1)], 0, IF)
    calls = [launch_record(EXEC, n, 100 + n) for n in (1, 2, 3)]
    activities = []
    for n in (1, 2, 3):
        begin = n * 100 * US
        activities += [work(EXEC, 2, 0, begin), work(EXEC, 3, 0, begin + 20)]
        activities.append(work(EXEC, 1, n, begin + 40))
    recording = folded([*graph, *calls], activities)
    assert counts(recording) == [(3, 0)] * 3
    for launch in recording.fetch_launches(1):
        assert recording.fetch_spans(launch.launch_id).start_ns.tolist() == [40, 0, 20]


def test_branch_not_taken_leaves_its_launch_without_body(folded: Fold) -> None:
    graph = graph_of([CONDITIONAL, KERNEL], [(0, 1)], 0, IF)
    calls = [launch_record(EXEC, n, 100 + n) for n in (1, 2, 3)]
    activities = [work(EXEC, 1, n, n * 100 * US) for n in (1, 2, 3)]
    activities += [work(EXEC, 2, 0, 250 * US), work(EXEC, 3, 0, 260 * US)]
    recording = folded([*graph, *calls], activities)
    assert counts(recording) == [(1, 0), (1, 0), (3, 0)]


def test_body_beside_other_nodes_is_doubtful_only_between_launches(folded: Fold) -> None:
    graph = graph_of([CONDITIONAL, KERNEL], [], 0, IF)
    calls = [launch_record(EXEC, n, 100 + n) for n in (1, 2)]
    activities = [work(EXEC, 1, 1, 100 * US, 50 * US), work(EXEC, 1, 2, 300 * US, 50 * US)]
    activities += [work(EXEC, 2, 0, 110 * US), work(EXEC, 2, 0, 200 * US)]
    assert counts(folded([*graph, *calls], activities)) == [(3, 1), (1, 0)]


def test_queued_branches_alone_are_distinguished_by_their_repetition(folded: Fold) -> None:
    graph = graph_of([CONDITIONAL], [], 0, IF)
    calls = [launch_record(EXEC, n, 100 + n) for n in (1, 2, 3)]
    activities = [
        work(EXEC, 1 + node, 0, (100 + 10 * iteration + 2 * node) * US)
        for iteration in range(3)
        for node in range(2)
    ]
    assert counts(folded([*graph, *calls], activities)) == [(2, 0)] * 3


@pytest.mark.parametrize("first_us", [10, 0], ids=["after its call", "with its call"])
def test_queued_loops_alone_are_cut_by_their_durations(folded: Fold, first_us: int) -> None:
    graph = graph_of([CONDITIONAL], [], 0, WHILE)
    iterations = [4, 2, 5]
    calls, activities, at = [], [], 1_000 * US
    for n, count in enumerate(iterations):
        # Called at once; each takes 100 us an iteration, and 20 us beside.
        calls += timed_launch(n + 1, 1_000 * US + n, (100 * count + 20) * US)
        starts = [at + (10 + 100 * i) * US for i in range(count)]
        if n == 0:
            starts[0] = at + first_us * US
        activities += [work(EXEC, 1, 0, start, 90 * US) for start in starts]
        at += (100 * count + 20) * US
    assert counts(folded([*graph, *calls], activities)) == [(n, 0) for n in iterations]


def test_queued_loops_alone_without_durations_are_doubtful(folded: Fold) -> None:
    graph = graph_of([CONDITIONAL], [], 0, WHILE)
    calls = [launch_record(EXEC, n, (1_000 + n) * US) for n in (1, 2)]
    activities = [work(EXEC, 1, 0, (1_010 + 10 * i) * US, 9 * US) for i in range(4)]
    recording = folded([*graph, *calls], activities)
    assert counts(recording) == [(0, 0), (4, 4)]
    assert any("neighbouring" in note.text for note in recording.fetch_notes(1))
    measured = {m.name: m.value for m in recording.fetch_measurements(1)}
    assert measured["body_spans_ambiguous"] == 4


def test_loops_alone_that_were_waited_for_are_not_ambiguous(folded: Fold) -> None:
    graph = graph_of([CONDITIONAL], [], 0, WHILE)
    calls = [launch_record(EXEC, n, n * 1_000 * US) for n in (1, 2)]
    activities = [
        work(EXEC, 1, 0, (n * 1_000 + 10 * i) * US, 9 * US) for n in (1, 2) for i in range(1, 4)
    ]
    assert counts(folded([*graph, *calls], activities)) == [(3, 0), (3, 0)]


# -- records that contradict the numbers ---------------------------------------------------------


def test_record_of_another_kernel_takes_the_times_from_nested_nodes(folded: Fold) -> None:
    graph = graph_of([KERNEL, CONDITIONAL], [(0, 1)], 1, IF)
    other = (RecordType.STRING, (0x7100).to_bytes(8, "little") + b"_Z5otherv")
    activities = [
        work(EXEC, 0, 1, 1_000),
        work(EXEC, 2, 0, 2_000),
        kernel(node=node_id(EXEC, 3), start=3_000, end=3_010, name=0x7100),
    ]
    recording = folded([other, *graph, launch_record(EXEC, 1, 100)], activities)
    top, body, unknown = recording.fetch_graphs()
    assert [n.exec_node_id for n in recording.fetch_nodes(top.graph_id)] == [0, None]
    nodes = recording.fetch_nodes(body.graph_id)
    assert {(n.exec_node_id, n.not_timed_reason) for n in nodes} == {(None, CONTRADICTED)}
    assert unknown.name == "nodes of bodies"
    assert [n.name for n in recording.fetch_nodes(unknown.graph_id)] == ["work", "other"]
    measured = {m.name: m.value for m in recording.fetch_measurements(1)}
    assert measured["nodes_mismatched"] == 1
    assert any("unknown way" in note.text for note in recording.fetch_notes(1))
    assert counts(recording) == [(3, 0)]


@pytest.mark.parametrize(("grid", "mismatched"), [(5, 1), (6, None), (9, None)])
def test_grid_of_another_nested_node_contradicts(
    folded: Fold, grid: int, mismatched: int | None
) -> None:
    """6 is the node's own; 9 is no node's: it was given new parameters, which gviz did not see."""
    graph = [
        *graph_records(1, EXEC, [KERNEL, CONDITIONAL], [(0, 1)]),
        conditional_record(1, 1, IF),
        *graph_records(3, EXEC, [KERNEL, KERNEL], [(0, 1)], parent=(1, 1), grids=(5, 6)),
    ]
    nested = [
        kernel(node=node_id(EXEC, n), start=s, end=s + 9, name=KERNEL_NAME, grid=(x, 1, 1))
        for n, s, x in ((2, 2_000, 5), (3, 3_000, grid))
    ]
    recording = folded([*graph, launch_record(EXEC, 1, 100)], [work(EXEC, 0, 1, 1_000), *nested])
    measured = {m.name: m.value for m in recording.fetch_measurements(1)}
    assert measured.get("nodes_mismatched") == mismatched


def test_record_for_a_node_that_gets_none_contradicts(folded: Fold) -> None:
    graph = [
        *graph_records(1, EXEC, [KERNEL, CONDITIONAL], [(0, 1)]),
        conditional_record(1, 1, IF),
        *graph_records(3, EXEC, [EMPTY, KERNEL], parent=(1, 1)),
    ]
    activities = [work(EXEC, 0, 1, 1_000), work(EXEC, 2, 0, 2_000)]
    recording = folded([*graph, launch_record(EXEC, 1, 100)], activities)
    assert [g.name for g in recording.fetch_graphs()][-1] == "nodes of bodies"


def test_updated_executable_may_run_other_work(folded: Fold) -> None:
    graph = graph_of([KERNEL, CONDITIONAL], [(0, 1)], 1, IF)
    update = table.LIFE.pack(696, 1, 50, 60, 1, 0, 0, EXEC, 0, f.NO_STREAM, 0)
    lives = [
        (RecordType.CALL_NAME, (696).to_bytes(4, "little") + b"cuGraphExecUpdate_v2"),
        (RecordType.LIFE, update),
    ]
    other = (RecordType.STRING, (0x7100).to_bytes(8, "little") + b"_Z5otherv")
    activities = [
        work(EXEC, 0, 1, 1_000),
        kernel(node=node_id(EXEC, 3), start=3_000, end=3_010, name=0x7100, grid=(5, 1, 1)),
    ]
    recording = folded([other, *lives, *graph, launch_record(EXEC, 1, 100)], activities)
    assert "nodes_mismatched" not in {m.name for m in recording.fetch_measurements(1)}
    assert counts(recording) == [(2, 0)]
