"""Node times from events: readings less their bias, as spans."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from spool_writing import FoldRecords, graph_records, launch_record

from gviz.cuda.node_type import NodeType
from gviz.recording.reader import Recording
from gviz.spool.records import table
from gviz.spool.records.format import OWN_IDS, RecordType

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
    values = (0, kind, bias, early, 30, bias + 300, 800, 500, 250, 64, samples)
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


def _columns(recording: Recording) -> tuple[list[int], list[int]]:
    spans = recording.fetch_spans(1)
    return spans.node_id.tolist(), spans.duration_ns.tolist()


def test_refusal_is_the_reason_of_every_node(folded: Fold) -> None:
    why = "it has conditional nodes"
    refused = (int(RecordType.REFUSED), table.REFUSED.pack(GRAPH, EXEC) + why.encode())
    recording = folded([*CHAIN, refused, launch_record(EXEC, FIRST, 1_000)])
    assert {n.not_timed_reason for n in recording.fetch_nodes(1)} == {why}
    assert f"graph 1: its nodes are not timed: {why}" in [n.text for n in recording.fetch_notes(1)]


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
    assert "2900 ns, less 800 ns that CUPTI gives" in bias.method
    assert "plus 500 ns" in bias.method


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
