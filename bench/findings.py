"""Recall and precision of the advice on synthetic graphs with planted faults.

Each graph is a random program without fault (stretches of long kernels, forks whose branches
overlap), into which up to three faults are planted at random places and in random sizes; some
stay as they are. What the rules then find is compared with what was planted. What a planted
fault is judged by: its rule must be among the findings; every other finding is a false one.
Run: python -P bench/findings.py [--graphs N] [--seed N]
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from planned_recordings import Plan, Planned, subject_of

from gviz.analysis.advice import advise_graph, advise_run
from gviz.analysis.run_subject import RunSubject
from gviz.node_type import NodeType

HEAVY = ("gemm_f16", "flash_attention", "layer_norm", "conv2d_nhwc", "reduce_rows", "softmax")
#: Distance of allocations, and their size.
STEP, SIZE = 1 << 24, 1 << 20


@dataclass
class Program:
    """A graph in the making: nodes are appended, each after what it depends on."""

    rng: random.Random
    nodes: list[Planned] = field(default_factory=list)
    edges: list[tuple[int, int]] = field(default_factory=list)
    plan: dict[str, object] = field(default_factory=dict)
    buffers: int = 0

    def gap(self, *, crossing: bool = False) -> int:
        return self.rng.randint(500, 800) if crossing else self.rng.randint(380, 460)

    def end(self, node: int) -> int:
        return self.nodes[node].start_ns + (self.nodes[node].duration_ns or 0)

    def buffer(self) -> int:
        """Return the address of memory that nothing else is given."""
        self.buffers += 1
        return 0x7F0000000000 + self.buffers * STEP

    def add(
        self, node: Planned, after: list[int], *, gap: int | None = None, start: int | None = None
    ) -> int:
        """Append a node that starts ``gap`` after what it depends on, or at ``start``."""
        number = len(self.nodes)
        queues = {self.nodes[a].queue for a in after if self.nodes[a].duration_ns is not None}
        if gap is None:
            gap = self.gap(crossing=bool(queues) and node.queue not in queues)
        begin = max((self.end(a) for a in after), default=0) + (gap if after else 0)
        node.start_ns = begin if start is None else start
        self.nodes.append(node)
        self.edges += [(a, number) for a in after]
        return number

    def kernel(self, *memory: int, **changes: object) -> Planned:
        """Return a kernel that is long, known to be heavy, and neither fills nor wastes the GPU."""
        values: dict[str, object] = {
            "name": self.rng.choice(HEAVY),
            "duration_ns": self.rng.randint(5_000, 30_000),
            "blocks": self.rng.randint(70, 250),
            "arguments": [(a, a, SIZE) for a in memory],
        }
        return Planned(**(values | changes))  # type: ignore[arg-type]

    def tail(self) -> int:
        return len(self.nodes) - 1

    def stretch(self, count: int) -> None:
        """Append kernels in series, each on what the one before it has made."""
        for _ in range(count):
            after = [self.tail()] if self.nodes else []
            shared = [a for a, _, _ in self.nodes[-1].arguments][-1:] if self.nodes else []
            self.add(self.kernel(*shared, self.buffer()), after)

    def fork(self) -> None:
        """Append branches that overlap, on streams and queues of their own, and their join."""
        root = self.tail()
        ends = []
        for branch in range(self.rng.randint(2, 4)):
            at = root
            for _ in range(self.rng.randint(1, 3)):
                node = self.kernel(self.buffer(), queue=7 + branch)
                node.columns["capture_stream_id"] = 13 + branch
                at = self.add(node, [at])
            ends.append(at)
        self.add(self.kernel(self.buffer()), ends)


# -- faults ------------------------------------------------------------------------------

Fault = Callable[[Program], set[str]]


def between_kernels(program: Program, node: Planned) -> None:
    program.stretch(1)
    program.add(node, [program.tail()], gap=program.rng.randint(1_500, 4_000))
    program.add(program.kernel(program.buffer()), [program.tail()],
                gap=program.rng.randint(3_000, 8_000))  # fmt: skip


def fill(program: Program, address: int, value: int = 0) -> Planned:
    columns = {"destination_address": address, "bytes": SIZE, "memset_value": value}
    duration = program.rng.randint(900, 2_000)
    return Planned("MEMSET", 0, duration, kind=NodeType.MEMSET, columns=columns,
                   arguments=())  # fmt: skip


def device_copy(program: Program) -> Planned:
    columns = {"source_address": program.buffer(), "destination_address": program.buffer(),
               "bytes": SIZE}  # fmt: skip
    duration = program.rng.randint(1_500, 6_000)
    return Planned("MEMCPY DtoD", 0, duration, kind=NodeType.MEMCPY, columns=columns)


def plant_memset(program: Program) -> set[str]:
    between_kernels(program, fill(program, program.buffer()))
    return {"memset-between-kernels"}


def plant_memcpy(program: Program) -> set[str]:
    # A copy on the device with long gaps is one that could be avoided as well.
    between_kernels(program, device_copy(program))
    return {"memcpy-between-kernels", "device-copy"}


def plant_copy(program: Program) -> set[str]:
    program.stretch(1)
    program.add(device_copy(program), [program.tail()])
    program.add(program.kernel(program.buffer()), [program.tail()])
    return {"device-copy"}


def plant_untimed(kind: NodeType, rule: str) -> Fault:
    def plant(program: Program) -> set[str]:
        program.stretch(1)
        before = program.tail()
        program.add(Planned(kind.name, kind=kind), [before], gap=0)
        start = program.end(before) + program.rng.randint(5_000, 60_000)
        program.nodes[-1].start_ns = program.end(before)
        program.add(program.kernel(program.buffer()), [program.tail()], start=start)
        return {rule}

    return plant


def plant_tiny(program: Program) -> set[str]:
    program.stretch(1)
    memory = program.buffer()
    for _ in range(program.rng.randint(2, 12)):
        name = program.rng.choice(("elementwise_add", "relu_kernel", "copy_f16", "scale"))
        duration = program.rng.randint(1_000, 2_900)
        node = program.kernel(memory, name=name, duration_ns=duration)
        program.add(node, [program.tail()])
    program.stretch(1)
    return {"fusable-chain"}


def plant_small_grid(program: Program) -> set[str]:
    program.stretch(1)
    node = program.kernel(program.buffer(), blocks=program.rng.randint(4, 40),
                          duration_ns=program.rng.randint(12_000, 60_000))  # fmt: skip
    program.add(node, [program.tail()])
    program.stretch(1)
    return {"below-one-wave"}


def plant_overwritten(program: Program) -> set[str]:
    program.stretch(1)
    memory = program.buffer()
    program.add(fill(program, memory, 0), [program.tail()])
    program.stretch(program.rng.randint(1, 2))
    program.add(fill(program, memory, 1), [program.tail()])
    program.add(program.kernel(memory), [program.tail()])
    return {"overwritten-fill"}


def plant_duplicate(program: Program) -> set[str]:
    program.stretch(1)
    memory = program.buffer()
    program.add(fill(program, memory), [program.tail()])
    program.stretch(1)
    program.add(fill(program, memory), [program.tail()])
    program.add(program.kernel(memory), [program.tail()])
    return {"duplicate-node"}


def plant_turns(program: Program) -> set[str]:
    program.stretch(1)
    root, ends = program.tail(), []
    start = None
    for branch in range(program.rng.randint(2, 3)):
        node = program.kernel(program.buffer(), duration_ns=program.rng.randint(8_000, 20_000))
        node.columns["capture_stream_id"] = 13 + branch
        ends.append(program.add(node, [root], start=start))
        start = program.end(ends[-1]) + program.gap()
    program.add(program.kernel(program.buffer()), ends)
    return {"branches-took-turns"}


def plant_barrier(program: Program) -> set[str]:
    program.stretch(1)
    root, lanes = program.tail(), program.rng.randint(2, 4)
    slow = program.rng.randrange(lanes)
    stage = [root]
    for number in range(2):
        ends = []
        for lane in range(lanes):
            # A different branch is the long one in each stage.
            is_long = lane == (slow + number) % lanes
            duration = program.rng.randint(20_000, 30_000) if is_long else 6_000
            node = program.kernel(program.buffer(), queue=7 + lane, duration_ns=duration)
            node.columns["capture_stream_id"] = 13 + lane
            begin = max(program.end(s) for s in stage) + 700
            ends.append(program.add(node, stage, start=begin))
        stage = ends
    program.add(program.kernel(program.buffer()), stage)
    return {"branches-wait-for-each-other"}


def plant_small_fork(program: Program) -> set[str]:
    program.stretch(1)
    root = program.tail()
    main = program.add(program.kernel(program.buffer()), [root])
    node = program.kernel(program.buffer(), queue=8, duration_ns=program.rng.randint(900, 1_500))
    node.columns["capture_stream_id"] = 14
    side = program.add(node, [root])
    program.add(program.kernel(program.buffer()), [main, side],
                gap=program.rng.randint(5_000, 9_000))  # fmt: skip
    return {"fork-too-small"}


def plant_priorities(program: Program) -> set[str]:
    program.stretch(1)
    root = program.tail()
    full = program.kernel(program.buffer(), blocks=132 * 8 * 2)
    first = program.add(full, [root])
    node = program.kernel(program.buffer(), queue=8, columns={"priority": -3})
    node.columns["capture_stream_id"] = 14
    second = program.add(node, [root], start=program.end(first) + 600)
    program.add(program.kernel(program.buffer()), [first, second])
    return {"priorities-lost"}


def plant_late_fork(program: Program) -> set[str]:
    program.stretch(1)
    source, first_out, second_out = (program.buffer() for _ in range(3))
    norm = program.add(program.kernel(source, name="layer_norm"), [program.tail()])
    query = program.add(program.kernel(source, first_out, name="gemm_f16"), [norm])
    node = program.kernel(source, second_out, name="gemm_f16", queue=8)
    node.columns["capture_stream_id"] = 14
    key = program.add(node, [query])
    program.add(program.kernel(first_out, second_out, name="flash_attention"), [query, key])
    return {"late-fork"}


FAULTS: tuple[Fault, ...] = (
    plant_memset, plant_memcpy, plant_copy, plant_untimed(NodeType.HOST, "host-node-on-path"),
    plant_untimed(NodeType.MEM_ALLOC, "allocation-on-path"), plant_tiny, plant_small_grid,
    plant_overwritten, plant_duplicate, plant_turns, plant_barrier, plant_small_fork,
    plant_priorities, plant_late_fork,
)  # fmt: skip


def plant_in_life(program: Program) -> set[str]:
    """Plant a fault of the graph's life instead of its nodes."""
    rng = program.rng
    kind = rng.choice(("upload", "rebuilt", "stream"))
    if kind == "upload":
        program.plan |= {
            "graph_exec": {"upload_start_ns": None, "upload_end_ns": None},
            "first_call_ns": rng.randint(100_000, 900_000),
        }
        return {"first-launch-without-upload"}
    if kind == "rebuilt":
        program.plan["rebuilt"] = rng.randint(1, 20)
        return {"graph-rebuilt"}
    # Two launches cannot pay back more than a millisecond.
    program.plan |= {
        "stream_passes": 3,
        "stream_call_ns": rng.randint(5_000, 7_000),
        "launches": 2,
        "plain_launches": 0,
    }
    return {"below-break-even"}


