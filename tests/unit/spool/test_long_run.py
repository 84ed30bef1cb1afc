"""Long runs: what is kept as rows, bins and statistics is together what was recorded."""

from __future__ import annotations

import random
import tarfile
import tracemalloc
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from golden_spools import FOLDER, NAMES, SUFFIX, dump
from spool_writing import (
    KERNEL_NAME,
    buffer,
    conditional_record,
    graph_records,
    kernel,
    name_records,
    node_id,
    work,
)

from gviz.cuda.node_type import NodeType
from gviz.recording.all_launches import LaunchArrays
from gviz.recording.reader import Recording
from gviz.spool.folding.recording_fold import fold
from gviz.spool.records import format as f
from gviz.spool.records import table
from gviz.spool.records.format import RecordType
from gviz.spool.records.reader import Record, SpoolReader
from gviz.spool.streams.contents import Contents
from gviz.spool.streams.launch_bins import FIRST_INTERVAL_NS, MOST_BINS, LaunchBins
from gviz.spool.streams.passed_launches import MOST_TIMES, PassedLaunches
from gviz.spool.streams.retention import Retention
from gviz.stats.sketch import RELATIVE_ERROR

KERNEL, CONDITIONAL = NodeType.KERNEL, NodeType.CONDITIONAL
#: So little is kept as rows that every rule is at work in a few dozen launches.
SMALL = Retention(
    always_launches=2, span_launches=4, exec_spans=1_000, plain_launches=2, run_launches=3,
    row_launches=1_000, block_launches=5, open_blocks=20,
)  # fmt: skip
Records = Sequence[tuple[int, bytes]]


def reported(
    records: Sequence[Record], limits: Retention | None = None, cuts: frozenset[int] = frozenset()
) -> Contents:
    """Take records in, settling what came at some of them."""
    contents = Contents() if limits is None else Contents(limits)
    for i, record in enumerate(records):
        contents.add(record)
        if i in cuts:
            contents.activity_stream.settle()
    contents.finish()
    return contents


def folded(contents: Contents, folder: Path, name: str = "x") -> Recording:
    return Recording(fold(contents, folder / "x.gviz-spool", folder / f"{name}.gviz"))


def launch(
    exec_id: int, correlation: int, start: int, *, token: int = 0, level: int = 1
) -> tuple[int, bytes]:
    flags = f.LAUNCH_NODE_LEVEL if level else 0
    values = (exec_id, correlation, start, start + 10 + correlation % 7, 1, 0, 7, flags, token)
    return RecordType.LAUNCH, table.LAUNCH.pack(*values)


def launch_time(token: int, duration: int) -> tuple[int, bytes]:
    return RecordType.LAUNCH_TIME, table.LAUNCH_TIME.pack(token, duration)


def as_records(found: Records) -> list[Record]:
    head = [(RecordType.META, b'{"name": "test", "process_id": 1}'), *name_records()]
    return [Record(int(kind), payload) for kind, payload in [*head, *found, (RecordType.END, b"")]]


def columns(launches: LaunchArrays) -> dict[str, list[int]]:
    """Return the arrays; which launches have a row is left out."""
    names = [field.name for field in fields(launches) if field.name != "launch_id"]
    return {name: getattr(launches, name).tolist() for name in names}


# -- spools of a real GPU ------------------------------------------------------------------------


