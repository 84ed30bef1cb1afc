"""A page in headless Chromium: when it is painted, how it moves, how fast a click is answered."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import psutil
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from gviz.agents.chromium import find_chromium
from measuring.processes import Server, cpu_of

#: Steps of the wheel or the mouse while frames are watched.
STEPS = 60
#: From an inspector that is filled to the next click.
_BETWEEN_CLICKS_MS = 500
VIEWPORT = {"width": 1280, "height": 800}
#: The page's content security policy allows no strings as scripts inside it, so nothing here
#: uses wait_for_function; times are the page's own clock, which starts with the navigation (ms).
_PAINTED = """async (id) => {
  for (;;) {
    const canvas = document.querySelector(`#${id} canvas`);
    if (canvas?.gvizState().ready) return canvas.gvizState().painted_ms;
    if (id === "empty" && document.querySelector("#empty")) break;
    await new Promise((done) => setTimeout(done, 4));
  }
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
  return performance.now();
}"""
_AT_REST = """async () => {
  while (!document.querySelector(":is(#nodes, #kernels):not([hidden]) [data-row]")) {
    await new Promise((done) => setTimeout(done, 20));
  }
  // No long task for a while: the table and its values are in.
  let last = performance.now();
  while (performance.now() - last < 400) {
    const begin = performance.now();
    await new Promise((done) => setTimeout(done, 10));
    if (performance.now() - begin > 40) last = performance.now();
    if (begin > 60000) return;
  }
}"""
_WATCH = """() => {
  window.gvizFrames = [];
  let last = performance.now();
  const tick = (now) => {
    window.gvizFrames.push(now - last);
    last = now;
    window.gvizTick = requestAnimationFrame(tick);
  };
  window.gvizTick = requestAnimationFrame(tick);
}"""
_READ = "() => { cancelAnimationFrame(window.gvizTick); return window.gvizFrames.slice(1); }"
#: From the release of the mouse to the frame in which the inspector tells of the node selected.
_FILLED = """() => {
  const inspector = document.getElementById("inspector");
  const canvas = document.querySelector("#dag canvas");
  const before = canvas.gvizState().selected[0];
  let released = null;
  document.addEventListener("pointerup", () => (released = performance.now()), {
    capture: true,
    once: true,
  });
  window.gvizFilled = new Promise((resolve) => {
    const watch = new MutationObserver(() => {
      const [node] = canvas.gvizState().selected;
      if (released === null || node === undefined || node === before) return;
      if (!inspector.textContent.includes(`node ${node}`)) return;
      watch.disconnect();
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - released), 0));
    });
    watch.observe(inspector, { childList: true, subtree: true, characterData: true });
    setTimeout(() => resolve(null), 5000); // something else was hit, or what was selected before
  });
}"""
_DETAILED = """async (id) => {
  const canvas = document.querySelector(`#${id} canvas`);
  const begin = performance.now();
  for (;;) {
    const { detail } = canvas.gvizState();
    if (!detail || detail.enough) return performance.now() - begin;
    await new Promise((done) => setTimeout(done, 4));
  }
}"""


_WATCH_TASKS = """
window.gvizTasks = [];
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) window.gvizTasks.push(duration);
}).observe({ type: "longtask", buffered: true });
"""
#: A row of whichever table is shown.
_ROW = ":is(#nodes, #kernels):not([hidden]) [data-row]"
_USABLE = """async ([view, row]) => {
  for (;;) {
    const canvas = document.querySelector(`#${view} canvas`);
    if (canvas?.gvizState?.().ready && document.querySelector(row)) break;
    await new Promise((done) => setTimeout(done, 4));
  }
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
  return performance.now();
}"""
#: Folds a graph that is not folded, and returns what that took; null: it cannot be folded.
_FOLD = """async () => {
  const choice = document.querySelector("select#folding");
  const canvas = document.querySelector("#dag canvas");
  const ways = Array.from(choice?.options ?? []).filter((o) => o.value !== "none" && !o.disabled);
  if (!ways.length) return null;
  const fold = async (value) => {
    const start = performance.now();
    choice.value = value;
    choice.dispatchEvent(new Event("change", { bubbles: true }));
    for (;;) {
      const { ready, foldCount } = canvas.gvizState();
      if (ready && (value === "none") === (foldCount === 0)) break;
      if (performance.now() - start > 60000) return null;
      await new Promise((done) => setTimeout(done, 1));
    }
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
    return performance.now() - start;
  };
  if (choice.value !== "none") await fold("none");
  return fold(ways[0].value);
}"""


#: Draws every node of a graph that is folded.
_UNFOLD = """async () => {
  const choice = document.querySelector("select#folding");
  const canvas = document.querySelector("#dag canvas");
  if (!choice || choice.value === "none") return;
  choice.value = "none";
  choice.dispatchEvent(new Event("change", { bubbles: true }));
  const begin = performance.now();
  while (performance.now() - begin < 20000) {
    const { ready, foldCount } = canvas.gvizState();
    if (ready && foldCount === 0) return;
    await new Promise((done) => setTimeout(done, 10));
  }
}"""


@dataclass(frozen=True, slots=True)
class Visit:
    """One visit of a page: milliseconds to its first picture, processor time until then (s)."""

    painted_ms: float
    server_cpu_s: float
    browser_cpu_s: float


@contextmanager
def open_chromium() -> Iterator[Browser]:
    """Run a headless Chromium; SystemExit where there is none."""
    path = find_chromium()
    if path is None:
        raise SystemExit("no Chromium found: install one or name it in GVIZ_CHROMIUM")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def new_user(browser: Browser, server: Server) -> Iterator[BrowserContext]:
    """Return a browser with an empty cache that the server knows."""
    context = browser.new_context(viewport=VIEWPORT)  # type: ignore[arg-type]
    context.request.get(server.new_link())
    yield context
    context.close()


def visit(context: BrowserContext, server: Server, path: str, view: str) -> tuple[Visit, Page]:
    """Open a page and wait for the first picture of a view, the id of its element."""
    page = context.new_page()
    watch_tasks(page)
    server_before, browser_before = server.cpu_s(), browser_cpu_s()
    page.goto(server.address(path), wait_until="commit")
    painted = float(page.evaluate(_PAINTED, view))
    found = Visit(painted, server.cpu_s() - server_before, browser_cpu_s() - browser_before)
    return found, page


def browser_cpu_s() -> float:
    """Return the processor time that the browser's processes have taken (s)."""
    mine = psutil.Process().children(recursive=True)
    return sum(cpu_of(p.pid) for p in mine if "chrom" in p.name())


