"""The cost of a full analysis, by number of nodes and launches: time and peak memory.

Each case is a process of its own: a synthetic recording is written, then analyzed and turned to
JSON. Run: python -P bench/analyze.py
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from recordings import Shape, transformer_shape, wide_shape, write_recording

from gviz.analysis.analysis import analysis_to_json, analyze
from gviz.recording.reader import Recording

LAUNCHES = 20
CASES = {
    "model, 306 nodes": lambda: transformer_shape(20),
    "model, 5,001 nodes": lambda: transformer_shape(333),
    "wide, 5,122 nodes": lambda: wide_shape(64, 80),
    "model, 99,996 nodes": lambda: transformer_shape(6_666),
    "wide, 100,002 nodes": lambda: wide_shape(400, 250),
}


def measure(name: str) -> dict[str, float]:
    """Write a case's recording, analyze it, and return what that took."""
    shape: Shape = CASES[name]()
    with tempfile.TemporaryDirectory() as folder:
        path = write_recording(Path(folder) / "x.gviz", shape, launches=LAUNCHES)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        start, cpu = time.perf_counter(), time.process_time()
        with Recording(path) as recording:
            found = analyze(recording)
        analyzed, worked = time.perf_counter(), time.process_time()
        size = len(json.dumps(analysis_to_json(found)))
        written = time.process_time()
    return {
        "analyze_s": analyzed - start,
        "cpu_s": worked - cpu,
        "json_cpu_s": written - worked,
        "json_mb": size / 1e6,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "before_mib": before / 1024,
    }


def main() -> None:
    """Measure every case in a process of its own; print a table and a JSON line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--case", choices=list(CASES), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.case:
        print(json.dumps(measure(arguments.case)))
        return
    print(f"{f'case, {LAUNCHES} launches':28}{'analyze s':>11}{'CPU s':>8}{'JSON CPU s':>12}"
          f"{'JSON MB':>9}{'peak MiB':>10}{'before':>9}")  # fmt: skip
    result: dict[str, object] = {"bench": "analyze", "launches": LAUNCHES}
    for name in CASES:
        command = [sys.executable, "-P", __file__, "--case", name]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found = json.loads(done.stdout)
        print(
            f"{name:28}{found['analyze_s']:11.2f}{found['cpu_s']:8.2f}{found['json_cpu_s']:12.2f}"
            f"{found['json_mb']:9.1f}"
            f"{found['peak_mib']:10.0f}{found['before_mib']:9.0f}"
        )
        result[name] = {key: round(value, 3) for key, value in found.items()}
    print(json.dumps(result))


if __name__ == "__main__":
    main()
