"""Synthetic recordings of graphs inside nodes: child graphs, IF, WHILE and SWITCH, nested.

    path = write_nested_recording(tmp_path / "nested.gviz", NESTED)

Node ids count from 0 in every level, as the driver has them, so the same id stands for nodes of
several levels; ids in the executable follow the driver's rule (:mod:`gviz.spool.streams.node_ids`).
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from recordings import GRAPH_CALL_NS, LATENCY_NS, STARTED_NS, write_exec, write_run

from gviz.cuda.node_type import NodeType, not_timed_reason
from gviz.recording import rows
from gviz.recording.writer import RecordingWriter
from gviz.stats.statistics import node_statistics

#: From a dependency's end to a dependent's start, and between two turns of a loop (ns).
GAP_NS, ITERATION_NS = 1_000, 400
_NAMES = {"child": "GRAPH", "if": "IF", "while": "WHILE", "switch": "SWITCH"}


@dataclass(frozen=True, slots=True)
class Part:
    """A node: its dependencies by index, and what it holds.

    Attributes
    ----------
    kind
        kernel, empty, child, if, while or switch.
    bodies
        Levels inside.
    taken
        By launch, over and over: the branch of if and switch (-1: none), the turns of while.
    """

    name: str
    duration_ns: int = 0
    after: tuple[int, ...] = ()
    kind: str = "kernel"
    bodies: tuple[tuple[Part, ...], ...] = ()
    taken: tuple[int, ...] = ()

    @property
    def type(self) -> NodeType:
        """CUDA's node type."""
        plain = {"kernel": NodeType.KERNEL, "empty": NodeType.EMPTY, "child": NodeType.GRAPH}
        return plain.get(self.kind, NodeType.CONDITIONAL)


def chain(*names: str, duration_ns: int = 4_000) -> tuple[Part, ...]:
    """Return kernels that run one after the other."""
    return tuple(
        Part(name, duration_ns + 500 * i, (i - 1,) if i else ()) for i, name in enumerate(names)
    )


_FORK_JOIN = (
    Part("split", 2_000),
    *(Part(f"branch{i}", 5_000 + 1_500 * i, (0,)) for i in range(3)),
    Part("join", 2_500, (1, 2, 3)),
)
_LOOP = (
    Part("step", 6_000),
    Part(
        "CONDITIONAL IF", after=(0,), kind="if", taken=(0, 1, 0),
        bodies=(chain("clip", "scale"), chain("skip", duration_ns=1_200)),
    ),
    Part("norm", 2_000, (0,)),
    Part("check", 1_800, (1, 2)),
)  # fmt: skip
#: Every kind, in parallel and in sequence, nested two deep.
NESTED = (
    Part("load", 3_000),
    Part("GRAPH", after=(0,), kind="child", bodies=(_FORK_JOIN,)),
    Part("CONDITIONAL WHILE", after=(1,), kind="while", bodies=(_LOOP,), taken=(3, 5, 4)),
    Part(
        "CONDITIONAL SWITCH", after=(1,), kind="switch", taken=(0, 2),
        bodies=(chain("case0_a", "case0_b"), chain("case1_a"), chain("case2_a", "case2_b")),
    ),
    Part("reduce", 5_000, (2, 3)),
    Part(
        "CONDITIONAL IF", after=(4,), kind="if", taken=(0, -1),
        bodies=((Part("GRAPH", kind="child", bodies=(chain("pack", "send"),)),),),
    ),
    Part("store", 2_500, (5,)),
)  # fmt: skip