@pytest.fixture(scope="module", params=NAMES)
def golden(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, list[Record]]:
    folder = tmp_path_factory.mktemp(request.param)
    with tarfile.open(FOLDER / f"{request.param}{SUFFIX}") as tar:
        tar.extractall(folder / "x.gviz-spool", filter="data")
    return folder, list(SpoolReader(folder / "x.gviz-spool").records())


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [1, 2])
def test_spool_settled_anywhere_folds_to_the_same_recording(
    golden: tuple[Path, list[Record]], seed: int, tmp_path: Path
) -> None:
    folder, records = golden
    cuts = frozenset(random.Random(seed).sample(range(len(records)), min(40, len(records))))
    (tmp_path / "x.gviz-spool").symlink_to(folder / "x.gviz-spool")
    with folded(reported(records), tmp_path, "whole") as whole:
        text = dump(whole.path)
    with folded(reported(records, cuts=cuts), tmp_path, "cut") as cut:
        assert dump(cut.path) == text


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_what_has_no_spans_is_in_launches_and_statistics(
    golden: tuple[Path, list[Record]], seed: int, tmp_path: Path
) -> None:
    _, records = golden
    cuts = frozenset(random.Random(seed).sample(range(len(records)), min(40, len(records))))
    with (
        folded(reported(records), tmp_path, "whole") as whole,
        folded(reported(records, SMALL, cuts), tmp_path, "small") as small,
    ):
        kept = small.fetch_launches_with_spans(1)
        assert len(kept) < len(whole.fetch_launches_with_spans(1))
        assert columns(small.fetch_launch_arrays(1)) == columns(whole.fetch_launch_arrays(1))
        assert small.count_launches(1) == whole.count_launches(1)
        assert small.fetch_launch_costs(1) == whole.fetch_launch_costs(1)
        pairs = zip(small.fetch_launches(1), whole.fetch_launches(1), strict=True)
        for found, same in pairs:
            assert replace(found, launch_id=same.launch_id, span_count=same.span_count) == same
            assert found.span_count in (0, same.span_count)
        nodes = zip(small.fetch_statistics(1), whole.fetch_statistics(1), strict=True)
        for found, exact in nodes:
            assert found.streamed_count > 0
            assert found.quantile_error_fraction == RELATIVE_ERROR
            assert exact.quantile_error_fraction is None
            for name in ("node_id", "count", "total_ns", "min_ns", "max_ns"):
                assert getattr(found, name) == getattr(exact, name)
            spans = whole.fetch_node_durations(1, (exact.graph_id, exact.node_id))
            for name, fraction in (("median_ns", 50), ("p5_ns", 5), ("p95_ns", 95)):
                at_rank = np.percentile(spans, fraction, method="lower")
                assert getattr(found, name) == pytest.approx(at_rank, rel=RELATIVE_ERROR)


# -- made-up runs --------------------------------------------------------------------------------


def chain_run(launches: int, *, nodes: int = 3, late_times: bool = False) -> list[Record]:
    """A chain launched again and again, each launch recorded and timed by events."""
    found: list[tuple[int, bytes]] = [
        *graph_records(1, 2, [KERNEL] * nodes, [(i, i + 1) for i in range(nodes - 1)])
    ]
    times = []
    for i in range(launches):
        start = 10_000 * (i + 1)
        found.append(launch(2, i + 1, start, token=i + 1))
        spans = [work(2, n, i + 1, start + 1_000 + 100 * n, 50 + i % 10) for n in range(nodes)]
        found.append((RecordType.BUFFER, buffer(spans)))
        times.append(launch_time(i + 1, 1_000 + i))
        if not late_times:
            found.append(times.pop())
    return as_records([*found, *times])


@pytest.mark.parametrize("late_times", [False, True], ids=["at once", "at the end"])
def test_every_launch_keeps_its_times(tmp_path: Path, late_times: bool) -> None:
    records = chain_run(60, late_times=late_times)
    with folded(reported(records, SMALL), tmp_path) as recording:
        launches = recording.fetch_launch_arrays(1)
        assert launches.ordinal.tolist() == list(range(60))
        assert launches.host_start_ns.tolist() == [10_000 * (i + 1) for i in range(60)]
        assert launches.event_duration_ns.tolist() == [1_000 + i for i in range(60)]
        assert launches.gpu_duration_ns.tolist() == [250 + i % 10 for i in range(60)]
        assert len(recording.fetch_launches_with_spans(1)) == SMALL.span_launches
        assert len(recording.fetch_launches(1)) == 60
        (execution,) = recording.fetch_graph_execs(1)
        assert execution.launch_count == 60
        assert {s.count for s in recording.fetch_statistics(1)} == {60}
        assert {s.streamed_count for s in recording.fetch_statistics(1)} == {56}
        measured = {m.name: m for m in recording.fetch_measurements(1)}
        assert "launches_without_row" not in measured
        assert measured["spans_without_row"].value == 3 * 56
        assert "4 while they are fewer" in measured["spans_without_row"].method
        assert measured["launches_without_node_times"].value == 0


