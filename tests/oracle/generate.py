"""Random traces as Kineto writes them, with the truth about their graphs; a seed makes each.

Graphs of random dependencies on a few streams, launched in turn, with eager work between. Nodes
wait for what they depend on and for their stream, with gaps of any length; some take no time, and
clocks of two streams differ a little. In some graphs nodes change their hardware queue from launch
to launch, are disabled in some launches, or have records without a correlation id. No two nodes of
a graph have the same kernel and launch shape: which of them a record is of can be seen without its
id.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from typing import Any

from oracle.raw import Edge, Node

_BASE_NS = 1_790_000_000_000_000_000
_KERNELS = ("gemm_kernel", "softmax_kernel", "norm_kernel", "copy_kernel", "add_kernel")
_PID, _TID = 4242, 4243
_FIRST_GRAPH = 7
#: Clocks of two streams differ by less.
_SKEW_NS = 160


@dataclass(frozen=True, slots=True)
class PlannedNode:
    """A node of a graph; ``after``: numbers of those it depends on, all smaller than its own."""

    kind: str
    name: str
    grid: int
    bytes: int
    stream: int
    typical_ns: int
    after: tuple[int, ...]


@dataclass(slots=True)
class GeneratedTrace:
    """A trace.

    Attributes
    ----------
    trace
        The whole of its JSON.
    dots
        By executable, the driver's dump of its graph; of graphs of kernels alone.
    edges
        By executable, the dependencies of its nodes.
    nodes
        By start (on the trace's clock) and stream of a record, the node that ran.
    """

    trace: dict[str, Any]
    dots: dict[int, str] = field(default_factory=dict)
    edges: dict[int, list[Edge]] = field(default_factory=dict)
    nodes: dict[tuple[int, int], Node] = field(default_factory=dict)


def generate(seed: int, *, node_ids: bool) -> GeneratedTrace:
    """Return the trace of a seed; without ``node_ids`` as PyTorch until 2.11 wrote them."""
    return _Generator(random.Random(seed), node_ids).run()


class _Generator:
    def __init__(self, source: random.Random, node_ids: bool) -> None:
        self._source, self._node_ids = source, node_ids
        self._events: list[dict[str, Any]] = []
        self._host_ns = source.randrange(10**6, 10**8)
        self._gpu_ns = self._host_ns
        self._correlation = 100
        self._nodes: dict[tuple[int, int], Node] = {}
        #: Executables whose nodes run on any hardware queue, whose nodes are disabled here and
        #: there, and whose records name no launch, as in bodies of conditional nodes.
        self._hops: set[int] = set()
        self._drops: set[int] = set()
        self._bodies: set[int] = set()

    def run(self) -> GeneratedTrace:
        source = self._source
        graphs = {_FIRST_GRAPH + 2 * i: self._plan() for i in range(source.choice((1, 1, 2, 3)))}
        if self._node_ids is False:
            # Equal work in two graphs could not be told apart.
            graphs = dict(list(graphs.items())[:1])
        launches = [e for e in graphs for _ in range(source.randrange(1, 6))]
        source.shuffle(launches)
        if self._node_ids:
            self._hops, self._drops, self._bodies = (
                {e for e in graphs if source.random() < share} for share in (0.3, 0.3, 0.2)
            )
        for executable in launches:
            if source.random() < 0.3:
                self._run_eagerly()
            self._launch(executable, graphs[executable])
        return GeneratedTrace(
            trace=self._envelope(),
            dots={
                e: _dot(e, plan) for e, plan in graphs.items()
                if all(node.kind == "kernel" for node in plan)
            },
            edges={
                e: [Edge(tail, head) for head, node in enumerate(plan) for tail in node.after]
                for e, plan in graphs.items()
            },
            nodes=self._nodes,
        )  # fmt: skip

    def _plan(self) -> list[PlannedNode]:
        source = self._source
        count, streams = source.randrange(1, 13), source.randrange(1, 4)
        has_copies = source.random() < 0.4
        plan: list[PlannedNode] = []
        last: dict[int, int] = {}
        for number in range(count):
            stream = source.randrange(streams)
            after = {last[stream]} if stream in last else set()
            after |= {n for n in range(number) if source.random() < 0.15}
            kind = (
                source.choice(("kernel", "kernel", "memcpy", "memset")) if has_copies else "kernel"
            )
            plan.append(
                PlannedNode(
                    kind=kind,
                    name=source.choice(_KERNELS) if kind == "kernel" else "",
                    grid=number + 1,
                    bytes=4096 * (number + 1),
                    stream=20 + stream,
                    typical_ns=source.choice((800, 2_000, 9_000, 60_000)),
                    after=tuple(sorted(after)),
                )
            )
            last[stream] = number
        return plan

    def _launch(self, executable: int, plan: list[PlannedNode]) -> None:
        source = self._source
        correlation = self._call("cudaGraphLaunch", 311)
        begin = max(self._gpu_ns, self._host_ns) + source.randrange(1, 5_000)
        ends: list[int] = []
        free: dict[int, int] = {}
        taken: set[tuple[int, int]] = set()
        first = None
        for number, node in enumerate(plan):
            ready = max([begin, free.get(node.stream, 0), *(ends[n] for n in node.after)])
            crosses = any(plan[n].stream != node.stream for n in node.after)
            may_differ = crosses and ready > free.get(node.stream, 0) + _SKEW_NS
            skew = source.randrange(_SKEW_NS) if may_differ else 0
            start = max(ready - skew, begin) + source.choice((0, 0, 480, source.randrange(20_000)))
            is_disabled = executable in self._drops and number > 0 and source.random() < 0.4
            is_short = is_disabled or source.random() < 0.03
            took = 0 if is_short else source.randrange(node.typical_ns) + 32
            queue = node.stream if executable not in self._hops else 20 + source.randrange(3)
            while (start, queue) in taken:
                start += 1
            taken.add((start, queue))
            ends.append(start + took)
            free[node.stream] = max(ends[-1], start + 1)
            if is_disabled:
                continue
            first = start if first is None else first
            is_body = executable in self._bodies and start > first and source.random() < 0.5
            ran = replace(node, stream=queue)
            self._add_node(executable, number, ran, start, took, 0 if is_body else correlation)
        self._gpu_ns = max(ends) + 1

    def _run_eagerly(self) -> None:
        for _ in range(self._source.randrange(1, 4)):
            correlation = self._call("cudaLaunchKernel", 211)
            start = max(self._gpu_ns, self._host_ns) + self._source.randrange(1, 5_000)
            took = self._source.randrange(32, 5_000)
            self._gpu_ns = start + took
            node = PlannedNode("kernel", self._source.choice(_KERNELS), 99, 0, 7, took, ())
            self._add("kernel", node, start, took, correlation, {})

    def _call(self, name: str, number: int) -> int:
        self._correlation += self._source.randrange(1, 4)
        self._host_ns += self._source.randrange(1_000, 100_000)
        took = self._source.randrange(1_000, 60_000)
        args = {"cbid": number, "correlation": self._correlation}
        self._events.append(_event("cuda_runtime", name, self._host_ns, took, _PID, _TID, args))
        self._host_ns += took
        return self._correlation

    def _add_node(
        self, executable: int, number: int, node: PlannedNode, start: int, took: int,
        correlation: int,
    ) -> None:  # fmt: skip
        self._nodes[_BASE_NS + start, node.stream] = (executable, number)
        ids = {"graph id": executable, "graph node id": executable << 32 | number}
        category = {"kernel": "kernel", "memcpy": "gpu_memcpy", "memset": "gpu_memset"}[node.kind]
        self._add(category, node, start, took, correlation, ids if self._node_ids else {})

    def _add(
        self, category: str, node: PlannedNode, start: int, took: int, correlation: int,
        ids: dict[str, int],
    ) -> None:  # fmt: skip
        args: dict[str, Any] = {"device": 0, "context": 1, "stream": node.stream,
                                "correlation": correlation} | ids  # fmt: skip
        name = {"kernel": node.name, "gpu_memcpy": "Memcpy DtoD (Device -> Device)",
                "gpu_memset": "Memset (Device)"}[category]  # fmt: skip
        if category == "kernel":
            args |= {"grid": [node.grid, 1, 1], "block": [128, 1, 1], "shared memory": 0,
                     "registers per thread": 32}  # fmt: skip
        else:
            args |= {"bytes": node.bytes}
        self._events.append(_event(category, name, start, took, 0, node.stream, args))

    def _envelope(self) -> dict[str, Any]:
        self._source.shuffle(self._events)  # a trace is in no order
        return {
            "schemaVersion": 1,
            "deviceProperties": [
                {"id": 0, "name": "Some GPU", "totalGlobalMem": 1 << 34, "computeMajor": 9,
                 "computeMinor": 0, "maxThreadsPerMultiprocessor": 2048, "numSms": 100}
            ],
            "cuda_driver_version": 13000,
            "cupti_version": 130001,
            "displayTimeUnit": "ms",
            "baseTimeNanoseconds": _BASE_NS,
            "traceEvents": self._events,
        }  # fmt: skip


def _event(
    category: str, name: str, start: int, took: int, pid: int, tid: int, args: dict[str, Any]
) -> dict[str, Any]:
    return {
        "ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid,
        "ts": start / 1000, "dur": took / 1000, "args": args,
    }  # fmt: skip


def _dot(graph: int, plan: list[PlannedNode]) -> str:
    """Return what cudaGraphDebugDotPrint writes of a graph of kernels, as far as it is read."""
    lines = ["digraph dot {", f"subgraph cluster_{graph} {{",
             f'label="graph_{graph}" graph[style="dashed"];']  # fmt: skip
    for number, node in enumerate(plan):
        shape = rf"\<\<\<{node.grid},128,0\>\>\>"
        lines.append(
            f'"graph_{graph}_node_{number}"[style="bold" shape="record" label="{{KERNEL\n'
            f"| {{ID | {number} (topoId: {number}) | {node.name}{shape}}}\n"
            f"| {{{{node handle | func handle}} | {{0x{number + 1:016X} | 0x{1:016X}}}}}\n"
            f"| {{cooperative | 0}}\n| {{priority | 0}}\n"
            '}"];\n'
        )
    lines += [
        f'"graph_{graph}_node_{tail}" -> "graph_{graph}_node_{head}";'
        for head, node in enumerate(plan) for tail in node.after
    ]  # fmt: skip
    return "\n".join([*lines, "}", "}", ""])
