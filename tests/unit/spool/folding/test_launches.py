"""Activity records to launches and spans."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from spool_writing import (
    FoldRecords,
    buffer,
    graph_records,
    kernel,
    launch_record,
    memset,
    node_id,
    work,
)

from gviz.cuda.node_type import NodeType
from gviz.recording.reader import Recording
from gviz.spool.records.format import RecordType

KERNEL, CONDITIONAL, EXEC = NodeType.KERNEL, NodeType.CONDITIONAL, 2
Fold = Callable[..., Recording]

#: A kernel, then a loop of one kernel, whose id in the executable is 2.
LOOP = [
    *graph_records(1, EXEC, [KERNEL, CONDITIONAL], [(0, 1)]),
    *graph_records(3, EXEC, [KERNEL], parent=(1, 1)),
]
BODY_NODE = 2


@pytest.fixture
def folded(fold_records: FoldRecords) -> Fold:
    """Fold records and activities."""
    return lambda records, activities: fold_records(
        [*records, (RecordType.BUFFER, buffer(activities))]
    )


def body_spans(recording: Recording) -> list[list[int]]:
    """Return the starts of the body's spans, a list a launch."""
    found = []
    for launch in recording.fetch_launches(1):
        spans = recording.fetch_spans(launch.launch_id)
        body = spans.graph_id == 2
        assert set(spans.node_id[body].tolist()) <= {0}
        assert spans.iteration[body].tolist() == list(range(int(body.sum())))
        found.append(spans.start_ns[body].tolist())
    return found


@pytest.mark.parametrize("queued", [False, True], ids=["one by one", "all called first"])
def test_records_of_loop_bodies_go_to_the_launch_around_them(folded: Fold, queued: bool) -> None:
    iterations = [3, 0, 5, 1]
    calls, activities = [], []
    for launch, count in enumerate(iterations):
        begin = 10_000 * (launch + 1)
        calls.append(launch_record(EXEC, 100 + launch, 100 + launch if queued else begin - 500))
        activities.append(work(EXEC, 0, 100 + launch, begin))
        activities += [work(EXEC, BODY_NODE, 0, begin + 100 * (i + 1)) for i in range(count)]
    recording = folded([*LOOP, *calls], activities)
    assert body_spans(recording) == [[100 * (i + 1) for i in range(n)] for n in iterations]
    counts = [launch.span_count for launch in recording.fetch_launches(1)]
    assert counts == [1 + n for n in iterations]


def test_loops_of_two_executables_at_once_are_kept_apart(folded: Fold) -> None:
    other = 12
    second = [
        *graph_records(11, other, [KERNEL, CONDITIONAL], [(0, 1)]),
        *graph_records(13, other, [KERNEL], parent=(11, 1)),
    ]
    calls = [launch_record(EXEC, 1, 100), launch_record(other, 2, 110)]
    activities = [work(EXEC, 0, 1, 1_000), work(other, 0, 2, 1_001)]
    activities += [work(EXEC, BODY_NODE, 0, 1_100), work(other, BODY_NODE, 0, 1_101)]
    activities += [work(other, BODY_NODE, 0, 1_201)]
    recording = folded([*LOOP, *second, *calls], activities)
    counts = {
        launch.correlation_id: launch.span_count
        for graph in recording.fetch_graphs()
        for launch in recording.fetch_launches(graph.graph_id)
    }
    assert counts == {1: 2, 2: 3}


def test_graph_of_a_loop_alone_takes_the_last_call_before(folded: Fold) -> None:
    alone = [
        *graph_records(1, EXEC, [CONDITIONAL]),
        *graph_records(3, EXEC, [KERNEL], parent=(1, 0)),
    ]
    calls = [launch_record(EXEC, 1, 1_000), launch_record(EXEC, 2, 2_000)]
    activities = [work(EXEC, 1, 0, at) for at in (1_500, 1_600, 2_500)]
    recording = folded([*alone, *calls], activities)
    assert [launch.span_count for launch in recording.fetch_launches(1)] == [2, 1]


