"""Trials in a process's last moment: kernels left out, and that nothing of the program changes."""

from __future__ import annotations

from pathlib import Path

import pytest
from contract.backend import Backend
from contract.test_trials import CHAIN, SUMS, run_plain_and_tried, trials_of

from gviz.recording import rows

#: Kernels that others depend on: what reads memory that nobody wrote faults, or waits for ever. Its
#: own handlers, destructors and exit code are the program's, whatever the last moment brings.
ENDS = f"""{SUMS}
import atexit, ctypes
from contract.driver import Arguments
class Late:
    def __del__(self, write=os.write):
        write(1, b"destructor\\n")
late = Late()
atexit.register(lambda: print("handler"))
word = cuda.allocate(8)
entries = "".join(
    f".visible .entry {{name}}(.param .u64 at) {{{{ ret; }}}}\\n"
    for name in ("put", "look_up", "await")
)
module = cuda.load_module(
    (".version 7.0\\n.target sm_50\\n" + entries).encode(), [b"put", b"look_up", b"await"]
)
def add_kernel(name):
    given = Arguments(ctypes.c_ulonglong(word))
    nodes.append(cuda.add_kernel(graph, [nodes[-1]], name, given))
def add_reset(value):
    nodes.append(cuda.add_memset(graph, [nodes[-1]], word, value, 2))
"""
#: What a program gives back when its handlers have run; `late` is called then.
GIVING = """
class Giving:
    def __del__(self):
        late(cuda)
giving = Giving()
"""
LAST = "ctypes.CDLL(None).puts(b'end of the script')\nsys.exit(7)\n"


def found(fake: Backend, folder: Path, text: str, *options: str) -> list[rows.GraphTrial]:
    """Run a program that must go on as without trials; return those of the last moment."""
    script = f"{ENDS}{text}launches(cuda.instantiate(graph), 120)\nreport()\n{LAST}"
    # On a loaded machine the usual budget may end before the last of them.
    budget = ("--trial-budget", "60")
    _, recording = run_plain_and_tried(fake, folder, script, *budget, *options, code=7)
    with recording:
        return trials_of(recording, last=True)


def test_families_are_left_out_and_halved_when_all_has_ended(fake: Backend, tmp_path: Path) -> None:
    made = found(fake, tmp_path, CHAIN)
    assert [(t.kind, t.refusal) for t in made] == [("off", None), ("half", None)]
    off, half = made
    assert off.gain_ns is not None
    assert half.gain_ns is not None
    # A launch of nothing: the four kernels were all of it.
    assert off.edited_ns is not None
    assert off.unedited_ns is not None
    assert off.edited_ns < 0.5 * off.unedited_ns
    # Four kernels of 2 µs have gaps between them, which stay between pauses.
    assert half.edited_ns is not None
    assert half.unedited_ns is not None
    gaps_ns = half.unedited_ns - 4 * 2000
    assert half.edited_ns == pytest.approx(off.gain_ns / 2 + gaps_ns, rel=0.25)


def test_index_that_nobody_makes_costs_the_context_and_nothing_else(
    fake: Backend, tmp_path: Path
) -> None:
    made = found(
        fake, tmp_path, f"{CHAIN}add_reset(0xFFFFFFFF)\nadd_kernel('put')\nadd_kernel('look_up')\n"
    )
    assert [t.refusal for t in made if t.refusal] == [
        "a launch without put failed, and with it the GPU's context was lost"
    ]


def test_kernel_that_waits_for_what_is_left_out_is_left_behind(
    fake: Backend, tmp_path: Path
) -> None:
    made = found(fake, tmp_path, f"{CHAIN}add_reset(0)\nadd_kernel('put')\nadd_kernel('await')\n")
    assert [t.refusal for t in made if t.refusal] == [
        "a launch without put did not end, and with it the GPU's context was lost"
    ]


