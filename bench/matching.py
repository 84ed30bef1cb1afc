"""The cost of finding a graph's eager iterations among stream operations.

Cases: a model of distinct ends and equal layers run several times, exactly and with noise;
a graph of equal layers, one of one kernel; many small graphs of other launch shapes, as
one per batch size; the model's kernels in random order; and unrelated work.

Times of launches to nodes, without ids: a chain of layers; branches of different, of equal and of
one kernel; and programmatic chains. Beside the time the table has how many nodes are on their own
work, marked as exchangeable, and on other work without a mark, which must be none.
Run: python -P bench/matching.py [--nodes N] [--operations M] [--repeat R] [--graph-nodes G]
[--launches L]
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
from dataclasses import dataclass

import numpy as np

from gviz.matching.node_domains import GraphWork
from gviz.matching.node_matching import NOT_MATCHED, match_nodes
from gviz.matching.occurrences import Occurrence, Work, match_occurrences
from gviz.matching.recorded_work import RecordedWork

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


@dataclass(frozen=True)
class Launched:
    """A graph: tokens and streams of its nodes, and its edges, programmatic or not."""

    token: list[int]
    stream: list[int]
    edges: list[tuple[int, int]]
    programmatic: bool = False


def build_chain(nodes: int, *, programmatic: bool = False) -> Launched:
    edges = [(i, i + 1) for i in range(nodes - 1)]
    return Launched([LAYER[i % len(LAYER)] for i in range(nodes)], [0] * nodes, edges, programmatic)


def build_branches(nodes: int, width: int, kernels: int, source: random.Random | None) -> Launched:
    """Return forks and joins in a row: branches of four nodes, of random or of equal kernels."""
    found = Launched([], [], [])
    ends: list[int] = []
    while len(found.token) + 4 * width < nodes:
        fork = len(found.token)
        found.token.append(0)
        found.stream.append(0)
        found.edges.extend((end, fork) for end in ends)
        ends = []
        for branch in range(width):
            last = fork
            for step in range(4):
                node = len(found.token)
                kernel = step if source is None else source.randrange(kernels)
                found.token.append(1 + kernel % kernels)
                found.stream.append(branch)
                found.edges.append((last, node))
                last = node
            ends.append(last)
    return found


def run_launches(graph: Launched, launches: int) -> RecordedWork:
    """Return the work of launches in order of nodes: kernels of 1.5 to 6 µs, gaps of 0.5 to 1.2."""
    source = np.random.default_rng(0)
    nodes = len(graph.token)
    before: list[list[int]] = [[] for _ in range(nodes)]
    for tail, head in graph.edges:
        before[head].append(tail)
    length = source.integers(1500, 6000, (nodes, 1)) + source.integers(-200, 200, (nodes, launches))
    gap = source.integers(500, 1200, (nodes, launches))
    start, end = np.zeros((nodes, launches), np.int64), np.zeros((nodes, launches), np.int64)
    free = np.zeros((max(graph.stream) + 1, launches), np.int64)
    for node in range(nodes):
        stream = graph.stream[node]
        held = [start[n] + length[n] // 2 if graph.programmatic else end[n] for n in before[node]]
        queue = free[stream] * (not graph.programmatic)
        start[node] = np.max([queue, *held], axis=0) + gap[node]
        end[node] = start[node] + length[node]
        free[stream] = end[node]
    stream_of = np.tile(np.array(graph.stream), (launches, 1))
    return RecordedWork(
        np.array(graph.token), start.T, end.T, np.ones((launches, nodes), bool), stream_of
    )


def measure_nodes(graph: Launched, launches: int) -> tuple[float, int, int, int]:
    """Return the time (s of the processor), and how many nodes are right, marked and wrong."""
    recorded = run_launches(graph, launches)
    nodes = len(graph.token)
    order = np.random.default_rng(1).permutation(nodes)
    shuffled = RecordedWork(
        recorded.token[order],
        *(getattr(recorded, name)[:, order] for name in ("start_ns", "end_ns", "timed", "stream")),
    )
    kinds = np.full(len(graph.edges), graph.programmatic)
    work = GraphWork(recorded.token, np.array(graph.edges), kinds)
    begin = time.process_time()
    match = match_nodes(work, shuffled)
    seconds = time.process_time() - begin
    right = (order[match.work] == np.arange(nodes)).all(axis=0)
    marked = match.match_class != NOT_MATCHED
    return seconds, int(right.sum()), int(marked.sum()), int((~right & ~marked).sum())


def bench_nodes(nodes: int, launches: int) -> dict[str, float]:
    """Measure and print a table; return the times by case."""
    source = random.Random(0)
    cases = {
        "chain": build_chain(nodes),
        "programmatic chain": build_chain(nodes, programmatic=True),
        "4 branches": build_branches(nodes, 4, 30, source),
        "16 branches": build_branches(nodes, 16, 30, source),
        "4 equal branches": build_branches(nodes, 4, 4, None),
        "one kernel, 4 branches": build_branches(nodes, 4, 1, None),
    }
    print(f"{launches} launches: {'nodes':>16}{'right':>7}{'marked':>8}{'wrong':>7}{'ms':>9}")
    found: dict[str, float] = {}
    for name, graph in cases.items():
        seconds, right, marked, wrong = measure_nodes(graph, launches)
        print(f"{name:24}{len(graph.token):7}{right:7}{marked:8}{wrong:7}{seconds * 1e3:9.1f}")
        found[name] = round(seconds, 4)
    return found


def main() -> None:
    """Measure, print a table and a JSON line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--nodes", type=int, default=2_500)
    parser.add_argument("--operations", type=int, default=20_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--graph-nodes", type=int, default=20_000)
    parser.add_argument("--launches", type=int, default=20)
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
    result["nodes_of_launches"] = bench_nodes(arguments.graph_nodes, arguments.launches)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
