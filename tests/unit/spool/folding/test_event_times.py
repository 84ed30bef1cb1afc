"""Node times from events: readings less their bias, as spans."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from spool_writing import FoldRecords, graph_records, launch_record

from gviz.cuda.node_type import NodeType
from gviz.recording.reader import Recording
from gviz.spool.records import table
from gviz.spool.records.format import LAUNCH_EVENTS, OWN_IDS, RecordType

GRAPH, EXEC, BODY = OWN_IDS + 1, OWN_IDS + 2, OWN_IDS + 3
FIRST = 1 << 31
Fold = Callable[[Sequence[tuple[int, bytes]]], Recording]
COLLECTOR = (int(RecordType.COLLECTOR), b"events\nCUPTI cannot be used (why)")


def times(
    correlation: int,
    readings: Sequence[tuple[int, int, int, int]],
    *,
    slices: int = 1,
    position: int = 5_000,
    extent: int = 90_000,
) -> tuple[int, bytes]:
    """Return a NODE_TIMES record of (graph, node, start, between)."""
    head = table.NODE_TIMES.pack(correlation, EXEC, len(readings), slices, 0, position, extent)
    return RecordType.NODE_TIMES, head + b"".join(table.NODE_TIME.pack(*r) for r in readings)


def calibration(
    kind: int, bias: int, *, early: int | None = None, samples: int = 64
) -> tuple[int, bytes]:
    early = bias if early is None else early
    values = (0, kind, bias, early, 30, bias + 800, 800, 64, samples)
    return RecordType.CALIBRATION, table.CALIBRATION.pack(*values)


@pytest.fixture
def folded(fold_records: FoldRecords) -> Fold:
    """Fold records of the events collector."""
    return lambda records: fold_records([COLLECTOR, *records])


CHAIN = graph_records(GRAPH, EXEC, [NodeType.KERNEL, NodeType.MEMSET], [(0, 1)])


def test_bias_is_subtracted_by_kind(folded: Fold) -> None:
    recording = folded(
        [
            *CHAIN,
            calibration(NodeType.KERNEL, 2_600),
            calibration(NodeType.MEMSET, 1_200),
            launch_record(EXEC, FIRST, 1_000),
            times(FIRST, [(GRAPH, 0, 10_000, 12_600), (GRAPH, 1, 24_000, 2_200)]),
        ]
    )
    (launch,) = recording.fetch_launches(1)
    assert (launch.node_method, launch.node_level, launch.span_count) == ("events", 1, 2)
    spans = recording.fetch_spans(launch.launch_id)
    assert spans.duration_ns.tolist() == [10_000, 1_000]
    # Half of the bias lies before the node.
    assert spans.start_ns.tolist() == [0, 24_600 - 11_300]
    assert launch.gpu_start_ns == 5_000 + 11_300
    assert launch.gpu_end_ns == 5_000 + 24_600 + 1_000
    assert launch.event_duration_ns == 90_000
    (statistics, _) = recording.fetch_statistics(1)
    assert (statistics.count, statistics.median_ns) == (1, 10_000)


def test_duration_is_never_below_zero(folded: Fold) -> None:
    recording = folded(
        [
            *CHAIN,
            calibration(NodeType.KERNEL, 2_600),
            launch_record(EXEC, FIRST, 1_000),
            times(FIRST, [(GRAPH, 0, 0, 2_000)]),
        ]
    )
    assert recording.fetch_spans(1).duration_ns.tolist() == [0]


def test_slices_keep_their_places_in_the_launch(folded: Fold) -> None:
    recording = folded(
        [
            *CHAIN,
            launch_record(EXEC, FIRST, 1_000),
            launch_record(EXEC, FIRST + 1, 2_000),
            times(FIRST, [(GRAPH, 0, 10_000, 500)], slices=2),
            times(FIRST + 1, [(GRAPH, 1, 20_000, 700)], slices=2),
        ]
    )
    first, second = recording.fetch_launches(1)
    assert recording.fetch_spans(first.launch_id).start_ns.tolist() == [10_000]
    assert recording.fetch_spans(second.launch_id).start_ns.tolist() == [20_000]
    assert (first.gpu_start_ns, first.gpu_end_ns) == (5_000, 95_000)


def test_host_nodes_are_timed_and_get_an_id(folded: Fold) -> None:
    body = graph_records(BODY, EXEC, [NodeType.HOST, NodeType.KERNEL], parent=(GRAPH, 1))
    recording = folded(
        [
            *graph_records(GRAPH, EXEC, [NodeType.HOST, NodeType.GRAPH]),
            *body,
            launch_record(EXEC, FIRST, 1_000),
            times(FIRST, [(GRAPH, 0, 0, 9), (BODY, 0, 20, 8), (BODY, 1, 40, 7)]),
        ]
    )
    host, child = recording.fetch_nodes(1)
    inner_host, inner_kernel = recording.fetch_nodes(2)
    assert host.not_timed_reason is None
    assert child.not_timed_reason == "its time is that of the nodes of its body"
    ids = [host.exec_node_id, inner_host.exec_node_id, inner_kernel.exec_node_id]
    assert len(set(ids)) == 3
    assert None not in ids
    spans = recording.fetch_spans(1)
    assert spans.graph_id.tolist() == [1, 2, 2]
    assert spans.node_id.tolist() == [0, 0, 1]
    assert spans.duration_ns.tolist() == [9, 8, 7]


def plain_launch(token: int, start: int, duration: int) -> list[tuple[int, bytes]]:
    """Return the records of a launch without node times, timed by two events."""
    call = table.LAUNCH.pack(
        exec_id=EXEC, correlation=FIRST + token, start_ns=start, end_ns=start + 10, thread_id=1,
        result=0, stream_id=7, flags=LAUNCH_EVENTS, token=token,
    )  # fmt: skip
    time = table.LAUNCH_TIME.pack(token, duration)
    return [(RecordType.LAUNCH, call), (RecordType.LAUNCH_TIME, time)]


def plain_launches(count: int, duration: int) -> list[tuple[int, bytes]]:
    """Return the first, which uploads the graph and does not count, and others after it."""
    uploading = plain_launch(90, 500_000, 7 * duration)
    others = [plain_launch(i, 9_000_000 + 1_000 * i, duration) for i in range(1, count + 1)]
    return [*uploading, *(record for launch in others for record in launch)]


#: Durations of three kernels; what two events have beside one; from there to the next one's first.
DURATIONS = (10_000, 4_000, 7_000)
BIAS, EXTRA, STEP = 2_600, 350, 1_000
CHAIN_OF_THREE = graph_records(GRAPH, EXEC, [NodeType.KERNEL] * 3, [(0, 1), (1, 2)])


def copied(lead: int = STEP, untimed: int = 0) -> list[tuple[int, bytes]]:
    """Return a launch of a copy of the chain.

    ``lead``: before the first node; ``untimed``: time of a node without events after it.
    """
    readings, at = [], lead
    for i, duration in enumerate(DURATIONS):
        readings.append((GRAPH, i, at, duration + BIAS + EXTRA))
        at += duration + BIAS + EXTRA + STEP + (untimed if i == 0 else 0)
    called = 1_000_000
    return [
        launch_record(EXEC, FIRST, called),
        times(FIRST, readings, position=called + 5_000, extent=at),
    ]


def timed_spans(recording: Recording) -> tuple[int, ...]:
    (timed,) = [x for x in recording.fetch_launches(1) if x.node_level]
    return tuple(recording.fetch_spans(timed.launch_id).duration_ns.tolist())


@pytest.mark.parametrize(("lead", "untimed"), [(STEP, 0), (20_000, 0), (STEP, 9_000)])
def test_times_of_a_chain_add_up_to_the_plain_launch(folded: Fold, lead: int, untimed: int) -> None:
    plain = lead + sum(DURATIONS) + untimed
    recording = folded(
        [
            *CHAIN_OF_THREE,
            calibration(NodeType.KERNEL, BIAS),
            *copied(lead, untimed),
            *plain_launches(5, plain),
        ]
    )
    assert timed_spans(recording) == DURATIONS
    found = {m.name: m for m in recording.fetch_measurements(1)}["event_extra_bias_ns"]
    assert found.value == EXTRA
    assert found.method.endswith("median of 1 executables, 350 to 350 ns")


def test_extra_bias_beside_branches_is_a_bound(folded: Fold) -> None:
    readings = [(GRAPH, 0, 1_000, 9_000), (GRAPH, 1, 1_500, 8_000), (GRAPH, 2, 11_000, 5_000)]
    recording = folded(
        [
            *graph_records(GRAPH, EXEC, [NodeType.KERNEL] * 3, [(0, 2), (1, 2)]),
            calibration(NodeType.KERNEL, BIAS),
            launch_record(EXEC, FIRST, 1_000_000),
            times(FIRST, readings, position=1_005_000, extent=17_000),
            *plain_launches(5, 99_000),  # branches hold the plain launch up
        ]
    )
    found = {m.name: m for m in recording.fetch_measurements(1)}["event_extra_bias_ns"]
    assert found.value == 0
    assert "; at least so much for 1 with branches" in found.method
    assert timed_spans(recording) == (9_000 - BIAS, 8_000 - BIAS, 5_000 - BIAS)


def test_extra_bias_needs_three_plain_launches(folded: Fold) -> None:
    recording = folded(
        [
            *CHAIN_OF_THREE,
            calibration(NodeType.KERNEL, BIAS),
            *copied(),
            *plain_launches(2, STEP + sum(DURATIONS)),
        ]
    )
    assert "event_extra_bias_ns" not in {m.name for m in recording.fetch_measurements(1)}
    assert timed_spans(recording) == tuple(x + EXTRA for x in DURATIONS)


def _columns(recording: Recording) -> tuple[list[int], list[int]]:
    spans = recording.fetch_spans(1)
    return spans.node_id.tolist(), spans.duration_ns.tolist()


def test_refusal_is_the_reason_of_every_node(folded: Fold) -> None:
    why = "it has conditional nodes"
    refused = (int(RecordType.REFUSED), table.REFUSED.pack(GRAPH, EXEC) + why.encode())
    recording = folded([*CHAIN, refused, launch_record(EXEC, FIRST, 1_000)])
    assert {n.not_timed_reason for n in recording.fetch_nodes(1)} == {why}
    assert f"graph 1: its nodes are not timed: {why}" in [n.text for n in recording.fetch_notes(1)]


def test_refusal_after_times_leaves_them(folded: Fold) -> None:
    why = "the program updates its executable as a whole"
    refused = (int(RecordType.REFUSED), table.REFUSED.pack(GRAPH, EXEC) + why.encode())
    first = launch_record(EXEC, FIRST, 1_000)
    recording = folded([*CHAIN, first, times(FIRST, [(GRAPH, 0, 10, 500)]), refused])
    assert [launch.node_method for launch in recording.fetch_launches(1)] == ["events"]
    assert {node.not_timed_reason for node in recording.fetch_nodes(1)} == {None}
    note = f"graph 1: its nodes are not timed from some launch on: {why}"
    assert note in [n.text for n in recording.fetch_notes(1)]


def test_launch_whose_events_were_lost_has_no_times(folded: Fold) -> None:
    recording = folded([*CHAIN, launch_record(EXEC, FIRST, 1_000), times(FIRST + 9, [])])
    (launch,) = recording.fetch_launches(1)
    assert launch.node_method is None
    assert launch.gpu_start_ns is None


def test_unknown_position_is_after_the_call(folded: Fold) -> None:
    recording = folded(
        [
            *CHAIN,
            launch_record(EXEC, FIRST, 1_000),
            times(FIRST, [(GRAPH, 0, 10, 500)], position=0),
        ]
    )
    (launch,) = recording.fetch_launches(1)
    assert launch.gpu_start_ns == 1_010 + 10


def test_run_names_collector_and_reason(folded: Fold) -> None:
    (run,) = folded(CHAIN).fetch_runs()
    assert (run.collector, run.collector_reason) == ("events", "CUPTI cannot be used (why)")


def test_run_whose_collector_changed_names_both(folded: Fold) -> None:
    counters = [
        (int(RecordType.COUNTER), f"{name}\n1\nn\nm".encode())
        for name in ("attached_ns", "cupti_version")
    ]
    (run,) = folded([*counters, *CHAIN]).fetch_runs()
    assert run.collector == "cupti+events"
    assert run.collector_reason == (
        "CUPTI could be subscribed to; then: CUPTI cannot be used (why)"
    )


def test_calibration_is_a_measurement(folded: Fold) -> None:
    recording = folded([*CHAIN, calibration(NodeType.KERNEL, 2_600)])
    found = {m.name: m for m in recording.fetch_measurements(1)}
    bias = found["event_bias_kernel_device_0_ns"]
    assert bias.value == 2_600
    assert "64 readings" in bias.method
    assert "3400 ns, less 800 ns that a node and the way to the next take" in bias.method
    assert "event_extra_bias_ns" not in found


@pytest.mark.parametrize(("samples", "how"), [(20, "measured"), (0, "estimated")])
def test_early_bias_is_a_measurement_or_an_estimate(folded: Fold, samples: int, how: str) -> None:
    recording = folded([*CHAIN, calibration(NodeType.KERNEL, 2_600, early=3_200, samples=samples)])
    found = {m.name: m for m in recording.fetch_measurements(1)}
    early = found["event_early_bias_kernel_device_0_ns"]
    assert early.value == 3_200
    assert early.method.startswith(how)


@pytest.mark.parametrize(
    ("called", "returned", "position", "expected"),
    [
        (1_000, 16_000, 5_000, [9_400, 10_000]),  # the first reading's middle is at 11,300
        (1_000, 6_000, 5_000, [10_000, 10_000]),
        (1_000, 90_000, 5_000, [9_400, 9_400]),
        (1_000, 90_000, 0, [10_000, 10_000]),  # when it ran is not known
        (1_000, 900_000, 140_000, [9_400, 10_000]),  # the early time ends before a long call
    ],
)
def test_early_nodes_have_a_bias_of_their_own(
    folded: Fold, called: int, returned: int, position: int, expected: list[int]
) -> None:
    chain = graph_records(GRAPH, EXEC, [NodeType.KERNEL, NodeType.KERNEL], [(0, 1)])
    recording = folded(
        [
            *chain,
            calibration(NodeType.KERNEL, 2_600, early=3_200),
            launch_record(EXEC, FIRST, called, end_ns=returned),
            times(FIRST, [(GRAPH, 0, 0, 12_600), (GRAPH, 1, 15_000, 12_600)], position=position),
        ]
    )
    assert recording.fetch_spans(1).duration_ns.tolist() == expected
