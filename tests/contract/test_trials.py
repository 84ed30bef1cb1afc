"""Trials behind the gate: what they find and refuse, and that the program goes on as without."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from contract.backend import Backend
from contract.scripts import PREAMBLE, run_script

from gviz.recording import rows
from gviz.recording.reader import Recording
from gviz.whatif import EditKind, ask_recording, parse_edit

#: Kernels that add to one sum, in an order with dependencies that others imply. What a launch
#: leaves depends on what the launch before it left: one too many or too few shows. Nothing is tried
#: before gviz has timed a launch: the first launches let it.
SUMS = f"""{PREAMBLE}
import json
from contract.watched import Sum
work, graph = Sum(cuda), cuda.graph()
nodes = []
def add(after, factor=3.0):
    nodes.append(work.add(graph, [nodes[i] for i in after], factor))
def report(**more):
    print(json.dumps({{"sums": work.result(), **more}}))
is_recorded = "CUDA_INJECTION64_PATH" in os.environ
if is_recorded:
    from gviz.collectors.watching import watch_native
def launches(graph_exec, times):
    for i in range(times):
        if is_recorded and i < 8:
            assert watch_native.await_copies(20.0)
        cuda.launch_graph(graph_exec, stream)
        cuda.wait(stream)
        time.sleep(0.002)
"""
#: Trials are about what they find, also where a loaded machine takes many times as long for them.
WITHOUT_LIMIT = ("--trial-budget", "1000")
#: In order; a graph of one kernel function has one family to delay.
KINDS = ("executable", "control", "implied", "delay")
CHAIN = "add([])\nadd([0])\nadd([0, 1])\nadd([0, 1, 2])\n"


def run_plain_and_tried(
    fake: Backend, folder: Path, text: str, *options: str, code: int = 0, **variables: str
) -> tuple[object, Recording]:
    """Run a script plainly and with trials; return what it printed, the same in both."""
    plain, tried = folder / "plain", folder / "tried"
    plain.mkdir()
    tried.mkdir()
    expected = run_script(fake, plain, text, **variables)
    assert expected.returncode == code, expected.stderr
    given = ("--trials", *WITHOUT_LIMIT, *options, "-o", "x.gviz")
    done = run_script(fake, tried, text, *given, **variables)
    assert (done.returncode, done.stdout) == (code, expected.stdout), done.stderr
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("{"))
    return json.loads(line), Recording(tried / "x.gviz")


#: Kinds of the process's last moment (test_last_trials.py).
LAST_KINDS = ("off", "half")


def trials_of(recording: Recording, *, last: bool = False) -> list[rows.GraphTrial]:
    """Return trials of the one graph that the script built: of the last moment, or others."""
    (graph,) = (g for g in recording.fetch_graphs() if g.origin == "explicit")
    made = recording.fetch_trials(graph.graph_id)
    return [t for t in made if (t.kind in LAST_KINDS) == last]


def test_implied_dependencies_are_left_out_and_the_sums_stay(fake: Backend, tmp_path: Path) -> None:
    text = f"{SUMS}{CHAIN}launches(cuda.instantiate(graph), 60)\nreport()\n"
    printed, recording = run_plain_and_tried(fake, tmp_path, text)
    assert printed == {"sums": [0.0, 720.0, 1440.0, 2160.0]}
    with recording:
        made = trials_of(recording)
        changed = recording.fetch_trial_edits(made[0].graph_id)
    edits, delays = ([e for e in changed if e.trial_id == t.trial_id] for t in made[2:])
    assert [(t.kind, t.count, t.results, t.refusal) for t in made] == [
        (kind, 40, "equal", None) for kind in KINDS
    ]
    cuts = [(e.kind, e.node_id, e.to_node_id) for e in edits]
    assert sorted(cuts) == [("cut", 0, 2), ("cut", 0, 3), ("cut", 1, 3)]
    assert all(t.saved_bytes == 2 * 4 * 256 for t in made)
    # In a chain a launch gets longer by all that its nodes are delayed by.
    assert [(e.kind, e.node_id) for e in delays] == [("delay", i) for i in range(4)]
    delayed = sum(e.value_ns or 0 for e in delays)
    assert made[3].gain_ns == pytest.approx(-delayed, rel=0.1)


#: Graphs at random, from the same seed in both runs: kernels that add, copies and memsets, with
#: about half of the dependencies that could be, so that many are implied, and all that are needed.
RANDOM = f"""{SUMS}
import random
rng = random.Random(27)
room = [cuda.allocate(1024) for _ in range(4)]
for at in room:
    cuda.upload_floats(at, [float(i % 7) for i in range(256)])
def add_random(graph, made):
    kind = rng.random()
    uses = rng.sample(range(4), 2 if kind < 0.2 else 1 if kind < 0.3 else 0)
    after = [node for node, used in made if rng.random() < 0.5 or set(used) & set(uses)]
    if kind < 0.2:
        one, other = (room[at] for at in uses)
        return cuda.add_memcpy(graph, after, (2, one), (2, other), 512), uses
    if kind < 0.3:
        return cuda.add_memset(graph, after, room[uses[0]], rng.randrange(9), 256), uses
    return work.add(graph, after, rng.choice([1.0, 2.0, -3.0])), uses
for _ in range(GRAPHS):
    graph, made = cuda.graph(), []
    for _ in range(rng.randrange(2, 9)):
        made.append(add_random(graph, made))
    graph_exec = cuda.instantiate(graph)
    launches(graph_exec, 18)
    cuda.destroy_exec(graph_exec)
