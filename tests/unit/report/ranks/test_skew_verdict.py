"""The verdict on ranks beside each other: slower launches, the longest wait, the slowest node."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from contradicted_recordings import exchange_times
from rank_recordings import Planted, write_ranks

from gviz.assets import recordings as bundled
from gviz.comparison import Skew, read_skew
from gviz.recording.merge import merge_recordings
from gviz.recording.reader import Recording
from gviz.report import document_to_json, render_text, skew_document
from gviz.report.document import marked, plain
from gviz.stats import CuptiState, Evidence

ASSETS = Path(next(iter(bundled.__path__)))


@pytest.fixture(scope="module")
def skew() -> Skew:
    with Recording(ASSETS / "ranks_h200.gviz") as recording:
        return read_skew(recording)


@pytest.fixture(scope="module")
def contradicted(tmp_path_factory: pytest.TempPathFactory) -> Skew:
    """The same with times of rank 1 on other nodes, and one launch of rank 0 without a node."""
    path = tmp_path_factory.mktemp("ranks") / "ranks.gviz"
    exchange_times(ASSETS / "ranks_h200.gviz", path, graph_id=2)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(
            "DELETE FROM span WHERE graph_id = 1 AND node_id = 31 AND launch_id = "
            "(SELECT max(launch_id) FROM span WHERE graph_id = 1)"
        )
    with Recording(path) as recording:
        return read_skew(recording)


def sentences(skew: Skew) -> list[str]:
    (verdict,) = skew_document(skew).verdicts
    return [plain(marked(sentence.content)) for sentence in verdict.sentences]


def test_launches_then_the_longest_wait_then_the_slowest_node(skew: Skew) -> None:
    launches, wait, node, differs = sentences(skew)
    # It has three times the work, and so cuBLAS took another kernel.
    assert differs == (
        "The graphs differ: rank 1 has 1 node in the place of another of rank 0: 31 GEMM f16 nnt "
        "128x64 4x1 for 31 GEMM f16 nnt 64x32 1x2 (decode › layer 5)."
    )
    assert launches == (
        "One rank's launches take longer by more than noise: rank 0 takes 264 µs, rank 1 256 µs "
        "(recorded, medians of 24 launches on every rank) [derived]."
    )
    assert wait.startswith(
        "In the median of 24 launches, rank 0 waits 17.2 µs for rank 1 [estimated]: its longest "
        "wait, in 35 NCCL AllReduce Sum f16 RING LL (decode › layer 5"
    )
    assert node.endswith(
        "takes 15.6 µs on rank 1, 11.3 µs in the median of the ranks; it is the slowest there in "
        "100% of the executions [derived]."
    )


def test_graph_without_collectives_or_slow_nodes_says_so(skew: Skew) -> None:
    even = replace(skew.graphs[0], significant=False, collectives=(), nodes=(), differences=())
    launches, wait, node = sentences(replace(skew, graphs=(even,)))
    assert launches.startswith("No rank's launches take longer by more than noise")
    assert wait == "It has no collectives, so no rank waits for another inside it."
    assert node == "No node is slower on one rank by more than noise."


@pytest.mark.parametrize(
    ("planted", "said"),
    [
        ((), []),
        ((Planted(), Planted(extra=("tanh_kernel",))),
         ["The graphs differ: rank 1 has 1 node that rank 0 lacks: 1005 tanh_kernel."]),
        ((Planted(extra=("tanh_kernel",)), Planted()),
         ["The graphs differ: rank 1 lacks 1 node that rank 0 has: 1005 tanh_kernel."]),
        ((Planted(), Planted(extra=tuple(f"kernel_{i}" for i in range(7)))),
         ["The graphs differ: rank 1 has 7 nodes that rank 0 lacks: 1005 kernel_0, 1006 kernel_1, "
          "1007 kernel_2, 1008 kernel_3, 1009 kernel_4 and 2 more."]),
        ((Planted(extra=("tanh_kernel",)), Planted(extra=("sort_rows",)), Planted()),
         ["The graphs differ: rank 1 has 1 node in the place of another of rank 0: 1005 sort_rows "
          "for 1005 tanh_kernel.",
          "The graphs differ: rank 2 lacks 1 node that rank 0 has: 1005 tanh_kernel."]),
    ],
)  # fmt: skip
def test_other_nodes_of_a_rank_are_named(
    planted: tuple[Planted, ...], said: list[str], tmp_path: Path
) -> None:
    ranks = planted or (Planted(), Planted())
    merged = merge_recordings(write_ranks(tmp_path, ranks), tmp_path / "all.gviz")
    with Recording(merged) as recording:
        assert sentences(read_skew(recording))[3:] == said


def test_too_few_launches_are_no_verdict(skew: Skew) -> None:
    few = replace(skew.graphs[0], rate=None, launch_count=2, differences=())
    assert sentences(replace(skew, graphs=(few,)))[0].endswith(
        "2 launches on every rank are too few to distinguish a slow rank from noise."
    )


def test_other_clocks_and_missing_ranks_are_caveats(skew: Skew) -> None:
    clock = replace(skew.clock, is_one=False, reason="two machines")
    third = replace(skew.ranks[1], run_id=9, rank=2)
    found = replace(skew, clock=clock, ranks=(*skew.ranks, third))
    (verdict,) = skew_document(found).verdicts
    assert verdict.caveats == (
        "not on one clock, so starts are not compared: two machines",
        "not on rank 2, which have no such graph",
    )


def test_nothing_in_common_is_the_verdict(skew: Skew) -> None:
    assert sentences(replace(skew, graphs=())) == [
        "No graph has launches with node times on every rank."
    ]


def test_evidence_of_each_rank_and_the_worst_of_the_graph(skew: Skew, contradicted: Skew) -> None:
    (graph,) = skew.graphs
    assert [time.evidence for time in graph.ranks] == [graph.evidence] * 2
    assert graph.evidence == Evidence("derived", 24, state=CuptiState.RECORDED)
    (graph,) = contradicted.graphs
    first, second = (time.evidence for time in graph.ranks)
    assert (first.contradiction_count, second.coverage_fraction) == (0, 1)
    assert first.coverage_fraction == pytest.approx(39 / 40)
    assert second.contradiction_count > 0
    assert graph.evidence.coverage_fraction == first.coverage_fraction
    assert graph.evidence.worst_contradiction_ns == second.worst_contradiction_ns > 0


def test_contradicted_times_are_said_in_the_line_of_each_figure(contradicted: Skew) -> None:
    (verdict,) = skew_document(contradicted).verdicts
    *timed, _ = sentences(contradicted)
    assert len(timed) == 3
    for sentence in timed:
        assert ", although its times have" in sentence
    (caveat,) = verdict.caveats
    assert "times of 97.5% of the nodes" in caveat
    assert "contradictions of up to" in caveat


def test_quantities_carry_what_they_rest_on(skew: Skew, contradicted: Skew) -> None:
    caveats = _caveats_of_times(skew)
    assert len(caveats) > 20
    assert all("timed while node times were recorded" in caveat for caveat in caveats)
    clean = [x for x in _caveats_of_times(contradicted) if "contradictions of" not in x]
    assert len(clean) == 2, "the launch of rank 0 itself, in the verdict and in its table"
    text = render_text(skew_document(contradicted), 100)
    (row,) = (line for line in text.splitlines() if line.startswith("  rank 1     graph 2"))
    assert "recorded, although its times have" in row


def _caveats_of_times(skew: Skew) -> list[str]:
    document = document_to_json(skew_document(skew))
    return [str(x.get("caveat")) for x in _quantities(document) if x["unit"] == "ns"]


def _quantities(value: object) -> Iterator[dict[str, object]]:
    """Yield the quantities in a document's JSON."""
    if isinstance(value, dict):
        yield from value.get("quantities", ())
        for one in value.values():
            yield from _quantities(one)
    if isinstance(value, list):
        for one in value:
            yield from _quantities(one)
