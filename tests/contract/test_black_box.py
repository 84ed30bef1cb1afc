"""The black box: what it says of planted faults, and that the program is as without."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from contract.backend import Backend
from contract.scripts import PREAMBLE, run_script

from gviz.recording import rows
from gviz.recording.reader import Recording

#: Kernels of 5 us; wild fails where its pointer lies in no allocation, hang never ends.
KERNELS = f"""{PREAMBLE}
import json, random
from ctypes import c_float, c_uint, c_ulonglong
from contract.driver import Arguments, DriverError
cuda.load_module(b".version 7.0\\n.target sm_50\\n.address_size 64\\n"
    b".visible .entry step_5us(.param .u64 to) {{ ret; }}\\n"
    b".visible .entry wild(.param .u64 to) {{ ret; }}\\n"
    b".visible .entry hang(.param .u64 to) {{ ret; }}\\n", [b"step_5us", b"wild", b"hang"])
memory = cuda.allocate(1024)
def add(graph, after, name="step_5us", to=None):
    return cuda.add_kernel(graph, after, name, Arguments(c_ulonglong(to or memory)))
def chain_of(count, fault, name, to=None):
    graph, last = cuda.graph(), []
    for i in range(count):
        last = [add(graph, last, name, to) if i == fault else add(graph, last)]
    return cuda.instantiate(graph)
def end_by(graph_exec):
    try:
        cuda.launch_graph(graph_exec, stream)
        cuda.wait(stream)
    except DriverError as error:
        print(error.code)  # of the first call after the fault, whichever that is
        sys.exit(3)
"""


def run_in_black_box(
    fake: Backend, folder: Path, text: str, *options: str, **variables: str
) -> Recording:
    """Run a script plainly and in the black box; it prints and returns the same."""
    plain, boxed = folder / "plain", folder / "boxed"
    plain.mkdir()
    boxed.mkdir()
    expected = run_script(fake, plain, text, **variables)
    done = run_script(fake, boxed, text, *options, "-o", "x.gviz", **variables)
    assert (done.returncode, done.stdout) == (expected.returncode, expected.stdout), done.stderr
    return Recording(boxed / "x.gviz")


def faults_of(recording: Recording) -> list[rows.Fault]:
    return recording.fetch_faults(1)


def nodes_of(recording: Recording, role: str) -> list[int]:
    (fault,) = faults_of(recording)
    nodes = recording.fetch_fault_nodes(fault.fault_id)
    return [one.node_id for one in nodes if one.role == role]


#: A graph with a node in it that fails; each node waits for some of those before it.
PLANTED = f"""{KERNELS}
rng = random.Random(SEED)
count = rng.randrange(3, 40)
fault = rng.randrange(count)
graph, made = cuda.graph(), []
for i in range(count):
    after = [node for node in made[-4:] if rng.random() < 0.6] or made[-1:]
    made.append(add(graph, after, *(["wild", 1 << 44] if i == fault else [])))
