"""Files that grow, are replaced or vanish while their pages are open; two tabs; a lost server."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from fake.build import Fakes
from live_spool import NODES, LiveProgram
from playwright.sync_api import Page, Route, expect
from recordings import (
    FIRST_NODE_ID,
    transformer_shape,
    write_loop_recording,
    write_recording,
)
from waiting import eventually

from gviz.app.files import live_recording
from gviz.spool.processes.all_processes import JobSpools
from gviz.spool.records.format import SPOOL_SUFFIX

if TYPE_CHECKING:
    from conftest import GraphPage, Serve, Site

pytestmark = pytest.mark.browser

GRAPH = "graph?file=mine&graph=1"
NODE = FIRST_NODE_ID + 4


@pytest.fixture
def path(tmp_path: Path, small_recording: Path) -> Path:
    """A recording that a test may spoil."""
    return Path(shutil.copy(small_recording, tmp_path / "mine.gviz"))


@pytest.fixture
def site(serve_once: Serve, path: Path) -> Site:
    return serve_once(path)


@pytest.fixture(autouse=True)
def steady_snapshots(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a growing recording looked at every second, also where one look takes seconds."""
    monkeypatch.setattr(live_recording, "_PAUSE_RATIO", 0.0)


def come_back(page: Page) -> None:
    """Do what a tab does that its reader comes back to: it asks at once what has changed."""
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    page.wait_for_timeout(200)


def until_seen(page: Page, question: Callable[[], Any], what: str) -> None:
    """Come back to a page until what has changed is seen there."""
    eventually(question, what, rest=lambda _: come_back(page))


def expect_notice(page: Page, words: str) -> None:
    """Come back to a page until its notice says this."""
    notice = page.locator("#notice")
    until_seen(page, lambda: words in notice.inner_text(), f"notice: {words}")
    expect(notice).to_be_visible()


def transform(graph_page: GraphPage, view: str) -> Any:
    return graph_page.drawn(view)["transform"]


# -- replaced ----------------------------------------------------------------------------


def test_replaced_file_is_reported_and_reloaded_on_demand(
    graph_page: GraphPage, site: Site, path: Path
) -> None:
    page = graph_page.page
    graph_page.open(site, GRAPH)
    graph_page.click_node("dag", NODE)
    graph_page.expect_selected(NODE)
    write_recording(path, transformer_shape(2), launches=2, overwrite=True)
    notice = page.locator("#notice")
    expect_notice(page, "mine.gviz changed since this page was opened")
    assert page.get_by_role("heading", name="fork-join 3x4").count() == 1
    notice.get_by_role("button", name="Reload").click()
    page.get_by_role("heading", name="decode, 2 layers").wait_for()
    graph_page.wait()
    expect(notice).to_be_hidden()
    assert graph_page.drawn("dag")["nodeCount"] == 36
    assert graph_page.state("dag")["selected"] in ([], [NODE])


def test_page_of_a_replaced_file_shows_nothing_of_the_new_one(
    graph_page: GraphPage, site: Site, path: Path, console_may_say: list[str]
) -> None:
    console_may_say.append("status of 409")
    page = graph_page.page
    graph_page.open(site, GRAPH)
    page.route("**/payload/state", lambda route: route.abort())  # the notice comes too late
    console_may_say.append("net::ERR_FAILED")
    # What is said instead moves the canvas: not between the look at it and the click.
    expect_notice(page, "does not answer")
    write_recording(path, transformer_shape(2), launches=2, overwrite=True)
    graph_page.click_node("dag", NODE)
    expect(page.locator("#inspector")).to_contain_text("mine.gviz changed")
    page.get_by_role("radiogroup", name="Layout").get_by_text("Lanes").click()
    expect(page.locator("#dag .gviz-canvas-message")).to_contain_text("mine.gviz changed")
    assert "decode" not in page.locator("#page").inner_text()