# -- whole graphs ------------------------------------------------------------------------


def build(seed: int) -> tuple[Plan, set[str]]:
    """Return a random graph and the rules whose faults it has."""
    rng = random.Random(seed)
    program = Program(rng)
    if rng.random() < 0.08:
        return build_chain(program)
    program.stretch(rng.randint(3, 8))
    expected: set[str] = set()
    # Each kind at most once: what two of a kind do to each other is not what is asked.
    for fault in rng.sample(FAULTS, rng.choice((0, 0, 1, 1, 2, 3))):
        expected |= fault(program)
        if rng.random() < 0.5:
            program.fork()
        program.stretch(rng.randint(2, 30))
    program.fork()
    if rng.random() < 0.2:
        expected |= plant_in_life(program)
    return Plan(program.nodes, program.edges, **program.plan), expected  # type: ignore[arg-type]


def build_chain(program: Program) -> tuple[Plan, set[str]]:
    """Return a chain captured from one stream, of one part or of several that share nothing."""
    parts = program.rng.choice((1, 2, 3))
    for _ in range(parts):
        memory = program.buffer()
        for _ in range(program.rng.randint(4, 20)):
            after = [program.tail()] if program.nodes else []
            program.add(program.kernel(memory), after)
    return Plan(program.nodes, program.edges), {"single-stream-capture"} if parts > 1 else set()


