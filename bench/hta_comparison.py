"""The critical path of an eager iteration of PyTorch: Holistic Trace Analysis beside gviz.

HTA walks operators of the CPU, launch calls and GPU work; gviz walks GPU work, and says of each
gap whether the call of what ran next had returned by then. Both are given the same Kineto trace.
Compared are the steps from one GPU operation to the next on HTA's path (is it a step of gviz's
path, with the same gap?), the steps that lead from the CPU to the GPU (does gviz say that the GPU
waited for the host there?), and what each says bounds the iteration. With a recording of the same
program (bench/gpu_eager_trace.py), what gviz measured itself stands beside it.

HTA is no dependency of gviz: install HolisticTraceAnalysis and pandas elsewhere (0.5.0 needs
pandas below 3; from 0.6.0 on HTA knows cuLaunchKernelEx). The trace must have CUDA's
synchronisation records (torch.profiler's _ExperimentalConfig(enable_cuda_sync_events=True)). ::

    python -P bench/hta_comparison.py TRACE.json.gz [--recording FILE.gviz]
        [--annotation ProfilerStep] [--instance 0]
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
import warnings
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

# Else HTA rounds times to whole microseconds.
os.environ.setdefault("HTA_DISABLE_NS_ROUNDING", "1")

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from executed_graphs import Body, build_graph, held_launch, node_row

from gviz.analysis.analysis import analyze
from gviz.analysis.launch.holds import HeldLaunch
from gviz.analysis.launch.ledger import GapLedger, gap_ledger, path_steps
from gviz.analysis.launch.observed import observed_path
from gviz.analysis.launch.time_parts import PartSpans, TimeParts, measure_parts
from gviz.cuda.node_type import NodeType
from gviz.model.tree.launch_spans import LaunchSpans
from gviz.recording.reader import Recording
from gviz.stats.arrays import IntArray
from gviz.stats.figure_fields import NotComputed

Event = dict[str, Any]
GPU_KINDS = {
    "kernel": NodeType.KERNEL, "gpu_memcpy": NodeType.MEMCPY, "gpu_memset": NodeType.MEMSET,
}  # fmt: skip
CALL_KINDS = ("cuda_runtime", "cuda_driver")
#: Gaps that differ by no more are equal: times in the trace are rounded to a nanosecond.
EQUAL_NS = 2


@dataclass(frozen=True, slots=True)
class Operation:
    """A GPU operation of the trace with its call; times in ns from the annotation's start."""

    correlation: int
    kind: NodeType
    name: str
    stream: int
    start_ns: int
    end_ns: int
    called_ns: int
    returned_ns: int


@dataclass(frozen=True, slots=True)
class EagerIteration:
    """An eager iteration as gviz sees one."""

    operations: list[Operation]
    held: HeldLaunch
    path: IntArray
    ledger: GapLedger
    parts: TimeParts


# -- gviz ---------------------------------------------------------------------------------------


def read_trace(path: Path, annotation: str, instance: int) -> tuple[list[Operation], IntArray]:
    """Return the GPU operations that were called inside an annotation, and their order.

    Returns
    -------
    operations, edges
        In order of their calls; int64 pairs (dependency, dependent): order of a stream, and
        waits for events.
    """
    text = path.read_bytes()
    document = json.loads(gzip.decompress(text) if path.suffix == ".gz" else text)
    events: list[Event] = [e for e in document["traceEvents"] if e.get("ph") == "X"]
    marks = [
        e for e in events if e.get("cat") == "user_annotation" and e["name"].startswith(annotation)
    ]
    mark = sorted(marks, key=lambda e: float(e["ts"]))[instance]
    origin = float(mark["ts"])

    def ns(event: Event) -> tuple[int, int]:
        begin = float(event["ts"]) - origin
        return round(begin * 1e3), round((begin + float(event["dur"])) * 1e3)

    last = ns(mark)[1]
    calls = {
        e["args"]["correlation"]: e
        for e in events
        if e.get("cat") in CALL_KINDS and "correlation" in e.get("args", {})
    }
    found = []
    for event in events:
        call = calls.get(event.get("args", {}).get("correlation"))
        if event.get("cat") not in GPU_KINDS or call is None or not 0 <= ns(call)[0] <= last:
            continue
        args = event["args"]
        found.append(
            Operation(
                args["correlation"], GPU_KINDS[event["cat"]], event["name"], args["stream"],
                *ns(event), *ns(call),
            )
        )  # fmt: skip
    found.sort(key=lambda o: o.called_ns)
    waits = [
        (ns(calls[a["correlation"]])[0], a["stream"], a["wait_on_stream"], record)
        for e in events
        if e.get("cat") == "cuda_sync" and e["name"] == "Stream Wait Event"
        for a in [e["args"]]
        for record in [calls.get(a.get("wait_on_cuda_event_record_corr_id"))]
        if record is not None and a["correlation"] in calls
    ]
    return found, _edges(found, [(t, s, o, ns(record)[0]) for t, s, o, record in waits])