def test_memset_that_a_kernel_waits_for_is_in_every_launch(fake: Backend, tmp_path: Path) -> None:
    # The last node takes back what the kernel waits for: without the memset it waits for ever.
    made = found(fake, tmp_path, f"{CHAIN}add_reset(1)\nadd_kernel('await')\nadd_reset(0)\n")
    assert [(t.kind, t.refusal) for t in made] == [("off", None)] * 2 + [("half", None)] * 2


def test_kernels_that_the_program_unloads_at_its_end_stay_for_the_last_moment(
    fake: Backend, tmp_path: Path
) -> None:
    late = "def late(cuda):\n    cuda.call('cuModuleUnload', ctypes.c_void_p(module))\n"
    made = found(fake, tmp_path, f"{CHAIN}add_kernel('put')\n{late}{GIVING}")
    assert [(t.kind, t.refusal) for t in made] == [("off", None)] * 2 + [("half", None)] * 2


def test_memory_that_the_program_gives_back_at_its_end_is_not_reached(
    fake: Backend, tmp_path: Path
) -> None:
    late = "def late(cuda):\n    cuda.call('cuMemFree_v2', ctypes.c_ulonglong(work.y))\n"
    made = found(fake, tmp_path, f"{CHAIN}{late}{GIVING}")
    assert [t.refusal for t in made] == ["the program gave back memory after its last launch"]


@pytest.mark.parametrize(
    ("calls", "refusals"),
    [
        (("Retain', ctypes.byref(ctypes.c_void_p()), 0", "Release_v2', 0"), {None}),
        (
            ("Release_v2', 0",),
            {"the program gave back its context at its end (cuDevicePrimaryCtxRelease_v2)"},
        ),
    ],
    ids=["of a library's own", "the last"],
)
def test_context_is_given_back_with_the_last_that_retains_it(
    fake: Backend, tmp_path: Path, calls: tuple[str, ...], refusals: set[str | None]
) -> None:
    late = "def late(cuda):\n" + "".join(f"    cuda.call('cuDevicePrimaryCtx{c})\n" for c in calls)
    made = found(fake, tmp_path, f"{CHAIN}{late}{GIVING}")
    assert {trial.refusal for trial in made} == refusals


def test_driver_that_breaks_down_ends_the_process_as_it_would_have_ended(
    fake: Backend, tmp_path: Path
) -> None:
    # Memory that the driver reaches by the processor is taken from it.
    late = "def late(cuda):\n    ctypes.CDLL(None).mprotect(ctypes.c_void_p(work.y), 4096, 0)\n"
    assert found(fake, tmp_path, f"{CHAIN}{late}{GIVING}") == []


@pytest.mark.parametrize(
    ("kernel", "word", "why"),
    [
        ("await", 0, "work in flight"),
        ("look_up", 1 << 30, "cuStreamQuery, which the driver answers with 700"),
    ],
    ids=["in flight", "fault"],
)
def test_end_that_is_not_quiet_says_what_was_in_the_way(
    fake: Backend, tmp_path: Path, kernel: str, word: int, why: str
) -> None:
    late = (
        "def late(cuda):\n"
        "    other = cuda.stream()\n"
        f"    cuda.set32(word, {word}, 2, other)\n"
        f"    cuda.launch('{kernel}', Arguments(ctypes.c_ulonglong(word)), other)\n"
        "    time.sleep(0.05)\n"
    )
    made = found(fake, tmp_path, f"{CHAIN}{late}{GIVING}")
    assert [t.refusal for t in made] == [f"the process was not quiet at its end: {why}"]


#: A launch of 3.5 ms: beside the pair that warms up, a slice of 12 ms has time for one pair. What
#: is refused is refused from the last moment on, when the program launches nothing.
SECOND_SLICE = f"""{ENDS}
from contract.cases import spin
nodes.append(cuda.add_kernel(graph, [], "spin", spin(3500)))
add([0])
add([1])
launches(cuda.instantiate(graph), 200)
report()
late = lambda cuda, refuse=os.putenv: refuse("FAKE_REFUSES", "REFUSED")
{GIVING}{LAST}"""


