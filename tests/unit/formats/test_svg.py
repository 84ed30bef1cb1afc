"""Pictures without a browser: every node and edge, at its place, in its colour and in words."""

from __future__ import annotations

import json
import re
import sqlite3
import xml.etree.ElementTree as ET
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from nested_recordings import NESTED, write_nested_recording
from places import ROOT
from recordings import Shape, Work, fork_join_shape, write_recording

from gviz.cli.command_line import main
from gviz.errors import RecordingError
from gviz.formats.dot.export import to_dot
from gviz.formats.svg.colours import ColourScale, ValueColours, family_colour, luminance
from gviz.formats.svg.pen import INKS, fit
from gviz.formats.svg.picture import draw_graphs, draw_launch
from gviz.recording.reader import Recording
from gviz.text import duration

TABLE = json.loads((ROOT / "tests" / "pictures.json").read_text("utf-8"))
BUNDLED = ROOT / "assets" / "recordings"
SVG = "{http://www.w3.org/2000/svg}"


def boxes(text: str) -> dict[str, ET.Element]:
    """Return the nodes of a picture by their titles."""
    root = ET.fromstring(text.encode())
    found = {}
    for rect in root.iter(f"{SVG}rect"):
        title = rect.find(f"{SVG}title")
        if title is not None and re.match(r"\d+: ", title.text or ""):
            assert title.text not in found
            found[str(title.text)] = rect
    return found


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_recording(tmp_path / "r.gviz", fork_join_shape(), launches=3)


@pytest.mark.parametrize("name", ["cupy_pipeline", "decode_step", "training_step"])
def test_graph_has_a_box_a_node_and_a_line_an_edge(name: str) -> None:
    with Recording(BUNDLED / f"{name}.gviz") as recording:
        (graph,) = recording.fetch_graphs()
        text = draw_graphs(recording, [graph.graph_id])
        nodes = recording.fetch_nodes(graph.graph_id)
        edges = recording.fetch_edges(graph.topology_id or 0)
    found = boxes(text)
    assert {int(title.split(":")[0]) for title in found} == {n.node_id for n in nodes}
    assert len(re.findall("<polyline", text)) == len(edges)
    places = {(rect.get("x"), rect.get("y")) for rect in found.values()}
    assert len(places) == len(nodes)


def test_colours_are_those_of_the_dot(path: Path) -> None:
    with Recording(path) as recording:
        found = boxes(draw_graphs(recording, [1]))
        dot = to_dot(recording, 1)
    timed = dict(
        re.findall(r'graph_1_node_(\d+) \[[^;]*?fillcolor="(#\w+)"', dot.replace("\n", " "))
    )
    assert len(timed) > 10
    fills = {title.split(":")[0]: rect.get("fill") for title, rect in found.items()}
    assert {node: fills[node] for node in timed} == timed


def test_bodies_are_drawn_under_their_graph(tmp_path: Path) -> None:
    path = write_nested_recording(tmp_path / "n.gviz", NESTED)
    with Recording(path) as recording:
        text = draw_graphs(recording, [1])
        for graph in recording.fetch_graphs():
            assert f">{graph.name}" in text


def test_launch_has_a_bar_a_span_in_order_of_time(path: Path) -> None:
    with Recording(path) as recording:
        text = draw_launch(recording, 1, 1)
        launch = next(x for x in recording.fetch_launches(1) if x.ordinal == 1)
        spans = recording.fetch_spans(launch.launch_id)
    titles = re.findall(r"<title>([^<]*) from [^<]* on</title>", text)
    assert len(titles) == len(spans)
    assert "launch #1" in text


def test_median_launch_is_drawn_unless_one_is_named() -> None:
    with Recording(BUNDLED / "decode_step.gviz") as recording:
        launches = [x for x in recording.fetch_launches(1) if x.span_count]
        launches.sort(key=lambda x: (x.gpu_end_ns or 0) - (x.gpu_start_ns or 0))
        text = draw_launch(recording, 1)
        assert f"launch #{launches[(len(launches) - 1) // 2].ordinal}<" in text
        with pytest.raises(RecordingError, match="no launch #999 with node times"):
            draw_launch(recording, 1, 999)


