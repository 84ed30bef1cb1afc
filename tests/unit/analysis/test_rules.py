"""Every rule of advice on a graph with its fault, and on the same graph without it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from planned_recordings import (
    STARTED_NS,
    Plan,
    Planned,
    PlannedTrial,
    branch_and_join,
    chain_edges,
    crossing_stages,
    in_a_row,
    subject_of,
    two_branches,
)

from gviz.analysis.advice import RUN_NOISE_NS, Ignored, advise_graph, advise_run
from gviz.analysis.results.device_launches import device_launch
from gviz.analysis.rules.rule import RULES, Finding
from gviz.analysis.run_subject import RunSubject
from gviz.assets import recordings as bundled
from gviz.cuda.node_type import CopyKind, EdgeType, NodeType
from gviz.recording import rows
from gviz.recording.reader import Recording
from gviz.recording.writer import RecordingWriter

MEMSET, MEMCPY, HOST = NodeType.MEMSET, NodeType.MEMCPY, NodeType.HOST
BUNDLED = Path(next(iter(bundled.__path__)))
#: Three allocations of a page each.
A, B, C = (0x7F0000000000 + i * (1 << 20) for i in range(3))
PAGE = 4096


def given(*addresses: int) -> list[tuple[int, int, int]]:
    """Return pointers, each into the allocation of its address."""
    starts = [max(start for start in (A, B, C) if start <= a) for a in addresses]
    return [(a, start, PAGE) for a, start in zip(addresses, starts, strict=True)]


def kernel(
    name: str = "softmax", duration_ns: int = 5_000, gap_ns: int = 400, **changes: object
) -> Planned:
    """Return a kernel; ``gap_ns`` is the gap before it, 400 ns being usual."""
    return Planned(name, gap_ns - 400, duration_ns, **changes)  # type: ignore[arg-type]


def chain(*nodes: Planned, **changes: object) -> Plan:
    return Plan(in_a_row(*nodes), chain_edges(len(nodes)), **changes)  # type: ignore[arg-type]


def around(node: Planned, gap_ns: int) -> Plan:
    """Return two kernels, the node, and two kernels; gaps around the node are as given."""
    node.start_ns = gap_ns - 400
    return chain(kernel(), kernel(), node, kernel(gap_ns=gap_ns), kernel())


def tried(kind: str, gain_ns: float) -> Plan:
    """Return three kernels in a chain, with a trial that changed something about two of them."""
    trial = PlannedTrial(kind, gain_ns, [(0, 2, None)])
    return chain(kernel(), kernel(), kernel(), trials=[trial])


def untimed(kind: NodeType, gap_ns: int) -> Plan:
    """Return a chain with a node without a time in a gap."""
    nodes = [Planned("k0", 0, 5_000), Planned("k1", 5_400, 5_000), Planned(kind.name, kind=kind),
             Planned("k2", 10_400 + gap_ns, 5_000)]  # fmt: skip
    return Plan(nodes, chain_edges(4))


def memory(*nodes: Planned) -> Plan:
    return chain(kernel(), kernel(), *nodes, kernel(arguments=given(A)))


def fill(address: int = A, size: int = PAGE) -> Planned:
    columns = {"destination_address": address, "bytes": size, "memset_value": 0}
    return Planned("MEMSET", 0, 900, kind=MEMSET, columns=columns)


def copy(source: int, target: int) -> Planned:
    columns = {"source_address": source, "destination_address": target, "bytes": PAGE}
    return Planned("MEMCPY DtoD", 0, 900, kind=MEMCPY, columns=columns)


def fork_of_projections(*shared: int) -> Plan:
    """Return a norm, a projection, and one of another stream after it, given ``shared`` too."""
    other = {"capture_stream_id": 14}
    nodes = [
        Planned("layer_norm", 0, 3_000, arguments=given(A)),
        Planned("gemm_query", 3_400, 9_000, arguments=given(A, B)),
        Planned("gemm_key", 12_800, 9_000, queue=8, columns=other, arguments=given(*shared)),
        Planned("attention", 22_200, 4_000, arguments=given(B, C)),
    ]
    return Plan(nodes, [(0, 1), (1, 2), (1, 3), (2, 3)])


def one_stream(second: int) -> Plan:
    """Return two parts of two kernels each, one after the other, on memory A and ``second``."""
    parts = [(A, "a1"), (A, "a2"), (second, "b1"), (second, "b2")]
    return chain(*(kernel(name, 9_000, arguments=given(address)) for address, name in parts))


def priorities(flags: int) -> Plan:
    plan = two_branches(queue=8, start=15_800, blocks=132 * 8, priority=-3)
    plan.graph_exec = {"flags": flags}
    return plan


SPLIT_K = "nvjet_sm90_hsh_64x8_64x16_4x1_v_bz_splitK_NNT"
NO_UPLOAD = {"upload_start_ns": None, "upload_end_ns": None}


@dataclass(frozen=True)
class Case:
    """A rule's fault, the same without it, and the predicted gain of mending it."""

    bad: Callable[[], Plan]
    good: Callable[[], Plan]
    gain_ns: float