@pytest.mark.parametrize(
    "refused", ["cuGraphLaunch:5", "gviz_sum:6"], ids=["its launch", "its sums"]
)
def test_warming_up_again_that_fails_costs_the_context_and_nothing_else(
    fake: Backend, tmp_path: Path, refused: str
) -> None:
    text = SECOND_SLICE.replace("REFUSED", refused)
    _, recording = run_plain_and_tried(fake, tmp_path, text, code=7)
    with recording:
        made = trials_of(recording, last=True)
    assert [(t.kind, t.count, t.refusal) for t in made] == [
        ("off", 0, "a launch without axpy failed, and with it the GPU's context was lost")
    ]


def test_graph_that_was_hardly_launched_says_so_beside_one_that_stays(
    fake: Backend, tmp_path: Path
) -> None:
    text = (
        f"{ENDS}{CHAIN}launches(cuda.instantiate(graph), 120)\nother = cuda.graph()\n"
        f"work.add(other, [])\nlaunches(cuda.instantiate(other), 3)\nreport()\n{LAST}"
    )
    _, recording = run_plain_and_tried(fake, tmp_path, text, "--trial-budget", "60", code=7)
    with recording:
        graphs = [g for g in recording.fetch_graphs() if g.origin == "explicit"]
        first, second = (recording.fetch_trials(g.graph_id) for g in graphs)
    assert [(t.kind, t.refusal) for t in first[-2:]] == [("off", None), ("half", None)]
    assert [t.refusal for t in second] == ["the program ended before it was tried"]


#: Long kernels that must stay one after the other, with short ones of a family between them.
BETWEEN = f"""{SUMS}
from contract.cases import spin
from contract.driver import Arguments
cuda.load_kernels([b"short"])
def add_long(after):
    nodes.append(cuda.add_kernel(graph, [nodes[i] for i in after], "spin", spin(100)))
def add_short(after):
    nodes.append(cuda.add_kernel(graph, [nodes[i] for i in after], "short", Arguments()))
BUILD
launches(cuda.instantiate(graph), 120)
report()
"""
#: How many nodes stand in for what is left out, and dependencies that are made for it.
SHAPES = {
    "each waits for six before": (
        "for i in range(16):\n    (add_short if i % 2 else add_long)(range(max(0, i - 6), i))\n",
        8 * 2000,
        0,
    ),
    "two join and two follow": (
        "add_long([])\nadd_long([])\nadd_short([0, 1])\nadd_long([2])\nadd_long([2])\n",
        2000,
        0,
    ),
    "three join and three follow": (
        "for _ in range(3):\n    add_long([])\nadd_short([0, 1, 2])\n"
        "for _ in range(3):\n    add_long([3])\n",
        2000,
        1,
    ),
}


@pytest.mark.parametrize(("shape", "gain_ns", "stand_ins"), SHAPES.values(), ids=SHAPES)
def test_kernels_left_out_leave_the_order_and_the_fewest_dependencies(
    fake: Backend, tmp_path: Path, shape: str, gain_ns: int, stand_ins: int
) -> None:
    text = BETWEEN.replace("BUILD\n", shape)
    calls = tmp_path / "calls.txt"
    _, recording = run_plain_and_tried(
        fake, tmp_path, text, "--trial-budget", "60", FAKE_CALLS=str(calls)
    )
    with recording:
        made = [t for t in trials_of(recording, last=True) if t.kind == "off"]
        names = recording.fetch_trial_names(made[0].graph_id)
    gains = {names[t.trial_id]: t.gain_ns for t in made}
    # Long kernels that no longer waited for each other would save 100 µs and more.
    assert gains["short"] == pytest.approx(gain_ns, rel=0.5, abs=5000)
    assert calls.read_text().split().count("cuGraphAddEmptyNode") == stand_ins