def test_short_run_says_nothing_of_length(tmp_path: Path) -> None:
    with folded(reported(chain_run(5)), tmp_path) as recording:
        names = {m.name for m in recording.fetch_measurements(1)}
        assert not names & {"launches_without_row", "spans_without_row", "launch_bin_interval_ns"}
        assert len(recording.fetch_launches(1)) == 5


@pytest.mark.parametrize("open_blocks", [20, 1], ids=["all at once", "before their times come"])
def test_launches_beyond_the_first_are_binned_and_counted(tmp_path: Path, open_blocks: int) -> None:
    limits = Retention(
        always_launches=2, span_launches=2, plain_launches=0, row_launches=12, block_launches=5,
        open_blocks=open_blocks,
    )  # fmt: skip
    records = chain_run(60, late_times=True)
    last_launch = len(records) - 60 - 2  # before its times and the end
    contents = reported(records, limits, frozenset([last_launch]))
    with folded(contents, tmp_path) as recording:
        assert recording.fetch_launch_arrays(1).ordinal.tolist() == list(range(12))
        assert recording.count_launches(1) == (60, 60)
        assert recording.fetch_graph_execs(1)[0].launch_count == 60
        events = recording.fetch_weighted_durations(1, "graph", "event")
        assert events.count == 60
        assert events.total_ns == pytest.approx(sum(1_000 + i for i in range(60)), rel=0.01)
        assert events.median_ns() == pytest.approx(1_029.5, rel=0.011)
        gpu = recording.fetch_weighted_durations(1, "graph", "gpu")
        assert gpu.count == 60
        assert gpu.median_ns() == pytest.approx(254.5, rel=0.02)
        measured = {m.name: m for m in recording.fetch_measurements(1)}
        assert measured["launch_bin_interval_ns"].value == FIRST_INTERVAL_NS
        assert "first 12 are" in measured["launch_bin_interval_ns"].method


def test_records_that_come_before_their_call_find_it(tmp_path: Path) -> None:
    records = chain_run(30)
    # Each buffer before the launch call's own record; then everything of a call a batch late.
    swapped = list(records)
    for i, record in enumerate(swapped[:-1]):
        if record.type == RecordType.LAUNCH:
            swapped[i], swapped[i + 1] = swapped[i + 1], swapped[i]
    cuts = frozenset(i for i, r in enumerate(swapped) if r.type == RecordType.BUFFER)
    with (
        folded(reported(records, SMALL), tmp_path, "ordered") as ordered,
        folded(reported(swapped, SMALL, cuts), tmp_path, "swapped") as found,
    ):
        assert columns(found.fetch_launch_arrays(1)) == columns(ordered.fetch_launch_arrays(1))
        assert found.fetch_statistics(1) == ordered.fetch_statistics(1)


def test_impossible_launch_without_a_row_is_left_out(tmp_path: Path) -> None:
    found: list[tuple[int, bytes]] = [*graph_records(1, 2, [KERNEL, KERNEL], [(0, 1)])]
    for i in range(20):
        start = 100_000 * (i + 1)
        found.append(launch(2, i + 1, start))
        # In launch 15 the first node "ends" long after the second began.
        long = 50_000 if i == 15 else 100
        spans = [work(2, 0, i + 1, start, long), work(2, 1, i + 1, start + 200)]
        found += [(RecordType.BUFFER, buffer([span])) for span in spans]
    with folded(reported(as_records(found), SMALL), tmp_path) as recording:
        measured = {m.name: m.value for m in recording.fetch_measurements(1)}
        assert measured["launches_with_impossible_times"] == 1
        assert measured["launches_without_node_times"] == 0
        assert [(s.count, s.max_ns) for s in recording.fetch_statistics(1)] == [(19, 100), (19, 10)]
        gpu = recording.fetch_launch_arrays(1).gpu_duration_ns
        assert [i for i, ns in enumerate(gpu.tolist()) if ns < 0] == [15]


