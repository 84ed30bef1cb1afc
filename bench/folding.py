"""The cost of finding and applying the folds of a graph, by size and shape.

Run: python -P bench/folding.py [--repeat R]
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import numpy as np
from recordings import Shape, transformer_shape, wide_shape

from gviz.dag.ranks import rank_rows
from gviz.layout.folds.durations import sum_items
from gviz.layout.folds.folded_graph import fold_graph
from gviz.layout.folds.ranges import RangePaths, find_ranges
from gviz.layout.folds.repeats import find_repeats

T = TypeVar("T")
#: Labels, source and target of a graph, and the NVTX path of each node.
Graph = tuple[np.ndarray, np.ndarray, np.ndarray, list[tuple[str, ...]]]


def from_shape(shape: Shape) -> Graph:
    """Return a shape of the tests as a graph."""
    known: dict[tuple[str, int], int] = {}
    labels = [known.setdefault((w.name, w.grid_x), len(known)) for w in shape.works]
    edges = np.array([(d, i) for i, w in enumerate(shape.works) for d in w.after], np.int64)
    paths = [("step", w.nvtx) if w.nvtx else ("step",) for w in shape.works]
    return np.array(labels), edges[:, 0], edges[:, 1], paths


def chain(labels: np.ndarray) -> Graph:
    """Return a chain, as a capture of one stream gives."""
    at = np.arange(len(labels))
    return labels, at[:-1], at[1:], [(f"layer {i // 25}",) for i in at.tolist()]


def nested(count: int) -> Graph:
    """Return a chain of repeats inside repeats."""
    inner = [0, 1, 2] * 4 + [3]
    block = inner * 5 + [4, 4, 4, 5]
    return chain(np.array((block * (count // len(block) + 1))[:count]))


def random_labels(count: int, kinds: int) -> Graph:
    """Return a chain of random kernels: the fewer kinds, the more short repetitions."""
    return chain(np.random.default_rng(1).integers(0, kinds, count))


SHAPES: dict[str, Callable[[], Graph]] = {
    "transformer 500": lambda: from_shape(transformer_shape(33)),
    "transformer 5,000": lambda: from_shape(transformer_shape(333)),
    "transformer 100,000": lambda: from_shape(transformer_shape(6_666)),
    "nested 5,000": lambda: nested(5_000),
    "nested 100,000": lambda: nested(100_000),
    "wide 100,000": lambda: from_shape(wide_shape(5_000, 20)),
    "random 2 kinds 5,000": lambda: random_labels(5_000, 2),
    "random 2 kinds 100,000": lambda: random_labels(100_000, 2),
    "random 50 kinds 100,000": lambda: random_labels(100_000, 50),
}


def measure(work: Callable[[], T], repeat: int) -> tuple[float, T]:
    """Return the median time (ms) of some work, and its result."""
    found = []
    for _ in range(repeat):
        start = time.perf_counter()
        result = work()
        found.append(1e3 * (time.perf_counter() - start))
    return statistics.median(found), result


def measure_shape(name: str, graph: Graph, repeat: int) -> dict[str, str | int | float]:
    """Return a row of the table."""
    labels, source, target, texts = graph
    count = len(labels)
    order = np.lexsort((np.arange(count), rank_rows(count, source, target)))
    paths, duration_ns = RangePaths.from_texts(texts), np.ones(count)
    repeats_ms, tree = measure(lambda: find_repeats(source, target, order, labels), repeat)
    ranges_ms, _ = measure(lambda: find_ranges(source, target, np.arange(count), paths), repeat)
    fold_ms, folded = measure(lambda: fold_graph(tree), repeat)
    sums_ms, _ = measure(lambda: sum_items(folded, duration_ns), repeat)
    return {
        "shape": name,
        "nodes": count,
        "repeats_ms": repeats_ms,
        "folds": sum(1 for _ in tree.walk()),
        "visible": len(folded),
        "ranges_ms": ranges_ms,
        "fold_ms": fold_ms,
        "sums_ms": sums_ms,
    }


def main() -> None:
    """Measure, print a table and a JSON line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeat", type=int, default=3)
    repeat = parser.parse_args().repeat
    rows = []
    heads = ("nodes", "repeats ms", "folds", "visible", "ranges ms", "fold ms", "sums ms")
    print(f"{'shape':<26}" + "".join(f"{h:>12}" for h in heads))
    for name, build in SHAPES.items():
        row = measure_shape(name, build(), repeat)
        rows.append(row)
        shown = [f"{v:,.1f}" if isinstance(v, float) else f"{v:,}" for v in list(row.values())[1:]]
        print(f"{name:<26}" + "".join(f"{v:>12}" for v in shown))
    python = platform.python_version()
    print(json.dumps({"bench": "folding", "python": python, "repeat": repeat, "rows": rows}))


if __name__ == "__main__":
    main()
