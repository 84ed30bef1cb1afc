"""The breakdown of a launch: blocks whose widths add up to it, and the levels they stand in."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from bare_recordings import write_no_launches, write_no_times, write_one_node
from contradicted_recordings import exchange_times
from planned_recordings import Plan, Planned, chain_edges, in_a_row, subject_of

from gviz.analysis.launch.breakdown import Breakdown, NodeGroups, break_down
from gviz.analysis.results.launch_breakdowns import LaunchBreakdown, launch_breakdown
from gviz.analysis.subject import GraphSubject
from gviz.assets import recordings as bundled
from gviz.cuda.node_type import NodeType
from gviz.model.tree.launch_spans import LaunchSpans
from gviz.recording import rows
from gviz.recording.reader import Recording
from gviz.recording.writer import RecordingWriter
from gviz.stats.figure_fields import NotComputed

BUNDLED = sorted(Path(next(iter(bundled.__path__))).glob("*.gviz"))
ONE = NodeGroups("one", ("all",), np.zeros(8, np.int64))


def spans_of(*spans: tuple[int, int, int]) -> LaunchSpans:
    """Return spans of (node, start, end)."""
    node, start, end = np.array(sorted(spans, key=lambda x: x[1]), np.int64).reshape(-1, 3).T
    zeros = np.zeros(len(node), np.int64)
    return LaunchSpans(node, zeros, start, end, zeros)


def groups(name: str, *labels: str, is_in_order: bool = False) -> NodeGroups:
    """Return groups of one label a node."""
    known = tuple(dict.fromkeys(labels))
    code = np.array([known.index(label) for label in labels], np.int64)
    return NodeGroups(name, known, code, is_in_order)


def found(path: Path) -> LaunchBreakdown:
    result = launch_breakdown(subject_of(path))
    assert isinstance(result, LaunchBreakdown)
    return result


def widths(result: Breakdown, row: int) -> dict[str, float]:
    """Return the widths of a row's blocks, those of one label together."""
    sums: dict[str, float] = {}
    for label, width in zip(result.rows[row].labels, result.rows[row].width_ns, strict=True):
        sums[label] = sums.get(label, 0) + float(width)
    return sums


def check(result: Breakdown, spans: LaunchSpans) -> None:
    """Hold what must be true of every breakdown against the launch that it is of."""
    timed = np.unique(spans.node)
    assert sorted(result.node.tolist()) == timed.tolist()
    for at, row in enumerate(result.rows):
        assert row.width_ns.sum() + result.idle_ns == pytest.approx(result.launch_ns)
        assert row.total_ns.sum() == pytest.approx((spans.end_ns - spans.start_ns).sum())
        assert row.executions.sum() == len(spans)
        # Each timed node in exactly one block: the blocks follow each other without a gap.
        assert row.first.tolist() == [0, *row.end.tolist()[:-1]][: len(row)]
        assert row.end.tolist()[-1:] == [len(timed)][: len(row)]
        assert (row.width_ns <= row.cover_ns + 1e-3).all()
        assert (row.cover_ns <= row.total_ns + 1e-3).all()
        if at:
            above = result.rows[at - 1]
            inside = np.bincount(row.parent, row.width_ns, minlength=len(above))
            assert inside == pytest.approx(above.width_ns)
            assert (above.first[row.parent] <= row.first).all()
            assert (row.end <= above.end[row.parent]).all()


# -- blocks ------------------------------------------------------------------------------


def test_nodes_in_a_row_have_their_durations_as_widths() -> None:
    levels = (groups("phase", "a", "b", "a"), groups("family", "x", "x", "y"))
    spans = spans_of((0, 0, 10), (1, 15, 45), (2, 45, 50))
    result = break_down(levels, spans)
    check(result, spans)
    assert (result.launch_ns, result.idle_ns) == (50, 5)
    phases, families = result.rows
    # The widest first; in each phase the widest family first.
    assert phases.labels == ("b", "a")
    assert phases.width_ns.tolist() == [30, 15]
    assert phases.starts_ns().tolist() == [0, 30]
    assert families.labels == ("x", "x", "y")
    assert families.parent.tolist() == [0, 1, 1]
    assert families.width_ns.tolist() == [30, 10, 5]
    assert result.nodes_of(0, 1).tolist() == [0, 2]
    assert result.nodes_of(1, 2).tolist() == [2]


def test_executions_at_the_same_time_share_it() -> None:
    levels = (groups("family", "x", "y", "x"),)
    # x alone for 10, then x beside y for 20, then two of x for 4, then nothing for 6.
    spans = spans_of((0, 0, 34), (1, 10, 30), (2, 30, 34), (1, 40, 41))
    result = break_down(levels, spans)
    check(result, spans)
    row = dict(zip(result.rows[0].labels, range(2), strict=True))
    x, y = row["x"], row["y"]
    assert result.rows[0].width_ns[[x, y]].tolist() == [10 + 10 + 4, 10 + 1]
    assert result.rows[0].cover_ns[[x, y]].tolist() == [34, 21]
    assert result.rows[0].total_ns[[x, y]].tolist() == [38, 21]
    assert result.rows[0].executions[[x, y]].tolist() == [2, 2]
    assert result.idle_ns == 6