def _change(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Take a node from the loop, add one to the child graph, and a case to the switch."""
    found = list(parts)
    step, inner, norm, check = found[2].bodies[0]
    assert norm.name == "norm"
    (child,), cases = found[1].bodies, found[3].bodies
    found[1] = replace(found[1], bodies=((*child, Part("extra", 3_000, (4,))),))
    found[2] = replace(found[2], bodies=((step, inner, replace(check, after=(1,))),))
    found[3] = replace(found[3], bodies=(*cases, chain("case3_a")))
    return tuple(found)


#: NESTED with a node gone from its loop, one added to its child graph, and a case.
NESTED_CHANGED = _change(NESTED)
#: NESTED without its last conditional node, which holds a body that holds a child graph.
NESTED_SHORTENED = (*NESTED[:5], replace(NESTED[6], after=(4,)))


def layered(layers: int) -> tuple[Part, ...]:
    """Return equal layers of four nodes one after the other, a conditional node in each."""
    parts = [Part("embed", 2_000)]
    for layer in range(layers):
        last = len(parts) - 1
        branches = (chain("fast_a", "fast_b"), chain("slow_a", "slow_b", "slow_c"))
        parts += [
            Part("norm", 2_000 + 10 * layer, (last,)),
            Part("CONDITIONAL IF", after=(last + 1,), kind="if", bodies=branches, taken=(0, 0, 1)),
            Part("project", 7_000, (last + 2,)),
            Part("add", 1_500, (last + 3,)),
        ]
    return tuple(parts)


@dataclass(slots=True)
class _Level:
    graph_id: int
    parts: tuple[Part, ...]
    parent: tuple[int, int] | None
    branch: int | None
    exec_ids: list[int]
    bodies: dict[int, list[_Level]] = field(default_factory=dict)

    def walk(self) -> Iterator[_Level]:
        """Yield this level and those inside."""
        yield self
        for levels in self.bodies.values():
            for level in levels:
                yield from level.walk()


class _Numbering:
    """Gives graphs their ids, and nodes those of the executable."""

    def __init__(self, parts: tuple[Part, ...]) -> None:
        self._next_node, self._next_graph = 0, 1
        self.top = self._level(parts, None, None)
        self._descend(self.top)

    def _level(
        self, parts: tuple[Part, ...], parent: tuple[int, int] | None, branch: int | None
    ) -> _Level:
        ids = list(range(self._next_node, self._next_node + len(parts)))
        self._next_node += len(parts)
        self._next_graph += 1
        return _Level(self._next_graph - 1, parts, parent, branch, ids)

    def _descend(self, level: _Level) -> None:
        for index, part in enumerate(level.parts):
            child = part.kind == "child"
            level.bodies[index] = [
                self._level(body, (level.graph_id, index), None if child else branch)
                for branch, body in enumerate(part.bodies)
            ]
            for body in level.bodies[index]:
                self._descend(body)


class _Run:
    """One launch: spans as (exec id, iteration, start, duration)."""

    def __init__(self, launch: int, rng: np.random.Generator) -> None:
        self._launch, self._rng = launch, rng
        self._counts: dict[int, int] = {}
        self.spans: list[tuple[int, int, int, int]] = []

    def level(self, level: _Level, begin: int) -> int:
        """Run a level once from a time on; return when it has ended."""
        ends: list[int] = []
        for index, part in enumerate(level.parts):
            start = max((ends[d] + GAP_NS for d in part.after), default=begin)
            ends.append(self._node(level, index, part, start))
        return max(ends, default=begin)

    def _node(self, level: _Level, index: int, part: Part, start: int) -> int:
        if part.kind == "kernel":
            exec_id = level.exec_ids[index]
            length = int(part.duration_ns * self._rng.lognormal(0.0, 0.03))
            iteration = self._counts.get(exec_id, 0)
            self._counts[exec_id] = iteration + 1
            self.spans.append((exec_id, iteration, start, length))
            return start + length
        bodies = level.bodies[index]
        taken = part.taken[self._launch % len(part.taken)] if part.taken else 0
        if part.kind == "while":
            for _ in range(taken):
                start = self.level(bodies[0], start + ITERATION_NS)
        elif bodies and taken >= 0:
            start = self.level(bodies[taken], start)
        return start


def write_nested_recording(
    path: Path, parts: tuple[Part, ...], *, launches: int = 6, seed: int = 0
) -> Path:
    """Write a recording of one graph (1) and its bodies (2 and on), launched some times."""
    rng = np.random.default_rng(seed)
    top = _Numbering(parts).top
    with RecordingWriter(path) as writer:
        write_run(writer, "nested")
        topologies: dict[str, int] = {}
        for level in top.walk():
            _write_level(writer, level, topologies)
        write_exec(writer, STARTED_NS + 40_000_000, launches, 0)
        clock, found = STARTED_NS + 60_000_000, []
        keys = {
            exec_id: (level.graph_id, index)
            for level in top.walk()
            for index, exec_id in enumerate(level.exec_ids)
        }
        for ordinal in range(launches):
            run = _Run(ordinal, rng)
            run.level(top, 0)
            clock = _write_launch(writer, ordinal, clock, run.spans, keys)
            found += run.spans
        if found:
            node, _, start, length = (np.array(c, np.int64) for c in zip(*found, strict=True))
            statistics = node_statistics(node, length, start)
            of_node = np.array([keys[i] for i in statistics.node_id.tolist()], np.int64)
            writer.insert_tuples(rows.NodeStatistics, sorted(statistics.to_tuples(*of_node.T)))
    return path


def _write_level(writer: RecordingWriter, level: _Level, written: dict[str, int]) -> None:
    edges = [(d, i) for i, part in enumerate(level.parts) for d in part.after]
    text = repr(([(p.kind, p.name) for p in level.parts], edges))
    digest = hashlib.sha256(text.encode()).hexdigest()
    topology = written.get(digest, len(written) + 1)
    if digest not in written:
        written[digest] = topology
        count = len(level.parts)
        writer.insert(
            rows.Topology(
                topology_id=topology, hash=digest, node_count=count, edge_count=len(edges)
            )
        )
        writer.insert_tuples(rows.Edge, sorted((topology, a, b, 0, 0, 0) for a, b in edges))
    parent, node = level.parent or (None, None)
    name = "nested" if parent is None else f"body {level.branch or 0} of node {node}"
    writer.insert(
        rows.Graph(
            graph_id=level.graph_id, run_id=1, name=name, topology_id=topology,
            origin="explicit" if parent is None else "body",
            parent_graph_id=parent, parent_node_id=node, branch=level.branch,
        )
    )  # fmt: skip
    for index, part in enumerate(level.parts):
        kernel = part.kind == "kernel"
        conditional = part.type == NodeType.CONDITIONAL
        writer.insert(
            rows.Node(
                graph_id=level.graph_id, node_id=index, type=int(part.type), name=part.name,
                exec_node_id=level.exec_ids[index] if kernel else None,
                grid_x=64 if kernel else None, block_x=256 if kernel else None,
                not_timed_reason=not_timed_reason(part.type),
                conditional_type=part.kind if conditional else None,
            )
        )  # fmt: skip


def _write_launch(
    writer: RecordingWriter,
    ordinal: int,
    clock: int,
    spans: list[tuple[int, int, int, int]],
    keys: dict[int, tuple[int, int]],
) -> int:
    first = min((start for _, _, start, _ in spans), default=0)
    end = max((start + length for _, _, start, length in spans), default=0)
    gpu = clock + GRAPH_CALL_NS + LATENCY_NS
    writer.insert(
        rows.Launch(
            launch_id=ordinal + 1, run_id=1, graph_id=1, graph_exec_id=1, side="graph",
            ordinal=ordinal, host_start_ns=clock, host_end_ns=clock + GRAPH_CALL_NS,
            thread_id=4242, stream_id=7, node_level=1,
            gpu_start_ns=gpu, gpu_end_ns=gpu + end - first, event_duration_ns=end - first + 1_300,
            span_count=len(spans),
        )
    )  # fmt: skip
    writer.insert_tuples(
        rows.Span,
        sorted((ordinal + 1, *keys[n], i, start - first, ns, 7) for n, i, start, ns in spans),
    )
    return clock + end + 60_000


def write_late_recording(path: Path) -> Path:
    """Write NESTED as if it was instantiated before gviz attached, with its loop's body reported.

    Of which conditional node that is the body is not recorded.
    """
    write_nested_recording(path, NESTED)
    with closing(sqlite3.connect(path)) as database, database:
        (loop,) = (i for i, part in enumerate(NESTED) if part.kind == "while")
        database.execute(
            "UPDATE graph SET parent_node_id=NULL WHERE parent_graph_id=1 AND parent_node_id=?",
            (loop,),
        )
    return path
