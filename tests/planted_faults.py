"""Random graphs with planted faults, and how many of them the advice finds.

Each graph is a random program without fault (stretches of long kernels, forks whose branches
overlap), into which up to three faults are planted at random places and in random sizes; some
stay as they are. Launches are up to a few thousandths longer or shorter than each other. A fault
is found if its rule names a node of it; every other finding is a false one.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from planned_recordings import Plan, Planned, PlannedTrial, subject_of

from gviz.analysis.advice import advise_graph, advise_run
from gviz.analysis.rules.rule import Finding
from gviz.analysis.run_subject import RunSubject
from gviz.cuda.node_type import NodeType

HEAVY = ("gemm_f16", "flash_attention", "layer_norm", "conv2d_nhwc", "reduce_rows", "softmax")
#: Those of them that multiply no matrices.
PLAIN = ("layer_norm", "reduce_rows", "softmax")
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

    def plain(self, *memory: int, **changes: object) -> Planned:
        """Return such a kernel that is no matrix product."""
        return self.kernel(*memory, **{"name": self.rng.choice(PLAIN), **changes})

    def stretch(self, count: int, names: Sequence[str] = HEAVY) -> None:
        """Append kernels in series, each on what the one before it has made."""
        for _ in range(count):
            after = [self.tail()] if self.nodes else []
            shared = [a for a, _, _ in self.nodes[-1].arguments][-1:] if self.nodes else []
            node = self.kernel(*shared, self.buffer(), name=self.rng.choice(names))
            self.add(node, after)

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
    program.add(program.plain(program.buffer()), [program.tail()],
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
    program.add(program.plain(program.buffer()), [program.tail()])
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
    program.stretch(program.rng.randint(1, 2), PLAIN)
    program.add(fill(program, memory, 1), [program.tail()])
    program.add(program.plain(memory), [program.tail()])
    return {"overwritten-fill"}


def plant_duplicate(program: Program) -> set[str]:
    program.stretch(1)
    memory = program.buffer()
    program.add(fill(program, memory), [program.tail()])
    program.stretch(1, PLAIN)
    program.add(fill(program, memory), [program.tail()])
    program.add(program.plain(memory), [program.tail()])
    return {"duplicate-node"}


def plant_iterations(program: Program) -> set[str]:
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


def plant_fp32(program: Program) -> set[str]:
    program.stretch(1)
    name = program.rng.choice(("ampere_sgemm_128x64_tn", "cutlass_80_simt_sgemm_64x64_8x5_nn"))
    program.add(program.kernel(program.buffer(), name=name), [program.tail()])
    program.stretch(1)
    return {"fp32-without-tensor-cores"}


def plant_split_k(program: Program) -> set[str]:
    program.stretch(1)
    partial = program.buffer()
    name = "nvjet_sm90_hsh_64x64_64x13_4x1_v_bz_splitK_NNT"
    program.add(program.kernel(partial, name=name), [program.tail()])
    duration = program.rng.randint(3_000, 6_000)
    node = program.kernel(partial, name="splitKreduce_kernel<int, float>", duration_ns=duration)
    program.add(node, [program.tail()])
    program.stretch(1)
    return {"split-k-reduction"}


def plant_cleared_product(program: Program) -> set[str]:
    program.stretch(1)
    memory = program.buffer()
    program.add(fill(program, memory), [program.tail()])
    program.add(program.kernel(memory, name="gemm_f16"), [program.tail()])
    program.stretch(1)
    return {"memset-before-product"}


def plant_move(program: Program) -> set[str]:
    source, target = program.buffer(), program.buffer()
    is_cast = program.rng.random() < 0.5
    maker = program.kernel(source, name="layer_norm" if is_cast else "gemm_f16")
    program.add(maker, [program.tail()])
    name = "cast_f16" if is_cast else "transpose_rows"
    duration = program.rng.randint(3_500, 9_000)
    program.add(program.kernel(source, target, name=name, duration_ns=duration), [program.tail()])
    program.add(program.kernel(target, name="gemm_f16"), [program.tail()])
    program.stretch(1)
    return {"copy-between-products"}


def plant_tiny_grids(program: Program) -> set[str]:
    program.stretch(1)
    for _ in range(program.rng.randint(3, 9)):
        shared = program.nodes[-1].arguments[-1][0]
        node = program.plain(shared, program.buffer(), blocks=program.rng.randint(1, 60),
                             duration_ns=program.rng.randint(1_500, 2_900))  # fmt: skip
        program.add(node, [program.tail()])
    program.stretch(1)
    return {"tiny-grids-in-chain"}


def plant_shapes(program: Program) -> set[str]:
    program.stretch(1)
    for blocks in program.rng.sample(range(70, 130), program.rng.randint(4, 8)):
        node = program.kernel(program.buffer(), name="expert_gemm", blocks=blocks)
        program.add(node, [program.tail()])
    program.stretch(1)
    return {"kernel-in-many-shapes"}


def plant_tried(program: Program) -> set[str]:
    # No time shows these: they are found where a trial measured them.
    rules = {"implied": "implied-dependencies", "order": "creation-order",
             "serial": "serial-branches"}  # fmt: skip
    program.stretch(3)
    last = program.tail()
    kind = program.rng.choice(sorted(rules))
    if kind == "implied":
        program.edges.append((last - 2, last))
    gain = float(program.rng.randint(3_000, 9_000))
    program.plan["trials"] = [PlannedTrial(kind, gain, [(last - 2, last, None)])]
    return {rules[kind]}


FAULTS: tuple[Fault, ...] = (
    plant_memset, plant_memcpy, plant_copy, plant_untimed(NodeType.HOST, "host-node-on-path"),
    plant_untimed(NodeType.MEM_ALLOC, "allocation-on-path"), plant_tiny, plant_small_grid,
    plant_overwritten, plant_duplicate, plant_iterations, plant_barrier, plant_small_fork,
    plant_priorities, plant_late_fork, plant_fp32, plant_split_k, plant_cleared_product, plant_move,
    plant_tiny_grids, plant_shapes, plant_tried,
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
        "eager_iterations": 3,
        "stream_call_ns": rng.randint(5_000, 7_000),
        "launches": 2,
        "plain_launches": 0,
    }
    return {"below-break-even"}


# -- whole graphs ------------------------------------------------------------------------

#: Launches of a graph are so much longer or shorter than each other (standard deviation).
SCATTER = 0.0005


def build(seed: int) -> tuple[Plan, dict[str, set[int]]]:
    """Return a random graph, and for each rule whose faults it has the nodes of these.

    Faults of the graph's life are of no node.
    """
    rng = random.Random(seed)
    program = Program(rng)
    what = rng.random()
    if what < 0.08:
        return build_chain(program)
    if what < 0.12:
        return build_small(program)
    program.stretch(rng.randint(3, 8))
    expected: dict[str, set[int]] = {}
    # Each kind at most once: what two of a kind do to each other is not what is asked.
    for fault in rng.sample(FAULTS, rng.choice((0, 0, 1, 1, 2, 3))):
        first = len(program.nodes)
        for rule in fault(program):
            expected.setdefault(rule, set()).update(range(first, len(program.nodes)))
        if rng.random() < 0.5:
            program.fork()
        program.stretch(rng.randint(2, 30))
    program.fork()
    if rng.random() < 0.2:
        expected |= {rule: set() for rule in plant_in_life(program)}
    return whole_plan(program), expected


def build_chain(program: Program) -> tuple[Plan, dict[str, set[int]]]:
    """Return a chain captured from one stream, of one part or of several that share nothing."""
    parts = program.rng.choice((1, 2, 3))
    for _ in range(parts):
        memory = program.buffer()
        for _ in range(program.rng.randint(4, 20)):
            after = [program.tail()] if program.nodes else []
            program.add(program.kernel(memory), after)
    found = {"single-stream-capture": set(range(len(program.nodes)))} if parts > 1 else {}
    return whole_plan(program), found


def build_small(program: Program) -> tuple[Plan, dict[str, set[int]]]:
    """Return a small graph that is launched many times, back to back or with pauses."""
    program.stretch(program.rng.randint(2, 12))
    is_fault = program.rng.random() < 0.7
    between = program.rng.randint(0, 3_000) if is_fault else program.rng.randint(30_000, 90_000)
    program.plan |= {
        "plain_launches": program.rng.randint(40, 120), "between_calls_ns": between
    }  # fmt: skip
    return whole_plan(program), {"small-graphs-back-to-back": set()} if is_fault else {}


def whole_plan(program: Program) -> Plan:
    launches = int(str(program.plan.get("launches", 5)))
    scales = [program.rng.gauss(1, SCATTER) for _ in range(launches)]
    return Plan(program.nodes, program.edges, scales=scales, **program.plan)  # type: ignore[arg-type]


# -- judging -----------------------------------------------------------------------------


@dataclass
class Score:
    """Faults by rule: planted, found, and findings of what was not planted."""

    planted: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    false: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    @property
    def recall(self) -> float:
        """Share of the planted faults that were found, 0 to 1."""
        return self.found.total() / self.planted.total()

    @property
    def precision(self) -> float:
        """Share of the findings that were planted, 0 to 1."""
        return self.found.total() / (self.found.total() + self.false.total())


def judge(seeds: Iterable[int], folder: Path) -> Score:
    """Return how well the faults of the graphs of these seeds are found."""
    score = Score()
    for seed in seeds:
        plan, expected = build(seed)
        findings = find(plan.write(folder / f"{seed}.gviz"))
        found = {f.rule for f in findings if _is_planted(f, expected)}
        false = [f.rule for f in findings if not _is_planted(f, expected)]
        score.planted.update(expected.keys())
        score.found.update(found)
        score.false.update(false)
        missed = set(expected) - found
        if missed or false:
            score.wrong.append(f"seed {seed}: missed {missed or '-'}, false {false or '-'}")
        (folder / f"{seed}.gviz").unlink()
    return score


def find(path: Path) -> list[Finding]:
    """Return what all rules find in a recording of one graph."""
    subject = subject_of(path)
    run = RunSubject(subject.recording, subject.recording.fetch_runs()[0])
    found = [f for a in (advise_graph(subject), advise_run(run)) for f in a.findings]
    subject.recording.close()
    return found


def _is_planted(finding: Finding, expected: dict[str, set[int]]) -> bool:
    """Return whether a finding is of a planted kind and, if of nodes, names one planted."""
    nodes = expected.get(finding.rule)
    if nodes is None:
        return False
    return not nodes or any(node.node_id in nodes for node in finding.nodes)
