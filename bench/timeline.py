"""What a timeline of 1,000,000 spans costs in headless Chromium, served by gviz itself.

Two recordings: 1,000 launches of a graph of 1,000 nodes, stacked; and an eager pass of 1,000,000
operations beside one launch. "empty page" is a Dash page of one empty box. "cold" is the first
request to a fresh server with an empty browser: the server reads the recording in it. "warm" is
the same page again. Both are from navigation to the first frame with data. "zoom p95" and "pan
p95" are times between animation frames while the wheel zooms and the mouse drags, 60 steps each;
"detail" is from the last step to all detail of the view drawn, the rest of 120 ms included.
Run: python -P bench/timeline.py [--repeat R]   (needs Chromium: GVIZ_CHROMIUM or on the path)
"""

from __future__ import annotations

import argparse
import json
import logging
import platform
import sqlite3
import statistics
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from dash import Dash as DashApp
from dash import html
from playwright.sync_api import Browser, Page, sync_playwright
from recordings import transformer_shape, write_recording
from render import find_chromium, time_painted, time_pan, time_zoom
from waitress.server import create_server

import gviz.assets
from gviz.app.components import Timeline
from gviz.app.library import Library
from gviz.app.routes import add_payload_routes

LAUNCHES, LAYERS = 1_000, 67
#: Waits in the page until the view has all detail of what it shows.
DETAILED = """async () => {
  const canvas = document.querySelector("canvas.gviz-canvas");
  const begin = performance.now();
  for (;;) {
    const { detail } = canvas.gvizState();
    if (!detail || detail.enough) return performance.now() - begin;
    await new Promise((done) => setTimeout(done, 4));
  }
}"""


def write_recordings(folder: Path) -> dict[str, tuple[Path, str]]:
    """Write both recordings; returns file and source of the payload by name of the page."""
    stack, eager = folder / "stack.gviz", folder / "eager.gviz"
    write_recording(stack, transformer_shape(LAYERS), launches=LAUNCHES)
    write_recording(eager, transformer_shape(LAYERS), launches=2)
    repeat_operations(eager, LAUNCHES)
    return {
        "1,000 launches x 1,000": (stack, "/payload/timeline/stack/1?launch=all"),
        "eager pass, 1,000,000": (eager, "/payload/timeline/eager/1?launch=1"),
    }


def repeat_operations(path: Path, times: int) -> None:
    """Make an eager pass so many times as long; the work added matches no node."""
    with sqlite3.connect(path) as db:
        names = [row[1] for row in db.execute("PRAGMA table_info(stream_operation)")]
        (count, length) = db.execute(
            "SELECT count(*), max(host_end_ns) - min(host_start_ns) FROM stream_operation"
        ).fetchone()
        changed = {name: f"{name} + n * {length}" for name in names if name.endswith("start_ns")}
        changed |= {"host_end_ns": f"host_end_ns + n * {length}", "node_id": "NULL"}
        changed["operation_id"] = f"operation_id + n * {count}"
        columns = ", ".join(changed.get(name, name) for name in names)
        db.execute(
            f"WITH RECURSIVE step(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM step "
            f"WHERE n < {times - 1}) INSERT INTO stream_operation SELECT {columns} "
            f"FROM stream_operation, step WHERE operation_id <= {count}"
        )
        db.execute(
            f"UPDATE launch SET span_count = span_count * {times}, "
            f"gpu_end_ns = gpu_end_ns + {(times - 1) * length} WHERE side = 'stream'"
        )


@contextmanager
def serve(path: Path, source: str | None) -> Iterator[str]:
    """Serve one timeline, or an empty page, as a fresh server; yields its address."""
    web = Path(gviz.assets.__file__).parent / "web"
    app = DashApp(__name__, assets_folder=str(web), serve_locally=True)
    style = {"height": "90vh"}
    app.layout = (
        html.Div(id="empty", style=style)
        if source is None
        else Timeline(id="view", source=source, style=style)
    )
    add_payload_routes(app.server, Library([path]), "/")
    server = create_server(app.server, host="127.0.0.1", port=0, threads=4)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.effective_port}/"
    server.close()


def measure_view(page: Page) -> dict[str, float]:
    """Return frame times and the wait for detail of an open page (ms)."""
    page.evaluate(DETAILED)
    found = {"zoom_p95_ms": time_zoom(page), "pan_p95_ms": time_pan(page)}
    page.mouse.move(640, 380)
    for _ in range(12):
        page.mouse.wheel(0, -200)
    page.wait_for_timeout(30)
    found["detail_ms"] = float(page.evaluate(DETAILED))
    return found


def measure(browser: Browser, path: Path, source: str | None, repeat: int) -> dict[str, float]:
    """Return the medians of one page's numbers, in milliseconds."""
    runs: list[dict[str, float]] = []
    for _ in range(repeat):
        with serve(path, source) as url:
            context = browser.new_context(viewport={"width": 1280, "height": 800})
            cold, page = time_painted(context, url)
            page.close()
            warm, page = time_painted(context, url)
            found = {"cold_ms": cold, "warm_ms": warm}
            if source is not None:
                found |= measure_view(page)
            runs.append(found)
            context.close()
    return {name: statistics.median(run[name] for run in runs) for name in runs[0]}


def print_table(rows: list[dict[str, Any]]) -> None:
    """Print the numbers; '-' where a page has none."""
    names = ("cold_ms", "warm_ms", "zoom_p95_ms", "pan_p95_ms", "detail_ms")
    print(f"{'page':<24}" + "".join(f"{name.replace('_', ' '):>13}" for name in names))
    for row in rows:
        cells = [f"{row[name]:.0f}" if name in row else "-" for name in names]
        print(f"{row['page']:<24}" + "".join(f"{cell:>13}" for cell in cells))


def main() -> None:
    """Measure, print a table and a JSON line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeat", type=int, default=3)
    repeat = parser.parse_args().repeat
    chromium = find_chromium()
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        pages = write_recordings(Path(folder))
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        any_path = next(iter(pages.values()))[0]
        rows = [{"page": "empty page", **measure(browser, any_path, None, repeat)}]
        for name, (path, source) in pages.items():
            rows.append({"page": name, **measure(browser, path, source, repeat)})
        version = browser.version
        browser.close()
    print_table(rows)
    print(
        json.dumps(
            {
                "bench": "timeline",
                "chromium": version,
                "repeat": repeat,
                "python": platform.python_version(),
                "rows": rows,
            }
        )
    )


if __name__ == "__main__":
    main()