report(room=[cuda.download_floats(at, 256) for at in room])
"""


def test_random_graphs_leave_what_they_leave_without_trials(fake: Backend, tmp_path: Path) -> None:
    text = RANDOM.replace("GRAPHS", "60")
    printed, recording = run_plain_and_tried(fake, tmp_path, text)
    assert isinstance(printed, dict)
    assert any(printed["sums"])
    with recording:
        made = [t for g in recording.fetch_graphs() for t in recording.fetch_trials(g.graph_id)]
    done = [t for t in made if t.refusal is None]
    assert {t.results for t in done} == {"equal"}
    # On a loaded machine the quiet moments of some graphs do not suffice.
    assert sum(t.kind == "executable" for t in done) >= 30
    kinds = [t.kind for t in done]
    assert min(kinds.count(kind) for kind in ("implied", "order", "serial")) >= 7, Counter(kinds)


#: A fork of two branches, one of which is longer: kernels that add commute.
FORK = "add([])\nadd([0])\nadd([0])\nadd([2])\nadd([1, 3])\n"


def test_branches_are_tried_in_one_chain_and_with_the_longer_created_first(
    fake: Backend, tmp_path: Path
) -> None:
    text = f"{SUMS}{FORK}launches(cuda.instantiate(graph), 80)\nreport()\n"
    printed, recording = run_plain_and_tried(fake, tmp_path, text)
    assert printed == {"sums": [0.0, 1200.0, 2400.0, 3600.0]}
    with recording:
        made = trials_of(recording)
        edits = recording.fetch_trial_edits(made[0].graph_id)
    found = {t.kind: (t.trial_id, t.results) for t in made if t.refusal is None}
    assert found["order"][1] == found["serial"][1] == "equal"
    order = [(e.node_id, e.to_node_id) for e in edits if e.trial_id == found["order"][0]]
    assert order == [(0, 2), (2, 1), (1, 3), (3, 4)]
    joined = [(e.node_id, e.to_node_id) for e in edits if e.trial_id == found["serial"][0]]
    assert joined == [(1, 2)]
    # In one chain both branches take as long as their sum.
    (serial,) = (t for t in made if t.kind == "serial")
    assert serial.gain_ns is not None
    assert serial.gain_ns < 0


def test_priorities_count_in_a_copy_where_the_executable_ignores_them(
    fake: Backend, tmp_path: Path
) -> None:
    text = f"{SUMS}{FORK}from ctypes import byref, c_int, c_void_p\n"
    text += "cuda.call('cuGraphKernelNodeSetAttribute', c_void_p(nodes[1]), c_int(8), "
    text += "byref((c_int * 16)(-1)))\n"
    text += "launches(cuda.instantiate(graph), 60)\nreport()\n"
    _, recording = run_plain_and_tried(fake, tmp_path, text)
    with recording:
        (tried,) = (t for t in trials_of(recording) if t.kind == "priority")
        edits = recording.fetch_trial_edits(tried.graph_id)
    assert (tried.count, tried.results) == (40, "equal")
    assert [e.node_id for e in edits if e.kind == "priority"] == [1]


#: Two kernels that leave no room beside them, and behind the one of higher priority a third.
CROWD = f"""{SUMS}
from ctypes import byref, c_int, c_void_p
from contract.cases import spin
def add_spin(after, us, blocks=1):
    nodes.append(cuda.add_kernel(graph, after, "spin", spin(us), grid=(blocks, 1, 1)))
add([])
for _ in range(2):
    add_spin(nodes[:1], 400, 132 * 32)
