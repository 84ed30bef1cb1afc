"""Whole analyses of random recordings: nothing fails, and what must hold holds."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planned_recordings import Plan, Planned

from gviz.analysis.analysis import analysis_to_json, analyze
from gviz.analysis.results.dominant_nodes import Dominance
from gviz.analysis.results.forecasts import RunForecast
from gviz.cuda.node_type import NodeType, not_timed_reason
from gviz.recording.reader import Recording
from gviz.report.analysis.analysis_document import analysis_documents
from gviz.report.renderers.text_form import render_texts
from gviz.stats.figure_fields import NotComputed

KINDS = (
    NodeType.KERNEL, NodeType.KERNEL, NodeType.MEMCPY, NodeType.MEMSET, NodeType.HOST,
    NodeType.EMPTY, NodeType.MEM_ALLOC, NodeType.CONDITIONAL,
)  # fmt: skip
NAMES = ("gemm", "elementwise_add", "solver", "relu")


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    count = draw(st.integers(0, 9))
    nodes = []
    for _ in range(count):
        kind = draw(st.sampled_from(KINDS))
        timed = not_timed_reason(kind) is None and draw(st.integers(0, 5)) > 0
        # Starts that no dependency allows, too: clocks and lost records make such things.
        node = Planned(
            name=draw(st.sampled_from(NAMES)) if kind == NodeType.KERNEL else kind.name,
            start_ns=draw(st.integers(0, 40_000)),
            duration_ns=draw(st.integers(0, 20_000)) if timed else None,
            queue=draw(st.integers(7, 9)),
            kind=kind,
            blocks=draw(st.sampled_from((1, 16, 132, 5_000))),
        )
        node.columns["capture_stream_id"] = draw(st.sampled_from((13, 14, None)))
        if kind in (NodeType.MEMSET, NodeType.MEMCPY):
            node.columns |= {"destination_address": draw(st.integers(1, 3)) << 20, "bytes": 64}
        if draw(st.booleans()) and kind == NodeType.KERNEL:
            address = draw(st.integers(1, 3)) << 20
            node.arguments = [(address, address, 4_096)]
        nodes.append(node)
    pairs = st.tuples(st.integers(0, max(count - 1, 0)), st.integers(0, max(count - 1, 0)))
    drawn = draw(st.lists(pairs, max_size=14)) if count else []
    pairs_found = sorted({(min(p), max(p)) for p in drawn if p[0] != p[1]})
    edges = [(*pair, draw(st.sampled_from((0, 0, 0, 1)))) for pair in pairs_found]
    if count > 1 and draw(st.integers(0, 9)) == 0:
        edges += [(b, a, 0) for a, b, _ in edges[:1]]  # a cycle, which no driver lets be made
    is_timed = any(n.duration_ns is not None for n in nodes)
    return Plan(
        nodes,
        edges,
        launches=draw(st.integers(0, 3)),
        plain_launches=draw(st.integers(0, 2)),
        eager_iterations=draw(st.integers(0, 2)) if is_timed else 0,
        graph=draw(st.sampled_from(({}, {}, {"topology_id": None}))),
        launch=draw(st.sampled_from(({}, {}, {"host_start_ns": None, "host_end_ns": None},
                                     {"event_duration_ns": None}, {"node_method": "events"},
                                     {"host_end_ns": 5}, {"gpu_end_ns": 5}))),
        graph_exec=draw(st.sampled_from(({}, {}, {"instantiate_end_ns": 5}))),
        scales=draw(st.sampled_from(((), (1.0, 1.1, 0.9), (-1.0,)))),
        between_calls_ns=draw(st.sampled_from((None, 0))),
        rebuilt=draw(st.integers(0, 1)),
    )  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(plans())
def test_any_recording_is_analyzed_and_its_ledgers_add_up(plan: Plan) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = plan.write(Path(folder) / "x.gviz")
        with Recording(path) as recording:
            found = analyze(recording)
    json.loads(json.dumps(analysis_to_json(found), allow_nan=False))
    for width in (80, 120):
        text = render_texts(analysis_documents(found), width)
        assert max(map(len, text.splitlines()[1:])) <= width
    (graph,) = found.runs[0].graphs
    assert not any("\n" in caveat for caveat in graph.doubts)
    check_dominance(graph.dominance)
    check_forecast(found.runs[0].forecast)
    if isinstance(graph.ledger, NotComputed):
        assert graph.ledger.not_computed
        return
    for ledger in [graph.ledger.median, *(x.ledger for x in graph.ledger.launches)]:
        parts = (
            ledger.node_ns, ledger.dependency_gap_ns, ledger.queue_wait_ns, ledger.late_start_ns
        )  # fmt: skip
        assert min(parts) >= 0
        assert sum(parts) == ledger.total_ns
    assert all(f.gain_ns > 0 for f in graph.findings.findings)


def check_dominance(found: Dominance | NotComputed) -> None:
    if isinstance(found, NotComputed):
        return
    for table in (found.by_name, found.by_kind):
        assert sum(table.total_ns) == pytest.approx(found.node_ns)
        assert list(table.total_ns) == sorted(table.total_ns, reverse=True)
        if found.node_ns:
            assert table.cumulative_fraction[-1] == pytest.approx(1)
        for on_path, total in zip(table.path_ns or (), table.total_ns, strict=False):
            assert 0 <= on_path <= total
    if not isinstance(found.fullness, NotComputed):
        assert 0 <= found.fullness.filled_fraction <= 1
        assert found.fullness.tail_ns + found.fullness.below_one_wave_ns >= 0
        assert found.fullness.tail_ns <= found.fullness.kernel_ns <= found.node_ns
    if not isinstance(found.repeats, NotComputed):
        assert sum(x.total_ns for x in found.repeats) <= found.node_ns + 1e-6
    if not isinstance(found.layers, NotComputed):
        assert sum(found.layers.total_ns) <= found.node_ns + 1e-6
        assert list(found.layers.number) == sorted(set(found.layers.number))


def check_forecast(found: RunForecast | NotComputed) -> None:
    if not isinstance(found, NotComputed):
        for one in found.passes:
            assert one.busy_ns <= one.graph_ns <= one.stream_ns
            assert one.gain >= 1
