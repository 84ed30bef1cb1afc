"""What drawing costs in headless Chromium: time to the first painted frame, and frame times.

"empty page" is a Dash page of one empty box: what no view can be faster than. "painted" is
from navigation to the end of the first frame with data, in the page's own clock; "warm" with
the browser's cache filled. Payloads are built beforehand and served as they are (bench/layout.py
has the cost of placing nodes). Frames are times between animation frames while the wheel zooms
or the mouse drags, 60 steps each. Software rendering: a real screen is faster.
Run: python -P bench/render.py [--repeat R]   (needs Chromium: GVIZ_CHROMIUM or on the path)
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import platform
import shutil
import statistics
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from dash import Dash as DashApp
from dash import html
from flask import has_request_context, request
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright
from recordings import transformer_shape, write_recording
from waitress.server import create_server

import gviz.app.payload
import gviz.assets
from gviz.app.components import Dag, Timeline
from gviz.app.payload import dag_payload, timeline_payload
from gviz.recording.reader import Recording

#: Name, view, layers of the transformer: 300, 5,000 and 100,000 nodes.
CASES = (
    ("DAG 300", "dag", 20),
    ("DAG 5,000", "dag", 333),
    ("DAG 100,000", "dag", 6_666),
    ("timeline 5,000", "timeline", 333),
    ("timeline 100,000", "timeline", 6_666),
)
STEPS = 60
#: Waits in the page for the view's first frame with data; null where there is no view.
PAINTED = """async () => {
  const canvas = () => document.querySelector("canvas.gviz-canvas");
  while (!(document.querySelector("#empty") || canvas()?.gvizState?.().ready)) {
    await new Promise((done) => setTimeout(done, 4));
  }
  if (canvas()) return canvas().gvizState().painted_ms;
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
  return performance.now();
}"""
WATCH = """() => {
  window.gvizFrames = [];
  let last = performance.now();
  const tick = (now) => {
    window.gvizFrames.push(now - last);
    last = now;
    window.gvizTick = requestAnimationFrame(tick);
  };
  window.gvizTick = requestAnimationFrame(tick);
}"""
READ = "() => { cancelAnimationFrame(window.gvizTick); return window.gvizFrames.slice(1); }"


def build_app(payloads: dict[str, bytes]) -> DashApp:
    """Return a Dash application whose page is the view that the address names."""
    web = Path(gviz.assets.__file__).parent / "web"
    app = DashApp(__name__, assets_folder=str(web), serve_locally=True)
    views = {"dag": Dag, "timeline": Timeline}
    style = {"height": "90vh"}

    def layout() -> Any:
        # Dash asks for the layout once without a request, to check it.
        referer = request.headers.get("Referer", "") if has_request_context() else ""
        key = referer.rpartition("?")[2]
        if key not in payloads:
            return html.Div(id="empty", style=style)
        return views[key.split("-")[0]](id="view", source=f"/payload/{key}", style=style)

    app.layout = layout
    app.server.add_url_rule("/payload/<key>", "payload", lambda key: payloads[key])
    return app


def time_painted(context: BrowserContext, url: str) -> tuple[float, Page]:
    """Return the time (ms) from navigation to the first painted frame, and the page."""
    page = context.new_page()
    page.goto(url)
    return float(page.evaluate(PAINTED)), page


def p95(values: list[float]) -> float:
    """Return the 95th percentile, nearest rank."""
    return sorted(values)[max(0, round(0.95 * len(values)) - 1)]


def time_zoom(page: Page) -> float:
    """Return the 95th percentile (ms) of frame times while the wheel zooms in and out."""
    page.mouse.move(640, 380)
    page.evaluate(WATCH)
    for step in range(STEPS):
        page.mouse.wheel(0, -90 if step < STEPS / 2 else 90)
    return p95(page.evaluate(READ))


def time_pan(page: Page) -> float:
    """Return the 95th percentile (ms) of frame times while the mouse drags."""
    page.mouse.move(640, 380)
    page.mouse.down()
    page.evaluate(WATCH)
    for step in range(STEPS):
        page.mouse.move(640 + 4 * step, 380 + 2 * step)
    page.mouse.up()
    return p95(page.evaluate(READ))


def measure(browser: Browser, url: str, repeat: int, *, view: bool) -> dict[str, float]:
    """Return the medians of one page's numbers, in milliseconds."""
    found: dict[str, list[float]] = {"cold_ms": [], "warm_ms": []}
    if view:
        found |= {"zoom_p95_ms": [], "pan_p95_ms": []}
    for _ in range(repeat):
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        painted, page = time_painted(context, url)
        page.close()
        found["cold_ms"].append(painted)
        painted, page = time_painted(context, url)
        found["warm_ms"].append(painted)
        if view:
            found["zoom_p95_ms"].append(time_zoom(page))
            found["pan_p95_ms"].append(time_pan(page))
        context.close()
    return {name: statistics.median(values) for name, values in found.items()}


def build_payloads(folder: Path) -> dict[str, bytes]:
    """Return the payload of each case by the name its address carries."""
    found: dict[str, bytes] = {}
    # Drawing is measured here; bench/timeline.py has the server's level of detail.
    gviz.app.payload.SENT_WHOLE = 10**9
    for _, view, layers in CASES:
        path = folder / f"{layers}.gviz"
        if not path.exists():
            write_recording(path, transformer_shape(layers), launches=1)
        with Recording(path) as recording:
            if view == "dag":
                found[f"dag-{layers}"] = dag_payload(recording, 1)
            else:
                found[f"timeline-{layers}"] = timeline_payload(recording, 1, None, None)
    return found


def find_chromium() -> str:
    """Return the path of a Chromium; SystemExit without one."""
    names = (os.environ.get("GVIZ_CHROMIUM"), "chromium", "chromium-browser", "google-chrome")
    path = next((found for name in names if name and (found := shutil.which(name))), None)
    if path is None:
        raise SystemExit("no Chromium found: install one or name it in GVIZ_CHROMIUM")
    return path


def main() -> None:
    """Measure, print a table and a JSON line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeat", type=int, default=3)
    repeat = parser.parse_args().repeat
    chromium = find_chromium()
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        payloads = build_payloads(Path(folder))
        server = create_server(build_app(payloads).server, host="127.0.0.1", port=0, threads=8)
        threading.Thread(target=server.run, daemon=True).start()
        base = f"http://127.0.0.1:{server.effective_port}/"
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        rows = [{"page": "empty page", **measure(browser, base, repeat, view=False)}]
        for name, view, layers in CASES:
            found = measure(browser, f"{base}?{view}-{layers}", repeat, view=True)
            rows.append({"page": name, **found})
        version = browser.version
        browser.close()
    print(f"{'page':<20}{'cold ms':>9}{'warm ms':>9}{'zoom p95 ms':>13}{'pan p95 ms':>12}")
    for row in rows:
        numbers = [row.get(k) for k in ("cold_ms", "warm_ms", "zoom_p95_ms", "pan_p95_ms")]
        cells = ["-" if n is None else f"{n:.0f}" for n in numbers]
        print(f"{row['page']:<20}{cells[0]:>9}{cells[1]:>9}{cells[2]:>13}{cells[3]:>12}")
    print(
        json.dumps(
            {
                "bench": "render",
                "chromium": version,
                "repeat": repeat,
                "python": platform.python_version(),
                "rows": rows,
            }
        )
    )


if __name__ == "__main__":
    main()