add_spin(nodes[2:], 400)
cuda.call("cuGraphKernelNodeSetAttribute", c_void_p(nodes[2]), c_int(8), byref((c_int * 16)(-5)))
launches(cuda.instantiate(graph), 200)
report()
"""


def test_order_by_priority_saves_what_it_is_computed_to(fake: Backend, tmp_path: Path) -> None:
    _, tried = run_plain_and_tried(fake, tmp_path, CROWD)
    with tried:
        (trial,) = (t for t in trials_of(tried) if t.kind == "priority")
    done = run_script(fake, tmp_path, CROWD, "--collector", "cupti", "-o", "x.gviz")
    assert done.returncode == 0, done.stderr
    with Recording(tmp_path / "x.gviz") as recording:
        (graph,) = (g for g in recording.fetch_graphs() if g.origin == "explicit")
        found = ask_recording(recording, graph.graph_id, [parse_edit(EditKind.ORDER, "priority")])
    assert found.answer is not None
    assert (trial.refusal, found.answer.node_count) == (None, 1)
    # The third kernel runs beside the one of lower priority, which takes as long.
    assert trial.gain_ns == pytest.approx(4e5, rel=0.25)
    assert found.answer.gain_ns == pytest.approx(4e5, rel=0.25)


def test_layers_are_blocks_that_repeat_each_delayed_by_itself(
    fake: Backend, tmp_path: Path
) -> None:
    other = ".version 7.0\n.target sm_50\n.visible .entry other(.param .u64 to) { ret; }\n"
    text = (
        f"{SUMS}from contract.driver import Arguments\nfrom ctypes import c_ulonglong\n"
        f"cuda.load_module({other.encode()!r}, [b'other'])\n"
        "given = Arguments(c_ulonglong(cuda.allocate(8)))\n"
        "for layer in range(5):\n"
        "    add([len(nodes) - 1] if nodes else [])\n"
        "    nodes.append(cuda.add_kernel(graph, [nodes[-1]], 'other', given))\n"
        "launches(cuda.instantiate(graph), 200)\nreport()\n"
    )
    _, recording = run_plain_and_tried(fake, tmp_path, text)
    with recording:
        made = [t for t in trials_of(recording) if t.kind == "layer"]
        edits = recording.fetch_trial_edits(made[0].graph_id)
    of = [[e.node_id for e in edits if e.trial_id == t.trial_id] for t in made]
    # Whenever the budget ends, they are spread over the graph.
    assert of == [[0, 1], [8, 9], [4, 5], [2, 3], [6, 7]]
    assert {t.results for t in made} == {"equal"}


#: What a graph has that is not tried, and the reason; `graph` is added to, `nodes` are its.
REFUSED = {
    "host function": (
        "from contract.params import HOST_FUNCTION, HostParams\ncalled = []\n"
        "function = HOST_FUNCTION(lambda _: called.append(1))\n"
        "cuda.add_host(graph, [nodes[-1]], function)\n",
        "it calls functions of the host",
    ),
    "copy to the host": (
        "out = cuda.allocate_pinned(1024)\n"
        "cuda.add_memcpy(graph, [nodes[-1]], (1, out), (2, work.y), 1024)\n",
        "a copy of it writes to host memory",
    ),
    "kernel with host memory": (
        "from contract.driver import Arguments\nfrom ctypes import c_uint, c_float, c_ulonglong\n"
        "pinned = cuda.allocate_pinned(1024)\n"
        "given = Arguments(c_uint(4), c_float(1), c_ulonglong(work.x), c_ulonglong(pinned))\n"
        "cuda.add_kernel(graph, [nodes[-1]], 'axpy', given)\n",
        "a kernel of it is given host memory",
    ),
    "event": (
        "from ctypes import c_void_p\n"
        "cuda.add('EventRecordNode', graph, [nodes[-1]], c_void_p(cuda.event()))\n",
        "it records events of the program or waits for them",
    ),
}


@pytest.mark.parametrize(("added", "why"), REFUSED.values(), ids=REFUSED)
def test_graph_that_reaches_more_than_is_saved_is_refused(
    fake: Backend, tmp_path: Path, added: str, why: str
) -> None:
    text = f"{SUMS}{CHAIN}{added}launches(cuda.instantiate(graph), 20)\nreport()\n"
    _, recording = run_plain_and_tried(fake, tmp_path, text)
    with recording:
        assert [(t.kind, t.refusal) for t in trials_of(recording)] == [("any", why)]


def test_graph_of_which_no_launch_can_be_timed_says_so(fake: Backend, tmp_path: Path) -> None:
    text = f"{SUMS}{CHAIN}launches(cuda.instantiate(graph, flags=4), 20)\nreport()\n"
    why = "it is instantiated for launches from the device"
    _, recording = run_plain_and_tried(fake, tmp_path, text, "--values")
    with recording:
        made = trials_of(recording)
        readings = recording.fetch_value_readings(made[0].graph_id)
    assert [(t.kind, t.refusal) for t in made] == [("any", why)]
    assert [r.refusal for r in readings] == [why]


#: A module with a kernel that counts its launches in a variable, and adds the count to y.
COUNTING = f"""{SUMS}
from contract.driver import Arguments
from ctypes import c_ulonglong
DECLARED = ".visible .global .align 4 .u32 count;"
ENTRY = ".visible .entry tally(.param .u64 y) {{ ret; }}"
def add_tally(declared=DECLARED, address=work.y):
    ptx = ".version 7.0\\n.target sm_50\\n" + declared + "\\n" + ENTRY + "\\n"
    cuda.load_module(ptx.encode(), [b"tally"])
    arguments = Arguments(c_ulonglong(address))
    nodes.append(cuda.add_kernel(graph, [nodes[-1]], "tally", arguments))
