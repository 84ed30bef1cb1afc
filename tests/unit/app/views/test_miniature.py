"""The small picture of a graph: what is in it, how it is drawn, and how little it takes."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from app_recordings import write_imported_recording
from places import ROOT
from planned_recordings import Plan, Planned, chain_edges, in_a_row
from recordings import transformer_shape, wide_shape, write_loop_recording, write_recording

from gviz.app.views.family_colours import read_family_colours
from gviz.app.views.graph_data import launches_with_times, typical_launch
from gviz.app.views.miniature import (
    UNITS,
    MiniatureShapes,
    build_miniature,
    row_widths,
)
from gviz.app.views.miniature_picture import draw_miniature, draw_reason
from gviz.formats import family_colour
from gviz.model.tree.graph_level import read_graph_level
from gviz.model.tree.graph_tree import read_timed_tree
from gviz.model.tree.keep import build_anew
from gviz.recording.reader import Recording

SVG = "{http://www.w3.org/2000/svg}"


def miniature(path: Path, graph_id: int = 1) -> MiniatureShapes:
    with Recording(path) as recording:
        level = read_graph_level(recording, graph_id)
        launches, _ = launches_with_times(recording, graph_id)
        return build_miniature(recording, level, typical_launch(launches))


def bars(found: MiniatureShapes) -> list[tuple[float, float, float]]:
    flat = [value for place in found.spans for value in place]
    return sorted(zip(flat[::3], flat[1::3], flat[2::3], strict=True))


def test_picture_of_an_event_copy_gives_no_length_of_a_launch() -> None:
    found = miniature(ROOT / "assets" / "recordings" / "decode_step_copies.gviz")
    title = draw_miniature(found)
    assert "the median event copy: the gaps are of its events, 2 lanes" in title
    assert " ms" not in title


def test_picture_of_copies_of_slices_has_all_their_nodes(tmp_path: Path) -> None:
    nodes = in_a_row(*(Planned(f"n{i}", 0, 10_000) for i in range(4)))
    found = miniature(Plan(nodes, chain_edges(4), launches=4, slices=2).write(tmp_path / "x.gviz"))
    assert (len(bars(found)), found.lane_count, found.ordinal) == (4, 1, None)
    title = draw_miniature(found)
    assert "The median of event copies, each of a part of the nodes: the gaps are of its" in title


def test_picture_is_of_the_launch_nearest_to_the_median(small_recording: Path) -> None:
    found = miniature(small_recording)
    with Recording(small_recording) as recording:
        lengths = {
            x.ordinal: (x.gpu_end_ns or 0) - (x.gpu_start_ns or 0)
            for x in recording.fetch_launches(1)
            if x.node_level
        }
    middle = sorted(lengths.values())[(len(lengths) - 1) // 2]
    assert found.ordinal is not None
    assert found.gpu_ns == lengths[found.ordinal] == middle


def test_bars_lie_in_the_picture_and_never_over_each_other(small_recording: Path) -> None:
    found = miniature(small_recording)
    assert found.lane_count == 4
    drawn = bars(found)
    assert max(start + length for start, length, _ in drawn) == pytest.approx(UNITS, abs=0.2)
    for lane in range(found.lane_count):
        mine = [(start, length) for start, length, at in drawn if at == lane]
        assert mine
        ends = [start + length for start, length in mine]
        assert all(a <= b[0] + 0.11 for a, b in zip(ends, mine[1:], strict=False))


def test_bars_have_the_colours_of_families_on_the_graph_page(small_recording: Path) -> None:
    with Recording(small_recording) as recording:
        tree = read_timed_tree(recording, 1)
        wanted = set(read_family_colours(recording, tree, build_anew).slots().tolist())
    assert {place for place, bars in enumerate(miniature(small_recording).spans) if bars} == wanted


def test_picture_of_a_large_graph_is_small(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "large.gviz", transformer_shape(333), launches=1)
    found = miniature(path)
    assert len(bars(found)) <= UNITS * found.lane_count
    assert len(draw_miniature(found)) < 40_000


def test_many_lanes_share_the_rows_there_are(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "wide.gviz", wide_shape(64, 3), launches=1)
    found = miniature(path)
    assert 6 <= found.lane_count <= 12
    assert max(found.widths) == 64


def test_body_of_a_loop_is_drawn_with_the_loop(tmp_path: Path) -> None:
    found = miniature(write_loop_recording(tmp_path / "loop.gviz"))
    assert len(bars(found)) == 2 + 5 * 2


def test_import_has_a_width_and_no_launch(tmp_path: Path) -> None:
    found = miniature(write_imported_recording(tmp_path / "dump.gviz"))
    assert (found.spans, found.lane_count, found.ordinal) == ([], 0, None)
    assert found.widths == [1, 1]


def test_graph_without_nodes_has_no_picture(tmp_path: Path) -> None:
    found = miniature(write_imported_recording(tmp_path / "dump.gviz"), 2)
    assert (found.lane_count, found.widths) == (0, [])


def test_rows_share_steps_without_losing_the_widest() -> None:
    row = np.array([0, 1, 1, 1, 2, 3, 3, 4])
    assert row_widths(row, 10) == [1, 3, 1, 2, 1]
    assert row_widths(row, 2) == [3, 2]
    assert row_widths(np.zeros(0, np.int64), 3) == []


def test_picture_has_a_path_a_colour_and_says_what_it_shows(small_recording: Path) -> None:
    found = miniature(small_recording)
    root = ET.fromstring(draw_miniature(found))
    bars = [path for path in root.iter(f"{SVG}path") if path.get("class") == "gv-mini-bars"]
    assert len(bars) == sum(bool(place) for place in found.spans)
    places = [place for place, bars in enumerate(found.spans) if bars]
    assert [bar.get("fill") for bar in bars] == [family_colour(place) for place in places]
    assert (root.findtext(f"{SVG}title") or "").endswith("4 lanes · at most 4 nodes side by side")
    assert len([*root.iter(f"{SVG}path")]) == len(bars) + 1


def test_picture_of_no_launch_is_its_width(tmp_path: Path) -> None:
    found = miniature(write_imported_recording(tmp_path / "dump.gviz"))
    root = ET.fromstring(draw_miniature(found))
    assert [path.get("class") for path in root.iter(f"{SVG}path")] == ["gv-mini-band"]
    assert root.findtext(f"{SVG}title") == "No launch has node times · a chain"


def test_reason_stands_in_for_a_picture() -> None:
    root = ET.fromstring(draw_reason("a <cycle>"))
    assert [(part.tag, part.text) for part in root] == [(f"{SVG}title", "No picture: a <cycle>")]
