"""A real server, a real Chromium, and what is kept when a browser test fails."""

from __future__ import annotations

import os
import re
import secrets
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from canvas_page import choose
from memory_recordings import write_memory_recording
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Error,
    Page,
    Playwright,
    Request,
    expect,
    sync_playwright,
)
from recordings import write_loop_recording
from resting_page import WINDOW, go_on, leave, rest
from waiting import PATIENCE_S, eventually

from gviz.app.server.server import Options, RunningServer
from gviz.overlay import read_overlays

#: Screenshots of failed tests.
KEPT = Path(__file__).resolve().parents[2] / "out" / "browser"
#: With "1", traces of them too ('playwright show-trace FILE'); tests take a third longer.
TRACE = os.environ.get("GVIZ_BROWSER_TRACE") == "1"


@dataclass(frozen=True, slots=True)
class Site:
    """A running server: fresh links into it, and addresses below it."""

    server: RunningServer

    @property
    def start(self) -> str:
        """A link that admits the browser that opens it."""
        return self.server.new_link()

    def address(self, path: str) -> str:
        """Return the address of a page, which admits nobody."""
        return self.server.url + path.lstrip("/")

    def open(self, page: Page, path: str) -> None:
        """Open an address; the session is fetched without the time that a page takes.

        A page that tests use in turn goes there as its links do, by way of where it rests.
        """
        base = self.server.url
        if page in _in_turn and page.url.startswith(base) and page.url != base + path.lstrip("/"):
            leave(page, base)
        if go_on(page, base, path.lstrip("/")):
            return
        # A connection of its own: the server closes idle ones, perhaps at this moment.
        page.context.request.get(self.start, max_redirects=0, headers={"Connection": "close"})
        page.goto(self.address(path))


#: Containers run as root, where Chromium's sandbox cannot start. One process draws all pages of a
#: server: starting one a page takes as long as a page of Dash.
_PROCESSES = ["--no-sandbox", "--process-per-site", "--renderer-process-limit=1"]
#: Collecting what pages leave behind often takes more time than it saves.
_ARGUMENTS = [*_PROCESSES, "--js-flags=--min-semi-space-size=32"]

#: Options of a page, rather than of its window.
_MEDIA = {"color_scheme", "reduced_motion"}

#: Where a node is, or without one the middle of its canvas, in two frames after one another; null:
#: nowhere, or it moves.
_LOCATE_AT_REST = """([id, node]) => new Promise(done => {
    const canvas = () => document.querySelector(`#${id} canvas`);
    const middle = ({ x, y, width, height }) => ({ x: x + width / 2, y: y + height / 2 });
    const locate = () =>
        node === null ? middle(canvas().getBoundingClientRect()) : canvas().gvizLocate(node);
    const before = locate();
    requestAnimationFrame(() => requestAnimationFrame(() => {
        const now = locate();
        done(before && now && before.x === now.x && before.y === now.y ? now : null);
    }));
})"""
Serve = Callable[..., Site]
#: A list that fills with the addresses that a page asks for, of those with a text in them.
RequestsWith = Callable[[str], list[str]]
#: The page of the test that runs, where tests use one in turn.
_in_turn: set[Page] = set()
#: The pages that tests use in turn, once there are some: of those where nothing moves, and others.
Kept = dict[bool, Page]


Started = tuple[RunningServer, threading.Thread]
#: Port and secret of the addresses of servers that have been closed: Chromium has compiled the
#: scripts of an address that it knows, which is a third of what the first page of a server takes.
_free: list[tuple[int, str]] = []


def _start(
    paths: Sequence[Path],
    url_prefix: str = "/",
    overlays: Sequence[Path] = (),
    fleet: str | None = None,
) -> Started:
    """Start a server on recordings; it listens where one before it did, or the system picks."""
    port, secret = _free.pop() if _free else (0, secrets.token_urlsafe(16))
    laid = read_overlays(overlays)
    options = Options(
        port=port, open_browser=False, url_prefix=url_prefix, overlays=laid, fleet=fleet
    )
    with pytest.MonkeyPatch.context() as patch:
        # Of the address alone: sessions of other servers may begin at this moment.
        known = SimpleNamespace(token_urlsafe=lambda _: secret)
        patch.setattr("gviz.app.server.server.secrets", known)
        server = RunningServer(list(paths), options)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    return server, thread


def _close(started: Started) -> None:
    """Close a server; another may listen there."""
    server, thread = started
    server.close()
    thread.join(timeout=120)
    _free.append((server.port, server.prefix.split("/")[-2]))


@pytest.fixture(scope="module")
def serve(kept: Kept) -> Iterator[Serve]:
    """Start servers on recordings; each shows these and no others."""
    yield from _serving(kept.values)


