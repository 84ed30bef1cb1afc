"""The cost of placing a graph's nodes, by size and shape, and the layout that gviz takes.

Run: python -P bench/layout.py [--repeat R]
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

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import numpy as np
from recordings import Shape, fork_join_shape, transformer_shape, wide_shape

from gviz.dag.lanes import place_lanes
from gviz.dag.placement import Placement
from gviz.layout.choice import place_graph
from gviz.layout.layers import place_layers

SHAPES: dict[str, Callable[[], Shape]] = {
    "fork-join": lambda: fork_join_shape(),
    "transformer 300": lambda: transformer_shape(20),
    "transformer 2,500": lambda: transformer_shape(166),
    "transformer 20,000": lambda: transformer_shape(1_333),
    "transformer 100,000": lambda: transformer_shape(6_666),
    "wide 770": lambda: wide_shape(),
    "wide 100,000": lambda: wide_shape(5_000, 20),
}
#: Layers are for moderate graphs; beyond this their time says nothing useful.
LAYERS_MOST = 3_000


def time_layout(
    layout: Callable[..., Placement], count: int, edges: np.ndarray, repeat: int
) -> float:
    """Return the median time (s) of placing a graph."""
    found = []
    for _ in range(repeat):
        start = time.perf_counter()
        layout(count, edges[:, 0], edges[:, 1])
        found.append(time.perf_counter() - start)
    return statistics.median(found)


def main() -> None:
    """Measure, print a table and a JSON line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeat", type=int, default=5)
    repeat = parser.parse_args().repeat
    rows = []
    heads = ("lanes ms", "layers ms", "chosen ms")
    print(f"{'shape':<22}{'nodes':>9}{'edges':>9}" + "".join(f"{h:>11}" for h in heads))
    for name, build in SHAPES.items():
        shape = build()
        count = len(shape.works)
        edges = np.array([(d, i) for i, w in enumerate(shape.works) for d in w.after], np.int64)
        lanes = 1e3 * time_layout(place_lanes, count, edges, repeat)
        chosen = 1e3 * time_layout(place_graph, count, edges, repeat)
        layers = None
        if count <= LAYERS_MOST:
            layers = 1e3 * time_layout(place_layers, count, edges, repeat)
        shown = "-" if layers is None else f"{layers:.1f}"
        print(f"{name:<22}{count:>9,}{len(edges):>9,}{lanes:>11.1f}{shown:>11}{chosen:>11.1f}")
        rows.append(
            {
                "shape": name,
                "nodes": count,
                "edges": len(edges),
                "lanes_ms": lanes,
                "layers_ms": layers,
                "chosen_ms": chosen,
            }
        )
    print(
        json.dumps(
            {"bench": "layout", "python": platform.python_version(), "repeat": repeat, "rows": rows}
        )
    )


if __name__ == "__main__":
    main()