CASES = {
    "memset-between-kernels": Case(
        lambda: around(fill(), 5_000), lambda: around(fill(), 400), 2 * 4_600
    ),
    "memcpy-between-kernels": Case(
        lambda: around(copy(A, B), 5_000), lambda: around(copy(A, B), 400), 2 * 4_600
    ),
    "host-node-on-path": Case(lambda: untimed(HOST, 30_000), lambda: untimed(HOST, 500), 29_600),
    "allocation-on-path": Case(
        lambda: untimed(NodeType.MEM_ALLOC, 9_000),
        lambda: untimed(NodeType.EMPTY, 9_000),
        8_600,
    ),
    "fusable-chain": Case(
        lambda: chain(*(kernel(n, 2_000) for n in ("add", "mul", "relu"))),
        lambda: chain(*(kernel(n, 2_000) for n in ("gemm", "softmax", "gemm"))),
        2 * (400 + 830),
    ),
    "device-copy": Case(
        lambda: around(copy(A, B), 400),
        lambda: around(Planned("MEMCPY HtoD", 0, 900, kind=MEMCPY,
                               columns={"copy_kind": int(CopyKind.HTOD)}), 400),
        900 + 400,
    ),
    "below-one-wave": Case(
        # 33 of 132 multiprocessors: a quarter of the time, if it were spread.
        lambda: chain(kernel(duration_ns=20_000, blocks=33), *(kernel(duration_ns=1_000),) * 1),
        lambda: chain(kernel(duration_ns=20_000, blocks=132), kernel(duration_ns=1_000)),
        15_000,
    ),
    "fp32-without-tensor-cores": Case(
        # Eight times as many multiplications a clock in TF32.
        lambda: chain(kernel("ampere_sgemm_128x64_tn", 80_000), kernel()),
        lambda: chain(kernel("ampere_fp16_s16816gemm_fp16_64x64_tn", 80_000), kernel()),
        70_000,
    ),
    "split-k-reduction": Case(
        lambda: chain(kernel(), kernel(SPLIT_K), kernel("splitKreduce_kernel", 4_000), kernel()),
        lambda: chain(kernel(), kernel("gemm"), kernel("splitKreduce_kernel", 4_000), kernel()),
        4_000 + 400,
    ),
    "memset-before-product": Case(
        lambda: chain(kernel(), fill(), kernel("gemm"), kernel()),
        lambda: chain(kernel(), fill(), kernel(), kernel("gemm")),
        900 + 400,
    ),
    "copy-between-products": Case(
        lambda: chain(kernel("gemm"), kernel("copy_rows"), kernel("attention")),
        lambda: chain(kernel(), kernel("copy_rows"), kernel("attention")),
        5_000 + 400,
    ),
    "tiny-grids-in-chain": Case(
        lambda: chain(kernel(), kernel(), kernel()),
        lambda: chain(*(kernel(blocks=132) for _ in range(3))),
        2 * (400 + 830),
    ),
    "kernel-in-many-shapes": Case(
        lambda: chain(*(kernel("gemm", 10_000, blocks=n) for n in (70, 80, 90, 70))),
        lambda: chain(*(kernel("gemm", 10_000, blocks=70) for _ in range(4))),
        # Together they fill less than a third of the GPU: as long as the longest.
        3 * (10_000 + 400),
    ),
    "overwritten-fill": Case(
        lambda: memory(fill(), kernel(arguments=given(B)), copy(B, A)),
        lambda: memory(fill(), kernel(arguments=given(A)), copy(B, A)),
        900 + 400,
    ),
    "duplicate-node": Case(
        lambda: memory(fill(), kernel(arguments=given(B)), fill()),
        lambda: memory(fill(), kernel(arguments=given(A)), fill()),
        900 + 400,
    ),
    "branches-took-turns": Case(
        lambda: two_branches(queue=7, start=15_800),
        lambda: two_branches(queue=8, start=5_900),
        15_800 - 5_450,
    ),
    "branches-wait-for-each-other": Case(
        lambda: crossing_stages((13, 14)), lambda: crossing_stages((13, 13)), 7_000
    ),
    "fork-too-small": Case(
        lambda: branch_and_join(1_000, 3_000), lambda: branch_and_join(7_000, 3_000), 1_200
    ),
    # Side by side the two have 1.5% more blocks than fit: both take 150 ns longer.
    "priorities-lost": Case(lambda: priorities(0), lambda: priorities(8), 15_800 - 5_500 - 150),
    "late-fork": Case(
        lambda: fork_of_projections(A, C), lambda: fork_of_projections(A, B, C), 9_400
    ),
    "single-stream-capture": Case(lambda: one_stream(B), lambda: one_stream(A), 2 * 9_400),
    "first-launch-without-upload": Case(
        lambda: chain(kernel(), graph_exec=NO_UPLOAD, first_call_ns=900_000),
        lambda: chain(kernel(), first_call_ns=900_000),
        895_000,
    ),
    "below-break-even": Case(
        # Setup 1,250 us; a launch saves 4 x 6 + 2 + 5 us less 20 + 1.2 + 6 us.
        lambda: chain(*(kernel(),) * 1, eager_iterations=3),
        lambda: chain(kernel(), eager_iterations=3, stream_call_ns=900_000),
        1_250_000 - 10 * 2_000,
    ),
    "implied-dependencies": Case(
        # Only a trial tells what they cost.
        lambda: tried("implied", 41_000), lambda: tried("implied", -300), 41_000
    ),
    "creation-order": Case(lambda: tried("order", 7_000), lambda: tried("order", -300), 7_000),
    "serial-branches": Case(lambda: tried("serial", 7_000), lambda: tried("serial", 0), 7_000),
    "graph-rebuilt": Case(
        lambda: chain(kernel(), rebuilt=3), lambda: chain(kernel()), 3 * 300_000 + 3 * 1_000_000
    ),
    "small-graphs-back-to-back": Case(
        lambda: chain(kernel(), plain_launches=50, between_calls_ns=1_000),
        lambda: chain(kernel(), plain_launches=50),
        # 54 pairs; the GPU idles 3 us between two launches, of which 0.5 us are usual.
        54 * (3_000 - 500),
    ),
}  # fmt: skip