def test_blocks_in_order_keep_it_whatever_their_width() -> None:
    levels = (groups("block", "first", "second", "third", is_in_order=True),)
    spans = spans_of((2, 0, 100), (0, 100, 101), (1, 101, 150))
    assert break_down(levels, spans).rows[0].labels == ("first", "second", "third")


def test_blocks_of_equal_width_do_not_mix() -> None:
    levels = (groups("phase", "a", "b", "a", "b"), groups("family", "x", "x", "y", "y"))
    spans = spans_of(*((n, 10 * n, 10 * n + 10) for n in range(4)))
    result = break_down(levels, spans)
    check(result, spans)
    assert result.rows[0].labels == ("a", "b")
    assert result.rows[1].parent.tolist() == [0, 0, 1, 1]


def test_launch_without_spans_has_no_blocks() -> None:
    result = break_down((ONE,), spans_of())
    assert (len(result.node), len(result.rows[0]), result.launch_ns, result.idle_ns) == (0, 0, 0, 0)


def test_node_that_takes_no_time_is_in_a_block() -> None:
    spans = spans_of((0, 0, 5), (1, 5, 5), (2, 5, 9))
    result = break_down((groups("family", "x", "y", "x"),), spans)
    check(result, spans)
    assert widths(result, 0) == {"x": 9, "y": 0}


@pytest.mark.parametrize("seed", range(20))
def test_random_launches_add_up(seed: int) -> None:
    random = np.random.default_rng(seed)
    count = int(random.integers(1, 60))
    node = random.integers(0, 40, count)
    start = random.integers(0, 300, count)
    spans = spans_of(*zip(node, start, start + random.integers(0, 90, count), strict=True))
    levels = tuple(
        NodeGroups(name, tuple("abcd"), random.integers(0, 4, 40)) for name in ("one", "two", "six")
    )
    check(break_down(levels, spans), spans)


# -- levels ------------------------------------------------------------------------------


def subjects() -> Iterable[tuple[str, GraphSubject]]:
    for path in BUNDLED:
        with Recording(path) as recording:
            for run in recording.fetch_runs():
                devices = recording.fetch_devices(run.run_id)
                for graph in recording.fetch_graphs(run.run_id):
                    if graph.parent_graph_id is None:
                        yield path.stem, GraphSubject(recording, graph, devices)


def test_bundled_launches_are_whole_in_every_row() -> None:
    refused = []
    for name, subject in subjects():
        result = launch_breakdown(subject)
        if isinstance(result, NotComputed):
            refused.append((name, subject.row.graph_id))
            continue
        assert len(result.strip.rows) <= 3
        check(result.strip, subject.spans)
        check(result.whole, subject.spans)
    # The one graph that was never launched.
    assert refused == [("graph_lives", 9)]


def rows_of(name: str) -> list[dict[str, float]]:
    (path,) = (path for path in BUNDLED if path.stem == name)
    strip = found(path).strip
    return [widths(strip, at) for at in range(len(strip.rows))]


def test_training_step_is_in_phases_and_layers() -> None:
    phases, blocks, families = rows_of("training_step")
    assert list(phases) == ["backward", "forward", "update"]
    assert [round(ns / 1e6, 2) for ns in phases.values()] == [8.47, 4.3, 1.09]
    assert set(blocks) == {
        "TransformerEncoderLayer 0..23 (inferred)",
        "",
        "SGD.step",
        "SGD.zero_grad",
    }
    assert max(families, key=families.__getitem__).startswith("GEMM f32")


@pytest.mark.parametrize(
    ("name", "blocks", "operations"),
    [
        ("decode_step", {"layer 0..15"}, {"attention", "mlp"}),
        ("token_step_1", {"layer 0..3"}, {"attention", "mlp"}),
        ("cupy_pipeline", {"filter 0..3", "merge", "normalise"}, None),
    ],
)
def test_numbered_ranges_are_layers(
    name: str, blocks: set[str], operations: set[str] | None
) -> None:
    first, *inner = rows_of(name)
    assert set(first) == blocks
    assert len(inner) == (1 if operations is None else 2)
    if operations is not None:
        assert set(inner[0]) == operations


def test_import_without_ranges_is_in_families() -> None:
    (families,) = rows_of("nested_torch")
    assert {"memcpy", "memset"} <= set(families)


class Ranged(Plan):
    """Its ranges are (text, number of the range around it), numbered from 1."""

    texts: tuple[tuple[str, int | None], ...] = ()

    def _write_run(self, writer: RecordingWriter) -> None:
        super()._write_run(writer)
        for number, (text, parent) in enumerate(self.texts, start=1):
            writer.insert(
                rows.NvtxPath(
                    nvtx_path_id=number, run_id=1, parent_id=parent, domain=None, text=text
                )
            )


