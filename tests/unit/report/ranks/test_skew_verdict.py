"""The verdict on ranks beside each other: slower launches, the longest wait, the slowest node."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gviz.assets import recordings as bundled
from gviz.comparison import Skew, read_skew
from gviz.recording.reader import Recording
from gviz.report import skew_document
from gviz.report.document import marked, plain

ASSETS = Path(next(iter(bundled.__path__)))


@pytest.fixture(scope="module")
def skew() -> Skew:
    with Recording(ASSETS / "ranks_h200.gviz") as recording:
        return read_skew(recording)


def sentences(skew: Skew) -> list[str]:
    (verdict,) = skew_document(skew).verdicts
    return [plain(marked(sentence.content)) for sentence in verdict.sentences]


def test_launches_then_the_longest_wait_then_the_slowest_node(skew: Skew) -> None:
    launches, wait, node = sentences(skew)
    assert launches == (
        "One rank's launches take longer by more than noise: rank 0 takes 264 µs, rank 1 256 µs "
        "(medians of 24 launches on every rank) [derived]."
    )
    assert wait.startswith(
        "In the median of 24 launches, rank 0 waits 17.2 µs for rank 1 [estimated]: its longest "
        "wait, in 35 ncclDevKernel_AllReduce_Sum_f16_RING_LL (decode › layer 5"
    )
    assert node.endswith(
        "takes 15.6 µs on rank 1, 11.3 µs in the median of the ranks; it is the slowest there in "
        "100% of the executions [derived]."
    )


def test_graph_without_collectives_or_slow_nodes_says_so(skew: Skew) -> None:
    even = replace(skew.graphs[0], significant=False, collectives=(), nodes=())
    launches, wait, node = sentences(replace(skew, graphs=(even,)))
    assert launches.startswith("No rank's launches take longer by more than noise")
    assert wait == "It has no collectives, so no rank waits for another inside it."
    assert node == "No node is slower on one rank by more than noise."


def test_too_few_launches_are_no_verdict(skew: Skew) -> None:
    few = replace(skew.graphs[0], rate=None, launch_count=2)
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