def findings(plan: Plan, path: Path) -> dict[str, Finding]:
    """Return what all rules find, by rule."""
    subject = subject_of(plan.write(path))
    run = RunSubject(subject.recording, subject.recording.fetch_runs()[0])
    advice = [advise_graph(subject), advise_run(run)]
    assert all(a.ignored_count == 0 for a in advice)
    return {f.rule: f for a in advice for f in a.findings}


def test_every_rule_has_a_case_with_its_fault_and_one_without() -> None:
    assert set(CASES) == set(RULES)


@pytest.mark.parametrize("rule", CASES)
def test_rule_finds_its_fault_with_the_gain_of_mending_it(rule: str, tmp_path: Path) -> None:
    found = findings(CASES[rule].bad(), tmp_path / "x.gviz")
    assert rule in found
    finding = found[rule]
    assert finding.gain_ns == pytest.approx(CASES[rule].gain_ns, abs=1)
    assert finding.run_gain_ns == finding.gain_ns * (10 if finding.gain_per == "launch" else 1)
    assert finding.reason[0].isalnum()
    assert not finding.reason.endswith(".")
    assert finding.evidence
    assert len(finding.nodes) == min(finding.node_count, 8)


@pytest.mark.parametrize("rule", CASES)
def test_rule_finds_nothing_where_its_fault_is_not(rule: str, tmp_path: Path) -> None:
    assert rule not in findings(CASES[rule].good(), tmp_path / "x.gviz")