print(fault)
end_by(cuda.instantiate(graph))
"""


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("level", ["layer", "node"])
def test_planted_fault_is_among_the_nodes_that_may_have_run(
    fake: Backend, tmp_path: Path, seed: int, level: str
) -> None:
    text = PLANTED.replace("SEED", str(seed))
    with run_in_black_box(fake, tmp_path, text, f"--black-box={level}") as recording:
        (fault,) = faults_of(recording)
        running = recording.fetch_fault_nodes(fault.fault_id)
        (graph,) = recording.fetch_graphs()
        (planted,) = (n.node_id for n in recording.fetch_nodes(graph.graph_id) if n.name == "wild")
    assert (fault.kind, fault.result, fault.graph_id) == ("error", 700, graph.graph_id)
    found = [one.node_id for one in running if one.role == "running"]
    assert planted in found
    if level == "node":
        # Those that run beside it, and of each branch one whose crumb is not written yet.
        assert len(found) <= 8


def test_node_of_a_chain_is_named_with_its_freed_memory(fake: Backend, tmp_path: Path) -> None:
    text = (
        f"{KERNELS}freed = cuda.allocate(4096)\ngraph_exec = chain_of(20, 13, 'wild', freed + 64)\n"
        "launch(graph_exec, 5)\ncuda.call('cuMemFree_v2', c_ulonglong(freed))\nend_by(graph_exec)\n"
    )
    with run_in_black_box(fake, tmp_path, text, "--black-box=node") as recording:
        (fault,) = faults_of(recording)
        (address,) = recording.fetch_fault_addresses(fault.fault_id)
        assert nodes_of(recording, "running") == [13]
        assert nodes_of(recording, "last") == [12]
    assert (fault.crumbs, fault.crumbs_left) == (20, 13)
    assert (address.argument, address.state, address.block_bytes) == (0, "freed", 4096)
    assert address.block_address == address.address - 64
    assert fault.core_dump is not None
    assert Path(fault.core_dump).stat().st_mode & 0o777 == 0o600


def test_run_says_the_fault_when_the_program_has_ended(fake: Backend, tmp_path: Path) -> None:
    text = f"{KERNELS}end_by(chain_of(20, 7, 'wild', 1 << 44))\n"
    done = run_script(fake, tmp_path, text, "--black-box=node", "-o", "x.gviz")
    assert "between node 6 (step_5us) and node 7 (wild): at most 1 node" in done.stderr
    assert "argument 0 0x100000000000 lies in no allocation that was seen" in done.stderr
    assert "cuda-gdb -ex 'target cudacore" in done.stderr


#: A file in the memory of the machine says whose it is.
_IN_MEMORY = """
if "GVIZ_SPOOL" in os.environ:
    link = os.environ["GVIZ_SPOOL"] + "/crumbs"
    origin = open(link, "rb").read()[1 << 20:].rstrip(bytes(1)).decode().split("\\n")
    assert origin == [os.readlink("/proc/self/ns/pid"), link], origin
"""


@pytest.mark.parametrize("variables", [{}, {"FAKE_NO_FILES": "1"}], ids=["file", "memory"])
def test_killed_process_leaves_its_crumbs(
    fake: Backend, tmp_path: Path, variables: dict[str, str]
) -> None:
    text = (
        f"{KERNELS}graph_exec = chain_of(30, 21, 'hang')\ncuda.launch_graph(graph_exec, stream)\n"
        f"{_IN_MEMORY if variables else ''}os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    with run_in_black_box(fake, tmp_path, text, "--black-box=node", **variables) as recording:
        assert [one.kind for one in faults_of(recording)] == ["cut off"]
        assert nodes_of(recording, "running") == [21]
        (run,) = recording.fetch_runs()
    assert not list(Path("/dev/shm").glob(f"gviz-crumbs-{run.process_id}-*"))


def test_stall_is_said_once_while_it_lasts(fake: Backend, tmp_path: Path) -> None:
    text = (
        f"{KERNELS}from pathlib import Path\n"
        "os.dup2(os.open('said', os.O_CREAT | os.O_WRONLY), 2)\n"
        "cuda.launch_graph(chain_of(30, 4, 'hang'), stream)\nend = time.monotonic() + 60\n"
        "while 'progress' not in Path('said').read_text() and time.monotonic() < end:\n"
        "    time.sleep(0.01)\n"
        "time.sleep(1.5)\nos.kill(os.getpid(), signal.SIGKILL)\n"  # it lasts three times as long
    )
    options = ("--black-box=node", "--stall", "500ms", "-o", "x.gviz")
    done = run_script(fake, tmp_path, text, *options)
    assert done.returncode == -signal.SIGKILL
    assert (tmp_path / "said").read_text().count("made no progress for 0.5 s") == 1
    with Recording(tmp_path / "x.gviz") as recording:
        assert [one.kind for one in faults_of(recording)] == ["stall"]
        assert nodes_of(recording, "running") == [4]


#: What launches leave in memory depends on each of them, and on their order.
SUMS = f"""{PREAMBLE}
import json
from contract.watched import Sum
work, graph = Sum(cuda), cuda.graph()
nodes = [work.add(graph, [])]
for _ in range(15):
    nodes.append(work.add(graph, nodes[-1:]))
graph_exec, other = cuda.instantiate(graph), cuda.stream()
def report():
    print(json.dumps(work.result()))