@pytest.mark.parametrize("batch", [1, 3, 1_000])
def test_loop_bodies_are_divided_where_rows_end(tmp_path: Path, batch: int) -> None:
    found: list[tuple[int, bytes]] = [
        *graph_records(1, 2, [KERNEL, CONDITIONAL], [(0, 1)]),
        *graph_records(3, 2, [KERNEL], parent=(1, 1)),
    ]
    for i in range(12):
        start = 10_000 * (i + 1)
        found.append(launch(2, i + 1, start))
        spans = [work(2, 0, i + 1, start + 100)]
        spans += [
            work(2, 2, 0, start + 200 + 100 * iteration, 20) for iteration in range(i % 4 + 1)
        ]
        found.append((RecordType.BUFFER, buffer(spans)))
    records = as_records(found)
    cuts = frozenset(range(0, len(records), batch))
    with folded(reported(records, SMALL, cuts), tmp_path) as recording:
        kept = recording.fetch_launches_with_spans(1)
        assert [x.span_count for x in kept] == [2, 3, 4, 5]
        body = recording.fetch_statistics(1)[1]
        assert (body.graph_id, body.node_id) == (2, 0)
        assert body.count == sum(i % 4 + 1 for i in range(12))
        assert body.streamed_count == body.count - 10
        ends = [110, *(220 + 100 * iteration for iteration in range(4))]
        expected = [ends[i % 4 + 1] - 100 for i in range(12)]
        assert recording.fetch_launch_arrays(1).gpu_duration_ns.tolist() == expected


@pytest.mark.parametrize("batch", [1, 3, 1_000])
@pytest.mark.parametrize("iterations", [1, 3])
def test_bodies_before_every_other_node_go_to_the_launch_that_follows(
    tmp_path: Path, batch: int, iterations: int
) -> None:
    found: list[tuple[int, bytes]] = [
        *graph_records(1, 2, [CONDITIONAL, KERNEL], [(0, 1)]),
        conditional_record(1, 0, 1),
        *graph_records(3, 2, [KERNEL], parent=(1, 0)),
    ]
    for i in range(12):
        start = 10_000 * (i + 1)
        found.append(launch(2, i + 1, start))
        # In every third launch the branch is not taken.
        spans = [work(2, 2, 0, start + 100 * n, 20) for n in range(iterations if i % 3 else 0)]
        spans.append(work(2, 1, i + 1, start + 1_000, 50))
        found.append((RecordType.BUFFER, buffer(spans)))
    records = as_records(found)
    cuts = frozenset(range(0, len(records), batch))
    with folded(reported(records, SMALL, cuts), tmp_path) as recording:
        kept = recording.fetch_launches_with_spans(1)
        assert [x.span_count for x in kept] == [1, 1 + iterations, 1 + iterations, 1]
        top, body = recording.fetch_graphs()
        (inner,) = recording.fetch_statistics(body.graph_id)
        assert (inner.count, inner.streamed_count) == (8 * iterations, 6 * iterations)
        expected = [1_050 if i % 3 else 50 for i in range(12)]
        assert recording.fetch_launch_arrays(top.graph_id).gpu_duration_ns.tolist() == expected
        measured = {m.name: m.value for m in recording.fetch_measurements(1)}
        assert "body_spans_ambiguous" not in measured
        assert "records_without_launch" not in measured


def test_bodies_beside_other_nodes_are_doubtful_between_launches_without_rows(
    tmp_path: Path,
) -> None:
    found: list[tuple[int, bytes]] = [
        *graph_records(1, 2, [CONDITIONAL, KERNEL]),
        conditional_record(1, 0, 1),
        *graph_records(3, 2, [KERNEL], parent=(1, 0)),
    ]
    for i in range(12):
        start = 10_000 * (i + 1)
        found.append(launch(2, i + 1, start))
        spans = [work(2, 1, i + 1, start + 100, 50), work(2, 2, 0, start + 120, 10)]
        spans += [work(2, 2, 0, start + 500, 10)] * (i in (1, 8))
        found.append((RecordType.BUFFER, buffer(spans)))
    with folded(reported(as_records(found), SMALL), tmp_path) as recording:
        kept = recording.fetch_launches_with_spans(1)
        assert [(x.span_count, x.ambiguous_count) for x in kept] == [
            (2, 0), (3, 1), (2, 0), (2, 0),
        ]  # fmt: skip
        measured = {m.name: m.value for m in recording.fetch_measurements(1)}
        assert measured["body_spans_ambiguous"] == 2