def test_runs_page_follows_a_replaced_file(
    page: Page, site: Site, path: Path, console_may_say: list[str]
) -> None:
    # A card's picture may be asked for while the file is replaced: it has another version then.
    console_may_say.append("status of 409")
    site.open(page, "")
    page.get_by_role("link", name="fork-join 3x4").first.wait_for()
    write_loop_recording(path, overwrite=True)
    page.get_by_role("link", name="while loop", exact=True).first.wait_for()
    expect(page.locator("#notice")).to_be_hidden()


# -- deleted and spoilt ------------------------------------------------------------------


def test_deleted_file_is_reported_on_every_page(
    graph_page: GraphPage,
    site: Site,
    path: Path,
    small_recording: Path,
    console_may_say: list[str],
) -> None:
    console_may_say.append("status of 410")
    page = graph_page.page
    graph_page.open(site, GRAPH)
    path.unlink()
    expect_notice(page, f"mine.gviz is not at {path} any more")
    expect(page.locator("#notice")).to_contain_text("What is shown was read before")
    graph_page.click_node("dag", NODE)
    expect(page.locator("#inspector")).to_contain_text("any more")
    page.reload()
    page.get_by_role("heading", name="The file is gone").wait_for()
    page.get_by_role("link", name="To the Runs page").click()
    expect(page.locator("article.gv-card")).to_contain_text("any more")
    shutil.copy(small_recording, path)  # put back, as the sentence says
    until_seen(page, page.get_by_role("link", name="fork-join 3x4").count, "the file put back")


def test_file_that_was_cut_short_is_a_sentence(
    page: Page, site: Site, path: Path, console_may_say: list[str]
) -> None:
    console_may_say.append("status of 404")  # what the graph's page is made of
    path.write_bytes(path.read_bytes()[:9_000])
    site.open(page, "")
    expect(page.locator("article.gv-card")).to_contain_text("the file was damaged")
    expect(page.locator("article.gv-card")).to_contain_text("pages unreadable, left out")
    page.goto(site.address(GRAPH))
    expect(page.locator("#page")).to_contain_text("mine.gviz has no graph at all")


# -- two tabs ----------------------------------------------------------------------------


def test_two_tabs_do_not_disturb_each_other(graph_page: GraphPage, site: Site, page: Page) -> None:
    graph_page.open(site, f"{GRAPH}&launch=3")
    other = type(graph_page)(page.context.new_page())
    other.page.goto(site.address(f"{GRAPH}&launch=5"))
    other.wait()
    graph_page.click_node("dag", NODE)
    other.page.bring_to_front()
    other.click_node("timeline", NODE + 1)
    other.expect_selected(NODE + 1)
    page.bring_to_front()
    graph_page.expect_selected(NODE)
    assert "launch=3" in page.url
    assert "launch=5" in other.page.url
    page.reload()
    graph_page.wait()
    graph_page.expect_selected(NODE)
    other.page.close()


# -- growing -----------------------------------------------------------------------------


@pytest.fixture
def program(tmp_path: Path) -> LiveProgram:
    made = LiveProgram(tmp_path / "live.gviz")
    made.instantiate()
    made.launch(3)
    return made


def open_graph(page: Page) -> None:
    """Follow the Runs page's link to the graph, once it is there."""
    until_seen(page, page.locator("a.gv-graph-link").count, "the graph")
    page.locator("a.gv-graph-link").click()


def launches(page: Page) -> str:
    """Return the number of launches in the head of a graph page."""
    return page.locator("#graph-about").inner_text()


def test_recording_is_shown_as_it_grows(
    page: Page, serve_once: Serve, tmp_path: Path, graph_page: GraphPage
) -> None:
    program = LiveProgram(tmp_path / "live.gviz")
    serve_once(program.spool).open(page, "")
    card = page.locator("article.gv-card")
    until_seen(page, page.get_by_text("No CUDA graph was instantiated yet").count, "no graph")
    expect(page.locator(".gv-badge-recording")).to_have_text("recording")
    program.instantiate()
    open_graph(page)
    assert graph_page.drawn("dag")["colour"] == "family"
    program.launch(3)
    until_seen(page, page.locator("#layout input[value=time]").is_enabled, "its times")
    expect(page.locator("#colour")).to_have_value("family")
    page.go_back()
    until_seen(page, lambda: "Launches3" in (card.text_content() or ""), "3 launches")
    page.locator(".gv-mini-bars").first.wait_for()
    program.end()
    until_seen(page, page.locator(".gv-badge-completed").count, "the end")
    expect(page.locator(".gv-badge-completed")).to_be_visible()
    expect(page.locator(".gv-badge-recording")).to_have_count(0)


