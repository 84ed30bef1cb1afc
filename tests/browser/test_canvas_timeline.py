"""The timeline on its canvas: both sides, time-only zoom, loops, and what is missing in words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pytest
from canvas_page import locate
from recordings import (
    FIRST_NODE_ID,
    fork_join_shape,
    wide_shape,
    write_loop_recording,
    write_recording,
)

import gviz.assets
from gviz.formats.importer import import_files

if TYPE_CHECKING:
    from conftest import GraphPage, Serve, Site
    from playwright.sync_api import BrowserContext, Page, Route

pytestmark = pytest.mark.browser

ONE_PAGE = True
MOTION = True
SHAPE = fork_join_shape()
TIMED = sum(w.timed for w in SHAPE.works)
NODE = FIRST_NODE_ID + 4


#: All that the page does seems to take long, so it takes a turn behind each part; in each the
#: views are asked for what they show. What they answer with is kept, of faults the message.
_ASKED = """() => {
  const now = performance.now.bind(performance), later = setTimeout.bind(window);
  let ahead = 0;
  performance.now = () => now() + (ahead += 20);
  window.gvizAnswers = [];
  const ask = () => {
    for (const canvas of document.querySelectorAll(".gviz-canvas")) {
      try {
        gvizAnswers.push(`ready: ${canvas.gvizState().ready}`);
        canvas.gvizLocate(1);
      } catch (error) {
        gvizAnswers.push(String(error));
      }
    }
  };
  window.setTimeout = (...given) => {
    ask();
    return later(...given);
  };
}"""


@pytest.fixture(scope="module")
def site(
    serve_beside: Serve, small_recording: Path, tmp_path_factory: pytest.TempPathFactory
) -> Site:
    folder = tmp_path_factory.mktemp("canvas")
    loop = write_loop_recording(folder / "four_turns.gviz", iterations=4)
    alone = write_recording(folder / "alone.gviz", SHAPE, launches=2, eager=False)
    wide = write_recording(folder / "wide.gviz", wide_shape(lanes=40, length=4), launches=1)
    bundled = Path(gviz.assets.__file__).parent / "recordings"
    return serve_beside(small_recording, loop, alone, wide, bundled / "training_step.gviz")


def test_slow_loading_is_reported(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, "graph?file=small&graph=1")
    held: list[Route] = []
    graph_page.page.route("**/payload/timeline/**", lambda route: held.append(route))
    graph_page.page.reload()
    graph_page.wait_until(
        lambda: graph_page.state("timeline").get("message") == "Loading…", "loading said"
    )
    held[0].continue_()
    graph_page.wait()
    assert graph_page.state("timeline")["message"] == ""


def test_views_answer_before_they_are_painted(
    window: BrowserContext, graph_page: GraphPage, site: Site
) -> None:
    asked = replace(graph_page, page=window.new_page())
    asked.page.add_init_script(f"({_ASKED})()")
    asked.open(site, "graph?file=small&graph=1")
    answers = set(asked.page.evaluate("gvizAnswers"))
    asked.page.close()
    assert answers == {"ready: false", "ready: true"}


def test_both_sides_are_shown_from_their_host_calls(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, "graph?file=small&graph=1")
    page = graph_page.page
    closed = graph_page.state("timeline")
    assert set(closed["sides"]) == {"graph"}
    assert closed["eager"].startswith("Eager, the same work: ")
    page.locator("#timeline canvas").press("e")
    graph_page.wait_until(lambda: "stream" in graph_page.state("timeline")["sides"], "eager work")
    graph_page.wait_until(lambda: "eager=open" in page.url, "it is in the address")
    sides = graph_page.state("timeline")["sides"]
    assert sides["graph"]["count"] == sides["stream"]["count"] == TIMED
    assert sides["graph"]["calls"] == 1
    assert sides["stream"]["calls"] == TIMED
    assert sides["graph"]["lanes"] == 4
    assert 0 < sides["graph"]["idle_fraction"] < sides["stream"]["idle_fraction"] < 1
    assert sides["stream"]["total_ns"] > sides["graph"]["total_ns"]


def expect_wheel_to_zoom_time_only(graph_page: GraphPage) -> None:
    """Turn the wheel: lanes stay as high as they are."""
    page = graph_page.page
    before = locate(page, NODE, "timeline")
    k = graph_page.state("timeline")["transform"]["k"]
    page.mouse.move(before["x"], before["y"])
    assert graph_page.turn_wheel("timeline", -400)["k"] > 1.5 * k
    after = locate(page, NODE, "timeline")
    assert after["x"] == pytest.approx(before["x"], abs=1)
    assert after["y"] == before["y"]


def test_wheel_zooms_time_only_and_out_to_where_everything_is_shown(
    graph_page: GraphPage, site: Site
) -> None:
    graph_page.open(site, "graph?file=small&graph=1")
    page = graph_page.page
    fitted = graph_page.state("timeline")["transform"]
    spot = locate(page, NODE, "timeline")
    page.mouse.move(spot["x"], spot["y"])
    assert graph_page.turn_wheel("timeline", -400)["k"] > 1.5 * fitted["k"]
    assert graph_page.turn_wheel("timeline", 2000) == pytest.approx(fitted)
    expect_wheel_to_zoom_time_only(graph_page)


def test_nodes_at_the_left_edge_stay_where_they_are(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, "graph?file=training_step&graph=1")
    fitted = graph_page.state("timeline")["transform"]
    graph_page.page.locator("#dag canvas").focus()
    # They begin microseconds after the launch of 15 ms, and are less than a pixel wide.
    selected: list[int] = []
    for _ in range(4):
        graph_page.page.keyboard.press("n")
        graph_page.wait_until(
            lambda seen=selected: graph_page.state("timeline")["selected"] not in ([], seen),
            "the next item selected",
        )
        selected = graph_page.state("timeline")["selected"]
        graph_page.page.wait_for_timeout(300)  # longer than the timeline glides
        assert graph_page.state("timeline")["transform"] == fitted
        assert max(selected) < 12
        for node in selected:
            assert locate(graph_page.page, node, "timeline")


def test_hover_explains_a_span_and_its_stream_operation(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, "graph?file=small&graph=1&eager=open")
    page = graph_page.page
    spot = locate(page, NODE, "timeline")
    page.mouse.move(spot["x"], spot["y"])
    tip = page.locator("#timeline .gviz-canvas-tooltip")
    tip.wait_for(state="visible")
    text = tip.inner_text()
    assert "branch0_step0" in text
    assert "as stream work" in text
    assert graph_page.state("dag")["hovered"] == NODE


def test_hover_shows_the_operator_that_eager_work_was_called_in(
    graph_page: GraphPage, site: Site, serve_beside: Serve, tmp_path: Path
) -> None:
    traces = Path(__file__).parents[1] / "golden" / "traces"
    names = ("encoder_torch_2.11.json.gz", "encoder_torch_2.11.dot")
    import_files([traces / name for name in names], tmp_path / "encoder.gviz")
    site = serve_beside(tmp_path / "encoder.gviz")
    graph_page.open(site, "graph?file=encoder&graph=1&eager=open")
    page = graph_page.page
    end_of_stream = """() => {
      const canvas = document.querySelector("#timeline canvas"), state = canvas.gvizState();
      const { left, top } = canvas.getBoundingClientRect();
      const { stream } = state.sides;
      const at = state.transform.x + state.transform.k * stream.scale * stream.total_ns;
      return { x: left + state.gutter + at - 1, y: top + stream.top + 7 };
    }"""
    tip = page.locator("#timeline .gviz-canvas-tooltip")

    def called_in() -> str | None:
        # Anew at each look: the lanes move down when the tracks of layers come.
        spot = page.evaluate(end_of_stream)
        for step in range(0, 60, 2):
            page.mouse.move(spot["x"] - step, spot["y"])
            page.evaluate("() => new Promise((done) => requestAnimationFrame(done))")
            if tip.is_visible() and "called in" in tip.inner_text():
                return tip.inner_text()
        return None

    # The last operation of a pass: the last layer's norm.
    text = graph_page.wait_until(called_in, "an operation that says what it was called in")
    assert "aten::layer_norm › aten::native_layer_norm" in text


def test_node_far_off_screen_is_brought_into_view(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, "graph?file=small&graph=1")
    page = graph_page.page
    first = locate(page, FIRST_NODE_ID, "timeline")
    page.mouse.move(first["x"], first["y"])
    for _ in range(4):
        graph_page.turn_wheel("timeline", -600)
    last = FIRST_NODE_ID + len(SHAPE.works) - 1
    graph_page.click_node("dag", last)
    graph_page.expect_selected(last)
    graph_page.wait_until(
        lambda: page.evaluate(
            "id => document.querySelector('#timeline canvas').gvizLocate(id)", last
        ),
        "the node on screen",
    )
    graph_page.at_rest("timeline")
    box = page.locator("#timeline canvas").bounding_box()
    assert box is not None
    assert box["x"] < locate(page, last, "timeline")["x"] < box["x"] + box["width"]


#: How many pixels of the timeline have the colour of rings around selected nodes, in a frame with
#: these nodes selected.
_RINGED = """async (nodes) => {
  const canvas = document.querySelector("#timeline canvas");
  window.gviz.bus.group("graph-page").select(nodes);
  for (let n = 0; n < 4; n++) await new Promise(requestAnimationFrame);
  const accent = [0x0b, 0x7a, 0x70];
  const copy = new OffscreenCanvas(canvas.width, canvas.height);
  const pen = copy.getContext("2d", { willReadFrequently: true });
  pen.drawImage(canvas, 0, 0);
  const { data } = pen.getImageData(0, 0, copy.width, copy.height);
  let count = 0;
  for (let at = 0; at < data.length; at += 4) {
    if (accent.every((value, n) => data[at + n] === value)) count++;
  }
  return count;
}"""


def test_more_nodes_than_can_be_marked_apart_have_no_rings(
    graph_page: GraphPage, site: Site
) -> None:
    page = graph_page.page
    page.emulate_media(color_scheme="light")
    graph_page.open(site, "graph?file=training_step&graph=1&colour=type")
    none = page.evaluate(_RINGED, [])
    spread = [20 * n for n in range(100)]
    # A ring is drawn in this colour, so that its lack is seen.
    assert page.evaluate(_RINGED, spread[:11]) > none + 100
    for many in (12, 40, 100):
        assert page.evaluate(_RINGED, spread[:many]) <= none
        assert graph_page.at_rest("timeline")["selected"] == spread[:many]


def test_part_of_the_time_is_in_the_address_and_escape_leads_back_to_it(
    graph_page: GraphPage, site: Site
) -> None:
    page = graph_page.page
    graph_page.open(site, "graph?file=training_step&graph=1&table=kernels&time=1000000-1200000")
    start = graph_page.at_rest("timeline")["transform"]
    assert start["k"] * 200_000 == pytest.approx(timeline_width(page), rel=0.01)
    # Its nodes are all over the launch: they are shown together, and not as rings.
    page.locator("#kernels [role=row][data-row]").first.click()
    graph_page.wait_until(lambda: graph_page.state("timeline")["isMany"], "many nodes selected")
    led = graph_page.at_rest("timeline")["transform"]
    assert led["k"] < start["k"] / 10
    page.keyboard.press("Escape")
    graph_page.wait_until(lambda: not graph_page.state("timeline")["selected"], "nothing selected")
    graph_page.wait_until(
        lambda: graph_page.state("timeline")["transform"] == pytest.approx(start), "the part again"
    )
    # From here on by hand: a reload and the back button find it.
    page.locator("#timeline canvas").focus()
    page.keyboard.press("+")
    graph_page.wait_until(
        lambda: graph_page.state("timeline")["transform"]["k"] > start["k"] * 1.01, "nearer"
    )
    near = graph_page.at_rest("timeline")["transform"]
    graph_page.wait_until(
        lambda: near["k"] * time_in_address(page) == pytest.approx(timeline_width(page), rel=1e-3),
        "another time",
    )
    page.reload()
    graph_page.wait()
    graph_page.wait_until(
        lambda: graph_page.state("timeline")["transform"] == pytest.approx(near, rel=1e-4),
        "the part of before",
    )
    page.keyboard.press("f")
    page.locator("#timeline canvas").focus()
    page.keyboard.press("f")
    graph_page.wait_until(lambda: "time=" not in page.url, "all of the time")


def time_in_address(page: Page) -> int:
    """Return how much time the page's address asks for, in ns."""
    (times,) = parse_qs(urlsplit(page.url).query)["time"]
    first, last = times.split("-")
    return int(last) - int(first)


