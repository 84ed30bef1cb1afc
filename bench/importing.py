"""The cost of importing large traces: time, MB/s and the most memory of the process.

Chrome traces: "eager" repeats a real trace of eager work, of which most events are the CPU's;
"graphs" has launches of a real graph of 2,307 nodes, nothing but kernels of it: the densest there
can be. Each is imported in a process of its own, plain and packed.
Run: python -P bench/importing.py [--megabytes N]
"""

from __future__ import annotations

import argparse
import gzip
import json
import lzma
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from gviz.recording.reader import Recording

ROOT = Path(__file__).parents[1]
EAGER = ROOT / "tests" / "golden" / "traces" / "eager_torch_2.11.json.xz"
GRAPH = ROOT / "assets" / "recordings" / "training_step.gviz"
BASE = 1_790_857_026_000_000_000
#: Runs in the process that is measured: peak memory is that of its whole life.
IMPORT = """
import resource, sys
from pathlib import Path
from gviz.formats.importer import import_files
import_files([Path(sys.argv[1])], Path(sys.argv[2]), overwrite=True)
used = resource.getrusage(resource.RUSAGE_SELF)
print(used.ru_maxrss / 1024, used.ru_utime + used.ru_stime)
"""


def eager_pieces() -> Iterator[str]:
    """Yield the events of a real trace over and over, each time later, with other ids."""
    text = lzma.decompress(EAGER.read_bytes()).decode()
    events = text[text.index('"traceEvents": [') + 16 : text.rindex("]")].strip()
    iteration = 0
    while True:
        shift, ids = iteration * 10_000, iteration * 10_000

        def moved(match: re.Match[str], shift: int = shift, ids: int = ids) -> str:
            if match[1] is not None:
                return f'"ts": {int(match[1]) + shift}'
            return f'"correlation": {int(match[2]) + ids}'

        yield re.sub(r'"ts": (\d+)|"correlation": (\d+)', moved, events)
        iteration += 1


def graph_pieces() -> Iterator[str]:
    """Yield launches of a real graph, as Kineto writes them."""
    with Recording(GRAPH) as recording:
        functions = recording.fetch_functions(1)
        nodes = {n.node_id: n for n in recording.fetch_nodes(1)}
        launch = next(x for x in recording.fetch_launches(1) if x.span_count)
        spans = recording.fetch_spans(launch.launch_id)
    columns = (spans.node_id, spans.start_ns, spans.duration_ns, spans.stream_id)
    iteration = 0
    while True:
        origin, correlation = 20_000_000 * iteration, iteration + 1
        call = (
            f'{{"ph": "X", "cat": "cuda_runtime", "name": "cudaGraphLaunch", "pid": 9, "tid": 9, '
            f'"ts": {origin / 1000}, "dur": 100.5, "args": {{"cbid": 311, '
            f'"correlation": {correlation}}}}}'
        )
        found = [call]
        for node_id, start, duration, stream in zip(*(c.tolist() for c in columns), strict=True):
            node = nodes[node_id]
            name = json.dumps(functions[node.function_id].name) if node.function_id else '"Memset"'
            category = "kernel" if node.function_id else "gpu_memset"
            found.append(
                f'  {{\n    "ph": "X", "cat": "{category}", "name": {name}, "pid": 0, '
                f'"tid": {stream},\n    "ts": {(origin + 200_000 + start) / 1000:.3f}, '
                f'"dur": {duration / 1000:.3f},\n    "args": {{\n      "External id": 1, '
                f'"queued": 0, "device": 0, "context": 1,\n      "stream": {stream}, '
                f'"correlation": {correlation}, "graph id": 3, '
                f'"graph node id": {3 << 32 | node_id},\n      "registers per thread": 32, '
                f'"shared memory": 0, "grid": [{node.grid_x or 1}, 1, 1], '
                f'"block": [{node.block_x or 1}, 1, 1], "est. achieved occupancy %": 6\n    }}\n'
                "  }"
            )
        yield ",\n".join(found)
        iteration += 1


def write(path: Path, pieces: Iterator[str], size: int) -> None:
    """Write a trace of at least ``size`` bytes."""
    with path.open("w") as file:
        file.write(
            f'{{"schemaVersion": 1, "baseTimeNanoseconds": {BASE}, "traceEvents": [\n{next(pieces)}'
        )
        while file.tell() < size:
            file.write(",\n" + next(pieces))
        file.write("]}\n")


def measure(path: Path) -> dict[str, float]:
    """Import a trace in a process of its own; return seconds and MiB."""
    output = path.with_suffix(".gviz")
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-P", "-c", IMPORT, str(path), str(output)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    seconds = time.perf_counter() - start
    peak, cpu = map(float, done.stdout.split())
    with Recording(output) as recording:
        graphs = recording.fetch_graphs()
        spans = sum(x.span_count for g in graphs for x in recording.fetch_launches(g.graph_id))
        operations = len(recording.fetch_columns(
            _operation_row(), ("operation_id",), {"run_id": 1}, "operation_id"))  # fmt: skip
    return {
        "seconds": seconds, "cpu_seconds": cpu, "peak_mib": peak, "spans": spans,
        "operations": operations, "recording_mb": output.stat().st_size / 1e6,
    }  # fmt: skip


def _operation_row() -> type:
    from gviz.recording.rows.recorded import StreamOperation

    return StreamOperation


def main() -> None:
    """Measure, print a table and a JSON line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--megabytes", type=int, default=20, help="size of each trace")
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, pieces in (("eager", eager_pieces()), ("graphs", graph_pieces())):
            plain = Path(folder) / f"{name}.json"
            write(plain, pieces, arguments.megabytes * 1_000_000)
            megabytes = plain.stat().st_size / 1e6
            rows.append({"trace": name, "megabytes": megabytes, **measure(plain)})
            packed = Path(folder) / f"{name}.json.gz"
            with plain.open("rb") as source, gzip.open(packed, "wb", 1) as target:
                shutil.copyfileobj(source, target, 1 << 20)
            plain.unlink()
            rows.append({"trace": f"{name}, packed", "megabytes": megabytes, **measure(packed)})
            packed.unlink()
    print(
        f"{'trace':16}{'MB':>6}{'s':>8}{'MB/s':>8}{'CPU s':>8}{'peak MiB':>10}{'spans':>11}"
        f"{'operations':>12}"
    )
    for row in rows:
        print(
            f"{row['trace']:16}{row['megabytes']:6.0f}{row['seconds']:8.1f}"
            f"{row['megabytes'] / row['seconds']:8.1f}{row['cpu_seconds']:8.1f}"
            f"{row['peak_mib']:10.0f}{row['spans']:11,}{row['operations']:12,}"
        )
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