def test_times_are_relative_to_the_first_span(folded: Fold) -> None:
    chain = graph_records(1, EXEC, [KERNEL, KERNEL], [(0, 1)])
    activities = [work(EXEC, 1, 9, 5_700, 30), work(EXEC, 0, 9, 5_000, 600)]
    recording = folded([*chain, launch_record(EXEC, 9, 4_000)], activities)
    (launch,) = recording.fetch_launches(1)
    assert (launch.gpu_start_ns, launch.gpu_end_ns, launch.node_level) == (5_000, 5_730, 1)
    spans = recording.fetch_spans(launch.launch_id)
    assert spans.start_ns.tolist() == [0, 700]
    assert spans.duration_ns.tolist() == [600, 30]


def test_launches_of_many_graphs_alternately_are_kept_apart(folded: Fold) -> None:
    graphs, rounds = 7, 3
    records, activities = [], []
    for number in range(graphs):
        records += graph_records(2 * number + 1, 2 * number + 2, [KERNEL] * (number + 1))
    for iteration in range(rounds):
        for number in range(graphs):
            correlation = iteration * graphs + number + 1
            graph_exec, start = 2 * number + 2, 10_000 * correlation
            records.append(launch_record(graph_exec, correlation, start - 500))
            activities += [
                work(graph_exec, node, correlation, start + 20 * node, 10 + iteration)
                for node in range(number + 1)
            ]
    recording = folded(records, activities)
    for number in range(graphs):
        launches = recording.fetch_launches(number + 1)
        assert [launch.span_count for launch in launches] == [number + 1] * rounds
        statistics = recording.fetch_statistics(number + 1)
        assert [(s.node_id, s.count) for s in statistics] == [(n, 3) for n in range(number + 1)]
        assert {(s.min_ns, s.median_ns, s.max_ns) for s in statistics} == {(10, 11, 12)}


def test_launch_without_records_has_no_times(folded: Fold) -> None:
    recording = folded([*graph_records(1, EXEC, [KERNEL]), launch_record(EXEC, 9, 4_000)], [])
    (launch,) = recording.fetch_launches(1)
    assert (launch.span_count, launch.gpu_start_ns, launch.gpu_end_ns) == (0, None, None)
    assert launch.host_start_ns == 4_000


def test_failed_launch_is_none(folded: Fold) -> None:
    calls = [launch_record(EXEC, 1, 100, result=700), launch_record(EXEC, 2, 200)]
    recording = folded([*graph_records(1, EXEC, [KERNEL]), *calls], [])
    assert [launch.correlation_id for launch in recording.fetch_launches(1)] == [2]


def test_records_of_a_launch_not_seen_are_counted(folded: Fold) -> None:
    activities = [work(EXEC, 0, 1, 1_000), work(EXEC, 0, 77, 2_000)]
    recording = folded([*graph_records(1, EXEC, [KERNEL]), launch_record(EXEC, 1, 100)], activities)
    measured = {m.name: m.value for m in recording.fetch_measurements(1)}
    assert measured["records_without_launch"] == 1
    assert len(recording.fetch_graph_spans(1)) == 1


def test_launch_with_impossible_times_keeps_its_call_and_loses_its_spans(folded: Fold) -> None:
    chain = graph_records(1, EXEC, [KERNEL, KERNEL], [(0, 1)])
    calls = [launch_record(EXEC, n, 100 * n) for n in (1, 2, 3)]
    activities = [work(EXEC, node, n, 10_000 * n + 100 * node) for n in (1, 3) for node in (0, 1)]
    activities += [work(EXEC, 0, 2, 20_000, 900_000), work(EXEC, 1, 2, 20_500)]
    recording = folded([*chain, *calls], activities)
    assert [launch.span_count for launch in recording.fetch_launches(1)] == [2, 0, 2]
    measured = {m.name: m.value for m in recording.fetch_measurements(1)}
    assert measured["launches_with_impossible_times"] == 1
    assert recording.fetch_statistics(1)[0].max_ns == 10


CHAIN = graph_records(1, EXEC, [KERNEL, KERNEL], [(0, 1)])


def test_launch_that_the_end_cut_short_has_no_times(folded: Fold) -> None:
    calls = [launch_record(EXEC, n, 100 * n) for n in (1, 2, 3, 4)]
    activities = [work(EXEC, node, n, 1000 * n + 100 * node) for n in (1, 2) for node in (0, 1)]
    recording = folded([*CHAIN, *calls], [*activities, work(EXEC, 0, 3, 3000)])
    assert [launch.span_count for launch in recording.fetch_launches(1)] == [2, 2, 0, 0]
    measured = {m.name: m.value for m in recording.fetch_measurements(1)}
    assert measured["launches_without_node_times"] == 2
    assert recording.fetch_statistics(1)[0].count == 2