@pytest.mark.parametrize("batch", [1, 1_000])
def test_bodies_alone_are_counted_for_no_launch_once_rows_end(tmp_path: Path, batch: int) -> None:
    found: list[tuple[int, bytes]] = [
        *graph_records(1, 2, [CONDITIONAL]),
        conditional_record(1, 0, 1),
        *graph_records(3, 2, [KERNEL], parent=(1, 0)),
    ]
    for i in range(12):
        start = 100_000 * (i + 1)
        found.append(launch(2, i + 1, start))
        spans = [work(2, 1, 0, start + 100 * n, 20) for n in (1, 2)]
        found.append((RecordType.BUFFER, buffer(spans)))
    records = as_records(found)
    cuts = frozenset(range(0, len(records), batch))
    with folded(reported(records, SMALL, cuts), tmp_path) as recording:
        kept = recording.fetch_launches_with_spans(1)
        assert [(x.span_count, x.ambiguous_count) for x in kept] == [(2, 0)] * 4
        (statistics,) = recording.fetch_statistics(1)
        assert (statistics.count, statistics.streamed_count) == (24, 16)
        gpu = recording.fetch_launch_arrays(1).gpu_duration_ns.tolist()
        assert gpu == [120] * 4 + [-1] * 8


def test_records_without_times_are_counted_wherever_they_come(tmp_path: Path) -> None:
    bad = [
        kernel(node=node_id(2, 1), start=0, end=0, correlation=40, name=KERNEL_NAME),
        kernel(node=node_id(2, 1), start=900_000, end=899_000, correlation=41, name=KERNEL_NAME),
        kernel(start=0, end=77, name=KERNEL_NAME),
    ]
    records = chain_run(50)
    records.insert(len(records) - 1, Record(RecordType.BUFFER, buffer(bad)))
    with folded(reported(records, SMALL), tmp_path) as recording:
        measured = {m.name: m.value for m in recording.fetch_measurements(1)}
        assert measured["activity_records_invalid"] == 3
        assert [s.count for s in recording.fetch_statistics(1)] == [50, 50, 50]
        assert min(s.min_ns for s in recording.fetch_statistics(1)) == 50
        assert recording.fetch_run_stream_operations(1) == []


def test_operations_outside_graphs_beyond_the_limit_are_counted(tmp_path: Path) -> None:
    spans = [kernel(start=100 * i + 1, end=100 * i + 51, name=KERNEL_NAME) for i in range(30)]
    records = as_records([(RecordType.BUFFER, buffer([span])) for span in spans])
    with folded(reported(records, Retention(operations=12)), tmp_path) as recording:
        assert len(recording.fetch_run_stream_operations(1)) == 12
        measured = {m.name: m.value for m in recording.fetch_measurements(1)}
        assert measured["stream_operations_left_out"] == 18


def test_several_executables_share_the_ordinals_of_their_graph(tmp_path: Path) -> None:
    # The same template instantiated twice; the second executable is launched in between.
    found: list[tuple[int, bytes]] = [
        *graph_records(1, 2, [KERNEL]), *graph_records(1, 3, [KERNEL])
    ]  # fmt: skip
    for i in range(40):
        exec_id = 3 if i % 10 == 9 else 2
        found.append(launch(exec_id, i + 1, 1_000 * (i + 1), level=0))
    with folded(reported(as_records(found), SMALL), tmp_path) as recording:
        launches = recording.fetch_launch_arrays(1)
        assert launches.ordinal.tolist() == list(range(40))
        # Numbers of those that come first in the file, because their spans would be rows.
        assert np.flatnonzero(launches.launch_id <= 3).tolist() == [0, 1, 9]
        assert np.flatnonzero(launches.graph_exec_id == 2).tolist() == [9, 19, 29, 39]


# -- launches of which only the number is known ------------------------------------------------


def passed(exec_id: int, count: int, start: int, end: int) -> tuple[int, bytes]:
    return RecordType.LAUNCHES_PASSED, table.LAUNCHES_PASSED.pack(exec_id, count, start, end)


