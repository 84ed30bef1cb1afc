"""The cost of finding a graph's eager iterations among stream operations.

Cases: a model of distinct ends and equal layers run several times, exactly and with noise;
a graph of equal layers, one of one kernel; many small graphs of other launch shapes, as
one per batch size; the model's kernels in random order; and unrelated work.
Run: python -P bench/matching.py [--nodes N] [--operations M] [--repeat R]
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time

import numpy as np

from gviz.matching.occurrences import Occurrence, Work, match_occurrences

LAYER = list(range(100, 115))
GRAPHS = 50


def build_work(functions: list[int]) -> Work:
    count = len(functions)
    shape = np.ones((count, 3), dtype=np.int64)
    return Work(
        type=np.zeros(count, dtype=np.int64),
        function_id=np.array(functions, dtype=np.int64),
        grid=shape,
        block=shape * 32,
        bytes=np.full(count, -1, dtype=np.int64),
    )


def build_model(nodes: int) -> list[int]:
    layers = [LAYER[i % len(LAYER)] for i in range(nodes - 3)]
    return [1, *layers, 2, 3]


def add_noise(functions: list[int], share: float, source: random.Random) -> list[int]:
    """Return the work with a share of operations dropped, added (foreign) or doubled."""
    found: list[int] = []
    for function in functions:
        kind = source.random() / share
        if kind < 1 / 3:
            continue
        found.append(function)
        if kind < 2 / 3:
            found.append(9)
        elif kind < 1:
            found.append(function)
    return found


def measure(
    graphs: list[list[int]], operations: list[int], repeat: int
) -> tuple[float, int, float]:
    """Return the median time (s) of matching the graphs, the occurrences and their coverage."""
    text = build_work(operations)
    works = [build_work(graph) for graph in graphs]
    times: list[float] = []
    found: list[Occurrence] = []
    for _ in range(repeat):
        start = time.perf_counter()
        found = []
        for work in works:
            ids = np.arange(len(work))
            edges = np.stack([ids[:-1], ids[1:]], axis=1)
            found += match_occurrences(work, ids, edges, text, np.arange(len(operations)))
        times.append(time.perf_counter() - start)
    coverage = statistics.mean(o.coverage_fraction for o in found) if found else 0.0
    return statistics.median(times), len(found), coverage


def main() -> None:
    """Measure, print a table and a JSON line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--nodes", type=int, default=2_500)
    parser.add_argument("--operations", type=int, default=20_000)
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    source = random.Random(0)
    nodes, count = arguments.nodes, arguments.operations
    iterations = count // nodes
    model = build_model(nodes)
    equal = [LAYER[i % len(LAYER)] for i in range(nodes)]
    small = [[1000 * (g + 1) + f for f in [1, *LAYER * 3, 2]] for g in range(GRAPHS)]
    many = [f for _ in range(count // (GRAPHS * len(small[0])) + 1) for g in small for f in g]
    shuffled = model * iterations
    source.shuffle(shuffled)
    cases = {
        "exact passes": ([model], model * iterations),
        "2% noise": (
            [model],
            [f for _ in range(iterations) for f in add_noise(model, 0.02, source)],
        ),
        "equal layers, 1 spare": ([equal], LAYER + equal * iterations),
        "one kernel": ([[7] * nodes], [7] * count),
        f"{GRAPHS} small graphs": (small, many[:count]),
        "same kernels shuffled": ([model], shuffled),
        "unrelated": ([model], [5000 + i % 40 for i in range(count)]),
    }
    print(f"{'case':24}{'graphs':>7}{'nodes':>7}{'ops':>8}{'found':>7}{'coverage':>10}{'ms':>9}")
    result: dict[str, object] = {"bench": "matching", "nodes": nodes, "operations": count}
    for name, (graphs, operations) in cases.items():
        seconds, found, coverage = measure(graphs, operations, arguments.repeat)
        sizes = sum(map(len, graphs))
        print(
            f"{name:24}{len(graphs):7}{sizes:7}{len(operations):8}{found:7}{coverage:10.3f}"
            f"{seconds * 1e3:9.1f}"
        )
        result[name] = round(seconds, 4)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