"""


def test_variables_of_modules_are_saved_and_restored(fake: Backend, tmp_path: Path) -> None:
    text = f"{COUNTING}{CHAIN}add_tally()\nlaunches(cuda.instantiate(graph), 60)\nreport()\n"
    printed, recording = run_plain_and_tried(fake, tmp_path, text)
    assert printed == {"sums": [60 * 61 / 2, 720.0, 1440.0, 2160.0]}
    with recording:
        made = trials_of(recording)
    assert {(t.results, t.refusal) for t in made} == {("equal", None)}
    assert all(t.saved_bytes == 2 * 4 * 256 + 8 for t in made)


#: What a module may hold that is not saved or not undone: its declarations, variables of the
#: environment, and the refusal.
MODULES = {
    "variable that is not found": (
        "DECLARED",
        {"FAKE_REFUSES": "count"},
        "a variable of a module of its kernels was not found in memory, so that it is not saved",
    ),
    "printing": (
        'DECLARED + ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);"',
        {},
        "a kernel of it prints, allocates memory or launches kernels by itself",
    ),
}


@pytest.mark.parametrize(("declared", "variables", "why"), MODULES.values(), ids=MODULES)
def test_kernel_whose_module_keeps_or_prints_something_is_refused(
    fake: Backend, tmp_path: Path, declared: str, variables: dict[str, str], why: str
) -> None:
    text = (
        f"{COUNTING}{CHAIN}add_tally({declared})\nlaunches(cuda.instantiate(graph), 20)\nreport()\n"
    )
    _, recording = run_plain_and_tried(fake, tmp_path, text, **variables)
    with recording:
        assert [(t.kind, t.refusal) for t in trials_of(recording)] == [("any", why)]


#: A node at the end of CHAIN whose arguments are given in one buffer.
PACKED = """
from ctypes import addressof, byref, c_size_t, c_void_p, cast, create_string_buffer
values = b"".join(v.ljust(-len(v) % 4 + len(v), b"\\0") for v in work.arguments().to_bytes())
buffer, size = create_string_buffer(values, len(values)), c_size_t(len(values))
extra = (c_void_p * 5)(1, addressof(buffer), 2, addressof(size), 0)
params = cuda.kernel_params("axpy", work.arguments(), (2, 1, 1), (128, 1, 1))
params.kernel_params, params.extra = None, cast(extra, c_void_p)
nodes.append(cuda.add("KernelNode_v2", graph, [nodes[-1]], byref(params)))
"""


def test_arguments_in_one_buffer_are_read(fake: Backend, tmp_path: Path) -> None:
    text = f"{SUMS}{CHAIN}{PACKED}launches(cuda.instantiate(graph), 60)\nreport()\n"
    printed, recording = run_plain_and_tried(fake, tmp_path, text)
    assert printed == {"sums": [0.0, 900.0, 1800.0, 2700.0]}
    with recording:
        assert {(t.results, t.refusal) for t in trials_of(recording)} == {("equal", None)}


def test_memory_that_the_driver_takes_for_code_is_its_own(fake: Backend, tmp_path: Path) -> None:
    loads = "cuda.load_kernels([b'one'])\ncuda.load_kernels([b'two'])\n"
    text = f"{COUNTING}{CHAIN}{loads}add_tally()\nlaunches(cuda.instantiate(graph), 60)\nreport()\n"
    # Of a module of gviz's own, 30 MiB stay within what may be in use besides.
    _, recording = run_plain_and_tried(fake, tmp_path, text, FAKE_CODE_MB="30")
    with recording:
        assert {(t.results, t.refusal) for t in trials_of(recording)} == {("equal", None)}


#: Two kernels that only spend time, in a program that never allocates memory.
NOTHING = f"""{SUMS.replace("work, graph = Sum(cuda), cuda.graph()", "graph = cuda.graph()")}
from contract.cases import spin
for _ in range(2):
    nodes.append(cuda.add_kernel(graph, nodes[-1:], "spin", spin(20)))
launches(cuda.instantiate(graph), 60)
print(json.dumps({{"nodes": len(nodes)}}))
"""


def test_program_that_allocates_nothing_is_tried(fake: Backend, tmp_path: Path) -> None:
    printed, recording = run_plain_and_tried(fake, tmp_path, NOTHING)
    assert printed == {"nodes": 2}
    with recording:
        made = trials_of(recording)
    assert [(t.kind, t.results, t.refusal, t.saved_bytes) for t in made] == [
        (kind, "equal", None, 0) for kind in ("executable", "control", "delay")
    ]


#: Programs beside which memory comes: with their first block, or without any.
BESIDE = {
    "blocks": f"{SUMS}{CHAIN}launches(cuda.instantiate(graph), 20)\nreport()\n",
    "none": NOTHING.replace(
        "graph = cuda.graph()", "graph = cuda.graph()\ncuda.allocate_pinned(64)"
    ),
}


@pytest.mark.parametrize("text", BESIDE.values(), ids=BESIDE)
def test_memory_from_elsewhere_is_not_accounted_for(
    fake: Backend, tmp_path: Path, text: str
) -> None:
    _, recording = run_plain_and_tried(fake, tmp_path, text, FAKE_UNSEEN_MB="100")
    why = "more device memory is in use than the process was seen to allocate"
    with recording:
        assert [(t.kind, t.refusal) for t in trials_of(recording)] == [("any", why)]


def test_budget_ends_the_trials_of_a_graph(fake: Backend, tmp_path: Path) -> None:
    text = f"{SUMS}{CHAIN}launches(cuda.instantiate(graph), 30)\nreport()\n"
    _, recording = run_plain_and_tried(fake, tmp_path, text, "--trial-budget", "0.001")
    with recording:
        made = trials_of(recording)
    spent = "its budget (--trial-budget) was spent"
    left = [(t.kind, t.refusal) for t in made if t.refusal is not None]
    assert left[-2:] == [("implied", spent), ("delay", f"{spent} before delays behind axpy")]
    assert len(made) <= len(KINDS)


#: Twelve kernels of a function each, in a launch of 2 ms, of which few pairs fit into a budget.
FAMILIES = f"""{SUMS}
from contract.cases import spin
from contract.driver import Arguments
names = [f"family_{{i}}_" for i in range(12)]
cuda.load_kernels([name.encode() for name in names])
nodes.append(cuda.add_kernel(graph, [], "spin", spin(2000)))
for name in names:
    nodes.append(cuda.add_kernel(graph, nodes[-1:], name, Arguments()))
