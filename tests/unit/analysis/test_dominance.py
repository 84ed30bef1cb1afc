"""Work that dominates a launch: totals, the Pareto curve, layers, waves and the tail."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from planned_recordings import MULTIPROCESSORS, Plan, Planned, chain_edges, in_a_row, subject_of

from gviz.analysis.results.dominant_nodes import Dominance, Fullness, TimeShares, dominance
from gviz.assets import recordings as bundled
from gviz.cuda.node_type import NodeType
from gviz.model import nested_ranges
from gviz.recording import rows
from gviz.recording.writer import RecordingWriter
from gviz.stats import Interval, rank_interval
from gviz.stats.figure_fields import NotComputed

BUNDLED = sorted(Path(next(iter(bundled.__path__))).glob("*.gviz"))
#: Blocks that each program repeats; ranks_h200 has eight layers, the first with other kernels.
REPEATS = {
    "cupy_pipeline": [4],
    "decode_server": [4],
    "decode_server_trials": [4],
    "decode_step": [16],
    "decode_step_copies": [16],
    "decode_step_h200": [16],
    "decode_step_h200_fused": [16],
    "nested_torch": [],
    "graph_lives": [],
    "ranks_h200": [7],
    "token_step_1": [4],
    "token_step_2": [4],
    "token_step_3": [4],
    "token_step_4": [4],
    "token_step_5": [4],
    "training_step": [23],
}
#: Imports of traces that know neither ranges nor how full a kernel fills a multiprocessor.
IMPORTED = {"nested_torch"}
#: Blocks of the plans' kernels that the GPU holds: 8 fit on a multiprocessor.
AT_ONCE = MULTIPROCESSORS * 8


def found(path: Path) -> Dominance:
    result = dominance(subject_of(path))
    assert isinstance(result, Dominance)
    return result


def chain(*nodes: Planned, **changes: object) -> Plan:
    return Plan(in_a_row(*nodes), chain_edges(len(nodes)), **changes)  # type: ignore[arg-type]


def test_totals_by_name_are_the_pareto_curve(tmp_path: Path) -> None:
    nodes = [Planned("a", 0, 1_000), Planned("b", 0, 6_000), Planned("a", 0, 2_000)]
    nodes.append(Planned("MEMSET", 0, 1_000, kind=NodeType.MEMSET))
    result = found(chain(*nodes).write(tmp_path / "x.gviz"))
    assert result.node_ns == 10_000
    assert result.by_name.name == ("b", "a", "MEMSET")
    assert result.by_name.executions == (1, 2, 1)
    assert result.by_name.total_ns == (6_000, 3_000, 1_000)
    assert result.by_name.fraction == pytest.approx((0.6, 0.3, 0.1))
    assert result.by_name.cumulative_fraction == pytest.approx((0.6, 0.9, 1.0))
    assert result.by_name.path_ns == result.by_name.total_ns
    assert result.by_kind.name == ("KERNEL", "MEMSET")
    assert result.by_family.name == ("b", "a", "memset")
    assert isinstance(result.by_range, NotComputed)


@pytest.mark.parametrize("name", ["decode_step", "decode_step_copies", "training_step"])
def test_intervals_are_those_of_the_sums_of_each_launch_and_hold_the_time(name: str) -> None:
    (path,) = (path for path in BUNDLED if path.stem == name)
    subject = subject_of(path)
    result = dominance(subject)
    assert isinstance(result, Dominance)
    assert isinstance(result.by_nesting, TimeShares)
    families = subject.named_families
    outermost = subject.recording.fetch_nvtx_paths(subject.row.run_id)
    inside = subject.graph.nodes.integers("nvtx_path_id", -1)
    within = {i: nested_ranges(outermost, i) for i in set(inside.tolist()) if i in outermost}
    for shares, is_in in (
        (result.by_family, lambda text, node: families.labels[families.code[node]] == text),
        (result.by_nesting, lambda text, node: text in within.get(int(inside[node]), ())),
    ):
        for text, total_ns, interval in zip(
            shares.name[:3], shares.total_ns, shares.interval, strict=False
        ):
            mine = np.array([is_in(text, node) for node in range(len(subject.graph))])
            sums, counts = [], []
            for launch in subject.timed_launches:
                chosen = mine[launch.spans.node]
                sums.append(float((launch.spans.end_ns - launch.spans.start_ns)[chosen].sum()))
                counts.append(int(chosen.sum()))
            # Of copies some launches time a part of the nodes: of these there is no sum.
            least = max(counts) if subject.is_timed_by_copy else 1
            whole = [x for x, count in zip(sums, counts, strict=True) if count >= least]
            known = rank_interval(whole)
            assert known.low is not None
            assert known.high is not None
            assert interval == Interval(min(known.low, total_ns), max(known.high, total_ns))


def test_time_beside_the_path_is_not_on_it(tmp_path: Path) -> None:
    nodes = [Planned("fork", 0, 1_000), Planned("long", 1_400, 9_000)]
    nodes += [Planned("short", 1_500, 2_000, queue=8), Planned("join", 10_900, 1_000)]
    result = found(Plan(nodes, [(0, 1), (0, 2), (1, 3), (2, 3)]).write(tmp_path / "x.gviz"))
    by_name = dict(zip(result.by_name.name, result.by_name.path_ns or (), strict=True))
    assert by_name == {"long": 9_000, "short": 0, "fork": 1_000, "join": 1_000}


class Ranged(Plan):
    """Each layer is a range with two inside; the last node is in none."""

    def _write_run(self, writer: RecordingWriter) -> None:
        super()._write_run(writer)
        texts = (("layer 0", None), ("mlp", 1), ("layer 1", None), ("mlp", 3), ("a › b", 3))
        for number, (text, parent) in enumerate(texts, start=1):
            writer.insert(
                rows.NvtxPath(
                    nvtx_path_id=number, run_id=1, parent_id=parent, domain=None, text=text
                )
            )


def test_ranges_are_summed_by_their_text_and_as_they_nest(tmp_path: Path) -> None:
    inside = (2, 4, 3, 5, None)
    nodes = [
        Planned("k", 0, (i + 1) * 1_000, columns={"nvtx_path_id": path})
        for i, path in enumerate(inside)
    ]
    plan = chain(*nodes)
    result = found(Ranged(plan.nodes, plan.edges).write(tmp_path / "x.gviz"))
    assert isinstance(result.by_range, TimeShares)
    assert dict(zip(result.by_range.name, result.by_range.total_ns, strict=True)) == {
        "mlp": 3_000, "layer 1": 3_000, "a › b": 4_000, "(no range)": 5_000
    }  # fmt: skip
    assert isinstance(result.by_nesting, TimeShares)
    assert dict(zip(result.by_nesting.name, result.by_nesting.total_ns, strict=True)) == {
        "layer 1": 9_000, "layer 1 › a › b": 4_000, "layer 1 › mlp": 2_000,
        "layer 0": 1_000, "layer 0 › mlp": 1_000,
    }  # fmt: skip
    assert all(np.isnan(result.by_nesting.cumulative_fraction))


def test_equal_blocks_repeat(tmp_path: Path) -> None:
    layer = [("norm", 1_000), ("gemm", 5_000), ("act", 2_000)]
    nodes = [Planned("embed", 0, 3_000)]
    nodes += [Planned(name, 0, ns + 100 * at) for at in range(4) for name, ns in layer]
    result = found(chain(*nodes, Planned("head", 0, 4_000)).write(tmp_path / "x.gviz"))
    assert not isinstance(result.repeats, NotComputed)
    (one,) = result.repeats
    assert (one.repeats, one.period, one.first.node_id) == (4, 3, 1)
    assert one.longest_name == "gemm"
    assert one.total_ns == 4 * 8_000 + 3 * 100 * (1 + 2 + 3)
    assert (one.least_ns, one.median_ns, one.most_ns) == (8_000, 8_450, 8_900)
    assert one.slowest == 3
    assert one.fraction == pytest.approx(one.total_ns / result.node_ns)


def test_waves_and_their_tail(tmp_path: Path) -> None:
    nodes = [
        Planned("half", 0, 1_000, blocks=AT_ONCE // 2),
        Planned("full", 0, 2_000, blocks=AT_ONCE),
        # Three waves, of which the last holds half.
        Planned("tail", 0, 3_000, blocks=AT_ONCE * 5 // 2, columns={"occupancy_fraction": 0.5}),
        Planned("MEMSET", 0, 9_000, kind=NodeType.MEMSET),
    ]
    full = found(chain(*nodes).write(tmp_path / "x.gviz")).fullness
    assert isinstance(full, Fullness)
    assert (full.kernel_ns, full.known_fraction) == (6_000, 1)
    assert full.below_one_wave_ns == 1_000
    assert full.tail_ns == pytest.approx(3_000 / 6)
    assert full.filled_fraction == pytest.approx((500 + 2_000 + 2_500) / 6_000)
    assert full.occupancy_fraction == 0.5
    assert [k.name for k in full.kernels][-1] == "full"
    tail = next(k for k in full.kernels if k.name == "tail")
    assert (tail.blocks_at_once, tail.waves) == (AT_ONCE, 2.5)
    assert tail.filled_fraction == pytest.approx(2.5 / 3)


def test_what_is_not_known_is_reported_and_the_rest_comes(tmp_path: Path) -> None:
    nodes = [Planned("k", 0, 1_000, columns={"max_blocks_per_multiprocessor": None})]
    nodes.append(Planned("MEMSET", 0, 1_000, kind=NodeType.MEMSET))
    result = found(chain(*nodes, graph={"topology_id": None}).write(tmp_path / "x.gviz"))
    assert isinstance(result.fullness, NotComputed)
    assert isinstance(result.repeats, NotComputed)
    assert isinstance(result.layers, NotComputed)
    assert result.by_name.path_ns is None
    assert result.by_name.total_ns == (1_000, 1_000)
    none = dominance(subject_of(chain(*nodes, launches=0).write(tmp_path / "y.gviz")))
    assert isinstance(none, NotComputed)


def test_an_instrumented_copy_gives_totals_and_no_path(tmp_path: Path) -> None:
    path = chain(Planned("k", 0, 1_000), launch={"node_method": "events"}).write(tmp_path / "x")
    result = found(path)
    assert (result.by_name.total_ns, result.by_name.path_ns) == ((1_000,), None)


@pytest.mark.parametrize("path", BUNDLED, ids=lambda path: path.stem)
def test_shares_of_bundled_programs_add_up(path: Path) -> None:
    result = found(path)
    imported = path.stem in IMPORTED
    for table in (
        result.by_name,
        result.by_family,
        result.by_kind,
        *([] if imported else [result.by_range]),
    ):
        assert isinstance(table, TimeShares)
        assert table.left_out_count == 0
        assert sum(table.total_ns) == pytest.approx(result.node_ns)
        assert table.cumulative_fraction[-1] == pytest.approx(1)
        assert list(table.fraction) == sorted(table.fraction, reverse=True)
    unknown = [result.by_range, result.fullness]
    assert [isinstance(part, NotComputed) for part in unknown] == [imported] * 2
    assert not isinstance(result.repeats, NotComputed)
    assert [x.repeats for x in result.repeats][:1] == REPEATS[path.stem]
    if isinstance(result.fullness, Fullness):
        assert 0 < result.fullness.filled_fraction <= 1
