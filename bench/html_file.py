"""What an exported HTML file costs: seconds to write, bytes, and the time until it is drawn.

Graphs shaped like a decode step, 20 launches recorded. "written" is processor time of the
process that writes. "drawn" is from navigation to the end of the first frame of the DAG, "table"
until rows are there, "inspector" from a click in the table to the node's facts; headless Chromium
with software drawing, the file opened from disk.
Run: python -P bench/html_file.py [--repeat R]   (needs Chromium: GVIZ_CHROMIUM or on the path)
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from playwright.sync_api import Browser, sync_playwright
from recordings import transformer_shape, write_recording

from gviz.app.html_file.file import write_html

#: Layers of the transformer: 1,000, 5,000 and 20,000 nodes.
LAYERS = (66, 333, 1_333)
NAMES = (os.environ.get("GVIZ_CHROMIUM"), "chromium", "chromium-browser", "google-chrome")
DRAWN = """async () => {
  const state = () => document.querySelector("#dag canvas")?.gvizState?.() ?? {};
  while (!state().ready) await new Promise((done) => setTimeout(done, 4));
  while (!document.querySelector("tr[data-node]")) await new Promise((done) => setTimeout(done, 4));
  return [state().painted_ms, performance.now()];
}"""
CLICK = """async (place) => {
  const row = document.querySelectorAll("tr[data-node]")[place];
  const start = performance.now();
  row.click();
  const words = `node ${row.dataset.node}`;
  while (!document.querySelector("#inspector").textContent.includes(words)) {
    await new Promise((done) => setTimeout(done, 1));
  }
  return performance.now() - start;
}"""


def measure(browser: Browser, path: Path, repeat: int) -> dict[str, float]:
    """Return medians (ms) over fresh pages."""
    found: dict[str, list[float]] = {"drawn_ms": [], "table_ms": [], "inspector_ms": []}
    for _ in range(repeat):
        context = browser.new_context(viewport={"width": 1280, "height": 800}, offline=True)
        page = context.new_page()
        page.goto(path.as_uri(), wait_until="commit")
        drawn, table = page.evaluate(DRAWN)
        found["drawn_ms"].append(drawn)
        found["table_ms"].append(table)
        # The first click may still wait for all facts to be unpacked.
        page.evaluate(CLICK, 0)
        found["inspector_ms"].append(page.evaluate(CLICK, 3))
        context.close()
    return {name: statistics.median(values) for name, values in found.items()}


def main() -> None:
    """Measure, print a table and a JSON line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeat", type=int, default=3)
    repeat = parser.parse_args().repeat
    chromium = next((found for name in NAMES if name and (found := shutil.which(name))), None)
    if chromium is None:
        raise SystemExit("no Chromium found: install one or name it in GVIZ_CHROMIUM")
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for layers in LAYERS:
            shape = transformer_shape(layers)
            recording = write_recording(Path(folder) / f"{layers}.gviz", shape, launches=20)
            output = recording.with_suffix(".html")
            start = time.process_time()
            written = write_html(recording, output, [1])
            row = {"nodes": written.node_count, "written_s": time.process_time() - start}
            row |= {"bytes": written.size_bytes, **measure(browser, output, repeat)}
            rows.append(row)
        version = browser.version
        browser.close()
    heads = ("written s", "MB", "drawn ms", "table ms", "inspector ms")
    print(f"{'nodes':>7}" + "".join(f"{head:>14}" for head in heads))
    for row in rows:
        print(
            f"{row['nodes']:>7,}{row['written_s']:>14.1f}{row['bytes'] / 1e6:>14.2f}"
            f"{row['drawn_ms']:>14.0f}{row['table_ms']:>14.0f}{row['inspector_ms']:>14.0f}"
        )
    about = {"bench": "html_file", "chromium": version, "repeat": repeat}
    print(json.dumps({**about, "python": platform.python_version(), "rows": rows}))


if __name__ == "__main__":
    main()