launches(cuda.instantiate(graph), 200)
report()
"""


def test_delays_of_every_family_are_made_or_named(fake: Backend, tmp_path: Path) -> None:
    _, recording = run_plain_and_tried(fake, tmp_path, FAMILIES, "--trial-budget", "1")
    with recording:
        rows_made = [t for t in trials_of(recording) if t.kind == "delay"]
        names = recording.fetch_trial_names(rows_made[0].graph_id)
    made = [names[t.trial_id] for t in rows_made if t.refusal is None]
    left = [str(t.refusal).partition(" before delays behind ") for t in rows_made if t.refusal]
    assert sorted([*made, *(name for _, _, name in left)]) == sorted(
        ["spin", *(f"family_{i}_" for i in range(12))]
    )
    # On a loaded machine the budget may end before the first of them.
    assert left
    assert {why for why, _, _ in left} <= {
        "its budget (--trial-budget) was spent",
        "three quarters of its budget (--trial-budget) were spent",
    }


def test_short_program_has_nothing_tried_and_says_so(fake: Backend, tmp_path: Path) -> None:
    text = f"{SUMS}{CHAIN}launches(cuda.instantiate(graph), 3)\nreport()\nsys.exit(7)\n"
    _, recording = run_plain_and_tried(fake, tmp_path, text, code=7)
    with recording:
        made = trials_of(recording)
    assert [t.refusal for t in made] == ["the program ended before it was tried"]


UPDATE = "cuda.set_kernel_params({exec}, nodes[1], 'axpy', work.arguments({factor}), (2, 1, 1))\n"


def test_one_update_is_followed(fake: Backend, tmp_path: Path) -> None:
    text = (
        f"{SUMS}{CHAIN}graph_exec = cuda.instantiate(graph)\nlaunches(graph_exec, 6)\n"
        f"{UPDATE.format(exec='graph_exec', factor='5.0')}launches(graph_exec, 60)\nreport()\n"
    )
    _, recording = run_plain_and_tried(fake, tmp_path, text)
    with recording:
        found = [(t.kind, t.results) for t in trials_of(recording)]
    # What was tried before the update is not tried again.
    assert found == [(kind, "equal") for kind in KINDS]


def test_updates_between_launches_end_the_trials(fake: Backend, tmp_path: Path) -> None:
    text = (
        f"{SUMS}{CHAIN}graph_exec = cuda.instantiate(graph)\nfor i in range(60):\n"
        f"    {UPDATE.format(exec='graph_exec', factor='float(i)')}"
        "    launches(graph_exec, 1)\nreport()\n"
    )
    _, recording = run_plain_and_tried(fake, tmp_path, text)
    with recording:
        made = trials_of(recording)
    assert made[-1].refusal == "the program updates its executable between its launches"


def test_launches_beside_work_in_flight_are_not_held_and_trials_come_later(
    fake: Backend, tmp_path: Path
) -> None:
    # The function of another stream ends once fifteen launches were made beside it.
    text = f"""{SUMS}{CHAIN}
import threading
other, launched = cuda.stream(), threading.Event()
graph_exec = cuda.instantiate(graph)
launches(graph_exec, 3)
cuda.host_function(other, lambda _: launched.wait(60))
begun = time.monotonic()
launches(graph_exec, 15)
launched.set()
time.sleep(time.monotonic() - begun + 0.2)  # the gate backs off no longer than that
launches(graph_exec, 120)
report()
"""
    _, recording = run_plain_and_tried(fake, tmp_path, text)
    with recording:
        made = trials_of(recording)
    assert [(t.kind, t.results, t.refusal) for t in made] == [
        (kind, "equal", None) for kind in KINDS
    ]


def test_threads_that_launch_meanwhile_get_what_they_get(fake: Backend, tmp_path: Path) -> None:
    text = f"""{SUMS}{CHAIN}
import threading
sums = []
def launch_own():
    cuda.make_current()
    own, mine, on = Sum(cuda), cuda.graph(), cuda.stream()
    own.add(mine, [own.add(mine, [])])
    graph_exec = cuda.instantiate(mine)
    for _ in range(40):
        cuda.launch_graph(graph_exec, on)
        cuda.wait(on)
        time.sleep(0.001)
    sums.append(own.result())
threads = [threading.Thread(target=launch_own) for _ in range(3)]
for thread in threads:
    thread.start()
launches(cuda.instantiate(graph), 60)
for thread in threads:
    thread.join()
report(others=sums)
"""
    printed, recording = run_plain_and_tried(fake, tmp_path, text)
    recording.close()
    assert printed == {
        "sums": [0.0, 720.0, 1440.0, 2160.0],
        "others": [[0.0, 240.0, 480.0, 720.0]] * 3,
    }


def test_gpu_without_room_to_save_memory_is_left_alone(fake: Backend, tmp_path: Path) -> None:
    text = (
        f"{SUMS}{CHAIN}held = cuda.allocate(30 << 20)\n"
        "launches(cuda.instantiate(graph), 20)\nreport()\n"
    )
    _, recording = run_plain_and_tried(fake, tmp_path, text, FAKE_MEMORY_MB="72")
    with recording:
        made = trials_of(recording)
    why = "the GPU has too little free memory to save what the process has"
    assert [t.refusal for t in made] == [why]


def test_allocation_that_is_refused_in_a_slice_is_not_the_programs(
    fake: Backend, tmp_path: Path
) -> None:
    held = "held = [cuda.allocate(1 << 20) for _ in range(2)]\n"
    launched = "launches(cuda.instantiate(graph), 60)\nreport()\nsys.exit(5)\n"
    text = f"{SUMS}{CHAIN}{held}{launched}"
    printed, recording = run_plain_and_tried(
        fake, tmp_path, text, code=5, FAKE_LARGEST_BYTES=str(3 << 19)
    )
    assert printed == {"sums": [0.0, 720.0, 1440.0, 2160.0]}
    with recording:
        (made,) = trials_of(recording)
    assert made.refusal == "the GPU gave no memory to save what the process has"


def test_memory_that_the_host_reads_at_any_moment_has_what_the_program_puts_there(
    fake: Backend, tmp_path: Path
) -> None:
    # A thread reads what each launch's copy brings: sums only ever grow, by whole launches.
    text = f"""{SUMS}{FORK}