def wait_usable(page: Page, view: str) -> float:
    """Wait until a view is drawn and a table has rows; return when that was (ms)."""
    return float(page.evaluate(_USABLE, [view, _ROW]))


def painted_ms(page: Page, view: str) -> float:
    """Return when a view was drawn with its data (ms of the page's clock)."""
    return float(page.evaluate(_PAINTED, view))


def watch_tasks(page: Page) -> None:
    """Have a page, before it is opened, note its long tasks."""
    page.add_init_script(_WATCH_TASKS)


def longest_task(page: Page) -> float:
    """Return how long (ms) the longest task of a watched page was; 0: none took 50 ms."""
    return float(page.evaluate("() => Math.max(0, ...window.gvizTasks)"))


def busiest_task_ms(browser: Browser, open_page: Callable[[], Page]) -> float:
    """Return the most processor time (ms) that a task takes until an opened page is at rest.

    Other work on the machine makes tasks longer, and not this.
    """
    browser.start_tracing(categories=["toplevel"])
    page = open_page()
    wait_at_rest(page)
    events = json.loads(browser.stop_tracing())["traceEvents"]
    page.close()
    names = [event for event in events if event["name"] == "thread_name"]
    mains = {(n["pid"], n["tid"]) for n in names if n["args"]["name"] == "CrRendererMain"}
    tasks = (event for event in events if (event["pid"], event["tid"]) in mains)
    return float(max(task.get("tdur", 0) for task in tasks)) / 1e3


def unfold(page: Page) -> None:
    """Have every node of a graph drawn."""
    page.evaluate(_UNFOLD)


def time_fold(page: Page) -> float | None:
    """Return the time (ms) from the choice of folds to the frame that has them; None: no folds."""
    found = page.evaluate(_FOLD)
    return None if found is None else float(found)


def tab_bytes() -> int:
    """Return the memory that the largest of the browser's tabs has for itself."""
    found = 0
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # the tab of a page that was closed is ending
            if "--type=renderer" in process.cmdline():
                found = max(found, process.memory_full_info().uss)
    return found


def wait_at_rest(page: Page) -> None:
    """Wait until the table is filled and nothing goes on."""
    page.evaluate(_AT_REST)


def p95(values: list[float]) -> float:
    """Return the 95th percentile, nearest rank."""
    return sorted(values)[max(0, round(0.95 * len(values)) - 1)]


def middle_of(page: Page, view: str) -> tuple[float, float]:
    """Return the middle of a view on the page."""
    box = page.locator(f"#{view}").bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def time_zoom(page: Page, view: str) -> float:
    """Return the 95th percentile (ms) of times between frames while the wheel zooms a view."""
    page.mouse.move(*middle_of(page, view))
    page.evaluate(_WATCH)
    for step in range(STEPS):
        page.mouse.wheel(0, -90 if step < STEPS / 2 else 90)
    return p95(page.evaluate(_READ))


def time_pan(page: Page, view: str) -> float:
    """Return the 95th percentile (ms) of times between frames while the mouse drags a view."""
    x, y = middle_of(page, view)
    page.mouse.move(x, y)
    page.mouse.down()
    page.evaluate(_WATCH)
    for step in range(STEPS):
        page.mouse.move(x + 3 * (step % 40) - 60, y + step % 20)
    page.mouse.up()
    return p95(page.evaluate(_READ))


def time_clicks(page: Page, nodes: Sequence[int]) -> list[float]:
    """Return the times (ms) from clicks where nodes are to the inspector that tells of one.

    A person reads in between: what follows a click (the page's address, the table's row, the
    drawings that show the node) is over before the next. Where something else is hit there is none.
    """
    found = []
    for node in nodes:
        locate = "(id) => document.querySelector('#dag canvas').gvizLocate(id)"
        spot = page.evaluate(locate, node)
        if spot is None:
            continue
        page.mouse.move(spot["x"], spot["y"])
        page.evaluate(_FILLED)
        page.mouse.click(spot["x"], spot["y"])
        filled = page.evaluate("() => window.gvizFilled")
        if filled is not None:
            found.append(float(filled))
        page.wait_for_timeout(_BETWEEN_CLICKS_MS)
    return found


def time_detail(page: Page, view: str) -> float:
    """Return the time (ms) from the last step of a zoom to every span of the view drawn."""
    page.evaluate(_DETAILED, view)
    page.mouse.move(*middle_of(page, view))
    for _ in range(12):
        page.mouse.wheel(0, -200)
    page.wait_for_timeout(30)
    return float(page.evaluate(_DETAILED, view))
