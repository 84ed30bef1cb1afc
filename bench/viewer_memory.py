"""Memory of the viewer's server: a large recording opened, and all of it looked at.

A graph of 100,000 nodes with arguments, 20 recorded launches (2,000,000 spans) and an eager
iteration of as many operations, served by `gviz view` in a process of its own. Resident memory
after each step, the most so far (VmHWM), and the step's processor time in the server.
Run: python -P bench/viewer_memory.py [--layers N] [--launches N]
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from measuring.processes import serve, view_command
from measuring.report import machine
from recordings import FIRST_NODE_ID, transformer_shape, write_recording
from viewer_client import Client, use_everything

#: The most that is allowed (bytes).
GOAL_BYTES = 500_000_000


def main() -> None:
    """Measure, print a table and a JSON line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--layers", type=int, default=6_666, help="of 15 nodes each")
    parser.add_argument("--launches", type=int, default=20)
    arguments = parser.parse_args()
    shape = transformer_shape(arguments.layers)
    count = len(shape.works)
    nodes = [FIRST_NODE_ID + count * i // 12 for i in range(1, 12)]
    launches = range(1, arguments.launches + 1)
    steps = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.gviz"
        write_recording(path, shape, launches=arguments.launches, played=2, arguments=True)
        size = path.stat().st_size
        with serve(view_command(path)) as server:
            before = server.cpu_s()
            client = Client(server.url)
            for step in use_everything(client, "large", launches, nodes):
                now = server.cpu_s()
                steps.append((step, *server.memory_bytes(), now - before))
                before = now
    print(f"{count:,} nodes, {count * arguments.launches:,} spans, {size / 1e6:.0f} MB on disk")
    print(f"{'after':<40}{'MB':>8}{'most MB':>10}{'cpu s':>8}")
    for step, resident, most, cpu in steps:
        print(f"{step:<40}{resident / 1e6:8.0f}{most / 1e6:10.0f}{cpu:8.2f}")
    peak = steps[-1][2]
    print(f"peak {peak / 1e6:.0f} MB, goal {GOAL_BYTES / 1e6:.0f} MB")
    print(
        json.dumps(
            {
                "bench": "viewer_memory",
                **machine(),
                "nodes": count,
                "launches": arguments.launches,
                "peak_mb": round(peak / 1e6, 1),
                "goal_mb": GOAL_BYTES / 1e6,
                "steps": {s: [round(r / 1e6, 1), round(m / 1e6, 1), c] for s, r, m, c in steps},
            }
        )
    )


if __name__ == "__main__":
    main()
