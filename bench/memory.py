"""What it costs to follow data: reading the uses of memory, edges, frames, a selection.

"read" is fetching arguments and finding who is given what, "edges" telling edges apart, both once
a graph on the server; "sent" what that adds to the payload, compressed. "painted" and frames are
those of bench/viewer.py, without and with data; "select" is from a selection to the second frame
after it, in which all buffers of the node are drawn.
Run: python -P bench/memory.py [--repeat R]   (needs Chromium: GVIZ_CHROMIUM or on the path)
"""

from __future__ import annotations

import argparse
import gzip
import json
import logging
import platform
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from memory_recordings import with_buffers
from playwright.sync_api import Browser, sync_playwright
from recordings import FIRST_NODE_ID, transformer_shape, write_recording
from render import build_app, find_chromium, time_painted, time_pan, time_zoom
from waitress.server import create_server

from gviz.app.data_overlay import data_arrays
from gviz.app.graph_level import read_graph_level
from gviz.app.level_memory import read_memory
from gviz.app.payload import DagAsked, dag_payload
from gviz.recording.reader import Recording

#: Layers of the transformer: 300, 5,000 and 100,000 nodes.
LAYERS = (20, 333, 6_666)
SELECT = """async (id) => {
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const begin = performance.now();
  window.gviz.bus.group("graph").select([id]);
  await frame();
  await frame();
  return performance.now() - begin;
}"""


def measure_server(path: Path) -> dict[str, float]:
    """Return what reading takes (s) and how much is sent for it (bytes)."""
    with Recording(path) as recording:
        level = read_graph_level(recording, 1)
        begin = time.perf_counter()
        memory = read_memory(recording, level)
        read = time.perf_counter()
        data_arrays(memory, level, None)
        end = time.perf_counter()
        sizes = [
            len(gzip.compress(dag_payload(recording, 1, DagAsked(data=data)), 1))
            for data in (False, True)
        ]
    return {
        "nodes": len(level.nodes),
        "uses": len(memory.uses),
        "read_s": read - begin,
        "edges_s": end - read,
        "sent_bytes": sizes[1] - sizes[0],
    }


def measure_page(browser: Browser, url: str, node: int, repeat: int) -> dict[str, float]:
    """Return the medians of one page's numbers, in milliseconds."""
    found: dict[str, list[float]] = {"painted": [], "zoom_p95": [], "pan_p95": [], "select": []}
    for _ in range(repeat):
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        painted, page = time_painted(context, url)
        found["painted"].append(painted)
        found["zoom_p95"].append(time_zoom(page))
        found["pan_p95"].append(time_pan(page))
        found["select"].append(float(page.evaluate(SELECT, node)))
        context.close()
    return {f"{name}_ms": statistics.median(values) for name, values in found.items()}


def main() -> None:
    """Measure, print a table and a JSON line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeat", type=int, default=3)
    repeat = parser.parse_args().repeat
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    rows: list[dict[str, Any]] = []
    payloads: dict[str, bytes] = {}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        for layers in LAYERS:
            shape = with_buffers(transformer_shape(layers))
            path = write_recording(Path(folder) / f"{layers}.gviz", shape, launches=1, eager=False)
            rows.append({"layers": layers, **measure_server(path)})
            with Recording(path) as recording:
                for data in (False, True):
                    asked = DagAsked(data=data)
                    payloads[f"dag-{layers}-{int(data)}"] = dag_payload(recording, 1, asked)
        server = create_server(build_app(payloads).server, host="127.0.0.1", port=0, threads=8)
        threading.Thread(target=server.run, daemon=True).start()
        base = f"http://127.0.0.1:{server.effective_port}/?dag"
        chromium = playwright.chromium.launch(
            executable_path=find_chromium(), args=["--no-sandbox"]
        )
        for row in rows:
            node = FIRST_NODE_ID + row["nodes"] // 2
            for name, data in (("plain", 0), ("data", 1)):
                address = f"{base}-{row['layers']}-{data}"
                row[name] = measure_page(chromium, address, node, repeat)
        version = chromium.version
        chromium.close()
    print_table(rows)
    report = {"bench": "memory", "chromium": version, "repeat": repeat, "rows": rows}
    print(json.dumps({**report, "python": platform.python_version()}))


def print_table(rows: list[dict[str, Any]]) -> None:
    """Print what was measured, without and with data side by side."""
    heads = ("painted ms", "zoom p95 ms", "pan p95 ms", "select ms")
    print(f"{'nodes':>8}{'uses':>9}{'read s':>8}{'edges s':>9}{'sent KB':>9}", end="")
    print("".join(f"{head:>18}" for head in heads))
    for row in rows:
        sent = row["sent_bytes"] / 1e3
        print(f"{row['nodes']:>8}{row['uses']:>9}{row['read_s']:>8.2f}", end="")
        print(f"{row['edges_s']:>9.2f}{sent:>9.0f}", end="")
        for name in ("painted_ms", "zoom_p95_ms", "pan_p95_ms", "select_ms"):
            pair = f"{row['plain'][name]:.0f} / {row['data'][name]:.0f}"
            print(f"{pair:>18}", end="")
        print()


if __name__ == "__main__":
    main()