def test_graph_page_takes_in_what_is_new_and_keeps_what_its_reader_did(
    graph_page: GraphPage, serve_once: Serve, program: LiveProgram
) -> None:
    page = graph_page.page
    site = serve_once(program.spool)
    site.open(page, "")
    open_graph(page)
    graph_page.wait()
    assert "Launches\n3" in launches(page).replace("\n\n", "\n")
    graph_page.click_node("dag", 2)
    graph_page.expect_selected(2)
    for view in ("dag", "timeline"):
        canvas = page.locator(f"#{view} canvas")
        canvas.hover()
        graph_page.turn_wheel(view, -400)
        graph_page.turn_wheel(view, -400)
    page.get_by_role("columnheader", name="Kernel family").get_by_role("button").click()
    page.locator("#search").fill("work")
    before = {view: graph_page.at_rest(view)["transform"] for view in ("dag", "timeline")}
    page.evaluate("() => { window.mark = document.querySelector('#dag canvas'); }")
    program.launch(5)
    until_seen(page, lambda: "\n8\n" in launches(page).replace("\n\n", "\n"), "8 launches")
    graph_page.expect_selected(2)
    assert {view: transform(graph_page, view) for view in ("dag", "timeline")} == before
    assert page.evaluate("window.mark === document.querySelector('#dag canvas')")
    assert page.locator("#search").input_value() == "work"
    assert page.locator("#search").evaluate("box => box === document.activeElement")
    sort = page.get_by_role("columnheader", name="Kernel family").get_attribute("aria-sort")
    assert sort == "ascending"
    expect(page.locator("#launch option", has_text=re.compile("^#7 ·"))).to_have_count(1)
    program.end()
    until_seen(page, lambda: not page.locator(".gv-badge-recording").count(), "the end")
    job = JobSpools(program.spool)
    job.read()
    graph_page.at_rest("dag")
    with page.expect_response(re.compile("/payload/dag")):  # of the recording, not the snapshot
        job.write(program.recording)
        come_back(page)
    graph_page.expect_selected(2)
    assert transform(graph_page, "dag") == before["dag"]
    expect(page.locator("#notice")).to_be_hidden()


def test_graph_page_without_times_gets_its_timeline(
    graph_page: GraphPage, serve_once: Serve, tmp_path: Path
) -> None:
    program = LiveProgram(tmp_path / "live.gviz")
    program.instantiate()
    page = graph_page.page
    serve_once(program.spool).open(page, "")
    open_graph(page)
    page.locator(".gv-empty", has_text="No launch of this graph has node times yet").wait_for()
    program.launch(2)
    until_seen(page, page.locator("#timeline canvas").count, "the timeline")
    graph_page.wait()
    assert graph_page.drawn("timeline")["sides"]["graph"]["count"] == NODES


def test_graph_is_followed_to_the_number_it_has_now(
    graph_page: GraphPage, serve_once: Serve, tmp_path: Path
) -> None:
    launcher = LiveProgram(tmp_path / "live.gviz")
    worker = LiveProgram(launcher.spool / "worker", process_id=os.getppid())
    worker.instantiate()
    worker.launch(3)
    page = graph_page.page
    serve_once(launcher.spool).open(page, "")
    page.locator("a.gv-graph-link").click()
    graph_page.wait()
    launcher.instantiate()  # the first process's graphs are counted first
    launcher.launch(5)
    graph_page.wait_until(lambda: "graph=2" in page.url, "the number it has now")
    graph_page.wait()
    expect(page.locator("#graph-about")).to_contain_text(re.compile(r"Launches\s*3"))
    graph_page.wait_until(lambda: "layout=" in page.url, "the whole state in the address")
    page.go_back()
    page.get_by_role("heading", name="Runs", exact=True).wait_for()