import ctypes, threading
pinned = cuda.allocate_pinned(1024)
there, seen, ended = (ctypes.c_float * 256).from_address(pinned), [], threading.Event()
ctypes.memset(pinned, 0, 1024)
def read():
    while not ended.is_set():
        value = there[1]
        if not seen or seen[-1] != value:
            seen.append(value)
        time.sleep(0)
reader = threading.Thread(target=read)
reader.start()
graph_exec = cuda.instantiate(graph)
for _ in range(40):
    launches(graph_exec, 1)
    cuda.copy(pinned, work.y, 1024, stream)
    cuda.wait(stream)
ended.set()
reader.join()
report(grows=seen == sorted(seen), whole=all(value % 15 == 0 for value in seen))
"""
    printed, recording = run_plain_and_tried(fake, tmp_path, text)
    assert printed == {"sums": [0.0, 600.0, 1200.0, 1800.0], "grows": True, "whole": True}
    with recording:
        assert any(t.refusal is None for t in trials_of(recording))


def test_graph_that_does_not_repeat_itself_has_no_results_compared(
    fake: Backend, tmp_path: Path
) -> None:
    text = (
        f"{SUMS}{CHAIN}from contract.driver import Arguments\nfrom ctypes import c_ulonglong\n"
        "ptx = b'.version 7.0\\n.target sm_50\\n.visible .entry stamp(.param .u64 to) { ret; }'\n"
        "cuda.load_module(ptx, [b'stamp'])\n"
        "stamp = Arguments(c_ulonglong(cuda.allocate(8)))\n"
        "cuda.add_kernel(graph, [nodes[-1]], 'stamp', stamp)\n"
        "launches(cuda.instantiate(graph), 60)\nreport()\n"
    )
    _, recording = run_plain_and_tried(fake, tmp_path, text)
    with recording:
        found = [(t.kind, t.results) for t in trials_of(recording)]
    results = ["different"] * 2 + ["not tested"] * 3
    assert found == [*zip([*KINDS, "delay"], results, strict=True)]


def test_delays_need_the_speed_of_the_clock_and_say_so(fake: Backend, tmp_path: Path) -> None:
    text = f"{SUMS}{CHAIN}launches(cuda.instantiate(graph), 60)\nreport()\n"
    # What measures it is found in its module, and then never runs.
    _, recording = run_plain_and_tried(fake, tmp_path, text, FAKE_REFUSES="gviz_spin:2")
    why = "the speed of the GPU's clock could not be measured, by which delays have their length"
    with recording:
        found = [(t.kind, t.refusal) for t in trials_of(recording)]
    assert found == [*((kind, None) for kind in KINDS[:3]), ("delay", why)]


#: Several graphs, and how many modules and streams there are after each.
REPEATED = f"""{SUMS}
found = []
for _ in range(4):
    graph, nodes = cuda.graph(), []
    add([])
    launches(cuda.instantiate(graph), 8)
    found.append([cuda.library.fake_objects(kind) for kind in (2, 4)])
