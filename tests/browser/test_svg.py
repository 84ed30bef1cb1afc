"""Views saved as SVG: what is in view as shapes and text, by the code that draws the canvas."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Browser, Page
from recordings import (
    FIRST_NODE_ID,
    Shape,
    Work,
    transformer_shape,
    wide_shape,
    write_recording,
)
from svg_picture import SVG, Picture, save_view

from gviz.cuda.node_type import NodeType

if TYPE_CHECKING:
    from conftest import GraphPage, Serve, Site

pytestmark = pytest.mark.browser

ONE_PAGE = True
SMALL = "graph?file=small&graph=1"
NODE = FIRST_NODE_ID + 4
#: Overlays and the titles of their legends, which are their names in the list of colours.
LEGENDS = {"duration": "Median duration", "kernel": "Kernel name", "slack": "Slack"}
HOSTILE = [
    "<script>alert(1)</script>",
    "a & b &lt; \"quoted\" 'too'",
    "bell\x07 and \x1b[31m",
    "]]> --> two\nlines\tand  spaces",
    "ünïcode 核 \ufffe \U0001f600",
]


@pytest.fixture(scope="module")
def site(
    serve_beside: Serve, small_recording: Path, tmp_path_factory: pytest.TempPathFactory
) -> Site:
    folder = tmp_path_factory.mktemp("svg")
    works = [Work(name, 4_000, (i - 1,) if i else ()) for i, name in enumerate(HOSTILE)]
    works.append(Work("EMPTY", 0, (0,), type=NodeType.EMPTY))
    return serve_beside(
        small_recording,
        write_recording(folder / "hostile.gviz", Shape("<&\"' graph", tuple(works)), launches=2),
        write_recording(folder / "twelve.gviz", transformer_shape(layers=12), launches=2),
        write_recording(folder / "crowd.gviz", wide_shape(lanes=100, length=60), launches=1),
    )


def saved(graph_page: GraphPage, view: str, folder: Path) -> Picture:
    return Picture.read(save_view(graph_page.page, view, "SVG", folder))


def test_every_visible_node_is_a_shape_with_its_words(
    graph_page: GraphPage, site: Site, tmp_path: Path
) -> None:
    graph_page.open(site, f"{SMALL}&layout=structure")
    for colour, label in LEGENDS.items():
        graph_page.choose("colour", label)
        for layout in ("structure", "lanes", "time"):
            graph_page.choose_layout(layout)
            expect_shapes(graph_page, tmp_path, layout, colour)


def expect_shapes(graph_page: GraphPage, folder: Path, layout: str, colour: str) -> None:
    """Expect a shape of each node, with its words, in the saved drawing."""
    state = graph_page.drawn("dag", layout=layout, overlay=colour)
    picture = saved(graph_page, "dag", folder)
    assert len(picture.titles()) == state["visible"] == 47
    assert set(picture.shapes()) <= {"rect", "path"}
    assert "branch0_step0 · KERNEL · " in "\n".join(picture.titles())
    assert not {"image", "foreignObject", "script", "style", "a"} & picture.tags()
    assert LEGENDS[colour] in picture.texts()
    # Nodes that were not timed are hatched by lines, not by an image.
    if layout != "time" and colour == "duration":
        assert any(fill.startswith("url(#p") for fill in picture.values("fill"))


def test_only_what_is_in_view_is_saved(graph_page: GraphPage, site: Site, tmp_path: Path) -> None:
    graph_page.open(site, SMALL)
    for _ in range(6):
        graph_page.page.locator("#dag canvas").press("+")
    state = graph_page.at_rest("dag")
    assert 0 < state["visible"] < 47
    picture = saved(graph_page, "dag", tmp_path)
    assert len(picture.titles()) == state["visible"]
    # Names are text, and the minimap says where this is.
    assert any("branch" in text for text in picture.texts())
    assert state["minimap"] is not None
    assert graph_page.state("dag")["transform"] == state["transform"]


def test_selection_fades_the_rest_and_is_ringed(
    graph_page: GraphPage, site: Site, tmp_path: Path
) -> None:
    graph_page.open(site, f"{SMALL}&node={NODE}")
    dag = saved(graph_page, "dag", tmp_path)
    assert "0.38" in dag.values("opacity")
    assert {"#0b7a70", "#0a66d0", "#bf4b00"} <= dag.values("stroke")
    timeline = saved(graph_page, "timeline", tmp_path)
    assert "0.38" in timeline.values("fill-opacity")
    assert "#0b7a70" in timeline.values("stroke")


def test_filter_of_the_page_masks_the_rest(
    graph_page: GraphPage, site: Site, tmp_path: Path
) -> None:
    graph_page.open(site, SMALL)
    graph_page.page.evaluate("ids => gviz.bus.group('graph-page').filter(ids)", [NODE])
    graph_page.wait_until(lambda: graph_page.state("dag")["filtered"] == [NODE], "filter")
    picture = saved(graph_page, "dag", tmp_path)
    assert "mask" in picture.tags()
    assert len(picture.values("mask")) == 1


def test_fold_is_saved_with_its_strip(graph_page: GraphPage, site: Site, tmp_path: Path) -> None:
    graph_page.page.set_viewport_size({"width": 1920, "height": 1080})
    graph_page.open(site, "graph?file=twelve&graph=1&fold=repeats")
    state = graph_page.state("dag")
    picture = saved(graph_page, "dag", tmp_path)
    assert len(picture.titles()) == state["visible"] == state["nodeCount"]
    assert any("· FOLD ·" in title for title in picture.titles())
    assert "layer 0..11" in picture.texts()


def test_timeline_is_saved_with_its_spans_and_axis(
    graph_page: GraphPage, site: Site, tmp_path: Path
) -> None:
    graph_page.open(site, f"{SMALL}&launch=1")
    expect_spans(graph_page, tmp_path, "one", "Graph launch")
    graph_page.choose("launch", "median of 20")
    expect_spans(graph_page, tmp_path, "median", "Median launch")
    graph_page.choose("launch", "all 20, stacked")
    expect_spans(graph_page, tmp_path, "all", "Graph launches")


def expect_spans(graph_page: GraphPage, folder: Path, mode: str, title: str) -> None:
    """Expect the spans that are drawn, and the axis, in the saved timeline."""
    graph_page.wait_until(
        lambda: graph_page.drawn("timeline")["sides"]["graph"]["mode"] == mode, f"{mode} drawn"
    )
    state = graph_page.state("timeline")
    picture = saved(graph_page, "timeline", folder)
    spans = sum(side["count"] for side in state["sides"].values())
    # Those closer than a pixel are drawn as one.
    # Titles of tracks have no time.
    assert 0.2 * spans < sum(" · " in title for title in picture.titles()) <= spans
    assert {"0", title} <= set(picture.texts())
    assert {"clipPath", "text", "rect"} <= picture.tags()
    assert "image" not in picture.tags()


def test_names_of_any_characters_stay_text(
    graph_page: GraphPage, site: Site, tmp_path: Path
) -> None:
    graph_page.open(site, "graph?file=hostile&graph=1")
    path = save_view(graph_page.page, "dag", "SVG", tmp_path)
    assert path.name == "graph-dag.svg"
    picture = Picture.read(path)
    words = "\n".join(picture.titles())
    for name in HOSTILE:
        shown = name.translate({7: "\ufffd", 27: "\ufffd", 0xFFFE: "\ufffd"})
        assert f"{shown} · KERNEL" in words
    assert picture.root.findtext(f"{SVG}title") == "<&\"' graph (dag)"
    assert "script" not in picture.tags()


def test_colours_are_those_of_the_theme(graph_page: GraphPage, site: Site, tmp_path: Path) -> None:
    graph_page.page.emulate_media(color_scheme="dark")
    graph_page.open(site, SMALL)
    for scheme, ground in (("dark", "#151a21"), ("light", "#ffffff")):
        graph_page.drawn("dag", theme=scheme)
        covering = saved(graph_page, "dag", tmp_path).root.find(f"{SVG}rect")
        assert covering is not None
        assert covering.get("fill") == ground
        graph_page.page.get_by_role("button", name="Switch between dark and light").click()


def test_key_saves_svg(graph_page: GraphPage, site: Site, tmp_path: Path) -> None:
    graph_page.open(site, SMALL)
    with graph_page.page.expect_download() as download:
        graph_page.page.locator("#dag canvas").press("Shift+S")
    assert download.value.suggested_filename == "fork-join-3x4-dag.svg"


def test_many_nodes_are_shapes_too_and_the_file_stays_small(
    graph_page: GraphPage, site: Site, tmp_path: Path
) -> None:
    graph_page.open(site, "graph?file=crowd&graph=1&fold=none&layout=lanes")
    assert graph_page.state("dag")["nodeCount"] == 6_002
    path = save_view(graph_page.page, "dag", "SVG", tmp_path)
    assert len(Picture.read(path).titles()) == 6_002
    assert path.stat().st_size < 3_000_000


#: Draws two pictures over each other and returns the share of pixels that differ, and the ground's.
COMPARE = """async sources => {
  const images = await Promise.all(sources.map(async (source) => {
    const image = new Image();
    image.src = source;
    await image.decode();
    return image;
  }));
  const [width, height] = [images[0].naturalWidth, images[0].naturalHeight];
  const [png, svg] = images.map((image) => {
    const canvas = document.createElement("canvas");
    Object.assign(canvas, { width, height });
    const pen = canvas.getContext("2d", { willReadFrequently: true });
    pen.drawImage(image, 0, 0, width, height);
    return pen.getImageData(0, 0, width, height).data;
  });
  let differ = 0;
  let drawn = 0;
  const [red, green, blue] = png;
  for (let at = 0; at < png.length; at += 4) {
    const [r, g, b] = [png[at], png[at + 1], png[at + 2]];
    if (Math.abs(r - svg[at]) > 48 || Math.abs(g - svg[at + 1]) > 48
      || Math.abs(b - svg[at + 2]) > 48) differ += 1;
    if (Math.abs(r - red) > 48 || Math.abs(g - green) > 48 || Math.abs(b - blue) > 48) drawn += 1;
  }
  return { differ: differ / (width * height), drawn: drawn / (width * height) };
}"""


def test_svg_looks_like_the_png(
    graph_page: GraphPage, site: Site, tmp_path: Path, browser: Browser
) -> None:
    graph_page.open(site, f"{SMALL}&layout=structure&colour=slack&launch=all")
    other = browser.new_page()  # without the viewer's policy
    try:
        for view in ("dag", "timeline"):
            expect_alike(graph_page, view, tmp_path, other)
        graph_page.choose("colour", "Median duration")
        graph_page.choose_layout("time")
        graph_page.drawn("dag", overlay="duration")
        expect_alike(graph_page, "dag", tmp_path, other)
        graph_page.choose_layout("lanes")
        graph_page.choose("launch", re.compile("^#0 ·"))
        graph_page.click_node("dag", NODE)
        graph_page.expect_selected(NODE)
        for view in ("dag", "timeline"):
            expect_alike(graph_page, view, tmp_path, other)
    finally:
        other.close()


def expect_alike(graph_page: GraphPage, view: str, folder: Path, other: Page) -> None:
    """Expect a view's two pictures to be alike, drawn in another page, and not empty."""
    graph_page.at_rest(view)
    sources = []
    for kind, mime in {"PNG": "image/png", "SVG": "image/svg+xml"}.items():
        data = save_view(graph_page.page, view, kind, folder).read_bytes()
        sources.append(f"data:{mime};base64,{base64.b64encode(data).decode()}")
    found = other.evaluate(COMPARE, sources)
    assert found["drawn"] > 0.02
    assert found["differ"] < 0.01


def test_file_opens_by_itself(
    graph_page: GraphPage, site: Site, tmp_path: Path, browser: Browser
) -> None:
    graph_page.open(site, f"{SMALL}&node={NODE}")
    for view in ("dag", "timeline"):
        path = save_view(graph_page.page, view, "SVG", tmp_path)
        page = browser.new_page()
        requested: list[str] = []
        page.on("request", lambda request, requested=requested: requested.append(request.url))
        try:
            page.goto(path.as_uri())
            box = page.evaluate("() => document.documentElement.getBBox().width")
            assert page.evaluate("() => document.querySelector('parsererror')") is None
        finally:
            page.close()
        assert box > 400
        assert requested == [path.as_uri()]
