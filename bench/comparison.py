"""Quality and speed of matching nodes of two graphs, and of telling changes from noise.

Matching: random edits with known truth (tests/edited_graphs.py) on graphs of programs. "strict"
counts a pair as wrong where equal layers or lanes cannot be told apart; see there. Noise:
durations of nodes that did not change, with steps of 32 ns, outliers and slow launches. Then the
whole of gviz diff, and how often gviz check fails.
Run: python -P bench/comparison.py [--seeds N] [--repeat R] [--quality-only | --time-only]
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import numpy as np
from edited_graphs import EditableGraph, Edits, from_recording, from_shape, judge, streams_graph
from recordings import (
    Shape,
    fork_join_shape,
    transformer_shape,
    wide_shape,
    write_recording,
)

from gviz.checks.check import check_recording
from gviz.checks.limits import parse_limits
from gviz.comparison.diff import compare_recordings
from gviz.comparison.pairing.node_pairs import pair_nodes
from gviz.formats.dot.importer import import_dot
from gviz.recording.reader import Recording
from gviz.stats.significance import adjusted, change_probability, least_change_ns

ROOT = Path(__file__).resolve().parent.parent
RECORDINGS = ROOT / "assets" / "recordings"
ENCODER = ROOT / "tests" / "golden" / "dot" / "torch_encoder8_verbose.dot"
SMALL = ("insert", "delete", "rename", "reshape", "fuse", "split")
#: Kinds of edits and the share of nodes edited. "layer": of equal layers one more, or one less.
CASES: dict[str, tuple[tuple[str, ...], float]] = {
    "recaptured": ((), 0),
    "insert": (("insert",), 0.02),
    "delete": (("delete",), 0.02),
    "rename": (("rename",), 0.05),
    "fuse": (("fuse",), 0.02),
    "split": (("split",), 0.02),
    "swap": (("swap",), 0.01),
    "layer more": ((), 0),
    "layer less": ((), 0),
    "all": (SMALL, 0.05),
    "all, 15%": (SMALL, 0.15),
}


def build_graphs() -> dict[str, EditableGraph]:
    with tempfile.TemporaryDirectory() as folder:
        encoder = Path(folder) / "encoder.gviz"
        import_dot(ENCODER, encoder)
        found = {"encoder (DOT)": from_recording(encoder)}
    for name in ("cupy_pipeline", "decode_step", "training_step"):
        found[name] = from_recording(RECORDINGS / f"{name}.gviz")
    return found | {
        "transformer": from_shape(transformer_shape(40)),
        "fork-join": from_shape(fork_join_shape(12, 5, 6)),
        "equal lanes": from_shape(wide_shape(24, 12)),
        "streams": streams_graph(600),
    }


def find_layers(name: str, graph: EditableGraph) -> list[list[int]]:
    """Return the inner layers of a model, each in topological order; none where there are none."""
    first, size = {"transformer": (2, 15), "decode_step": (0, 20)}.get(name, (0, 0))
    if not size:
        return []
    whole = (len(graph.nodes) - first) // size
    return [list(range(first + size * k, first + size * (k + 1))) for k in range(1, whole - 1)]


def edit(name: str, graph: EditableGraph, case: str, seed: int) -> Edits:
    kinds, share = CASES[case]
    edits = Edits(graph, seed)
    layers = find_layers(name, graph)
    everything = case.startswith("all")
    at = 7 * seed % max(1, len(layers) - 1)
    if layers and (case == "layer more" or (everything and seed % 2)):
        edits.add_layer(*layers[at : at + 2])
    elif layers and (case == "layer less" or everything):
        edits.remove_layer(*layers[at : at + 2])
    if share:
        edits.make(kinds, max(1, round(share * len(graph.nodes))))
    if everything:
        edits.rename_everywhere()
    if everything or case == "recaptured":
        edits.reorder()
    return edits


def match(edits: Edits) -> tuple[np.ndarray, float]:
    """Return the partners, and what finding them took (seconds of processor time)."""
    before, after = edits.base.to_compared(), edits.graph.to_compared()
    start = time.process_time()
    partner = pair_nodes(before, after)
    return partner, time.process_time() - start


def measure_quality(seeds: int) -> dict[str, float]:
    print(f"{'graph':16}{'edits':12}{'nodes':>7}{'precision':>11}{'recall':>9}{'worst':>8}"
          f"{'strict p':>10}{'strict r':>10}")  # fmt: skip
    worst: dict[str, float] = {}
    for name, graph in build_graphs().items():
        for case in CASES:
            if case.startswith("layer") and not find_layers(name, graph):
                continue
            found = []
            for seed in range(seeds):
                edits = edit(name, graph, case, seed)
                found.append(judge(edits, match(edits)[0]))
            values = [
                statistics.mean(getattr(q, column) for q in found)
                for column in ("precision", "recall", "strict_precision", "strict_recall")
            ]
            worst[f"{name}, {case}"] = min(q.worst for q in found)
            print(f"{name:16}{case:12}{len(graph.nodes):7}{values[0]:11.4f}{values[1]:9.4f}"
                  f"{worst[f'{name}, {case}']:8.4f}{values[2]:10.4f}{values[3]:10.4f}")  # fmt: skip
    return worst


def large_graphs() -> Iterator[tuple[str, Callable[[], EditableGraph]]]:
    yield "transformer 5,001", lambda: from_shape(transformer_shape(333))
    yield "fork-join 5,205", lambda: from_shape(fork_join_shape(200, 6, 4))
    yield "equal lanes 4,994", lambda: from_shape(wide_shape(64, 78))
    yield "streams 5,000", lambda: streams_graph(5_000)
    yield "transformer 20,001", lambda: from_shape(transformer_shape(1_333))
    yield "streams 20,000", lambda: streams_graph(20_000)


def measure_time(repeat: int) -> dict[str, float]:
    found: dict[str, float] = {}
    cases = ("recaptured", "rename", "all", "all, 15%", "unrelated")
    print(f"\n{'processor seconds':20}" + "".join(f"{case:>12}" for case in cases))
    for name, build in large_graphs():
        graph, line = build(), f"{name:20}"
        for case in cases:
            if case == "unrelated":
                edits = Edits(graph, 0)
                edits.graph = streams_graph(len(graph.nodes), seed=99)
            else:
                edits = edit(name.split()[0], graph, case, 0)
            found[f"{name}, {case}"] = statistics.median(match(edits)[1] for _ in range(repeat))
            line += f"{found[f'{name}, {case}']:12.2f}"
        print(line)
    return found


def measure_noise(experiments: int) -> dict[str, list[float]]:
    source = np.random.default_rng(0)

    def launches(count: int, scale: np.ndarray) -> np.ndarray:
        slow = np.exp(source.normal(0, 0.005, (count, 1)))
        spread = np.exp(source.normal(0, 0.02, (count, len(scale))))
        outliers = 1 + 0.5 * (source.random((count, len(scale))) < 0.03)
        return np.round(scale * slow * spread * outliers / 32) * 32

    found: dict[str, list[float]] = {}
    print(f"\n{'launches':>10}{'nothing changed:':>18}{'one node in ten 10% slower:':>30}")
    print(f"{'':10}{'any called':>18}{'false':>15}{'found':>15}")
    for count in (5, 8, 10, 20, 60):
        any_called, false, power = [], [], []
        for _ in range(experiments):
            scale = source.choice([1_500.0, 4_000.0, 20_000.0], 2_000)
            slower = source.random(len(scale)) < 0.1
            before = launches(count, scale)
            least = least_change_ns(np.median(before, axis=0))
            same = change_probability(before, launches(count, scale), least)
            any_called.append(float((adjusted(same) <= 0.05).any()))
            after = launches(count, scale) * np.where(slower, 1.1, 1)
            called = adjusted(change_probability(before, after, least)) <= 0.05
            false.append(float((called & ~slower).sum() / max(1, called.sum())))
            power.append(float((called & slower).sum() / slower.sum()))
        found[str(count)] = [statistics.mean(v) for v in (any_called, false, power)]
        print(
            f"{count:10}{found[str(count)][0]:18.3f}"
            + "".join(f"{v:15.3f}" for v in found[str(count)][1:])
        )
    return found


def measure_diff(repeat: int) -> dict[str, float]:
    found: dict[str, float] = {}
    print(f"\n{'gviz diff, a layer more':30}{'processor seconds':>20}")
    with tempfile.TemporaryDirectory() as folder:
        for layers in (333, 1_333):
            paths = [
                write_recording(
                    Path(folder) / f"{n}.gviz", transformer_shape(n), launches=24, eager=False
                )
                for n in (layers, layers + 1)
            ]
            times = []
            for _ in range(repeat):
                with Recording(paths[0]) as before, Recording(paths[1]) as after:
                    start = time.process_time()
                    (run,) = compare_recordings(before, after).runs
                    times.append(time.process_time() - start)
            nodes = run.graphs[0].levels[0].node_count_before
            found[f"{nodes:,} nodes"] = statistics.median(times)
            print(f"{nodes:,} nodes, 24 launches".ljust(30) + f"{found[f'{nodes:,} nodes']:20.2f}")
    return found


def measure_gate(pairs: int) -> dict[str, float]:
    """Return how often ``gviz check`` fails, by how much longer all nodes take; 5% are allowed."""
    limits = parse_limits({"regression": {"launch": "5%", "critical_path": "5%", "node": "20%"}})
    shape = transformer_shape(3)
    found: dict[str, float] = {}
    print(f"\n{'gviz check, 5% allowed, 12 launches a side':45}{'fails':>10}")
    with tempfile.TemporaryDirectory() as folder:
        base, changed = Path(folder) / "base.gviz", Path(folder) / "changed.gviz"
        for factor in (1.0, 1.03, 1.06, 1.1):
            works = (replace(w, duration_ns=round(factor * w.duration_ns)) for w in shape.works)
            slower = Shape(shape.name, tuple(works))
            failed = 0
            for seed in range(pairs):
                for path, one, offset in ((base, shape, 0), (changed, slower, 1)):
                    write_recording(path, one, launches=12, eager=False, seed=2 * seed + offset,
                                    overwrite=True)  # fmt: skip
                with Recording(base) as before, Recording(changed) as after:
                    failed += not check_recording(after, before, limits).passed
            found[f"{factor:.0%}"] = failed / pairs
            print(f"nodes take {factor:.0%}".ljust(45) + f"{failed / pairs:10.2f}")
    return found


def main() -> None:
    """Measure, print tables and a JSON line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--repeat", type=int, default=3)
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--quality-only", action="store_true")
    only.add_argument("--time-only", action="store_true")
    arguments = parser.parse_args()
    result: dict[str, object] = {"bench": "comparison", "python": platform.python_version()}
    if not arguments.time_only:
        worst = measure_quality(arguments.seeds)
        result["worst"] = min(worst.items(), key=lambda item: item[1])
        result["noise"] = measure_noise(20)
        result["gate"] = measure_gate(60)
    if not arguments.quality_only:
        result["processor_seconds"] = {
            k: round(v, 3) for k, v in measure_time(arguments.repeat).items()
        }
        result["diff"] = measure_diff(arguments.repeat)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