"""
UPDATES = {
    "none": "",
    "of a node": (
        "cuda.set_kernel_params(graph_exec, nodes[3], 'axpy', work.arguments(5.0), (2, 1, 1))"
    ),
    "off": "cuda.set_enabled(graph_exec, nodes[3], False)",
    "of the whole": "assert cuda.update(graph_exec, graph) == 0",
}


@pytest.mark.parametrize("update", UPDATES.values(), ids=UPDATES)
def test_sums_are_as_without(fake: Backend, tmp_path: Path, update: str) -> None:
    text = (
        f"{SUMS}for i in range(8):\n    cuda.launch_graph(graph_exec, (stream, other)[i % 2])\n"
        f"    if i == 3:\n        {update or 'pass'}\ncuda.synchronize()\nreport()\n"
    )
    with run_in_black_box(fake, tmp_path, text, "--black-box=layer") as recording:
        assert faults_of(recording) == []
        notes = " ".join(note.text for note in recording.fetch_notes(1))
    assert ("leave no crumbs" in notes) == ("whole" in notes) == ("update(" in update)


def test_executable_that_is_made_again_and_again_uses_the_same_words(
    fake: Backend, tmp_path: Path
) -> None:
    text = (
        f"{KERNELS}for _ in range(40):\n    graph_exec = chain_of(5, None, '')\n"
        "    launch(graph_exec, 1)\n    cuda.destroy_exec(graph_exec)\n"
        "end_by(chain_of(5, 2, 'wild', 1 << 44))\n"
    )
    with run_in_black_box(fake, tmp_path, text, "--black-box=node") as recording:
        assert nodes_of(recording, "running") == [2]


def test_graph_that_cannot_be_copied_is_named(fake: Backend, tmp_path: Path) -> None:
    text = (
        f"{KERNELS}graph = cuda.graph()\nnode, _ = cuda.add_alloc(graph, [], 512)\n"
        "add(graph, [node])\nlaunch(cuda.instantiate(graph), 3)\n"
    )
    with run_in_black_box(fake, tmp_path, text, "--black-box=node") as recording:
        notes = [note.text for note in recording.fetch_notes(1)]
    assert any("leave no crumbs: it allocates or frees memory" in text for text in notes)


def test_copy_that_takes_no_crumbs_leaves_launches_to_the_program(
    fake: Backend, tmp_path: Path
) -> None:
    text = f"{SUMS}for _ in range(5):\n    cuda.launch_graph(graph_exec, stream)\nreport()\n"
    variables = {"FAKE_NO_WRITE_NODES": "1"}
    with run_in_black_box(fake, tmp_path, text, "--black-box=node", **variables) as recording:
        notes = [note.text for note in recording.fetch_notes(1)]
    why = "a copy could not be given crumbs: cuGraphAddBatchMemOpNode returned 1"
    assert why in notes
    assert any("leave no crumbs: a copy of it could not be made" in text for text in notes)


def test_core_dump_alone_leaves_launches_and_node_times(fake: Backend, tmp_path: Path) -> None:
    text = (
        f"{KERNELS}good = chain_of(5, None, '')\nlaunch(good, 10)\ntime.sleep(0.2)\n"
        "launch(good, 10)\nend_by(chain_of(5, 2, 'wild', 1 << 44))\n"
    )
    with run_in_black_box(fake, tmp_path, text, "--black-box", FAKE_DUMP_LATE="1") as recording:
        (fault,) = faults_of(recording)
        timed = sum(launch.node_level for launch in recording.fetch_launches(1))
    assert (fault.kind, fault.graph_id) == ("error", None)
    assert fault.core_dump is not None
    assert timed


def test_driver_without_core_dumps_is_said(fake: Backend, tmp_path: Path) -> None:
    text = f"{KERNELS}end_by(chain_of(5, 2, 'wild', 1 << 44))\n"
    with run_in_black_box(fake, tmp_path, text, "--black-box", FAKE_NO_DUMP="1") as recording:
        (fault,) = faults_of(recording)
        notes = [note.text for note in recording.fetch_notes(1)]
    assert (fault.kind, fault.core_dump) == ("error", None)
    assert any("cuCoredumpSetAttributeGlobal returned 801" in text for text in notes)


def test_crumbs_without_the_gate_are_said_to_be_missing(fake: Backend, tmp_path: Path) -> None:
    text = f"{KERNELS}launch(chain_of(5, None, ''), 3)\nprint(json.dumps(1))\n"
    options = ("--black-box=node", "--no-gate")
    with run_in_black_box(fake, tmp_path, text, *options) as recording:
        notes = [note.text for note in recording.fetch_notes(1)]
    assert any("launches leave no crumbs: they need the gate" in text for text in notes)
