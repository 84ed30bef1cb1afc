"""Changes of nodes as arrays for the DAG: times, verdicts, words, and the scale of colours."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recordings import FIRST_NODE_ID, Shape, transformer_shape, write_recording

from gviz.app.components.addresses import Sides
from gviz.app.files.library import Library
from gviz.app.pages.compare.comparison import compare_sides
from gviz.app.pages.compare.timeline import both_timelines
from gviz.app.pages.compare.union_dag import UnionRequest, union_dag
from gviz.app.views.change_overlay import VERDICTS
from gviz.app.views.wire import Arrays, unpack

SHAPE = transformer_shape(layers=3)
#: In the second layer: twice as slow, half as slow, and launched with another grid.
SLOW, FAST, WIDE = 20, 24, 28


def next_version() -> Shape:
    """The shape with one layer more, a slower and a faster node, and another grid."""
    works = list(transformer_shape(layers=4).works)
    works[SLOW] = replace(works[SLOW], duration_ns=2 * works[SLOW].duration_ns)
    works[FAST] = replace(works[FAST], duration_ns=works[FAST].duration_ns // 2)
    works[WIDE] = replace(works[WIDE], grid_x=77)
    return Shape("next version", tuple(works))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    folder = tmp_path_factory.mktemp("changes")
    before = write_recording(folder / "before.gviz", SHAPE, launches=15, seed=1)
    after = write_recording(folder / "after.gviz", next_version(), launches=15, seed=2)
    return Library([before, after])


def drawn(library: Library, first: str = "before", second: str = "after") -> tuple[Any, Arrays]:
    found = compare_sides(library, Sides(first, second, 1, 1))
    recordings = library.file(first).recording, library.file(second).recording
    return unpack(union_dag(found, recordings, (first, second), UnionRequest()))


def test_arrays_hold_the_difference_of_medians(library: Library) -> None:
    header, arrays = drawn(library)
    sides = []
    for file in ("before", "after"):
        statistics = library.file(file).recording.fetch_statistics(1)
        sides.append({s.node_id - FIRST_NODE_ID: s.median_ns for s in statistics})
    assert arrays["before_ns"][SLOW] == pytest.approx(sides[0][SLOW])
    change = sides[1][SLOW] - sides[0][SLOW]
    assert arrays["change_ns"][SLOW] == pytest.approx(change)
    assert 2.0 ** arrays["change_log2"][SLOW] == pytest.approx(sides[1][SLOW] / sides[0][SLOW])
    assert {"change", "ratio"} <= set(header["overlays"])


def test_verdicts_tell_what_changed_from_noise(library: Library) -> None:
    header, arrays = drawn(library)
    counts = np.bincount(arrays["verdict"], minlength=len(VERDICTS)).tolist()
    assert dict(zip(VERDICTS, counts, strict=True)) == {
        "added": 15, "untimed": 0, "untested": 0, "noise": len(SHAPE.works) - 2,
        "slower": 1, "faster": 1, "removed": 0,
    }  # fmt: skip
    assert VERDICTS[arrays["verdict"][SLOW]] == "slower"
    assert VERDICTS[arrays["verdict"][FAST]] == "faster"
    change = {"verdicts": list(VERDICTS), "added": 15, "gone": 0, "untested": ""}
    assert header["change"] == change
    words = header["strings"][arrays["difference"][WIDE]]
    assert words == f"grid: {SHAPE.works[WIDE].grid_x} × 1 × 1 → 77 × 1 × 1"


def test_scale_is_that_of_what_is_significant(library: Library) -> None:
    header, arrays = drawn(library)
    scale = header["overlays"]["change"]["scale"]
    sizes = sorted(abs(float(arrays["change_ns"][i])) for i in (SLOW, FAST))
    assert (scale["least"], scale["most"]) == (pytest.approx(sizes[0]), pytest.approx(sizes[1]))


def test_graphs_without_times_have_no_colour_of_changes(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "untimed.gviz", SHAPE, launches=0)
    header, arrays = drawn(Library([path, path]), "untimed", "untimed-2")
    assert {VERDICTS[v] for v in arrays["verdict"]} == {"untimed"}
    assert "change" not in header["overlays"]


def test_spans_of_both_launches_have_the_changes_of_the_graph(library: Library) -> None:
    found = compare_sides(library, Sides("before", "after", 1, 1))
    files = library.file("before"), library.file("after")
    header, arrays = unpack(
        both_timelines(
            found,
            (files[0].recording, files[1].recording),
            Sides("before", "after"),
            None,
            (files[0].keep, files[1].keep),
        )
    )
    graph, nodes = drawn(library)
    assert header["changes"]["change"] == graph["overlays"]["change"]["scale"]
    assert header["changes"]["verdicts"] == graph["change"]["verdicts"]
    by_node = {int(n): at for at, n in enumerate(arrays["change_node"])}
    assert sorted(by_node) == sorted(nodes["node_id"].tolist())
    places = [by_node[int(n)] for n in nodes["node_id"]]
    for name, same in (("change_ns", "change_ns"), ("change_verdict", "verdict")):
        assert np.array_equal(arrays[name][places], nodes[same], equal_nan=name != "change_verdict")