def test_last_launch_without_a_node_that_ran_now_and_then_keeps_its_times(folded: Fold) -> None:
    calls = [launch_record(EXEC, n, 100 * n) for n in (1, 2, 3)]
    now_and_then = [work(EXEC, 0, n, 1000 * n) for n in (1, 2, 3)] + [work(EXEC, 1, 2, 2100)]
    recording = folded([*CHAIN, *calls], now_and_then)
    assert [launch.span_count for launch in recording.fetch_launches(1)] == [1, 2, 1]


def test_last_launch_whose_loop_did_not_run_keeps_its_times(folded: Fold) -> None:
    calls = [launch_record(EXEC, n, 100 * n) for n in (1, 2, 3)]
    body = [work(EXEC, node, n, 1000 * n + 100 * node) for n in (1, 2) for node in (0, BODY_NODE)]
    recording = folded([*LOOP, *calls], [*body, work(EXEC, 0, 3, 3000)])
    assert recording.fetch_launches(1)[-1].span_count == 1


@pytest.mark.parametrize(("start", "end"), [(0, 0), (0, 50), (100, 99)])
def test_record_without_a_usable_time_is_left_out_and_counted(
    folded: Fold, start: int, end: int
) -> None:
    bad = kernel(node=node_id(EXEC, 0), start=start, end=end, correlation=1)
    recording = folded(
        [*graph_records(1, EXEC, [KERNEL]), launch_record(EXEC, 1, 10)],
        [bad, memset(start=start, end=end)],
    )
    measured = {m.name: m.value for m in recording.fetch_measurements(1)}
    assert measured["activity_records_invalid"] == 2
    assert len(recording.fetch_graph_spans(1)) == 0
    assert recording.fetch_run_stream_operations(1) == []


def test_launch_of_a_graph_not_walked_is_late_and_known_by_its_records(folded: Fold) -> None:
    activities = [work(8, node, 1, 1_000 + 100 * node) for node in (4, 6)]
    recording = folded([launch_record(8, 1, 100)], activities)
    (graph,) = recording.fetch_graphs()
    assert (graph.origin, graph.topology_id) == ("late", None)
    nodes = recording.fetch_nodes(graph.graph_id)
    assert [(n.node_id, n.name, n.grid_x) for n in nodes] == [(4, "work", 1), (6, "work", 1)]
    assert recording.fetch_launches(graph.graph_id)[0].span_count == 2
    assert any("before gviz attached" in note.text for note in recording.fetch_notes(1))


def test_launches_of_one_correlation_id_are_distinguished_by_their_nodes(folded: Fold) -> None:
    records = [
        *graph_records(1, EXEC, [KERNEL, KERNEL], [(0, 1)]),
        *(launch_record(EXEC, 7, start) for start in (1_000, 2_000, 3_000)),
    ]
    activities = [
        work(EXEC, node, 7, start + 100 * node)
        for start in (30_000, 10_000, 20_000)
        for node in (1, 0)
    ]
    recording = folded(records, activities)
    launches = recording.fetch_launches(1)
    assert [launch.gpu_start_ns for launch in launches] == [10_000, 20_000, 30_000]
    for launch in launches:
        spans = recording.fetch_spans(launch.launch_id)
        assert spans.node_id.tolist() == [0, 1]
        assert spans.iteration.tolist() == [0, 0]
        assert spans.start_ns.tolist() == [0, 100]


def test_records_of_a_launch_that_was_not_seen_are_counted(folded: Fold) -> None:
    calls = [launch_record(EXEC, 1, 100)]
    seen, unseen = work(EXEC, 0, 1, 200), [work(EXEC, 0, 2, 300), work(EXEC, 0, 3, 400)]
    recording = folded([*graph_records(1, EXEC, [KERNEL]), *calls], [seen, *unseen])
    measured = {m.name: m.value for m in recording.fetch_measurements(1)}
    assert measured["records_without_launch"] == 2
