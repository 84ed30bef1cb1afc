"""gviz's figures about a recording held against those of tests/oracle, to the nanosecond."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from statistics import median

import pytest
from oracle.paths import Ledger, Shape, longest_path_ns, observed_ledger
from oracle.raw import Launch, Raw, Work, launches_of, outside_graphs
from oracle.times import (
    executions,
    idle_fraction,
    median_launch,
    most_at_once,
    sums_by_kernel,
    union_ns,
)

from gviz.analysis import GapLedger, GraphSubject, LedgerResult
from gviz.analysis.results import (
    CriticalPathResult,
    Dominance,
    critical_path_result,
    dominance,
    ledger_result,
)
from gviz.analysis.results.parallel_work import overlap
from gviz.checks.check import check_recording
from gviz.checks.limits import GraphLimits, Limits
from gviz.recording import Recording, rows

#: An execution: the level that holds the node, the node, and which of its executions.
Key = tuple[int, int, int]
#: What ran in each launch, by its id in the recording.
Ran = Mapping[int, Mapping[Key, Work]]


def top_graphs(recording: Recording) -> list[rows.Graph]:
    return [graph for graph in recording.fetch_graphs() if graph.parent_graph_id is None]


def launches_agree(recording: Recording, raw: Raw) -> dict[int, Launch]:
    """Hold launches against the trace's; return the trace's by the recording's ids."""
    expected = launches_of(raw)
    found = sorted(
        (
            launch
            for graph in top_graphs(recording)
            for launch in recording.fetch_launches(graph.graph_id, "graph")
            if launch.span_count
        ),
        key=lambda launch: launch.gpu_start_ns or 0,
    )
    assert [_facts(launch) for launch in found] == [
        (
            launch.correlation,
            None if launch.call is None else (launch.call.start_ns, launch.call.end_ns),
            (launch.start_ns, launch.end_ns),
            len(launch.work),
        )
        for launch in expected
    ]
    return {launch.launch_id: of for launch, of in zip(found, expected, strict=True)}


def _facts(launch: rows.Launch) -> tuple[object, ...]:
    call = (launch.host_start_ns, launch.host_end_ns)
    return (
        launch.correlation_id,
        None if call[0] is None else call,
        (launch.gpu_start_ns, launch.gpu_end_ns),
        launch.span_count,
    )


def work_of_nodes(
    recording: Recording, launches: Mapping[int, Launch]
) -> dict[int, dict[Key, Work]]:
    """Return which of the trace's records each span of the recording is: all, each once."""
    exec_node = {
        (level.graph_id, node.node_id): node.exec_node_id
        for level in recording.fetch_graphs()
        for node in recording.fetch_nodes(level.graph_id)
    }
    cuda_exec = {
        graph_exec.graph_exec_id: graph_exec.cuda_exec_id
        for graph in top_graphs(recording)
        for graph_exec in recording.fetch_graph_execs(graph.graph_id)
    }
    found: dict[int, dict[Key, Work]] = {}
    for launch_id, launch in launches.items():
        executable = cuda_exec[recording.fetch_launch(launch_id).graph_exec_id or 0]
        records: dict[tuple[int, int, int], list[Work]] = {}
        for work in launch.work:
            records.setdefault((work.start_ns, work.end_ns, work.stream), []).append(work)
        spans = recording.fetch_spans(launch_id)
        columns = (spans.graph_id, spans.node_id, spans.iteration, spans.start_ns,
                   spans.duration_ns, spans.stream_id)  # fmt: skip
        mine = found.setdefault(launch_id, {})
        for level, node, turn, start, took, stream in zip(
            *(column.tolist() for column in columns), strict=True
        ):
            begin = launch.start_ns + start
            work = records[begin, begin + took, stream].pop()
            assert work.node in (None, (executable, exec_node[level, node]))
            mine[level, node, turn] = work
        assert not any(records.values())
    return found


def sums_agree(recording: Recording, raw: Raw, *, are_spelled_alike: bool = True) -> None:
    """Hold sums by kernel against the trace's, inside graphs and outside.

    ``are_spelled_alike``: False where gviz writes out the mangled names that a dump, a spool or an
    export has, and the records have another compiler's spelling: then the sums are compared alone.
    """
    inside = [work for launch in launches_of(raw) for work in launch.work]
    expected = sums_by_kernel(inside)
    with closing(sqlite3.connect(f"file:{recording.path}?mode=ro", uri=True)) as database:
        found = {
            kernel: (count, round(us * 1000))
            for kernel, count, us in database.execute(
                "SELECT kernel, sum(executions), sum(total_us) FROM v_node "
                "WHERE executions > 0 AND kernel IS NOT NULL GROUP BY kernel"
            )
        }
        (whole,) = database.execute("SELECT sum(total_us) FROM v_node").fetchone()
    assert round((whole or 0) * 1000) == sum(work.duration_ns for work in inside)
    if are_spelled_alike:
        assert found == expected
    else:
        assert sorted(found.values()) == sorted(expected.values())
    eager = outside_graphs(raw)
    (run,) = recording.fetch_runs()
    operations = recording.fetch_run_stream_operations(run.run_id)
    assert sorted((op.start_ns, op.duration_ns, op.stream_id) for op in operations) == sorted(
        (work.start_ns, work.duration_ns, work.stream) for work in eager
    )


