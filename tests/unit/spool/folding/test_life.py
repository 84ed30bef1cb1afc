"""Records of a graph's life to rows: failures, sums of updates, memory, destruction."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from spool_writing import FoldRecords, graph_records, launch_record

from gviz.cuda.node_type import NodeType
from gviz.recording.reader import Recording
from gviz.spool.records import table
from gviz.spool.records.enums import STACK_REASONS
from gviz.spool.records.format import NO_NODE, NO_STREAM, WALK_FAILED, WHOLE_GRAPH, RecordType

KERNEL, MEMSET = NodeType.KERNEL, NodeType.MEMSET
BEGIN, END, DESTROY, ALLOCATE, UPDATE, SET_PARAMS, INSTANTIATE = 539, 497, 517, 243, 696, 692, 656
RUNTIME_MALLOC = 20
NAMES = {
    BEGIN: "cuStreamBeginCapture_v2",
    END: "cuStreamEndCapture",
    DESTROY: "cuGraphDestroy",
    ALLOCATE: "cuMemAlloc_v2",
    UPDATE: "cuGraphExecUpdate_v2",
    SET_PARAMS: "cuGraphExecKernelNodeSetParams_v2",
    INSTANTIATE: "cuGraphInstantiateWithParams",
}
Records = list[tuple[int, bytes]]
Fold = Callable[[Records], Recording]


@pytest.fixture
def folded(fold_records: FoldRecords) -> Fold:
    """Fold records after the names of the calls."""
    names: Records = [
        (RecordType.CALL_NAME, call.to_bytes(4, "little") + name.encode())
        for call, name in NAMES.items()
    ]
    return lambda records: fold_records([*names, *records])


def life(call: int, start: int, **more: int) -> tuple[int, bytes]:
    values = {"result": 0, "graph": 0, "exec": 0, "flags": 0, "stream": NO_STREAM, "mode": 0} | more
    return RecordType.LIFE, table.LIFE.pack(
        call, 1, start, start + 5, 7, values["result"], values["graph"], values["exec"],
        values["flags"], values["stream"], values["mode"],
    )  # fmt: skip


def error(
    sequence: int, *, graph: int = 5, result: int = 900, flags: int = 0, thread: int = 7,
    call: int = ALLOCATE, runtime: int = 0, time: int = 150,
) -> tuple[int, bytes]:  # fmt: skip
    return RecordType.CAPTURE_ERROR, table.CAPTURE_ERROR.pack(
        sequence, graph, 7, 13, 1, flags, 100, time, call, runtime, result, thread, NO_STREAM, 0, 0
    )


def failed(
    sequence: int, *, graph: int = 5, result: int = 901, walked: int = 0
) -> tuple[int, bytes]:
    return RecordType.CAPTURE_FAILED, table.CAPTURE_FAILED.pack(
        sequence, graph, 7, 13, 1, walked, 100, 200, result, 7
    )


def created(graph: int, node: int, kind: int) -> tuple[int, bytes]:
    node_id = graph << 32 | node
    return RecordType.CREATED, table.CREATED.pack(node_id, 110 + node, 7, 13, 0, 0, kind)


# -- captures --------------------------------------------------------------------------------------


def test_first_error_of_a_capture_is_the_culprit(folded: Fold) -> None:
    name = RUNTIME_MALLOC.to_bytes(4, "little") + b"cudaMalloc_v3020"
    recording = folded([
        (RecordType.RUNTIME_CALL_NAME, name),
        created(5, 0, KERNEL), created(5, 1, MEMSET), created(6, 0, KERNEL),
        error(1, runtime=RUNTIME_MALLOC), error(1, result=901, call=END, time=160), failed(1),
    ])  # fmt: skip
    (failure,) = recording.fetch_capture_failures(1)
    assert (failure.error_call, failure.error_api) == ("cuMemAlloc_v2", "cudaMalloc")
    assert (failure.error_result, failure.error_ns) == (900, 150)
    assert (failure.result, failure.result_name) == (901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED")
    assert (failure.rule, failure.start_ns, failure.end_ns) == ("unsafe call", 100, 200)
    assert (failure.mode, failure.stream_id, failure.error_stream_id) == (1, 13, None)
    assert failure.stack_reason == STACK_REASONS[0]
    assert failure.graph_id is not None
    graph = recording.fetch_graph(failure.graph_id)
    assert (graph.origin, graph.topology_id, graph.capture_mode) == ("failed capture", None, 1)
    nodes = recording.fetch_nodes(graph.graph_id)
    assert [(n.node_id, n.name, n.exec_node_id) for n in nodes] == [
        (0, "KERNEL", None), (1, "MEMSET", None),
    ]  # fmt: skip


def test_walk_before_the_failure_gives_its_nodes_and_edges(folded: Fold) -> None:
    recording = folded([
        *graph_records(5, WALK_FAILED, [KERNEL, KERNEL], [(0, 1)]),
        error(1), failed(1, walked=1),
        *graph_records(8, 9, [KERNEL]),
    ])  # fmt: skip
    (failure,) = recording.fetch_capture_failures(1)
    assert failure.graph_id is not None
    graph = recording.fetch_graph(failure.graph_id)
    assert graph.topology_id is not None
    assert len(recording.fetch_edges(graph.topology_id)) == 1
    assert [n.name for n in recording.fetch_nodes(graph.graph_id)] == ["work", "work"]
    (good,) = [g for g in recording.fetch_graphs(1) if g.origin != "failed capture"]
    assert len(recording.fetch_graph_execs(good.graph_id)) == 1
    assert recording.fetch_graph_execs(graph.graph_id) == []


def test_process_killed_before_the_end_keeps_the_error(folded: Fold) -> None:
    (failure,) = folded([error(1)]).fetch_capture_failures(1)
    assert (failure.end_ns, failure.result, failure.rule) == (None, None, "unsafe call")
    assert failure.graph_id is None


def test_capture_that_went_on_after_an_end_on_the_wrong_thread_did_not_fail(folded: Fold) -> None:
    assert folded([error(1, result=908, call=END, flags=4)]).fetch_capture_failures(1) == []


def test_call_of_another_thread_is_marked_as_one(folded: Fold) -> None:
    (failure,) = folded([error(1, thread=8), failed(1)]).fetch_capture_failures(1)
    assert failure.rule == "cross-thread call in global mode"
    assert (failure.thread_id, failure.error_thread_id) == (7, 8)


def test_destroyed_stream(folded: Fold) -> None:
    (failure,) = folded([error(1, result=0, call=0, flags=1)]).fetch_capture_failures(1)
    assert failure.rule == "capturing stream destroyed"
    assert (failure.error_call, failure.error_result) == (None, None)


def test_capture_never_ended_is_reported_once(folded: Fold) -> None:
    recording = folded([
        life(BEGIN, 100, stream=13, mode=1), error(1),
        life(BEGIN, 300, stream=14, mode=2),
        life(BEGIN, 400, stream=15), life(END, 500, stream=15, graph=4),
    ])  # fmt: skip
    first, second = recording.fetch_capture_failures(1)
    assert (first.start_ns, first.rule) == (100, "unsafe call")
    assert (second.start_ns, second.rule, second.mode) == (300, "never ended", 2)


# -- updates ---------------------------------------------------------------------------------------


def updates(
    node: int, calls: int, first: int, *, call: int = SET_PARAMS, result: int = 0,
    value: int = 0, graph: int = 1,
) -> tuple[int, bytes]:  # fmt: skip
    return RecordType.UPDATES, table.UPDATES.pack(
        2, node, call, result, value, calls, 7, graph, first, first + calls, 10 * calls
    )


def update_failed(
    graph: int, *, node: int = NO_NODE, start: int = 0, walked: int = 1, detail: int = 3
) -> tuple[int, bytes]:
    return RecordType.UPDATE_FAILED, table.UPDATE_FAILED.pack(
        2, graph, UPDATE, 7, start, start + 4, 910, detail, node, NO_NODE, walked
    )


def test_updates_written_in_pieces_are_added_up(folded: Fold) -> None:
    recording = folded([
        *graph_records(1, 2, [KERNEL, KERNEL]),
        updates(0, 100, 1000), updates(1, 1, 1500), updates(0, 50, 2000), updates(0, 7, 500),
    ])  # fmt: skip
    first, second = recording.fetch_graph_updates(1)
    assert (first.node_id, first.count, first.total_ns) == (0, 157, 1570)
    assert (first.first_ns, first.last_ns, first.graph_exec_id) == (500, 2050, 1)
    assert (first.kind, first.call) == ("node", "cuGraphExecKernelNodeSetParams_v2")
    assert (second.node_id, second.count) == (1, 1)


def updates_passed(node: int, count: int, to: int = 0) -> tuple[int, bytes]:
    return RecordType.UPDATES_PASSED, table.UPDATES_PASSED.pack(2, 1, node, SET_PARAMS, count, to)


def test_updates_that_passed_are_as_long_as_the_mean_of_the_timed_ones(folded: Fold) -> None:
    recording = folded([
        *graph_records(1, 2, [KERNEL, KERNEL, KERNEL]),
        updates(0, 16, 1000), updates_passed(0, 700), updates(0, 4, 3000),
        updates_passed(0, 280, 3400),
        updates(0, 2, 3500, result=1), updates(1, 1, 1500),
        updates_passed(2, 9),  # the record of those that were timed is lost
    ])  # fmt: skip
    good, other, refused = sorted(
        recording.fetch_graph_updates(1), key=lambda u: (u.result, -u.count)
    )
    assert (good.node_id, good.count, good.total_ns) == (0, 1000, 10_000)
    assert (good.first_ns, good.last_ns) == (1000, 3400)
    assert (other.node_id, other.count, refused.count) == (1, 1, 2)
    (measured,) = (m for m in recording.fetch_measurements(1) if m.name == "updates_counted")
    assert measured.value == 989
    assert measured.method.endswith("the timed ones: 20 of 1,009")


def test_node_of_another_graph_is_not_named(folded: Fold) -> None:
    (row,) = folded([
        *graph_records(1, 2, [KERNEL]), updates(0, 1, 100, result=1, graph=77),
    ]).fetch_graph_updates(1)  # fmt: skip
    assert (row.node_id, row.result) == (None, 1)


def test_failed_updates_say_what_differed_and_the_rest_are_counted(folded: Fold) -> None:
    recording = folded([
        *graph_records(1, 2, [KERNEL, KERNEL], [(0, 1)]),
        *graph_records(8, WALK_FAILED, [KERNEL, MEMSET], [(0, 1)]),
        update_failed(8, node=8 << 32 | 1, start=100),
        *graph_records(9, WALK_FAILED, [KERNEL, MEMSET], [(0, 1)]),
        update_failed(9, node=9 << 32 | 1, start=200),
        updates(WHOLE_GRAPH, 5, 100, call=UPDATE, result=910, value=3, graph=0),
        updates(WHOLE_GRAPH, 9, 90, call=UPDATE, graph=0),
    ])  # fmt: skip
    good, reported, rest = sorted(
        recording.fetch_graph_updates(1), key=lambda u: (u.result, u.count)
    )
    assert (good.kind, good.count, good.detail, good.difference) == ("graph", 9, None, None)
    assert (reported.count, reported.failing_node_id, reported.total_ns) == (2, 1, 8)
    assert (
        reported.difference == "node 1: type changed from KERNEL work to MEMSET (NODE_TYPE_CHANGED)"
    )
    assert (reported.first_ns, reported.last_ns) == (100, 200)
    assert (rest.count, rest.failing_node_id, rest.detail_name) == (3, None, "NODE_TYPE_CHANGED")
    assert [g.cuda_graph_id for g in recording.fetch_graphs(1)] == [1]


def test_failed_update_of_a_graph_that_was_not_read(folded: Fold) -> None:
    (row,) = folded([
        *graph_records(1, 2, [KERNEL]), update_failed(8, walked=0, detail=-1),
    ]).fetch_graph_updates(1)  # fmt: skip
    assert (row.detail, row.detail_name) == (None, None)
    assert row.difference is not None
    assert "was not read" in row.difference


# -- executables -----------------------------------------------------------------------------------


def test_refused_instantiation_keeps_its_graph_and_names_the_node(folded: Fold) -> None:
    record = table.INSTANTIATE_FAILED.pack(5, INSTANTIATE, 7, 1, 100, 150, 4, 801, 3, 5 << 32 | 1)
    recording = folded([
        *graph_records(5, WALK_FAILED, [KERNEL, MEMSET]),
        (RecordType.INSTANTIATE_FAILED, record), (RecordType.INSTANTIATE_FAILED, record),
    ])  # fmt: skip
    first, second = recording.fetch_instantiate_failures(1)
    assert (first.node_id, first.detail_name) == (1, "NODE_OPERATION_NOT_SUPPORTED")
    assert (first.call, first.flags, first.result) == ("cuGraphInstantiateWithParams", 4, 801)
    assert first.explanation.startswith("Refused at node 1 (MEMSET MEMSET): ")
    assert first.graph_id == second.graph_id is not None
    assert recording.fetch_graph(first.graph_id).origin == "failed instantiation"


@pytest.mark.parametrize(("graph", "is_said"), [(5, True), (9, False)])
def test_executable_of_the_same_graph_alone_explains_a_refusal(
    folded: Fold, graph: int, is_said: bool
) -> None:
    record = table.INSTANTIATE_FAILED.pack(graph, INSTANTIATE, 7, 1, 100, 150, 4, 801, 3, 0)
    recording = folded([
        *graph_records(5, 2, [NodeType.MEM_ALLOC]), life(INSTANTIATE, 10, exec=2, graph=5),
        *graph_records(9, WALK_FAILED, [NodeType.MEM_ALLOC]),
        (RecordType.INSTANTIATE_FAILED, record),
    ])  # fmt: skip
    (found,) = recording.fetch_instantiate_failures(1)
    assert ("one executable at a time, and one existed" in found.explanation) == is_said


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([(1, 1000, 900), (3, 900, 850)], 150),
        ([(1, 1000, 1000)], 0),
        ([(1, 900, 1000)], None),
        ([], None),
    ],
)
def test_device_memory_is_the_sum_of_what_each_step_took(
    folded: Fold, changes: list[tuple[int, int, int]], expected: int | None
) -> None:
    memory = [(RecordType.DEVICE_MEMORY, table.DEVICE_MEMORY.pack(2, *c)) for c in changes]
    recording = folded([*graph_records(1, 2, [KERNEL]), *memory])
    (graph_exec,) = recording.fetch_graph_execs(1)
    assert graph_exec.device_memory_bytes == expected


def test_graph_made_and_instantiated_again_could_have_been_an_update(folded: Fold) -> None:
    recording = folded([
        *graph_records(1, 2, [KERNEL, KERNEL], [(0, 1)]), life(INSTANTIATE, 10, exec=2, graph=1),
        launch_record(2, 1, 20), life(DESTROY, 30, graph=1),
        *graph_records(3, 4, [KERNEL, KERNEL], [(0, 1)]), life(INSTANTIATE, 40, exec=4, graph=3),
        launch_record(4, 2, 50),
    ])  # fmt: skip
    (first,), (second,) = (recording.fetch_graph_execs(g) for g in (1, 2))
    assert first.could_update_graph_exec_id is None
    assert second.could_update_graph_exec_id == first.graph_exec_id
    assert recording.fetch_graph(1).destroyed_ns == 35
    assert recording.fetch_graph(2).destroyed_ns is None