def test_launches_that_passed_are_counted_and_have_a_place(tmp_path: Path) -> None:
    found: list[tuple[int, bytes]] = [
        *graph_records(1, 2, [KERNEL]), *graph_records(3, 4, [KERNEL]),
        launch(2, 1, 1_000, level=0), launch(4, 2, 2_000, level=0),
        passed(2, 7, 1_000, 2_500), launch(2, 3, 3_000, level=0),
        passed(2, 5, 3_000, 3_500), passed(4, 9, 2_000, 4_000),
    ]  # fmt: skip
    with folded(reported(as_records(found)), tmp_path) as recording:
        execs = [
            e for g in recording.fetch_graphs() for e in recording.fetch_graph_execs(g.graph_id)
        ]
        assert [e.launch_count for e in execs] == [14, 10]
        assert [recording.count_launches(g.graph_id) for g in recording.fetch_graphs()] == [
            (14, 0), (10, 0)
        ]  # fmt: skip
        assert recording.fetch_launch_arrays(1).ordinal.tolist() == [0, 8]
        # Only those that have a time weigh.
        assert recording.fetch_weighted_durations(1, "graph", "host").count == 2
        measured = {m.name: m.value for m in recording.fetch_measurements(1)}
    assert measured["launches_counted"] == 21
    assert measured["launch_bin_interval_ns"] == FIRST_INTERVAL_NS


def test_numbers_of_launches_do_not_grow_without_end() -> None:
    launches = PassedLaunches()
    for i in range(2 * MOST_TIMES):
        launches.add(1, 2, i * 1_000_000)
    assert launches.counts[1] == 4 * MOST_TIMES
    assert len(launches) <= MOST_TIMES + MOST_TIMES // 1_000 + 1
    times = np.array([-1, 0, 5_000_000, 10**18])
    assert launches.before(1, times).tolist() == [0, 2, 12, 4 * MOST_TIMES]


# -- bins --------------------------------------------------------------------------------------


def test_bins_widen_instead_of_growing_in_number() -> None:
    bins, one = LaunchBins(), np.ones(1_000, np.int64)
    for hour in range(20):
        called = (np.arange(1_000) + 1_000 * hour) * FIRST_INTERVAL_NS
        bins.add("host", 2 * one, 0 * one, called, 10 * one + hour)
    assert len(bins) <= MOST_BINS
    assert bins.interval_ns == 8 * FIRST_INTERVAL_NS
    found = list(bins.bins())
    assert sum(int(b.histogram.count.sum()) for b in found) == 20_000
    assert sum(b.total_ns for b in found) == sum(1_000 * (10 + hour) for hour in range(20))
    assert all(b.start_ns % bins.interval_ns == 0 for b in found)


# -- memory ------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_memory_does_not_grow_with_the_launches() -> None:
    limits = Retention(
        span_launches=20,
        plain_launches=20,
        run_launches=20,
        row_launches=2_000,
        block_launches=500,
    )

    def held(launches: int) -> int:
        contents = Contents(limits)
        tracemalloc.start()
        try:
            for record in chain_run_lazily(launches):
                contents.add(record)
            contents.activity_stream.settle()
            current, _ = tracemalloc.get_traced_memory()
            return current
        finally:
            tracemalloc.stop()

    few, many = held(4_000), held(10_000)
    assert many < few + 200_000  # 6,000 launches of three nodes were 2 MB as records


def chain_run_lazily(launches: int) -> Iterator[Record]:
    yield from as_records(graph_records(1, 2, [KERNEL] * 3, [(0, 1), (1, 2)]))[:-1]
    for i in range(launches):
        start = 10_000 * (i + 1)
        kind, payload = launch(2, i + 1, start, token=i + 1)
        yield Record(kind, payload)
        spans = [work(2, n, i + 1, start + 1_000 + 100 * n, 50 + i % 10) for n in range(3)]
        yield Record(RecordType.BUFFER, buffer(spans))
        yield Record(*launch_time(i + 1, 1_000 + i % 100))


def test_reader_serves_a_graph_without_launches(tmp_path: Path) -> None:
    records = as_records(graph_records(1, 2, [KERNEL]))
    with closing(folded(reported(records), tmp_path)) as recording:
        assert len(recording.fetch_launch_arrays(1)) == 0
        assert recording.fetch_weighted_durations(1, "graph", "host").median_ns() is None
        assert recording.count_launches(1) == (0, 0)