@pytest.mark.parametrize("rule", RULES.values(), ids=list(RULES))
def test_rule_says_what_it_looks_for_what_to_do_and_where_it_comes_from(rule: object) -> None:
    for name in ("title", "fix", "source", "assumes"):
        text = getattr(rule, name)
        assert 20 < len(text) < 250, name
        assert "http" not in text  # sources are named as they are titled; addresses change
    assert rule.fix.endswith(".")  # type: ignore[attr-defined]
    finders = [rule.find, rule.find_in_run]  # type: ignore[attr-defined]
    assert sum(f is not None for f in finders) == 1


@pytest.mark.parametrize(
    ("capability", "gain_ns"), [("8.0", 70_000), ("8.6", 40_000), ("10.0", 75_000), ("7.5", None)]
)
def test_tf32_gains_what_the_compute_capability_allows(
    capability: str, gain_ns: float | None, tmp_path: Path
) -> None:
    plan = CASES["fp32-without-tensor-cores"].bad()
    plan.compute_capability = capability
    found = findings(plan, tmp_path / "x.gviz").get("fp32-without-tensor-cores")
    assert (None if found is None else found.gain_ns) == gain_ns


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("add", "add", "add"), "the longest of 3: add"),
        (("add", "add", "relu"), "the longest of 3: add, relu"),
        (("add", "mul", "add", "relu"), "the longest of 4: add, mul and others"),
    ],
)
def test_kernels_of_a_chain_are_each_named_once(
    names: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    found = findings(chain(*(kernel(name, 2_000) for name in names)), tmp_path / "x.gviz")
    assert found["fusable-chain"].reason.endswith(said)


@pytest.mark.parametrize(("duration_ns", "is_found"), [(3_000, True), (3_001, False)])
def test_kernels_of_unknown_names_are_fused_up_to_3_us(
    duration_ns: int, is_found: bool, tmp_path: Path
) -> None:
    found = findings(chain(*(kernel("work", duration_ns) for _ in range(3))), tmp_path / "x.gviz")
    assert ("fusable-chain" in found) == is_found


def test_kernels_overlap_from_compute_capability_9_and_where_no_edge_lets_them_already(
    tmp_path: Path,
) -> None:
    rule = "tiny-grids-in-chain"
    earlier, let = CASES[rule].bad(), CASES[rule].bad()
    earlier.compute_capability = "8.9"
    let.edges = [(0, 1, int(EdgeType.PROGRAMMATIC)), (1, 2)]
    assert rule not in findings(earlier, tmp_path / "earlier.gviz")
    assert rule not in findings(let, tmp_path / "let.gviz")


def test_cast_before_a_product_is_one_whatever_made_the_data(tmp_path: Path) -> None:
    plan = chain(kernel(), kernel("cast_f16"), kernel("gemm"))
    found = findings(plan, tmp_path / "x.gviz")["copy-between-products"]
    assert found.reason == "1 cast brings data from one matrix product to the next"


def test_kernels_that_hand_data_on_are_not_one_kernel_in_many_shapes(tmp_path: Path) -> None:
    def plan(*given_to: tuple[int, ...]) -> Plan:
        blocks = (70, 80, 90, 70)
        return chain(
            kernel(arguments=given(A)),
            *(
                kernel("gemm", 10_000, blocks=n, arguments=given(*x))
                for n, x in zip(blocks, given_to, strict=True)
            ),
        )

    rule, one = "kernel-in-many-shapes", A + 512
    beside = plan((A, B), (A, C), (A, B + 512), (A, C + 512))
    after = plan((A, B), (B, C), (C, one), (one, B + 512))
    assert rule in findings(beside, tmp_path / "beside.gviz")
    assert rule not in findings(after, tmp_path / "after.gviz")


COLLECTIVE = "ncclDevKernel_AllReduce_Sum_f16_RING_LL"


def test_collectives_are_left_out_of_rules_about_work_and_skew_is_named(tmp_path: Path) -> None:
    plan = chain(kernel(), kernel(COLLECTIVE, 60_000), kernel(blocks=132))
    subject = subject_of(plan.write(tmp_path / "x.gviz"))
    advice = advise_graph(subject)
    named = {node.name for finding in advice.findings for node in finding.nodes}
    assert COLLECTIVE not in named
    (reason,) = advice.not_checked
    assert reason.startswith("1 collective, 85.7% of the node time (median of 5): ")
    assert "'gviz skew'" in reason
    # The same time of a kernel that waits for nobody is a finding.
    other = chain(kernel(), kernel(duration_ns=60_000), kernel(blocks=132))
    assert "below-one-wave" in findings(other, tmp_path / "other.gviz")


def test_memory_of_collectives_is_not_known(tmp_path: Path) -> None:
    def plan(name: str) -> Plan:
        return memory(fill(), kernel(name, arguments=given(B)), copy(B, A))

    assert "overwritten-fill" in findings(plan("softmax"), tmp_path / "x.gviz")
    assert "overwritten-fill" not in findings(plan(COLLECTIVE), tmp_path / "y.gviz")


def test_findings_about_the_same_nodes_say_so(tmp_path: Path) -> None:
    plan = chain(kernel("gemm"), *around(copy(A, B), 5_000).nodes[2:3], kernel("gemm"))
    found = findings(plan, tmp_path / "x.gviz")
    assert set(found) >= {"device-copy", "copy-between-products"}
    assert found["device-copy"].reason == "1 copy from device to device memory"
    ranked = list(found.values())
    assert ranked[0].overlaps == ()
    for at, finding in enumerate(ranked):
        mine = {node.node_id for node in finding.nodes}
        shared = [x.rule for x in ranked[:at] if mine & {node.node_id for node in x.nodes}]
        assert list(finding.overlaps) == shared
    assert any(finding.overlaps for finding in ranked)


def test_gain_below_the_noise_of_the_launches_is_no_finding(tmp_path: Path) -> None:
    plan = around(fill(), 500)
    assert "memset-between-kernels" in findings(plan, tmp_path / "quiet.gviz")
    subject = subject_of(around(fill(), 500).write(tmp_path / "loud.gviz"))
    subject.__dict__["least_gain_ns"] = 10_000.0
    assert advise_graph(subject).findings == ()


def test_findings_that_are_not_wanted_are_counted(tmp_path: Path) -> None:
    subject = subject_of(around(fill(), 5_000).write(tmp_path / "x.gviz"))
    everything = advise_graph(subject)
    rule = "memset-between-kernels"
    for ignored, left_out in (
        (Ignored(rule), 1), (Ignored(rule, "plan*"), 1), (Ignored(rule, "other"), 0),
        (Ignored("device-copy"), 0), (Ignored("*"), 1), (Ignored("*", "other"), 0),
        (Ignored(rule, kernels="*"), 1), (Ignored(rule, kernels="no-such-*"), 0),
    ):  # fmt: skip
        found = advise_graph(subject, [ignored])
        assert found.ignored_count == left_out
        assert len(found.findings) == len(everything.findings) - left_out


def test_equal_kernels_that_nothing_orders_are_done_twice(tmp_path: Path) -> None:
    def plan(second: int) -> Plan:
        nodes = [
            Planned("fork", 0, 5_000, arguments=given(C)),
            Planned("fill_kernel", 5_400, 9_000, arguments=given(A)),
            Planned("fill_kernel", 5_400, 9_000, queue=8, arguments=given(second)),
            Planned("join", 15_000, 5_000, arguments=given(A, B)),
        ]
        return Plan(nodes, [(0, 1), (0, 2), (1, 3), (2, 3)])

    # Beside each other the second costs nothing: no gain, no finding.
    assert "duplicate-node" not in findings(plan(A), tmp_path / "beside.gviz")
    behind = plan(A)
    behind.nodes[2].queue, behind.nodes[2].start_ns, behind.nodes[3].start_ns = 7, 14_800, 24_300
    assert findings(behind, tmp_path / "behind.gviz")["duplicate-node"].gain_ns > 9_000
    other = plan(B)
    other.nodes[2].queue, other.nodes[2].start_ns, other.nodes[3].start_ns = 7, 14_800, 24_300
    assert "duplicate-node" not in findings(other, tmp_path / "other.gviz")


@pytest.mark.parametrize(("kind", "is_found"), [(CopyKind.DTOD, True), (CopyKind.HTOD, False)])
def test_what_the_host_may_have_written_anew_is_not_copied_twice(
    tmp_path: Path, kind: CopyKind, is_found: bool
) -> None:
    first, second = copy(A, B), copy(A, B)
    for node in (first, second):
        node.columns |= {"copy_kind": int(kind)}
    found = findings(memory(first, kernel(arguments=given(C)), second), tmp_path / "x.gviz")
    assert ("duplicate-node" in found) == is_found


def test_kernel_whose_memory_is_not_known_may_read_what_was_filled(tmp_path: Path) -> None:
    plan = memory(fill(), kernel(), copy(B, A))
    assert "overwritten-fill" not in findings(plan, tmp_path / "x.gviz")


def test_host_node_may_read_what_was_filled(tmp_path: Path) -> None:
    plan = memory(fill(), Planned("HOST", kind=HOST), copy(B, A))
    assert "overwritten-fill" not in findings(plan, tmp_path / "x.gviz")


def test_graph_that_costs_more_says_from_which_launch_on_it_would_pay(tmp_path: Path) -> None:
    found = findings(CASES["below-break-even"].bad(), tmp_path / "x.gviz")["below-break-even"]
    assert found.reason.endswith(" is paid back after 626 launches at the earliest")


def test_idle_between_small_graphs_is_measured(tmp_path: Path) -> None:
    rule = "small-graphs-back-to-back"
    found = findings(CASES[rule].bad(), tmp_path / "x.gviz")[rule]
    (idle,) = (fact for fact in found.evidence if fact.name.startswith("GPU idle between"))
    assert (idle.value, idle.how) == (3_000.0, "measured")


def test_host_node_that_nothing_waits_for_is_no_finding(tmp_path: Path) -> None:
    nodes = [
        Planned("k0", 0, 5_000), Planned("k1", 5_400, 5_000), Planned("HOST", kind=HOST),
        Planned("k2", 10_800, 5_000),
    ]  # fmt: skip
    plan = Plan(nodes, [(0, 1), (1, 2), (1, 3)])
    assert "host-node-on-path" not in findings(plan, tmp_path / "x.gviz")


def test_timed_host_node_counts_with_its_time(tmp_path: Path) -> None:
    nodes = in_a_row(kernel(), kernel(), Planned("HOST", 0, 20_000, kind=HOST), kernel())
    nodes[2].columns["not_timed_reason"] = None
    plan = Plan(nodes, chain_edges(4))
    found = findings(plan, tmp_path / "x.gviz")["host-node-on-path"]
    assert found.gain_ns == 20_400


def test_bundled_decode_step_forks_too_late() -> None:
    subject = subject_of(BUNDLED / "decode_step.gviz")
    (found,) = (f for f in advise_graph(subject).findings if f.rule == "late-fork")
    # Key and value wait for the query in each of 16 layers: see decode_step.py, Layer.beside.
    assert found.node_count == 32
    assert {n.node_id % 20 for n in found.nodes} == {2, 3}
    assert 50_000 < found.gain_ns < 100_000
    # Side by side they would share the memory's bandwidth, or not: that is not known.
    assert found.gain_low_ns is not None
    assert found.gain_low_ns < 0.6 * found.gain_ns
    assert found.gain_ns == found.gain_high_ns


def test_bundled_training_step_multiplies_outside_its_tensor_cores() -> None:
    advice = advise_graph(subject_of(BUNDLED / "training_step.gviz"))
    first = advice.findings[0]
    assert first.rule == "fp32-without-tensor-cores"
    share = {fact.name: fact.value for fact in first.evidence}["share of the node time"]
    assert (first.node_count, share) == (358, pytest.approx(0.585, abs=0.001))
    overlaps = {finding.rule: finding.overlaps for finding in advice.findings}
    assert overlaps["single-stream-capture"] == ("fp32-without-tensor-cores", "fusable-chain")


def test_bundled_ranks_are_not_told_how_to_make_collectives_shorter() -> None:
    advice = advise_graph(subject_of(BUNDLED / "ranks_h200.gviz"))
    assert [f.rule for f in advice.findings] == ["split-k-reduction", "first-launch-without-upload"]
    assert not [n for f in advice.findings for n in f.nodes if n.name.startswith("nccl")]
    (reason,) = advice.not_checked
    assert reason.startswith("8 collectives, 38.6% of the node time (median of 24): ")


def test_bundled_training_step_fills_between_kernels() -> None:
    subject = subject_of(BUNDLED / "training_step.gviz")
    found = {f.rule: f for f in advise_graph(subject).findings}
    assert found["memset-between-kernels"].node_count == 49
    values = {e.name: e.value for e in found["memset-between-kernels"].evidence}
    gaps = values["median gap before"] + values["median gap after"]
    each = gaps - 2 * values["usual gap between kernels"]
    assert found["memset-between-kernels"].gain_ns == pytest.approx(49 * each, rel=0.02)
    assert "priorities-lost" not in found


def test_device_launch_names_the_rules_it_breaks(tmp_path: Path) -> None:
    plain = subject_of(chain(kernel(), fill()).write(tmp_path / "a.gviz")).graph
    assert device_launch(plain, 0).is_possible
    assert not device_launch(plain, 1).is_possible  # AUTO_FREE_ON_LAUNCH
    host = subject_of(untimed(HOST, 500).write(tmp_path / "b.gviz")).graph
    (broken,) = device_launch(host, 0).broken
    assert "HOST" in broken
    arrays = Planned("MEMCPY", 0, 900, kind=MEMCPY, columns={"copy_kind": int(CopyKind.HTOA)})
    two = chain(kernel(columns={"device_id": 1}), kernel(), arrays)
    assert len(device_launch(subject_of(two.write(tmp_path / "c.gviz")).graph, 0).broken) == 2
    empty = Plan([Planned("EMPTY", kind=NodeType.EMPTY)])
    assert len(device_launch(subject_of(empty.write(tmp_path / "d.gviz")).graph, 0).broken) == 2


def test_noise_of_a_run_keeps_small_gains_out(tmp_path: Path) -> None:
    plan = chain(kernel(), graph_exec=NO_UPLOAD, first_call_ns=5_000 + int(RUN_NOISE_NS))
    assert "first-launch-without-upload" not in findings(plan, tmp_path / "x.gviz")


class ChangedCapture(Plan):
    """A second capture with another grid, instantiated where an update would have done."""

    def _write_launches(self, writer: RecordingWriter) -> None:
        super()._write_launches(writer)
        start = STARTED_NS + 20_000_000
        writer.insert(
            rows.Graph(graph_id=2, run_id=1, name="again", origin="capture", topology_id=1),
            dataclasses.replace(self._node(0, kernel(blocks=500)), graph_id=2),
            rows.GraphExec(
                graph_exec_id=9, run_id=1, graph_id=2, cuda_exec_id=9, flags=0,
                instantiate_start_ns=start, instantiate_end_ns=start + 300_000,
                could_update_graph_exec_id=1,
            ),
        )  # fmt: skip


def test_graph_rebuilt_with_another_grid_saves_what_an_update_does_not_cost(
    tmp_path: Path,
) -> None:
    plan = chain(kernel())
    path = ChangedCapture(plan.nodes, plan.edges).write(tmp_path / "x.gviz")
    with Recording(path) as recording:
        run = RunSubject(recording, recording.fetch_runs()[0])
        (found,) = advise_run(run).findings
        assert run.costs is not None
        line = run.costs.line("update", "host")
    assert line is not None
    # No update was recorded: the launch costs have what one of this length takes.
    assert found.gain_ns == pytest.approx(300_000 - line.cost_ns(len(plan.nodes)))
    assert "an update of an earlier one" in found.reason
    (update,) = (e for e in found.evidence if e.name == "an update, mean")
    assert update.how == "estimated"


class Rebuilt(Plan):
    """Three executables again, launched and destroyed, of which gviz's own part is known."""

    def _write_launches(self, writer: RecordingWriter) -> None:
        super()._write_launches(writer)
        start = STARTED_NS + 20_000_000
        writer.insert(
            *(
                rows.GraphExec(
                    graph_exec_id=10 + i, run_id=1, graph_id=1, cuda_exec_id=10 + i, flags=0,
                    instantiate_start_ns=start + i * 10_000_000,
                    instantiate_end_ns=start + i * 10_000_000 + 300_000, launch_count=1,
                    destroyed_ns=start + i * 10_000_000 + 5_000_000,
                    could_update_graph_exec_id=9 + i if i else 1,
                )
                for i in range(3)
            ),
            *(
                rows.Measurement(run_id=1, name=name, value=value, unit="ns", method="measured")
                for name, value in (
                    ("instantiate_own_ns", 750_000.0), ("instantiate_watched_ns", 1_000_000.0),
                    ("capture_own_ns", 100_000.0), ("capture_watched_ns", 1_000_000.0),
                )
            ),
        )  # fmt: skip


def test_graph_rebuilt_takes_off_what_gviz_itself_took(tmp_path: Path) -> None:
    plan = chain(kernel())
    path = Rebuilt(plan.nodes, plan.edges).write(tmp_path / "x.gviz")
    with Recording(path) as recording:
        run = RunSubject(recording, recording.fetch_runs()[0])
        (found,) = advise_run(run).findings
        assert run.costs is not None
        lines = {
            who: line
            for who in ("instantiate", "capture", "first", "relaunch", "destroy")
            if (line := run.costs.line(who, "host"))
        }
    cost = {who: line.cost_ns(len(plan.nodes)) for who, line in lines.items()}
    # The last one, and the first, which was never destroyed, were not replaced and destroyed.
    beside = 3 * (cost["first"] - cost["relaunch"]) + 2 * cost["destroy"]
    made = 3 * (300_000 * 0.25 + 1_000_000 * 0.9)
    assert found.gain_ns == pytest.approx(made + beside)
    values = {e.name: e.value for e in found.evidence}
    assert values["taken off: gviz's own callbacks"] == pytest.approx(3 * (225_000 + 100_000))
    least = 3 * (cost["instantiate"] + cost["capture"]) + beside
    assert values["gain, at least"] == pytest.approx(least)
    assert "not known" not in found.reason


def test_graph_rebuilt_without_a_change_needs_no_update(tmp_path: Path) -> None:
    with Recording(chain(kernel(), rebuilt=2).write(tmp_path / "x.gviz")) as recording:
        run = RunSubject(recording, recording.fetch_runs()[0])
        (found,) = advise_run(run).findings
    assert "launching an earlier one again" in found.reason
    # Recordings of an older gviz do not say what it took itself.
    assert found.reason.endswith("which is not known")


def test_kernels_of_ignored_findings_must_all_match() -> None:
    ignored = Ignored("fusable-chain", kernels="relu*")
    assert ignored.matches("fusable-chain", "graph", {"relu", "relu_bias"})
    assert not ignored.matches("fusable-chain", "graph", {"relu", "gemm"})
    # What is about no node is no finding about these kernels.
    assert not ignored.matches("fusable-chain", "graph", ())
    assert not ignored.matches("device-copy", "graph", {"relu"})


def test_equal_fills_are_found_once(tmp_path: Path) -> None:
    found = findings(CASES["duplicate-node"].bad(), tmp_path / "x.gviz")
    assert "duplicate-node" in found
    assert "overwritten-fill" not in found


def test_noise_is_at_least_a_thousandth_of_the_launch(tmp_path: Path) -> None:
    long = subject_of(chain(kernel(duration_ns=1_000_000)).write(tmp_path / "a.gviz"))
    assert long.least_gain_ns == 1_000
    short = subject_of(chain(kernel(duration_ns=10_000)).write(tmp_path / "b.gviz"))
    assert short.least_gain_ns == 160
