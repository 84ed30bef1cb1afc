"""The cost of starting: ``import gviz``, the command line, and the viewer up to its first page.

Each start is a process of its own. "viewer: address printed" is from the start of the process
to the printed address, "first page" to the last byte of the page behind it (the code's
redirect included), with a recording of one graph.
Run: python -P bench/startup.py [--repeat R] [--nodes N]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from recordings import transformer_shape, write_recording

PYTHON = (sys.executable, "-P")
LAYER_NODES = 15


def time_command(*arguments: str) -> float:
    """Return the time (s) a Python process takes from start to end."""
    start = time.perf_counter()
    subprocess.run([*PYTHON, *arguments], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def time_viewer(recording: Path) -> tuple[float, float]:
    """Return the times (s) from a viewer's start to its address and to its first page."""
    start = time.perf_counter()
    environment = {k: v for k, v in os.environ.items() if "DISPLAY" not in k}
    process = subprocess.Popen(
        [*PYTHON, "-m", "gviz", "view", str(recording), "--no-browser", "--port", "0"],
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    try:
        assert process.stderr is not None
        line = next(line for line in process.stderr if "open http" in line)
        printed = time.perf_counter() - start
        url = re.search(r"http://\S+", line)
        assert url is not None
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with opener.open(url[0]) as page:
            page.read()
        return printed, time.perf_counter() - start
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=30)


def spread(measure: Callable[[], float], repeat: int) -> tuple[float, float, float]:
    """Return median, least and most of several measurements, in milliseconds."""
    return summary([measure() for _ in range(repeat)])


def summary(seconds: list[float]) -> tuple[float, float, float]:
    """Return median, least and most, in milliseconds."""
    return (1e3 * statistics.median(seconds), 1e3 * min(seconds), 1e3 * max(seconds))


def main() -> None:
    """Measure, print a table and a JSON line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--nodes", type=int, default=2500)
    arguments = parser.parse_args()
    repeat = arguments.repeat
    with tempfile.TemporaryDirectory() as folder:
        shape = transformer_shape(arguments.nodes // LAYER_NODES)
        recording = write_recording(Path(folder) / "bench.gviz", shape)
        time_viewer(recording)  # byte code and file cache are warm from here on
        viewer = [time_viewer(recording) for _ in range(repeat)]
        rows = {
            "python -c pass": spread(lambda: time_command("-c", "pass"), repeat),
            "import gviz": spread(lambda: time_command("-c", "import gviz"), repeat),
            "gviz --version": spread(lambda: time_command("-m", "gviz", "--version"), repeat),
            "import pytest": spread(lambda: time_command("-c", "import pytest"), repeat),
            "import pytest, its plugin": spread(
                lambda: time_command("-c", "import pytest, gviz.pytest_plugin"), repeat
            ),
            "viewer: address printed": summary([v[0] for v in viewer]),
            "viewer: first page": summary([v[1] for v in viewer]),
        }
    print(f"{'from process start, ms':28}{'median':>9}{'least':>9}{'most':>9}")
    for name, values in rows.items():
        print(f"{name:28}" + "".join(f"{v:9.0f}" for v in values))
    base = rows["python -c pass"][0]
    result = {
        "bench": "startup",
        "repeat": repeat,
        "nodes": len(shape.works),
        "python_ms": round(base, 1),
        "import_gviz_over_python_ms": round(rows["import gviz"][0] - base, 1),
        "version_ms": round(rows["gviz --version"][0], 1),
        "pytest_plugin_ms": round(
            rows["import pytest, its plugin"][0] - rows["import pytest"][0], 1
        ),
        "viewer_address_ms": round(rows["viewer: address printed"][0], 1),
        "viewer_first_page_ms": round(rows["viewer: first page"][0], 1),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
