"""The verdict on a graph before and after: four sentences, whatever could be measured."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gviz.assets import recordings as bundled
from gviz.comparison import GraphDiff, compare_recordings
from gviz.recording.reader import Recording
from gviz.report import change_document
from gviz.report.comparison.diff_verdict import diff_verdict
from gviz.report.document import marked, plain
from gviz.stats import NotComputed

ASSETS = Path(next(iter(bundled.__path__)))


@pytest.fixture(scope="module")
def fused() -> GraphDiff:
    names = ("decode_step_h200.gviz", "decode_step_h200_fused.gviz")
    with Recording(ASSETS / names[0]) as before, Recording(ASSETS / names[1]) as after:
        return compare_recordings(before, after).runs[0].graphs[0]


def sentences(graph: GraphDiff) -> list[str]:
    return [plain(marked(sentence.content)) for sentence in diff_verdict(graph, ()).sentences]


def test_change_of_each_layer_stands_first(fused: GraphDiff) -> None:
    assert sentences(fused)[0] == (
        "4 kernels became 1, 4.85 µs less, in 16 of 16 layers: −10.4% a launch [derived]."
    )
    assert fused.repeated is not None
    untimed = replace(fused.repeated, each_ns=None, layer_count=None, place_count=3)
    no_times = replace(fused.launch, change_ns=None)
    found = sentences(replace(fused, repeated=untimed, launch=no_times))[0]
    assert found == "4 kernels became 1, in 3 places."
    more = replace(fused.repeated, each_ns=10.0, place_count=32, only_kernels=False)
    assert (
        "4 nodes became 1, 10 ns more, in 32 places in 16 of 16 layers"
        in sentences(replace(fused, repeated=more))[0]
    )


def test_graph_without_replaced_kernels_says_which_nodes_came_and_went(fused: GraphDiff) -> None:
    (level,) = fused.levels
    plain_change = replace(fused, repeated=None)
    assert sentences(plain_change)[0].startswith("48 nodes removed, 16 nodes changed: −10.4%")
    same = replace(level, added=(), removed=(), changed=())
    found = sentences(replace(plain_change, levels=(same,)))[0]
    assert found == "The work is the same: −10.4% a launch [derived]."


def test_launch_then_where_then_the_largest_single_change(fused: GraphDiff) -> None:
    _, launch, where, largest = sentences(fused)
    assert launch == (
        "The launch became faster by more than noise: −109 µs (−10.4%); 1.05 ms before, 941 µs "
        "after (CUPTI attached, medians of 13 and 11, 95% interval −112 µs to −106 µs) [derived]."
    )
    assert where == (
        "Where the time changed: kernels replaced −77.7 µs, gaps after a dependency ended "
        "−22.5 µs, outside of the median launch's nodes −11.0 µs, other causes +2.09 µs [derived]."
    )
    # One fused kernel in each layer, for four: not new, and not slower than one of the four.
    assert largest == (
        "Largest single change: GEMM f16 nnt 64x8 + 3 more → "
        "attention forward f16 16x128, −77.7 µs (−41.8%) in 64 → 16 nodes [derived]."
    )


def test_replaced_kernels_are_in_no_sum_by_name(fused: GraphDiff) -> None:
    (level,) = fused.levels
    (replaced,) = level.replaced
    assert (replaced.nodes_before, replaced.nodes_after) == (64, 16)
    assert all(group.nodes_before == group.nodes_after for group in level.names)
    assert sum(group.nodes_before for group in level.names) == 256


def test_change_within_noise_is_no_gain(fused: GraphDiff) -> None:
    same = replace(fused.launch, significant=False)
    assert sentences(replace(fused, launch=same))[1].startswith(
        "The launch changed within noise: −109 µs (−10.4%);"
    )


def test_untested_change_says_why(fused: GraphDiff) -> None:
    few = replace(fused.launch, significant=False, untested="1 and 1 launches were timed")
    stated = sentences(replace(fused, launch=few))[1]
    assert stated.endswith(
        "[derived]. Whether that is noise was not tested: 1 and 1 launches were timed."
    )


@pytest.mark.parametrize(
    ("times", "stated"),
    [
        ({"before_ns": None}, "No launch was timed before"),
        ({"after_ns": None}, "No launch was timed after"),
        ({"before_ns": None, "after_ns": None}, "No launch was timed on either side"),
    ],
)
def test_side_without_a_launch_is_named(
    fused: GraphDiff, times: dict[str, None], stated: str
) -> None:
    assert sentences(replace(fused, launch=replace(fused.launch, **times)))[1].startswith(stated)


def test_without_a_waterfall_the_reason_stands_in_its_place(fused: GraphDiff) -> None:
    found = replace(fused, waterfall=NotComputed("before: no edges"))
    assert sentences(found)[2] == "Where the time changed: not computed: before: no edges."


def test_nothing_beyond_noise_leaves_counts_of_nodes(fused: GraphDiff) -> None:
    levels = tuple(replace(level, names=(), replaced=()) for level in fused.levels)
    assert sentences(replace(fused, levels=levels))[3] == (
        "No kernel or other work changed its time by more than noise; 48 removed, 0 added, "
        "16 changed."
    )


def test_largest_change_of_untested_times_is_the_reason(fused: GraphDiff) -> None:
    why = "1 and 1 launches were timed"
    level = fused.levels[0]
    names = tuple(
        replace(group, time=replace(group.time, significant=False, untested=why))
        for group in level.names
        if group.nodes_before and group.nodes_after
    )
    levels = (replace(level, names=names, replaced=()),)
    assert sentences(replace(fused, levels=levels))[3] == (
        "Whether the time of a kernel or other work changed was not tested: 1 and 1 launches were "
        "timed; 48 removed, 0 added, 16 changed."
    )


def test_other_work_is_said_first_and_another_gpu_is_a_caveat() -> None:
    names = ("decode_step.gviz", "decode_step_h200.gviz")
    with Recording(ASSETS / names[0]) as before, Recording(ASSETS / names[1]) as after:
        run = compare_recordings(before, after).runs[0]
    unlike = replace(run, graphs=(replace(run.graphs[0], likeness_fraction=0.3),))
    (verdict,) = change_document(unlike).verdicts
    assert verdict.caveats == (
        "besides the program: GPU NVIDIA H100 80GB HBM3 → NVIDIA H200: it may explain a change",
    )
    first = plain(verdict.sentences[0].content)
    assert first.startswith(
        "Hardly two versions of one graph, with 30.0% of their work in common: "
    )
    assert first.endswith(" a launch.")


def test_parts_of_the_change_are_sorted_by_size(fused: GraphDiff) -> None:
    with (
        Recording(ASSETS / "decode_step_h200.gviz") as before,
        Recording(ASSETS / "decode_step_h200_fused.gviz") as after,
    ):
        run = compare_recordings(before, after).runs[0]
    where = change_document(run).sections[0]
    steps = next(block for block in where.blocks if hasattr(block, "rows"))
    changes = [abs(row[1][0].value) for row in steps.rows]  # type: ignore[union-attr]
    assert changes == sorted(changes, reverse=True)
