"""The cost of writing trace events: seconds, spans a second, bytes and memory.

A decode step of so many layers, 20 launches recorded, as ``gviz export --format perfetto`` writes
it; each in a process of its own. "peak" is the greatest resident memory of that process (VmHWM),
"before" that after the imports.
Run: python -P bench/trace_export.py [--spans N ...]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

LAUNCHES = 20
LAYER_NODES = 15


def peak_kib() -> int:
    """Return the most memory that was resident since the process began (KiB)."""
    # ru_maxrss would count the process that this one was forked from, too.
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def write_one(recording: Path, output: Path) -> None:
    """Write one file and print what it took as JSON."""
    from gviz.formats.perfetto.export import write_trace
    from gviz.recording.reader import Recording

    before = peak_kib()
    start = time.perf_counter()
    with Recording(recording) as opened:
        written = write_trace(opened, output, [g.graph_id for g in opened.fetch_graphs()])
    row = {
        "seconds": round(time.perf_counter() - start, 2),
        "events": written.event_count,
        "mbytes": round(written.size_bytes / 1e6, 1),
        "before_mib": round(before / 1024),
        "peak_mib": round(peak_kib() / 1024),
    }
    print(json.dumps(row))


def main() -> None:
    """Measure, and print a JSON line a file."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--spans", type=int, nargs="+", default=[20_000, 200_000, 2_000_000])
    parser.add_argument("--one", type=Path, nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        write_one(*arguments.one)
        return
    from recordings import transformer_shape, write_recording

    for spans in arguments.spans:
        with tempfile.TemporaryDirectory() as folder:
            shape = transformer_shape(spans // LAUNCHES // LAYER_NODES)
            recording = write_recording(Path(folder) / "r.gviz", shape, launches=LAUNCHES)
            for suffix in (".json", ".json.gz"):
                command = [sys.executable, "-P", __file__, "--one", str(recording)]
                done = subprocess.run(
                    [*command, str(Path(folder) / f"t{suffix}")],
                    check=True,
                    capture_output=True,
                    text=True,
                )
                found = {"bench": "trace_export", "spans": spans, "form": suffix}
                print(json.dumps(found | json.loads(done.stdout)), flush=True)


if __name__ == "__main__":
    main()
