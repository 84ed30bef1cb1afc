"""The cost of following data: reading the uses of memory, edges, frames, a selection.

"read" is fetching arguments and finding who is given what, "edges" telling edges apart, both once
a graph on the server; "sent" what that adds to the payload, compressed. "painted" and frames are
those of bench/page.py, of a page without data and with them (``edges=data``); "select" is from
a selection to the second frame after it, in which all buffers of the node are drawn.
Run: python -P bench/memory.py [--repeat R]   (needs Chromium: GVIZ_CHROMIUM or on the path)
"""

from __future__ import annotations

import argparse
import gzip
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from measuring.pages import new_user, open_chromium, time_pan, time_zoom, visit, wait_at_rest
from measuring.processes import serve, view_command
from measuring.report import Figure, Report
from memory_recordings import with_buffers
from playwright.sync_api import Browser
from recordings import FIRST_NODE_ID, transformer_shape, write_recording

from gviz.app.views.dag.data_overlay import data_arrays
from gviz.app.views.level_memory import read_memory
from gviz.app.views.payload import DagRequest, dag_payload
from gviz.model.tree.graph_level import read_graph_level
from gviz.recording.reader import Recording

#: Layers of the transformer: 300, 5,000 and 100,000 nodes.
LAYERS = (20, 333, 6_666)
SELECT = """async (id) => {
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const begin = performance.now();
  window.gviz.bus.group(window.gviz.bus.PAGE).select([id]);
  await frame();
  await frame();
  return performance.now() - begin;
}"""


def measure_server(path: Path) -> tuple[int, dict[str, Figure]]:
    """Return the number of nodes, and what reading takes (s) and adds to what is sent (kB)."""
    with Recording(path) as recording:
        level = read_graph_level(recording, 1)
        begin = time.perf_counter()
        memory = read_memory(recording, level)
        read = time.perf_counter()
        data_arrays(memory, level, None)
        end = time.perf_counter()
        sizes = [
            len(gzip.compress(dag_payload(recording, 1, DagRequest(data=data)), 1))
            for data in (False, True)
        ]
    return len(level.nodes), {
        "uses": Figure([len(memory.uses)]),
        "read s": Figure([read - begin]),
        "edges s": Figure([end - read]),
        "sent kB": Figure([(sizes[1] - sizes[0]) / 1e3]),
    }


def measure_pages(browser: Browser, path: Path, node: int, repeat: int) -> dict[str, Figure]:
    """Return the figures (ms) of a graph's page without data and with them."""
    found: dict[str, list[float]] = {}
    for _ in range(repeat):
        for kind, query in (("plain", ""), ("data", "&edges=data")):
            with serve(view_command(path)) as server, new_user(browser, server) as user:
                seen, page = visit(user, server, f"graph?file={path.stem}&graph=1{query}", "dag")
                wait_at_rest(page)
                figures = {
                    "painted": seen.painted_ms,
                    "zoom": time_zoom(page, "dag"),
                    "pan": time_pan(page, "dag"),
                    "select": float(page.evaluate(SELECT, node)),
                }
            for name, value in figures.items():
                found.setdefault(f"{name} {kind} ms", []).append(value)
    return {name: Figure(values) for name, values in sorted(found.items())}


def main() -> None:
    """Measure, print a table and a JSON line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeat", type=int, default=3)
    repeat = parser.parse_args().repeat
    with tempfile.TemporaryDirectory() as folder, open_chromium() as browser:
        report = Report("memory", {"chromium": browser.version, "repeat": repeat})
        for layers in LAYERS:
            shape = with_buffers(transformer_shape(layers))
            path = write_recording(Path(folder) / f"l{layers}.gviz", shape, launches=1, eager=False)
            nodes, figures = measure_server(path)
            figures |= measure_pages(browser, path, FIRST_NODE_ID + nodes // 2, repeat)
            report.rows[f"{nodes:,} nodes"] = figures
    report.print()


if __name__ == "__main__":
    main()