def _edges(operations: list[Operation], waits: list[tuple[int, int, int, int]]) -> IntArray:
    """Return who waits for whom; a wait is (called, stream, stream waited for, recorded)."""
    pairs = set()
    by_stream: dict[int, list[int]] = {}
    for at, operation in enumerate(operations):
        by_stream.setdefault(operation.stream, []).append(at)
    for mine in by_stream.values():
        pairs |= set(pairwise(mine))
    for called, stream, other, recorded in waits:
        before = [a for a in by_stream.get(other, []) if operations[a].called_ns < recorded]
        after = [a for a in by_stream.get(stream, []) if operations[a].called_ns > called]
        if before and after and before[-1] < after[0]:
            pairs.add((before[-1], after[0]))
    return np.array(sorted(pairs), np.int64).reshape(-1, 2)


def eager_iteration(operations: list[Operation], edges: IntArray) -> EagerIteration:
    """Return what gviz's analyses make of these operations."""
    count = len(operations)
    nodes = [node_row(i, o.kind, name=o.name) for i, o in enumerate(operations)]
    graph = build_graph(Body(nodes, [(a, b) for a, b in edges.tolist()]))
    start, end, stream, returned = (
        np.array([getattr(o, n) for o in operations], np.int64)
        for n in ("start_ns", "end_ns", "stream", "returned_ns")
    )
    order = np.argsort(start, kind="stable")
    spans = LaunchSpans(order, np.zeros(count, np.int64), start[order], end[order], stream[order])
    held = held_launch(graph, spans)
    path = observed_path(held)
    common = PartSpans(start, end, returned, np.ones(count, bool))
    begin = operations[0].called_ns
    return EagerIteration(
        operations,
        held,
        path,
        gap_ledger(held, path_steps(held, path)),
        measure_parts(common, begin, float(max(o.returned_ns for o in operations) - begin)),
    )


# -- Holistic Trace Analysis ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class HtaPath:
    """HTA's critical path.

    Attributes
    ----------
    bound_ns
        Its time by what HTA says it is bound by.
    on_gpu
        Correlations of the GPU operations on it.
    steps
        From one GPU operation to the next: correlations, and the edge's time.
    from_cpu
        GPU operations that it enters from their launch call.
    """

    bound_ns: dict[str, float]
    on_gpu: set[int]
    steps: list[tuple[int, int, float, str]]
    from_cpu: list[int]


def hta_path(path: Path, annotation: str, instance: int) -> HtaPath:
    """Return HTA's critical path of a trace."""
    from hta.analyzers.critical_path_analysis import CPEdgeType
    from hta.trace_analysis import TraceAnalysis

    with warnings.catch_warnings():
        # HTA's own uses of pandas.
        warnings.simplefilter("ignore", FutureWarning)
        found = TraceAnalysis(
            trace_files={0: str(path)}, trace_dir=str(path.parent)
        ).critical_path_analysis(rank=0, annotation=annotation, instance_id=instance)
    if found is None or not found[1]:
        raise RuntimeError("HTA found no critical path; its message is above")
    graph = found[0]
    table = graph.full_trace_df
    correlation = {
        int(i): int(c)
        for i, c, s in zip(table["index"], table["correlation"], table["stream"], strict=True)
        if s >= 0 and c >= 0
    }
    steps, from_cpu, on_gpu = [], [], set()
    for edge in sorted(graph.critical_path_edges_set, key=lambda e: graph.node_list[e.begin].ts):
        a, b = graph.get_events_for_edge(edge)
        if edge.type == CPEdgeType.KERNEL_LAUNCH_DELAY:
            from_cpu.append(correlation[b])
        elif edge.type == CPEdgeType.OPERATOR_KERNEL and a == b and a in correlation:
            on_gpu.add(correlation[a])
        elif a != b and a in correlation and b in correlation:
            lag = float(graph.node_list[edge.end].ts - graph.node_list[edge.begin].ts)
            steps.append((correlation[a], correlation[b], lag * 1e3, edge.type.name))
    breakdown = graph.get_critical_path_breakdown()
    bound = breakdown.groupby("bound_by").duration.sum()
    by_bound = {str(k) or "dependency": float(v) * 1e3 for k, v in bound.items()}
    return HtaPath(by_bound, on_gpu, steps, from_cpu)


