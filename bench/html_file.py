"""The cost of an exported HTML file: seconds to write, bytes, and the time until it is drawn.

Graphs shaped like a decode step, 20 launches recorded. "written" is processor time of the
process that writes. "drawn" is from navigation to the end of the first frame of the DAG, "table"
until rows are there, "inspector" from a click in the table to the node's facts; headless Chromium
with software drawing, the file opened from disk.
Run: python -P bench/html_file.py [--repeat R]   (needs Chromium: GVIZ_CHROMIUM or on the path)
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from measuring.pages import VIEWPORT, open_chromium
from measuring.report import Figure, Report
from playwright.sync_api import Browser
from recordings import transformer_shape, write_recording

from gviz.app.html_file.file import write_html

#: Layers of the transformer: 1,000, 5,000 and 20,000 nodes.
LAYERS = (66, 333, 1_333)
#: The most that a file should be, by layers.
MOST_MB = {333: 5.0}
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


def measure(browser: Browser, path: Path, repeat: int) -> dict[str, Figure]:
    """Return figures (ms) of fresh pages."""
    found: dict[str, list[float]] = {"drawn ms": [], "table ms": [], "inspector ms": []}
    for _ in range(repeat):
        context = browser.new_context(viewport=VIEWPORT, offline=True)  # type: ignore[arg-type]
        page = context.new_page()
        page.goto(path.as_uri(), wait_until="commit")
        drawn, table = page.evaluate(DRAWN)
        found["drawn ms"].append(drawn)
        found["table ms"].append(table)
        # The first click may still wait for all facts to be unpacked.
        page.evaluate(CLICK, 0)
        found["inspector ms"].append(page.evaluate(CLICK, 3))
        context.close()
    return {name: Figure(values) for name, values in found.items()}


def main() -> None:
    """Measure, print a table and a JSON line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeat", type=int, default=3)
    repeat = parser.parse_args().repeat
    with tempfile.TemporaryDirectory() as folder, open_chromium() as browser:
        report = Report("html_file", {"chromium": browser.version, "repeat": repeat})
        for layers in LAYERS:
            shape = transformer_shape(layers)
            recording = write_recording(Path(folder) / f"{layers}.gviz", shape, launches=20)
            output = recording.with_suffix(".html")
            start = time.process_time()
            written = write_html(recording, output, [1])
            figures = {
                "written s": Figure([time.process_time() - start]),
                "MB": Figure([written.size_bytes / 1e6], MOST_MB.get(layers)),
            }
            figures |= measure(browser, output, repeat)
            report.rows[f"{written.node_count:,} nodes"] = figures
    report.print()


if __name__ == "__main__":
    main()