def idle_shares_agree(recording: Recording, ran: Ran) -> None:
    """Hold the idle share that ``gviz check`` judges against that of the records."""
    report = check_recording(recording, None, Limits(GraphLimits(most={"idle": 1.0})))
    found = {check.graph_id: check.value for check in report.checks if check.what == "idle"}
    for graph_id, launches in by_graph(recording, ran).items():
        shares = [
            idle_fraction(list(work.values()))
            for work in launches.values()
            if any(w.end_ns > min(x.start_ns for x in work.values()) for w in work.values())
        ]
        expected = float(median(shares)) if shares else None
        assert found[graph_id] == (None if expected is None else pytest.approx(expected, abs=1e-12))


def by_graph(recording: Recording, ran: Ran) -> dict[int, dict[int, Mapping[Key, Work]]]:
    """Return what ran by graph and launch."""
    found: dict[int, dict[int, Mapping[Key, Work]]] = {}
    for launch_id, work in ran.items():
        found.setdefault(recording.fetch_launch(launch_id).graph_id, {})[launch_id] = work
    return found


def analysis_agrees(recording: Recording, ran: Ran, shapes: Mapping[int, Shape]) -> int:
    """Hold what analyses say of graphs against the records; return how many paths there were.

    Parameters
    ----------
    shapes
        By graph, its nodes and dependencies. A graph that is not in it is looked at without.
    """
    compared = 0
    for run in recording.fetch_runs():
        devices = recording.fetch_devices(run.run_id)
        for graph_id, launches in by_graph(recording, ran).items():
            row = recording.fetch_graph(graph_id)
            if row.run_id != run.run_id:
                continue
            subject = GraphSubject(recording, row, devices)
            chosen = {x.row.launch_id: launches[x.row.launch_id] for x in subject.timed_launches}
            assert chosen.keys() == launches.keys()
            _unions_agree(subject, chosen)
            _dominance_agrees(subject, recording, list(chosen.values()))
            if graph_id in shapes:
                _paths_agree(subject, chosen, shapes[graph_id])
                compared += len(chosen)
    return compared


def _unions_agree(subject: GraphSubject, launches: Mapping[int, Mapping[Key, Work]]) -> None:
    assert len(subject.timed_launches) == len(launches)
    found = overlap(subject)
    times = [[(w.start_ns, w.end_ns) for w in work.values()] for work in launches.values()]
    assert found.busy_ns == median(union_ns(each) for each in times)
    assert found.node_ns == median(sum(end - start for start, end in each) for each in times)
    assert found.most_at_once == max(most_at_once(each) for each in times)


def _dominance_agrees(
    subject: GraphSubject, recording: Recording, launches: Sequence[Mapping[Key, Work]]
) -> None:
    typical = median_launch(launches)
    took = {key: x.end_ns - x.start_ns for key, x in typical.items()}
    found = dominance(subject)
    assert isinstance(found, Dominance)
    assert found.node_ns == sum(took.values())
    kinds: Counter[str] = Counter()
    names: Counter[str] = Counter()
    shown = {
        (level.graph_id, node.node_id): node.name
        for level in recording.fetch_graphs()
        for node in recording.fetch_nodes(level.graph_id)
    }
    for (level, node, turn), ns in took.items():
        kinds[next(w[level, node, turn].kind for w in launches if (level, node, turn) in w)] += ns
        names[shown[level, node]] += ns
    assert {
        n.lower(): t for n, t in zip(found.by_kind.name, found.by_kind.total_ns, strict=True)
    } == kinds
    if not found.by_name.left_out_count:
        assert dict(zip(found.by_name.name, found.by_name.total_ns, strict=True)) == names


def _paths_agree(
    subject: GraphSubject, launches: Mapping[int, Mapping[Key, Work]], shape: Shape
) -> None:
    nodes, arrows = shape.nodes, shape.arrows
    assert all(turn == 0 for launch in launches.values() for _, _, turn in launch)
    flat = [{key[:2]: work for key, work in launch.items()} for launch in launches.values()]
    typical = median_launch(flat)
    took = {key: x.end_ns - x.start_ns for key, x in typical.items()}
    paths, ledgers = critical_path_result(subject), ledger_result(subject)
    assert isinstance(paths, CriticalPathResult)
    assert isinstance(ledgers, LedgerResult)
    assert paths.structural_ns == longest_path_ns(nodes, arrows, took)
    expected = observed_ledger(nodes, arrows, typical)
    assert paths.observed_ns == expected.total_ns
    assert [(s.node.graph_id, s.node.node_id) for s in paths.observed] == list(expected.path)
    assert _parts(ledgers.median) == _expected_parts(expected)
    told = {launch.launch_id: launch.ledger for launch in ledgers.launches}
    for launch_id, launch in zip(launches, flat, strict=True):
        one = observed_ledger(nodes, arrows, executions(launch))
        assert _parts(told[launch_id]) == _expected_parts(one)


def _parts(ledger: GapLedger) -> dict[str, float]:
    return {
        "total": ledger.total_ns,
        "node": ledger.node_ns,
        "dependency": ledger.dependency_gap_ns,
        "queue": ledger.queue_wait_ns,
        "late": ledger.late_start_ns,
        "busy": ledger.busy_gap_ns,
    }


def _expected_parts(ledger: Ledger) -> dict[str, float]:
    assert ledger.total_ns == pytest.approx(
        ledger.node_ns + ledger.dependency_ns + ledger.queue_ns + ledger.late_ns, abs=0
    )
    return {
        "total": ledger.total_ns,
        "node": ledger.node_ns,
        "dependency": ledger.dependency_ns,
        "queue": ledger.queue_ns,
        "late": ledger.late_ns,
        "busy": ledger.busy_ns,
    }