@pytest.fixture
def serve_once(window: BrowserContext) -> Iterator[Serve]:
    """Start servers as ``serve`` does, and close them with the test: the next has their address."""
    yield from _serving(lambda: window.pages)


def _serving(pages: Callable[[], Iterable[Page]]) -> Iterator[Serve]:
    running: list[Started] = []

    def start(*paths: Path, **options: Any) -> Site:
        running.append(_start(paths, **options))
        return Site(running[-1][0])

    yield start
    for started in running:
        for page in pages():
            if page.url.startswith(started[0].url):
                page.goto("about:blank")  # it would ask a server that is no more
        _close(started)


@pytest.fixture(scope="session")
def serve_beside() -> Iterator[Serve]:
    """Show recordings on a server that has other modules' too: a server and its first page take
    longer than many a test. For pages whose addresses name their file, and lists of files that may
    be longer. Of two files of one name each has a server.
    """
    running: list[Started] = []

    def show(*paths: Path) -> Site:
        wanted = {path.stem: path.resolve() for path in paths}
        for server, _ in running:
            shown = {file.key: file.path for file in server.library.files()}
            if all(shown.get(key, path) == path for key, path in wanted.items()):
                for key in wanted.keys() - shown.keys():
                    server.library.add(wanted[key])
                return Site(server)
        running.append(_start([*wanted.values()]))
        return Site(running[-1][0])

    yield show
    for started in running:
        _close(started)


@pytest.fixture(scope="session")
def loop_recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording of a WHILE loop."""
    return write_loop_recording(tmp_path_factory.mktemp("loop") / "loop.gviz")


@pytest.fixture(scope="session")
def memory_recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording of allocation nodes and their pool."""
    return write_memory_recording(tmp_path_factory.mktemp("memory") / "memory.gviz")


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    """Playwright, which starts Chromium and speaks with it."""
    expect.set_options(timeout=1000 * PATIENCE_S)  # it expects things within five seconds
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="session")
def browser(playwright: Playwright, chromium: str) -> Iterator[Browser]:
    """One Chromium for the windows that tests want in their own way."""
    opened = playwright.chromium.launch(executable_path=chromium, args=_ARGUMENTS)
    yield opened
    opened.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> object:
    """Remember whether the test itself failed, for the page's fixture."""
    report: Any = yield
    if report.when == "call":
        item.stash[_FAILED] = report.failed
    return report


_FAILED = pytest.StashKey[bool]()


@pytest.fixture
def console_may_say() -> list[str]:
    """Return parts of allowed console messages: a test adds those it provokes."""
    return []