def write_ranged(
    path: Path, texts: tuple[tuple[str, int | None], ...], inside: Iterable[int | None]
) -> Path:
    """Write a chain of kernels of 1, 2, 3... us, each in the range of its number."""
    nodes = [
        Planned(f"k{i}", 0, (i + 1) * 1_000, columns={"nvtx_path_id": number})
        for i, number in enumerate(inside)
    ]
    plan = Ranged(in_a_row(*nodes), chain_edges(len(nodes)))
    plan.texts = texts
    return plan.write(path)


def test_levels_are_phase_layers_layer_and_operation(tmp_path: Path) -> None:
    texts = (("step", None), ("forward", 1), ("layer 0", 2), ("mlp", 3), ("layer 10", 2))
    texts += (("mlp", 5), ("layer 9", 2), ("loss", 1))
    result = found(write_ranged(tmp_path / "x.gviz", texts, (4, 6, 7, 8))).whole
    assert [row.name for row in result.rows] == ["phase", "layers", "layer", "operation", "family"]
    # "step" is around everything and says nothing.
    assert widths(result, 0) == {"forward": 6_000, "loss": 4_000}
    assert widths(result, 1) == {"3 × layer": 6_000, "": 4_000}
    # By their number, not by their text.
    assert result.rows[2].labels == ("layer 0", "layer 9", "layer 10", "")
    assert widths(result, 3) == {"mlp": 3_000, "": 7_000}


def test_node_outside_all_ranges_is_named_so(tmp_path: Path) -> None:
    texts = (("forward", None), ("backward", None))
    result = found(write_ranged(tmp_path / "x.gviz", texts, (1, 2, None))).whole
    assert widths(result, 0) == {"forward": 1_000, "backward": 2_000, "(no range)": 3_000}


def test_equal_blocks_without_ranges_are_layers(tmp_path: Path) -> None:
    layer = [("norm_kernel", 1_000), ("gemm", 5_000), ("gelu", 2_000)]
    nodes = [Planned("embedding", 0, 3_000)]
    nodes += [Planned(name, 0, ns) for _ in range(4) for name, ns in layer]
    plan = Plan(in_a_row(*nodes), chain_edges(len(nodes)))
    result = found(plan.write(tmp_path / "x.gviz"))
    assert [row.name for row in result.strip.rows] == ["layers", "family"]
    assert widths(result.strip, 0) == {"layer 0..3 (inferred)": 32_000, "": 3_000}
    assert result.whole.rows[1].labels == (*(f"layer {k}" for k in range(4)), "")


def test_families_have_kind_types_and_tile(tmp_path: Path) -> None:
    nodes = [
        Planned("ampere_sgemm_128x64_tn", 0, 5_000),
        Planned("my_own_kernel", 0, 3_000),
        Planned("MEMSET", 0, 1_000, kind=NodeType.MEMSET),
    ]
    result = found(Plan(in_a_row(*nodes), chain_edges(3)).write(tmp_path / "x.gviz")).strip
    assert widths(result, 0) == {"GEMM f32 128x64": 5_000, "my_own_kernel": 3_000, "memset": 1_000}
    assert result.idle_ns == 800


def test_branches_share_the_time_they_have_in_common(tmp_path: Path) -> None:
    nodes = [Planned("fork", 0, 1_000), Planned("long", 1_400, 9_000)]
    nodes += [Planned("short", 1_400, 3_000, queue=8), Planned("join", 10_800, 1_000)]
    path = Plan(nodes, [(0, 1), (0, 2), (1, 3), (2, 3)]).write(tmp_path / "x.gviz")
    result = found(path).strip
    assert widths(result, 0) == {"long": 7_500, "short": 1_500, "fork": 1_000, "join": 1_000}
    assert (result.launch_ns, result.idle_ns) == (11_800, 800)


def test_one_launch_and_one_node(tmp_path: Path) -> None:
    one = Plan([Planned("k", 0, 1_000)], launches=1, plain_launches=0).write(tmp_path / "x.gviz")
    assert widths(found(one).whole, 0) == {"k": 1_000}
    assert len(found(write_one_node(tmp_path / "one.gviz")).whole.node) == 1


@pytest.mark.parametrize("write", [write_no_times, write_no_launches])
def test_no_node_times_is_a_reason_and_no_breakdown(write: object, tmp_path: Path) -> None:
    assert callable(write)
    result = launch_breakdown(subject_of(write(tmp_path / "x.gviz")))
    assert isinstance(result, NotComputed)
    assert result.not_computed


def test_times_of_a_copy_are_sums_without_gaps(tmp_path: Path) -> None:
    nodes = [Planned("a", 0, 1_000), Planned("b", 5_000, 3_000)]
    plan = Plan(nodes, [(0, 1)], launch={"node_method": "events"})
    result = found(plan.write(tmp_path / "x.gviz"))
    assert not result.has_gaps
    assert (result.strip.launch_ns, result.strip.idle_ns) == (4_000, 0)


def test_contradicted_times_are_in_families_only(tmp_path: Path) -> None:
    (source,) = (path for path in BUNDLED if path.stem == "decode_step")
    subject = subject_of(exchange_times(source, tmp_path / "x.gviz"))
    assert subject.why_contradicted
    result = launch_breakdown(subject)
    assert isinstance(result, LaunchBreakdown)
    assert [row.name for row in result.whole.rows] == ["family"]