# -- side by side -------------------------------------------------------------------------------


def compare(eager: EagerIteration, hta: HtaPath) -> dict[str, Any]:
    """Return where the two agree."""
    correlation = [o.correlation for o in eager.operations]
    by_correlation = {o.correlation: o for o in eager.operations}
    mine = [correlation[v] for v in eager.path.tolist()]
    before = dict(zip(mine[1:], mine, strict=False))
    same, equal, other = 0, 0, []
    for a, b, lag_ns, kind in hta.steps:
        if before.get(b) != a:
            other.append([by_correlation[x].name[:60] for x in (a, b) if x in by_correlation])
            continue
        same += 1
        gap = by_correlation[b].start_ns - by_correlation[a].end_ns
        equal += kind == "SYNC_DEPENDENCY" or abs(gap - lag_ns) <= EQUAL_NS
    waited = set(hta.from_cpu) & _waited_for_host(eager)
    parts = eager.parts
    by_cpu = hta.bound_ns.get("cpu_bound", 0.0) + hta.bound_ns.get("gpu_kernel_launch_overhead", 0)
    return {
        "operations": len(eager.operations),
        "on_gviz_path": len(mine),
        "on_hta_path": len(hta.on_gpu),
        "on_hta_path_alone": len(hta.on_gpu - set(mine)),
        "gpu_steps": len(hta.steps),
        "gpu_steps_in_both": same,
        "of_these_with_equal_gaps": equal,
        "gpu_steps_by_kind": dict(Counter(s[3] for s in hta.steps)),
        "other_steps": other[:5],
        "steps_from_cpu": len(hta.from_cpu),
        "steps_from_cpu_that_waited_for_the_host": len(waited),
        "hta_us": {k: v / 1e3 for k, v in hta.bound_ns.items()},
        "hta_share_of_host": by_cpu / (sum(hta.bound_ns.values()) or 1.0),
        "gviz_ledger_us": {
            name: getattr(eager.ledger, name) / 1e3
            for name in ("total_ns", "node_ns", "dependency_gap_ns", "queue_wait_ns")
        },
        "gviz_parts_us": {
            name: getattr(parts, name) / 1e3
            for name in ("lead_ns", "host_idle_ns", "other_idle_ns", "busy_ns", "total_ns")
        },
        "gviz_share_of_host": (parts.lead_ns + parts.host_idle_ns) / parts.total_ns,
    }


def _waited_for_host(eager: EagerIteration) -> set[int]:
    """Return the operations whose call had not returned when what they depend on had ended."""
    first = min(o.start_ns for o in eager.operations)
    ready = eager.held.ready_ns + first
    return {
        o.correlation
        for at, o in enumerate(eager.operations)
        if eager.held.dependency[at] < 0 or ready[at] <= o.returned_ns
    }


def recorded(path: Path) -> dict[str, Any]:
    """Return what a recording says of the same iteration, and of the graph captured of it."""
    with Recording(path) as recording:
        graph = analyze(recording, most_graphs=1).runs[0].graphs[0]
    stream, ledger = graph.stream_comparison, graph.ledger
    found: dict[str, Any] = {"nodes": graph.node_count}
    if isinstance(stream, NotComputed):
        found["stream"] = stream.not_computed
    else:
        side = stream.stream
        found["passes"] = side.gpu_ns.count
        found["eager_gpu_us"] = side.gpu_ns.median / 1e3
        found["eager_busy_us"] = side.gpu_ns.median * (1 - side.idle_fraction.median) / 1e3
        found["eager_idle_fraction"] = side.idle_fraction.median
        found["idle_without_host_fraction"] = stream.idle_without_host_fraction
    if not isinstance(ledger, NotComputed):
        found["graph_us"] = ledger.median.total_ns / 1e3
        found["graph_node_us"] = ledger.median.node_ns / 1e3
    return found


def main() -> int:
    """Compare, print, and print a line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("trace", type=Path)
    parser.add_argument("--recording", type=Path)
    parser.add_argument("--annotation", default="ProfilerStep")
    parser.add_argument("--instance", type=int, default=0)
    arguments = parser.parse_args()
    chosen = (arguments.trace, arguments.annotation, arguments.instance)
    eager = eager_iteration(*read_trace(*chosen))
    facts = compare(eager, hta_path(*chosen))
    if arguments.recording:
        facts["recorded"] = recorded(arguments.recording)
    for name, value in facts.items():
        print(f"{name:42}{json.dumps(value) if isinstance(value, (dict, list)) else value}")
    print(json.dumps({"bench": "hta_comparison", "trace": arguments.trace.name, **facts}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
