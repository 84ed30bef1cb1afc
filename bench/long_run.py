"""The cost of a long run without a GPU: launches on the fake driver, through the real library.

A program launches one graph again and again inside gviz.profile. Reported are the peak memory of
the writer process, the recording's size, how long the recording takes after the last launch, and
whether every launch is in it.
Run: python -P bench/long_run.py [--launches N] [--nodes N] [--node-launches N|every:K|all]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

_TESTS = Path(__file__).resolve().parent.parent / "tests"
sys.path.insert(0, str(_TESTS))

_PROGRAM = "--program"


class PeakMemory:
    """Watches a process's peak resident memory (VmHWM) until it ends."""

    def __init__(self, process_id: int) -> None:
        self.kib = 0
        self._status = Path(f"/proc/{process_id}/status")
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while True:
            try:
                lines = self._status.read_text().splitlines()
            except OSError:
                return
            found = [int(line.split()[1]) for line in lines if line.startswith("VmHWM")]
            if not found:  # a zombie has no memory
                return
            self.kib = max(self.kib, *found)
            time.sleep(0.05)

    def mib(self) -> float:
        """Wait for the process's end; return its peak (MiB)."""
        self._thread.join()
        return self.kib / 1024


def run_program(output: Path, launches: int, nodes: int, node_launches: str) -> dict[str, float]:
    """Launch a chain again and again under gviz; return what it took (in this process)."""
    from contract.cases import spin
    from contract.driver import Driver

    import gviz

    cuda = Driver()
    stream = cuda.stream()
    graph, last = cuda.graph(), []
    for _ in range(nodes):
        last = [cuda.add_kernel(graph, last, "spin", spin(1))]
    launch = cuda.library.cuGraphLaunch
    profile = gviz.profile(output, node_launches=node_launches, overwrite=True)
    with profile:
        graph_exec = cuda.instantiate(graph)
        assert profile._session._writer is not None
        peak = PeakMemory(profile._session._writer._process.pid)
        handles = graph_exec, stream
        from ctypes import c_void_p

        arguments = [c_void_p(handle) for handle in handles]
        start = time.perf_counter()
        for i in range(launches):
            assert launch(*arguments) == 0
            if i % 1000 == 999:
                cuda.wait(stream)
        elapsed = time.perf_counter() - start
        spool = sum(path.stat().st_size for path in Path(f"{output}-spool").iterdir())
        ended = time.perf_counter()
    return {
        "launch_us": elapsed / launches * 1e6,
        "after_the_end_s": time.perf_counter() - ended,
        "writer_peak_mib": peak.mib(),
        "spool_mb": spool / 1e6,
    }


def measure(folder: Path, launches: int, nodes: int, node_launches: str) -> dict[str, float]:
    """Run the program in a process of its own on the fake driver; check its recording."""
    from fake.build import build_fakes

    from gviz.recording.reader import Recording

    output = folder / "long.gviz"
    shape = ("--launches", str(launches), "--nodes", str(nodes), "--node-launches", node_launches)
    done = subprocess.run(
        [sys.executable, "-P", __file__, _PROGRAM, str(output), *shape],
        env={**build_fakes(folder).environment(), "PYTHONPATH": os.pathsep.join(
            filter(None, [str(_TESTS), os.environ.get("PYTHONPATH")]))},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )  # fmt: skip
    found: dict[str, float] = json.loads(done.stdout)
    start = time.perf_counter()
    with Recording(output) as recording:
        count, recorded = recording.count_launches(1)
        host = recording.fetch_weighted_durations(1, "graph", "host")
        rows = len(recording.fetch_launches(1))
    assert count == host.count == launches, (count, host.count)
    return {
        **found,
        "file_mb": output.stat().st_size / 1e6,
        "read_all_launches_s": time.perf_counter() - start,
        "launch_rows": rows,
        "recorded_launches": recorded,
    }


def main() -> None:
    """Measure, print a table and a JSON line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--launches", type=int, default=1_000_000)
    parser.add_argument("--nodes", type=int, default=1)
    parser.add_argument("--node-launches", default="20")
    parser.add_argument(_PROGRAM, type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    what = (arguments.launches, arguments.nodes, arguments.node_launches)
    if arguments.program is not None:
        print(json.dumps(run_program(arguments.program, *what)))
        return
    with tempfile.TemporaryDirectory() as name:
        found = measure(Path(name), *what)
    table = (
        ("writer process, peak memory", f"{found['writer_peak_mib']:.0f} MiB", "200 MB"),
        ("recording", f"{found['file_mb']:.1f} MB", "20 MB"),
        ("spool", f"{found['spool_mb']:.0f} MB", ""),
        ("from the last launch to the recording", f"{found['after_the_end_s']:.1f} s", ""),
        ("a launch, in the program", f"{found['launch_us']:.1f} us", ""),
        ("reading the times of all launches", f"{found['read_all_launches_s']:.1f} s", ""),
    )
    print(f"{what[0]:,} launches of {what[1]} nodes, node times of {what[2]}")
    print(f"{'what':42}{'measured':>16}{'goal':>10}")
    for row in table:
        print(f"{row[0]:42}{row[1]:>16}{row[2]:>10}")
    shape = dict(zip(("launches", "nodes", "node_launches"), what, strict=True))
    print(json.dumps({"bench": "long_run", **shape, **{k: round(v, 3) for k, v in found.items()}}))


if __name__ == "__main__":
    main()