@pytest.fixture(scope="session")
def window(
    playwright: Playwright, chromium: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[BrowserContext]:
    """A window of 1280 x 800 for all pages: scripts are fetched and compiled once.

    Its profile is on disk: Chromium keeps compiled scripts there only. What glides and fades takes
    a third of a test's time and does so only where a module says MOTION.
    """
    with playwright.chromium.launch_persistent_context(
        tmp_path_factory.mktemp("profile"),
        executable_path=chromium,
        args=_ARGUMENTS,
        viewport=WINDOW,
        reduced_motion="reduce",
    ) as context:
        context.set_default_timeout(1000 * PATIENCE_S)
        yield context


@pytest.fixture(scope="session")
def kept() -> Kept:
    """The pages that tests use in turn; those of MOTION have their own."""
    return {}


@pytest.fixture
def page(
    window: BrowserContext,
    kept: Kept,
    request: pytest.FixtureRequest,
    console_may_say: list[str],
) -> Iterator[Page]:
    """A page, of a new user to the servers; its console must be empty at the end.

    In modules that say ONE_PAGE the tests use one in turn, but for those marked ``own_page``:
    loading Dash takes longer than most of them. Parametrized, it has these options: those of media
    on a page of its own, others in a window of its own.
    """
    options = getattr(request, "param", {})
    moves = getattr(request.module, "MOTION", False)
    is_shared = getattr(request.module, "ONE_PAGE", False) and not (
        options or request.node.get_closest_marker("own_page")
    )
    context = window
    if options.keys() - _MEDIA:
        browser: Browser = request.getfixturevalue("browser")
        context = browser.new_context(viewport=WINDOW, **options)
        context.set_default_timeout(1000 * PATIENCE_S)
    if TRACE:
        context.tracing.start(screenshots=True, snapshots=True)
    opened = (kept.pop(moves, None) if is_shared else None) or context.new_page()
    if moves:
        opened.emulate_media(reduced_motion="no-preference")
    if options and context is window:
        opened.emulate_media(**options)
    stated: list[str] = []

    def hear(text: str) -> None:
        # Here: what is said while the page is closed may be said as well.
        if not any(part in text for part in console_may_say):
            stated.append(text)

    def hear_message(message: ConsoleMessage) -> None:
        hear(f"{message.type}: {message.text}")

    def hear_error(error: Error) -> None:
        hear(f"error: {error}")

    opened.on("console", hear_message)
    opened.on("pageerror", hear_error)
    _in_turn.update({opened} if is_shared else ())
    yield opened
    _in_turn.clear()
    failed = request.node.stash.get(_FAILED, True)
    can_stay = is_shared and not failed and rest(opened)
    failed = failed or bool(stated)
    name = re.sub(r"\W+", "_", request.node.name)
    if failed:
        KEPT.mkdir(parents=True, exist_ok=True)
        opened.screenshot(path=KEPT / f"{name}.png")
    if TRACE:
        context.tracing.stop(path=KEPT / f"{name}.zip" if failed else None)
    if can_stay:
        opened.remove_listener("console", hear_message)
        opened.remove_listener("pageerror", hear_error)
        kept[moves] = opened
    if context is window:
        _forget(window, kept)
    else:
        context.close()
    assert stated == [], "the console is not empty"


def _forget(context: BrowserContext, kept: Kept) -> None:
    """Close a window's pages but the kept ones; forget what pages stored in it."""
    # Its first page stays: a browser whose last page is closed would end.
    for page in context.pages[1:]:
        if page in kept.values():
            continue
        if page.url.startswith(("http", "file")):
            page.evaluate("localStorage.clear()")
        page.close()
    context.clear_permissions()


#: Waits until a canvas has painted nothing for two frames: what glides paints in each.
_REST = """async id => {
  const frame = () => new Promise(requestAnimationFrame);
  const paintings = () => document.querySelector(`#${id} canvas`).gvizState().paintings;
  for (let still = 0, before = paintings(); still < 2; before = paintings()) {
    await frame();
    await frame();
    still = paintings() === before ? still + 1 : 0;
  }
}"""


@dataclass(frozen=True, slots=True)
class GraphPage:
    """The graph page as its user sees it: each view's own selection, and how to change it."""

    page: Page
    patience_s: float = PATIENCE_S

    def open(self, site: Site, path: str) -> None:
        """Open a graph's address and wait until both canvases and the table are drawn.

        Nodes are listed one by one unless the address names a table.
        """
        is_listed = path.startswith("graph?") and "table=" not in path
        site.open(self.page, f"{path}&table=nodes" if is_listed else path)
        self.wait()

    def wait(self) -> None:
        """Wait until the views of the page shown are drawn."""
        row = ":is(#nodes, #kernels):not([hidden]) [role=row][data-row]"
        self.page.wait_for_selector(row, timeout=1000 * self.patience_s)
        # Until then it stands in front of Dash's page, without a header.
        self.page.locator(".gv-early").wait_for(state="detached")
        # The rows of its blocks stand above the lanes of the timeline, which they move.
        self.page.locator("#breakdown[aria-busy]").wait_for(state="detached")
        for view in ("dag", "timeline", "memory"):
            if self.page.locator(f"#{view}").is_visible():
                self.drawn(view)

    def state(self, view: str) -> dict[str, Any]:
        """Return what a canvas says about itself now: without data it says little."""
        found: dict[str, Any] = self.page.evaluate(
            "id => document.querySelector(`#${id} canvas`)?.gvizState() ?? {ready: false}", view
        )
        return found

    def ask(self, view: str, question: str) -> Any:
        """Return what a function of JavaScript makes of what a canvas says about itself.

        Of a large graph only so much comes here: each number of thousands passes three processes.
        """
        say = f"({question})(document.querySelector(`#${{id}} canvas`).gvizState())"
        return self.page.evaluate(f"id => {say}", view)

    def drawn(self, view: str, **wanted: Any) -> dict[str, Any]:
        """Return what a canvas says about itself once it is drawn, with these of its values."""
        wanted["ready"] = True

        def state() -> dict[str, Any] | None:
            found = self.state(view)
            return found if wanted.items() <= found.items() else None

        found: dict[str, Any] = self.wait_until(state, f"{view} drawn with {wanted}")
        return found

    def at_rest(self, view: str) -> dict[str, Any]:
        """Return what a canvas says about itself once it glides and paints no more."""
        self.page.evaluate(_REST, view)
        return self.drawn(view)

    def turn_wheel(self, view: str, by: float) -> dict[str, Any]:
        """Turn the wheel on a canvas that takes it; return its transform once it has another."""
        before = self.state(view)["transform"]
        self.page.mouse.wheel(0, by)
        self.wait_until(lambda: self.state(view)["transform"] != before, f"{view} zoomed")
        found: dict[str, Any] = self.at_rest(view)["transform"]
        return found

    def choose(self, box: str, option: str | re.Pattern[str]) -> None:
        """Choose from a list: the graph page's own, or one of Dash's pages."""
        if self.page.locator(f"select#{box}").count():
            choose(self.page, box, option)
            return
        self.page.locator(f"#{box}").click()
        self.page.get_by_role("option", name=option, exact=True).click()

    def choose_layout(self, layout: str) -> None:
        """Choose a layout and wait until it is drawn."""
        self.page.locator("#layout").get_by_text(layout.capitalize(), exact=True).click()
        self.drawn("dag", layout=layout)

    def wait_until(self, question: Callable[[], Any], what: str) -> Any:
        """Wait until a question has a true answer and return it."""
        return eventually(
            question, what, self.patience_s, lambda s: self.page.wait_for_timeout(1000 * s)
        )

    def address_with(self, *fields: str, without: str | None = None) -> str:
        """Wait until the page's address has fields, and not another; return it.

        It is written after the page has changed: by a callback, and once a selection rests.
        """

        def found() -> str | None:
            address = self.page.url
            own = set(address.partition("?")[2].split("&"))
            is_free = without is None or not any(field.startswith(without) for field in own)
            return address if is_free and own.issuperset(fields) else None

        address: str = self.wait_until(found, f"{fields} without {without} in the address")
        return address

    def click_node(self, view: str, node: int) -> None:
        """Click a node where a canvas drew it, once it stays there."""
        spot = self.wait_until(
            lambda: self.page.evaluate(_LOCATE_AT_REST, [view, node]),
            f"node {node} at rest in {view}",
        )
        self.page.mouse.click(spot["x"], spot["y"])

    def middle_of(self, view: str) -> tuple[float, float]:
        """Return the middle of a canvas, once it stays there."""
        spot = self.wait_until(
            lambda: self.page.evaluate(_LOCATE_AT_REST, [view, None]), f"{view} at rest"
        )
        return spot["x"], spot["y"]

    def selected_rows(self) -> list[int]:
        """Return the node ids of the table's selected rows that are drawn."""
        rows = self.page.locator("#nodes [data-node][aria-selected=true]")
        return sorted(int(r.get_attribute("data-node") or 0) for r in rows.all())

    def table_has_selected(self, node: int) -> bool:
        """Say whether the table has the node as the selected one; a shut family has a sum of it."""
        if self.page.locator("#nodes").is_visible():
            return self.selected_rows() == [node]
        selected = self.page.evaluate("window.gviz.bus.group('graph-page').selected")
        return selected == [node] and self.page.locator("#table-sums").inner_text().startswith(
            "1 of "
        )

    def inspected(self) -> str:
        """Return the text of the inspector."""
        return self.page.locator("#inspector").inner_text()

    def selections(self, node: int) -> dict[str, bool]:
        """Say for each view whether it shows the node as the selected one.

        A canvas that has not painted since the page changed says nothing yet.
        """
        return {
            "dag": self.state("dag").get("selected") == [node],
            "timeline": self.state("timeline").get("selected") == [node],
            "table": self.table_has_selected(node),
            "inspector": f"node {node}" in self.inspected(),
        }

    def expect_selected(self, node: int) -> None:
        """Wait until all four views show the node as selected, none with a complaint."""
        self.wait_until(
            lambda: all(self.selections(node).values()), f"selection of {node} everywhere"
        )
        assert [self.state(v)["message"] for v in ("dag", "timeline")] == ["", ""]


@pytest.fixture
def graph_page(page: Page) -> GraphPage:
    """The page, as a graph page."""
    return GraphPage(page)


@pytest.fixture
def requests_with(page: Page) -> Iterator[RequestsWith]:
    """List the addresses that the page asks for from now on, those with a text in them.

    The page is heard until the test ends: the next one may be on the same.
    """
    heard: list[Callable[[Request], None]] = []

    def listen(part: str) -> list[str]:
        found: list[str] = []

        def note(request: Request) -> None:
            if part in request.url:
                found.append(request.url)

        page.on("request", note)
        heard.append(note)
        return found

    yield listen
    for note in heard:
        page.remove_listener("request", note)


@pytest.fixture(scope="module")
def kept_page(window: BrowserContext) -> Iterator[GraphPage]:
    """A page that the tests of a module share; its console must be empty at the end."""
    opened = window.new_page()
    stated: list[str] = []
    opened.on("console", lambda message: stated.append(f"{message.type}: {message.text}"))
    opened.on("pageerror", lambda error: stated.append(f"error: {error}"))
    yield GraphPage(opened)
    opened.close()
    assert stated == [], "the console is not empty"