def main() -> None:
    """Plant, look, print a table and a JSON line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--graphs", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    planted, hit, false = Counter[str](), Counter[str](), Counter[str]()
    wrong: list[str] = []
    for seed in range(arguments.seed, arguments.seed + arguments.graphs):
        plan, expected = build(seed)
        with tempfile.TemporaryDirectory() as folder:
            subject = subject_of(plan.write(Path(folder) / "x.gviz"))
            run = RunSubject(subject.recording, subject.recording.fetch_runs()[0])
            advice = (advise_graph(subject), advise_run(run))
            found = {f.rule for a in advice for f in a.findings}
            subject.recording.close()
        planted.update(expected)
        hit.update(expected & found)
        false.update(found - expected)
        if found != expected:
            wrong.append(f"seed {seed}: missed {expected - found}, false {found - expected}")
    for rule in sorted(planted | false):
        print(f"{rule:32}{planted[rule]:9}{hit[rule]:9}{false[rule]:9}")
    recall = hit.total() / planted.total()
    precision = hit.total() / (hit.total() + false.total())
    print(f"{'all':32}{planted.total():9}{hit.total():9}{false.total():9}"
          f"   recall {recall:.3f}, precision {precision:.3f}")  # fmt: skip
    print("\n".join(wrong[:10]), file=sys.stderr)
    print(json.dumps({
        "bench": "findings", "graphs": arguments.graphs, "kinds": len(planted),
        "planted": planted.total(), "recall": round(recall, 4), "precision": round(precision, 4),
    }))  # fmt: skip


if __name__ == "__main__":
    main()
