"""The cost of reading DOT dumps: gviz's reader at several sizes, beside pydot at a small one.

pydot's time grows at least linearly with the nodes (here its own growth from half the size
is printed too), so that "scaled" is a lower bound of what it would need for the large dump.
Run: python -P bench/dot.py [--nodes N] [--repeat R]
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import time
import warnings
from collections.abc import Callable

from gviz.formats.dot.parse import parse_dot

KERNEL = (
    "_ZN2at6native29vectorized_elementwise_kernelILi8ENS0_15CUDAFunctor_addIN3c104HalfEEE"
    "St5arrayIPcLm3EEEEviT0_T1_"
)
SMALL = 200


def build_dump(nodes: int) -> str:
    """Return a verbose dump of a chain of kernels, as the driver prints it."""
    described = "".join(
        f'"graph_1_node_{i}"[style="bold" shape="record" label="{{KERNEL\n'
        f"| {{ID | {i} (topoId: {nodes - 1 - i}) | {KERNEL}\\<\\<\\<\\{{16,{i % 64 + 2}\\}},128,0"
        "\\>\\>\\>}\n"
        f"| {{{{node handle | func handle}} | {{0x{0x368EC800 + 1896 * i:016X} | "
        f"0x{0x3123C4D0 + 64 * (i % 30):016X}}}}}\n"
        "| {accessPolicyWindow | {base_ptr | num_bytes | hitRatio | hitProp | missProp} | "
        "{0x0000000000000000 | 0 | 0.000000 | N | N}}\n| {cooperative | 0}\n| {priority | 0}\n"
        '}"];\n\n'
        for i in range(nodes)
    )
    edges = "".join(
        f'"graph_1_node_{i}" -> "graph_1_node_{i + 1}" [headlabel=0];\n' for i in range(nodes - 1)
    )
    head = 'digraph dot {\nsubgraph cluster_1 {\nlabel="graph_1" graph[style="dashed"];\n'
    return f"{head}{described}{edges}}}\n}}\n"


def measure(function: Callable[[str], object], text: str, repeat: int) -> float:
    """Return the median time (s) of reading a text."""
    times = []
    for _ in range(repeat):
        gc.collect()
        start = time.perf_counter()
        function(text)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def read_with_pydot(text: str) -> object:
    import pydot

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pydot.graph_from_dot_data(text)


def main() -> None:
    """Measure, print a table and a JSON line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--nodes", type=int, default=20_000)
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    rows = []
    for count in (SMALL, arguments.nodes // 10, arguments.nodes):
        text = build_dump(count)
        rows.append(("gviz", count, len(text), measure(parse_dot, text, arguments.repeat)))
    read_with_pydot(build_dump(2))  # its grammar is built on first use
    for count in (SMALL // 2, SMALL):
        text = build_dump(count)
        rows.append(("pydot", count, len(text), measure(read_with_pydot, text, arguments.repeat)))
    print(f"{'reader':8}{'nodes':>8}{'MB':>8}{'ms':>10}{'us/node':>10}")
    for name, count, size, seconds in rows:
        per_node = seconds / count * 1e6
        print(f"{name:8}{count:8}{size / 1e6:8.2f}{seconds * 1e3:10.1f}{per_node:10.1f}")
    large, pydot_small = rows[2][3], rows[-1][3]
    scaled = pydot_small * arguments.nodes / SMALL
    print(f"pydot scaled linearly from {SMALL} to {arguments.nodes} nodes: {scaled:.1f} s")
    result = {
        "bench": "dot",
        "nodes": arguments.nodes,
        "gviz_s": round(large, 4),
        "pydot_nodes": SMALL,
        "pydot_s": round(pydot_small, 4),
        "pydot_scaled_s": round(scaled, 2),
        "ratio_at_equal_size": round(pydot_small / rows[0][3], 1),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
