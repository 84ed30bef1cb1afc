"""Layers before and after: which is which, the one that stands for all, and its rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from recaptures import write_recaptures
from recordings import Shape, transformer_shape, write_recording

from gviz.comparison.compared_layers import ComparedLayers, layer_rows, layer_times
from gviz.comparison.comparison import GraphComparison
from gviz.comparison.diff import RequestedPair, compare_graph
from gviz.recording.reader import Recording


def compared(before: Path, after: Path) -> tuple[ComparedLayers | None, GraphComparison]:
    with Recording(before) as one, Recording(after) as two:
        _, pair = compare_graph(one, two, RequestedPair(1, 1))
    return pair.layers, pair.levels[0].comparison


@pytest.fixture(scope="module")
def fused(tmp_path_factory: pytest.TempPathFactory) -> tuple[ComparedLayers, GraphComparison]:
    layers, comparison = compared(*write_recaptures(tmp_path_factory.mktemp("layers")))
    assert layers is not None
    return layers, comparison


def test_every_layer_has_its_counterpart(fused: tuple[ComparedLayers, GraphComparison]) -> None:
    layers, comparison = fused
    assert (layers.level, len(layers.blocks)) == (0, 16)
    partner = dict(comparison.pairs.tolist())
    for block in layers.blocks:
        assert (len(block.before), len(block.after)) == (20, 17)
        known = {partner[node] for node in block.before.tolist() if node in partner}
        assert known == set(block.after.tolist())


def test_rows_have_each_node_once_in_order(fused: tuple[ComparedLayers, GraphComparison]) -> None:
    layers, comparison = fused
    block = layers.blocks[layers.typical]
    rows = layer_rows(comparison, block)
    assert [row.before for row in rows if row.before is not None] == block.before.tolist()
    assert [row.after for row in rows if row.after is not None] == block.after.tolist()
    # Four became one: three have no partner, the last has the one that took their place.
    gone = [at for at, row in enumerate(rows) if row.after is None]
    assert gone == list(range(gone[0], gone[0] + 3))
    before, after = rows[gone[-1] + 1]
    assert "sdpa" in comparison.second.title[after or 0]
    assert before is not None


def test_typical_layer_is_that_of_the_middle_change(
    fused: tuple[ComparedLayers, GraphComparison],
) -> None:
    layers, comparison = fused
    changes = []
    for block in layers.blocks:
        before, after = layer_times(comparison, block)
        changes.append(after - before)
    assert changes[layers.typical] == sorted(changes)[8]


def test_node_that_was_added_to_a_layer_stands_in_its_place(tmp_path: Path) -> None:
    shape = transformer_shape(layers=4)
    works = list(shape.works)
    more = replace(works[20], name="brand_new_kernel")
    later = Shape("later", (*works[:21], more, *works[21:]))
    layers, comparison = compared(
        write_recording(tmp_path / "a.gviz", shape, launches=3),
        write_recording(tmp_path / "b.gviz", later, launches=3),
    )
    assert layers is not None
    lone = [
        row
        for block in layers.blocks
        for row in layer_rows(comparison, block)
        if row.before is None
    ]
    assert "brand_new_kernel" in [comparison.second.title[row.after or 0] for row in lone]
    assert {row.after for row in lone} <= set(comparison.added.tolist())


def test_graph_without_repeats_has_no_layers(tmp_path: Path) -> None:
    shape = Shape("short", transformer_shape(layers=1).works[:6])
    paths = [write_recording(tmp_path / f"{x}.gviz", shape, launches=2) for x in "ab"]
    assert compared(*paths)[0] is None