def test_names_are_escaped(path: Path) -> None:
    database = sqlite3.connect(path)
    with database:
        name = '<script>a & "b" \x01 é 漢</script>'
        database.execute("UPDATE node SET name=?", (name,))
        database.execute("UPDATE graph SET name=?", (name,))
    database.close()
    with Recording(path) as recording:
        for text in (draw_graphs(recording, [1]), draw_launch(recording, 1)):
            root = ET.fromstring(text.encode())
            assert root.find(f".//{SVG}script") is None
            assert "é 漢" in (root.find(f"{SVG}title").text or "")  # type: ignore[union-attr]


@pytest.mark.parametrize("ink", INKS.values(), ids=list(INKS))
def test_texts_are_read_on_the_page(ink: object) -> None:
    def light_of(colour: str) -> float:
        red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
        return luminance((red, green, blue))

    for ground in ("ground", "untimed"):
        pair = sorted(light_of(getattr(ink, name)) for name in ("ink", ground))
        assert (pair[1] + 0.05) / (pair[0] + 0.05) >= 7


# -- what the pages draw too: tests/web/core/pictures.test.js holds them against the same table --


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_theme_has_the_pages_colours(theme: Literal["light", "dark"]) -> None:
    assert asdict(INKS[theme]) == TABLE["inks"][theme]


def test_families_have_the_pages_colours() -> None:
    families = TABLE["families"]
    assert [family_colour(place) for place in range(len(families))] == families


@pytest.mark.parametrize("case", TABLE["durations"], ids=lambda case: f"{case['values']}")
def test_durations_have_the_pages_colours(case: dict[str, Any]) -> None:
    scale = ColourScale.of(np.array(case["values"], np.float64))
    assert asdict(scale) == case["scale"]
    colours = ValueColours(scale, case["theme"])
    assert [colours.fill(ns) for ns in case["values"]] == case["fills"]
    assert [colours.text(ns) for ns in case["values"]] == case["texts"]


def test_names_are_cut_as_on_the_pages() -> None:
    assert [[*case[:3], fit(*case[:3])] for case in TABLE["names"]] == TABLE["names"]


@pytest.mark.parametrize("case", TABLE["graphs"], ids=lambda case: case["name"])
def test_picture_has_the_pages_places_and_words(case: dict[str, Any], tmp_path: Path) -> None:
    after: list[list[int]] = [[] for _ in range(case["count"])]
    for tail, head in case["edges"]:
        after[head].append(tail)
    works = tuple(Work(f"k{n}", 5_000, tuple(before)) for n, before in enumerate(after))
    path = write_recording(tmp_path / "r.gviz", Shape("table", works), launches=1)
    with Recording(path) as recording:
        found = boxes(draw_graphs(recording, [1]))
    left, top = (min(float(rect.get(at) or 0) for rect in found.values()) for at in "xy")
    first = [min(box[at] for box in case["boxes"]) for at in (0, 1)]
    for number, (title, rect) in enumerate(found.items()):
        x, y, width, height = case["boxes"][number]
        place = float(rect.get("x") or 0) - left, float(rect.get("y") or 0) - top
        assert place == pytest.approx((x - first[0], y - first[1]), abs=0.02)
        assert [float(rect.get(at) or 0) for at in ("width", "height")] == [width, height]
        assert re.fullmatch(rf"\d+: k{number} · KERNEL · \d\.\d\d µs", title)


def test_times_are_written_as_on_the_pages(path: Path) -> None:
    for ns, words in TABLE["words"]:
        assert words == ("not timed" if ns is None else duration(ns))
    with Recording(path) as recording:
        titles = [*boxes(draw_graphs(recording, [1]))]
    assert [title for title in titles if title.endswith("EMPTY · EMPTY · not timed")]


def test_command_writes_beside_the_recording(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", str(path), "--format", "svg", "--theme", "dark"]) == 0
    output = path.with_suffix(".svg")
    assert f"wrote {output}; open it in a browser" in capsys.readouterr().err
    assert INKS["dark"].ground in output.read_text()
    timeline = ["export", str(path), "--format", "svg", "--timeline", "--launch", "#0"]
    assert main(timeline) == 1
    assert "exists; choose another name or give --overwrite" in capsys.readouterr().err
    assert main([*timeline, "--overwrite"]) == 0
    assert "launch #0" in output.read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--format", "svg", "--launch", "0"], "--launch chooses the launch of --timeline"),
        (["--format", "svg", "--timeline", "--launch", "all"], "one launch of one graph"),
        (["--timeline"], "--timeline is for svg"),
    ],
)
def test_command_refuses_with_a_sentence(
    path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert main(["export", str(path), *arguments]) == 2
    assert words in capsys.readouterr().err