#: Instantiates a chain of four kernels, and launches it as often as each line that it reads says.
_RUNS = """
import sys
from contract.cases import GRAPH_SHAPES, build_shape
from contract.driver import Driver

cuda = Driver()
stream = cuda.stream()
sys.stdin.readline()
chain = cuda.instantiate(build_shape(cuda, GRAPH_SHAPES["chain"]))
for line in sys.stdin:
    for _ in range(int(line)):
        cuda.launch_graph(chain, stream)
        cuda.wait(stream)
"""


@pytest.fixture
def running(tmp_path: Path, fakes: Fakes) -> Iterator[subprocess.Popen[str]]:
    """A program under gviz run on the fake driver, which does what it is told; live.gviz."""
    (tmp_path / "program.py").write_text(_RUNS)
    path = os.pathsep.join([str(Path(__file__).parent.parent), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-P", "-m", "gviz", "run", "-o", "live.gviz", "program.py"]
    environment = {**fakes.environment(), "PYTHONPATH": path}
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdin=subprocess.PIPE, text=True
    ) as process:
        yield process
        process.kill()


def test_program_that_runs_is_followed_to_its_end(
    page: Page,
    serve_once: Serve,
    tmp_path: Path,
    graph_page: GraphPage,
    running: subprocess.Popen[str],
) -> None:
    spool = tmp_path / f"live.gviz{SPOOL_SUFFIX}"

    def tell(line: str) -> None:
        assert running.stdin is not None
        running.stdin.write(f"{line}\n")
        running.stdin.flush()

    eventually(spool.exists, "its spool")
    serve_once(spool).open(page, "")
    until_seen(page, page.get_by_text("No CUDA graph was instantiated yet").count, "no graph")
    tell("begin")
    open_graph(page)
    assert graph_page.drawn("dag")["nodeCount"] == 4
    for more, there in ((3, 3), (4, 7)):
        tell(str(more))
        until_seen(
            page, lambda n=there: f"Launches{n}" in re.sub(r"\s", "", launches(page)), "launches"
        )
    assert running.stdin is not None
    running.stdin.close()
    assert running.wait() == 0
    page.get_by_role("link", name="Runs", exact=True).first.click()
    until_seen(page, page.locator(".gv-badge-completed").count, "the end")
    expect(page.locator("article.gv-card")).to_contain_text(re.compile(r"Launches\s*7"))


def test_aborted_program_is_shown_as_such(
    page: Page, serve_once: Serve, program: LiveProgram
) -> None:
    serve_once(program.spool).open(page, "")
    page.locator(".gv-badge-recording").wait_for()
    program.abort()
    expect(page.locator(".gv-badge-aborted")).to_have_text("aborted")
    expect(page.locator("article.gv-card")).to_contain_text("without closing the recording")


# -- waiting, and a server that is gone --------------------------------------------------


def test_waiting_for_the_server_is_shown_after_half_a_second(page: Page, site: Site) -> None:
    site.open(page, "")
    page.get_by_role("link", name="fork-join 3x4").first.wait_for()
    held: list[Route] = []
    is_over = threading.Event()
    page.route(
        re.compile("/_dash-update-component"),
        lambda route: route.continue_() if is_over.is_set() else held.append(route),
    )
    page.get_by_role("link", name="Run fork-join 3x4").click()
    expect(page.locator("#progress")).to_be_visible()
    expect(page.locator("#progress-said")).to_have_text("Loading…")
    is_over.set()
    for route in held:
        route.continue_()
    page.get_by_role("heading", name="What measuring cost and lost").wait_for()
    expect(page.locator("#progress")).to_be_hidden()


def test_server_that_ended_is_reported(page: Page, path: Path, console_may_say: list[str]) -> None:
    console_may_say.append("net::ERR_")
    command = [sys.executable, "-P", "-m", "gviz", "view", str(path), "--no-browser", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        found = re.search(r"http://\S+", server.stderr.readline())
        assert found is not None
        page.goto(found[0])
        page.get_by_role("link", name="fork-join 3x4").first.wait_for()
        server.terminate()
    expect_notice(page, "gviz does not answer any more")
    assert page.get_by_role("link", name="fork-join 3x4").count()