print(json.dumps(found), file=sys.stderr)
report()
"""


def test_what_is_made_for_trials_goes_where_some_of_it_is_refused(
    fake: Backend, tmp_path: Path
) -> None:
    done = run_script(
        fake, tmp_path, REPEATED, "--trials", "-o", "x.gviz", FAKE_REFUSES="gviz_spin"
    )
    assert done.returncode == 0, done.stderr
    (line,) = (line for line in done.stderr.splitlines() if line.startswith("[["))
    first, *others = json.loads(line)
    assert others == [first] * 3
    with Recording(tmp_path / "x.gviz") as recording:
        graphs = [g for g in recording.fetch_graphs() if g.origin == "explicit"]
        refusals = [t.refusal for g in graphs for t in recording.fetch_trials(g.graph_id)]
    assert (
        refusals == ["the driver lacks functions that a trial needs, or has no memory for it"] * 4
    )


@pytest.mark.parametrize("first", [8, 18], ids=["before all", "between"])
def test_dependencies_that_cannot_be_read_are_not_taken_for_none(
    fake: Backend, tmp_path: Path, first: int
) -> None:
    text = f"{SUMS}{FORK}launches(cuda.instantiate(graph), 80)\nreport()\n"
    refuses = f"cuGraphGetEdges_v2:{first}"
    _, recording = run_plain_and_tried(fake, tmp_path, text, FAKE_REFUSES=refuses)
    with recording:
        found = trials_of(recording)
    # Copies that are not edited need none of them; a delay that nothing waits for is none.
    assert {t.kind for t in found if t.refusal is None} <= {"executable", "control"}
    assert {t.refusal for t in found} - {None} <= {
        "the dependencies of its nodes cannot be read",
        "a copy with this edit could not be made",
    }


#: A kernel whose module has a variable that is not found, and one that the kernel of another
#: module adds to.
SHARED = f"""{COUNTING}{CHAIN}
from ctypes import byref, c_char_p, c_float, c_size_t, c_uint, c_void_p
names = ("count", "shared", "hidden")
add_tally("\\n".join(DECLARED.replace("count", name) for name in names))
launches(cuda.instantiate(graph), 12)
module, at, size = c_void_p(), c_ulonglong(), c_size_t()
cuda.call("cuFuncGetModule", byref(module), c_void_p(cuda.functions["tally"]))
cuda.call("cuModuleGetGlobal_v2", byref(at), byref(size), module, c_char_p(b"shared"))
other = cuda.graph()
given = Arguments(c_uint(1), c_float(1.0), c_ulonglong(work.x + 4), at)
cuda.add_kernel(other, [], "axpy", given)
launches(cuda.instantiate(other), 60)
report(shared=cuda.download_floats(at.value, 1))
"""


def test_variable_of_a_module_that_is_not_all_known_is_not_written_in_trials(
    fake: Backend, tmp_path: Path
) -> None:
    printed, recording = run_plain_and_tried(fake, tmp_path, SHARED, FAKE_REFUSES="hidden")
    assert isinstance(printed, dict)
    assert printed["shared"] == [60.0]
    with recording:
        graphs = [g for g in recording.fetch_graphs() if g.origin == "explicit"]
        whys = [t.refusal for g in graphs for t in recording.fetch_trials(g.graph_id)]
    assert whys == [
        MODULES["variable that is not found"][2],
        "it is given device memory that the process was not seen to allocate",
    ]


def test_graph_of_a_second_context_is_refused_for_it(fake: Backend, tmp_path: Path) -> None:
    text = (
        f"{SUMS}{CHAIN}launches(cuda.instantiate(graph), 12)\ncuda.use_device(1)\n"
        "stream, other = cuda.stream(), cuda.graph()\n"
        "Sum(cuda).add(other, [])\nlaunches(cuda.instantiate(other), 20)\nprint('{}')\n"
    )
    _, recording = run_plain_and_tried(fake, tmp_path, text, "--values", FAKE_DEVICES="2")
    with recording:
        *_, last = (g for g in recording.fetch_graphs() if g.origin == "explicit")
        found = [t.refusal for t in recording.fetch_trials(last.graph_id)]
        found += [r.refusal for r in recording.fetch_value_readings(last.graph_id)]
    assert found == ["the process has several contexts"] * 2


#: Executables that are launched once each, and how many KiB the process has meanwhile.
SHORT_LIVED = f"""{SUMS}
add([])
def resident_kib():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4
def use_some(count):
    for _ in range(count):
        graph_exec = cuda.instantiate(graph)
        cuda.launch_graph(graph_exec, stream)
        cuda.wait(stream)
        cuda.destroy_exec(graph_exec)
    return resident_kib()
print(json.dumps([[use_some(500), use_some(2500)]]), file=sys.stderr)
report()
"""


#: 2 MiB of mapped memory that the GPU may read and write, may read, or may not reach.
MAPPED = f"""{SUMS}{CHAIN}
from ctypes import byref, c_int, c_size_t, c_ulonglong
at, handle, size = c_ulonglong(), c_ulonglong(), c_size_t(2 << 20)
none = c_ulonglong(0)
cuda.call("cuMemAddressReserve", byref(at), size, c_size_t(0), none, none)
cuda.call("cuMemCreate", byref(handle), size, None, none)
cuda.call("cuMemMap", at, size, c_size_t(0), handle, none)
if ACCESS:
    cuda.call("cuMemSetAccess", at, size, (c_int * 3)(1, 0, ACCESS), c_size_t(1))
launches(cuda.instantiate(graph), LAUNCHES)
cuda.call("cuMemUnmap", at, size)
report()
"""


@pytest.mark.parametrize("access", [0, 1, 3], ids=["none", "reading", "both"])
def test_mapped_memory_is_saved_where_the_gpu_may_read_and_write_it(
    fake: Backend, tmp_path: Path, access: int
) -> None:
    launches = 200 if access == 3 else 20
    text = MAPPED.replace("ACCESS", str(access)).replace("LAUNCHES", str(launches))
    printed, recording = run_plain_and_tried(fake, tmp_path, text)
    assert printed == {"sums": [12.0 * i * launches for i in range(4)]}
    with recording:
        made = trials_of(recording)
    if access == 3:
        saved = 2 * 4 * 256 + (2 << 20)
        assert {(t.refusal, t.saved_bytes) for t in made} == {(None, saved)}
    else:
        why = "the process has memory that is mapped, and that the GPU may not read and write"
        assert [t.refusal for t in made] == [why]


def test_executables_that_are_gone_leave_nothing_to_keep(fake: Backend, tmp_path: Path) -> None:
    done = run_script(fake, tmp_path, SHORT_LIVED, "--trials", "-o", "x.gviz")
    assert done.returncode == 0, done.stderr
    (line,) = (line for line in done.stderr.splitlines() if line.startswith("[["))
    ((before, after),) = json.loads(line)
    # Of each its number and what it took stay: 2 KiB, of which trials have no part.
    assert (after - before) / 2500 < 8


#: Edits that are tried where the program asks for them, and what came of them.
ASKED = """
def ask(graph_exec, edits=("implied", "order", "serial", "priority")):
    found = gviz.try_edits(graph_exec, edits)
    print(json.dumps([[t.edit, t.count, t.results, t.refusal] for t in found]), file=sys.stderr)