def timeline_width(page: Page) -> float:
    """Return how wide the times of the timeline are on screen."""
    box = page.locator("#timeline canvas").bounding_box()
    assert box is not None
    gutter = page.evaluate("document.querySelector('#timeline canvas').gvizState().gutter")
    return float(box["width"] - gutter)


def test_canvases_follow_the_colours_of_the_system(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, "graph?file=small&graph=1")
    for scheme in ("dark", "light"):
        graph_page.page.emulate_media(color_scheme=scheme)
        for view in ("dag", "timeline"):
            graph_page.drawn(view, theme=scheme)


def test_loop_node_owns_the_spans_of_every_iteration(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, "graph?file=four_turns&graph=1")
    state = graph_page.state("timeline")
    assert state["sides"]["graph"]["count"] == 2 + 2 * 4
    assert state["nodeCount"] == 5
    graph_page.click_node("dag", 1002)
    assert graph_page.state("timeline")["selected"] == [1002]
    assert graph_page.state("timeline")["spansOfSelected"] == 2 * 4


def test_missing_eager_side_is_reported_in_words(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, "graph?file=alone&graph=1")
    label = graph_page.page.locator("#timeline canvas").get_attribute("aria-label") or ""
    assert f"{TIMED} graph spans" in label
    assert "No eager run of this work was recorded" in label
    assert list(graph_page.state("timeline")["sides"]) == ["graph"]


def test_more_lanes_than_fit_are_scrolled_by_dragging(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, "graph?file=wide&graph=1")
    page = graph_page.page
    x, y = graph_page.middle_of("timeline")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y - 120, steps=4)
    page.mouse.up()
    assert graph_page.state("timeline")["scroll"] == pytest.approx(120, abs=1)