"""


def asked(fake: Backend, folder: Path, text: str, *options: str) -> list[list[object]]:
    """Run a script that asks, plainly and with trials; return what it was told with trials."""
    plain, tried = folder / "plain", folder / "tried"
    plain.mkdir()
    tried.mkdir()
    expected = run_script(fake, plain, text)
    assert expected.returncode == 0, expected.stderr
    done = run_script(fake, tried, text, *options, "-o", "x.gviz")
    assert (done.returncode, done.stdout) == (0, expected.stdout), done.stderr
    (line,) = (line for line in done.stderr.splitlines() if line.startswith("[["))
    found: list[list[object]] = json.loads(line)
    return found


def test_program_asks_for_edits_and_goes_on_as_plain(fake: Backend, tmp_path: Path) -> None:
    text = (
        f"{SUMS}{ASKED}{FORK}graph_exec = cuda.instantiate(graph)\nlaunches(graph_exec, 6)\n"
        "ask(graph_exec)\nlaunches(graph_exec, 2)\nreport()\n"
    )
    nothing = "the graph has nothing that this edit changes"
    assert asked(fake, tmp_path, text, "--trials") == [
        ["implied", 0, "not tested", nothing],
        ["order", 40, "equal", None],
        ["serial", 40, "equal", None],
        ["priority", 0, "not tested", nothing],
    ]


#: Random graphs, each tried with some of the edits, between launches that must not notice.
SUBSETS = RANDOM.replace(
    "    launches(graph_exec, 18)\n",
    "    launches(graph_exec, 4)\n"
    "    some = rng.sample(['implied', 'order', 'serial'], rng.randrange(4))\n"
    "    tried += [[t.edit, t.results, t.refusal] for t in gviz.try_edits(graph_exec, some)]\n"
    "    launches(graph_exec, 1)\n",
).replace("for _ in range(GRAPHS)", "tried = []\nfor _ in range(GRAPHS)")


@pytest.mark.parametrize("count", [60, pytest.param(160, marks=pytest.mark.thorough)])
def test_random_subsets_of_edits_leave_what_is_left_without(
    fake: Backend, tmp_path: Path, count: int
) -> None:
    text = SUBSETS.replace("GRAPHS", str(count)) + "print(json.dumps(tried), file=sys.stderr)\n"
    found = asked(fake, tmp_path, text, "--trials", *WITHOUT_LIMIT)
    made = Counter(edit for edit, _, refusal in found if refusal is None)
    refused = Counter(str(refusal) for _, _, refusal in found)
    assert {results for _, results, refusal in found if refusal is None} == {"equal"}, refused
    assert len(made) == 3, refused
    assert min(made.values()) >= count // 10, refused


def test_edits_that_were_asked_for_are_refused_with_the_reason(
    fake: Backend, tmp_path: Path
) -> None:
    text = f"{SUMS}{ASKED}{FORK}graph_exec = cuda.instantiate(graph)\nlaunches(graph_exec, 6)\n"
    gate = "trials need the gate from the program's start: run it with 'gviz run --trials'"
    cases = {
        "untried": ("", (), gate),
        "ungated": ("", ("--no-gate",), gate),
        "unknown": ("graph_exec = 4096\n", ("--trials",), "it is no executable that gviz has "
                    "seen instantiated"),
        "unlaunched": ("graph_exec = cuda.instantiate(graph)\n", ("--trials",), "no launch of it "
                       "was timed yet, or its context is not current: launch it some times first"),
    }  # fmt: skip
    for name, (added, options, why) in cases.items():
        (tmp_path / name).mkdir()
        script = f"{text}{added}ask(graph_exec, ['order'])\nreport()\n"
        assert asked(fake, tmp_path / name, script, *options) == [["order", 0, "not tested", why]]


def test_program_may_ask_for_a_launch_without_a_family_where_it_says_so(
    fake: Backend, tmp_path: Path
) -> None:
    text = (
        f"{SUMS}{ASKED}{FORK}graph_exec = cuda.instantiate(graph)\nlaunches(graph_exec, 6)\n"
        "from gviz.errors import UsageError\nfound = []\n"
        "for name in ('axp', 'gemm'):\n"
        "    found += gviz.try_edits(graph_exec, ['off:' + name], destructive=True)\n"
        "try:\n    gviz.try_edits(graph_exec, ['off:axpy'])\n"
        "except UsageError as error:\n    why = str(error)\n"
        "print(json.dumps([[t.edit, t.count, (t.gain_ns or 0) > 0, t.refusal] for t in found] + "
        "[why]), file=sys.stderr)\n"
        "launches(graph_exec, 2)\nreport()\n"
    )
    axpy, gemm, why = asked(fake, tmp_path, text, "--trials")
    assert axpy == ["off:axp", 40, True, None]
    assert gemm == ["off:gemm", 0, False, "none of its largest kernel families that may be left "
                    "out has this name"]  # fmt: skip
    assert str(why).startswith("'off:axpy' may cost the program its GPU: pass destructive=True")


def test_profile_without_the_gate_tries_nothing_and_says_so(fake: Backend, tmp_path: Path) -> None:
    text = (
        f"{SUMS}{CHAIN}with gviz.profile('x.gviz', trials=True):\n"
        "    launches(cuda.instantiate(graph), 10)\nreport()\n"
    )
    done = run_script(fake, tmp_path, text)
    assert (done.returncode, json.loads(done.stdout)["sums"][1]) == (0, 120.0), done.stderr
    assert "nothing is tried: trials need the gate; use 'gviz run --trials PROGRAM'" in done.stderr
    with Recording(tmp_path / "x.gviz") as recording:
        assert trials_of(recording) == []
        notes = [note.text for note in recording.fetch_notes(1)]
    assert any("nothing was tried: trials need the gate" in note for note in notes)
