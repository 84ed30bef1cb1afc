"""The gate: preloaded before a driver that counts who is inside it (contract/gate)."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from pathlib import Path

import pytest
from contract.backend import Backend, preloading
from contract.gate_programs import CSRC, LIMIT_S, SOURCES, Programs, build_driver, build_programs
from contract.scripts import PREAMBLE, run_script
from fake.build import compiler

from gviz.collectors import native
from gviz.recording.reader import Recording

#: A closing waits 5 ms for threads that are inside; a held thread then wakes up. In stepped time,
#: where no thread loses its core.
LONGEST_HOLD_NS = 5_100_000
#: Of the work that a GPU can do, with closings beside full queues.
LEAST_PERCENT = 95
#: What a stub may add to a call: 25 instructions of assembly; where every call needs a barrier of
#: its own, some 220 that a compiler made.
FEW, MANY = 30, 500


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    """The driver and the programs, compiled."""
    return build_programs(tmp_path_factory.mktemp("gate"), compiler() or "cc")


@pytest.fixture(scope="module")
def gate() -> Path:
    """The gate of this installation."""
    path = native.gate_path()
    assert path is not None, "built without a C compiler; see 'gviz doctor'"
    return path


def test_without_the_gate_the_program_of_these_tests_runs(programs: Programs) -> None:
    assert programs.run("program", "plain") == (0, "", "")


@pytest.mark.parametrize(
    "program",
    [
        "convention",
        "lookups",
        "deepbind",
        "jumps",
        "short threads",
        "threads that end inside",
        "forks",
        "waits",
        "polls",
        "overrun",
        "constructors",
        "filters",
    ],
)
def test_program_behind_the_gate(programs: Programs, gate: Path, program: str) -> None:
    assert programs.run("program", program, preload=[gate]) == (0, "", "")


def test_nobody_is_inside_a_closed_gate(programs: Programs, gate: Path) -> None:
    assert programs.run("program", "storm", preload=[gate]) == (0, "200\n", "")


@pytest.mark.thorough
def test_nobody_is_inside_in_ten_thousand_closings(
    programs: Programs, gate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STORM", "10000")
    assert programs.run("program", "storm", preload=[gate]) == (0, "10000\n", "")


@pytest.mark.parametrize(
    ("program", "says"), [("storm", "200\n"), ("convention", ""), ("filters", "")]
)
def test_gate_works_where_membarrier_is_refused(
    programs: Programs, gate: Path, program: str, says: str
) -> None:
    done = programs.run("program", "without-membarrier", program, preload=[gate])
    assert done == (0, says, "")


@pytest.mark.skipif(platform.machine() != "x86_64", reason="counts steps of x86-64")
def test_stub_adds_few_instructions(programs: Programs, gate: Path) -> None:
    fast = programs.run("program", "instructions", preload=[gate])
    slow = programs.run("program", "without-membarrier", "instructions", preload=[gate])
    assert [fast[0], fast[2], slow[0], slow[2]] == [0, "", 0, ""]
    instructions, barriers, system_calls = map(int, fast[1].split())
    assert (instructions <= FEW, barriers, system_calls) == (True, 0, 0)
    instructions, barriers, system_calls = map(int, slow[1].split())
    assert (instructions <= MANY, barriers, system_calls) == (True, 1, 0)


def test_closings_cost_full_queues_no_launches(programs: Programs, gate: Path) -> None:
    preload = [programs.folder / "stepped_time.so", gate]
    code, text, message = programs.run("program", "full queues", preload=preload)
    assert (code, message) == (0, "")
    hold_ns, percent = map(int, text.split())
    assert 0 < hold_ns <= LONGEST_HOLD_NS
    assert percent >= LEAST_PERCENT


@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """The programs and the gate for aarch64, and how one is run behind it."""
    cc, emulator = shutil.which("aarch64-linux-gnu-gcc"), shutil.which("qemu-aarch64")
    if cc is None or emulator is None:
        pytest.skip("needs aarch64-linux-gnu-gcc and qemu-aarch64")
    folder = tmp_path_factory.mktemp("aarch64")
    build_programs(folder, cc)
    gate = folder / "_gate.so"
    flags = ["-std=c11", "-O2", "-fvisibility=hidden", "-fPIC", "-shared", f"-I{CSRC}"]
    sources = sorted(map(str, (CSRC / "gate").glob("*.c")))
    subprocess.run([cc, *flags, *sources, "-ldl", "-lpthread", "-o", str(gate)], check=True)
    variables = [f"LD_LIBRARY_PATH={folder}", f"LD_PRELOAD={gate}"]
    options = [option for variable in variables for option in ("-E", variable)]
    return folder, [emulator, "-L", "/usr/aarch64-linux-gnu", *options, str(folder / "program")]


@pytest.mark.thorough
@pytest.mark.parametrize(
    "program",
    [
        "convention",
        "lookups",
        "jumps",
        "short threads",
        "threads that end inside",
        "overrun",
        "filters",
    ],
)
def test_program_behind_the_gate_on_aarch64(foreign: tuple[Path, list[str]], program: str) -> None:
    folder, command = foreign
    done = subprocess.run(
        [*command, program],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_exit_waits_for_the_closer(programs: Programs, gate: Path) -> None:
    done = programs.run("program", "exits", preload=[gate])
    assert done == (3, "still here\n", "")


@pytest.mark.parametrize("fini", ["end_of_library", "none"])
def test_driver_stays_for_the_last_moment_and_ends_for_the_program_when_it_would(
    programs: Programs, gate: Path, tmp_path: Path, fini: str
) -> None:
    build_driver(tmp_path, compiler() or "cc", fini)
    (tmp_path / "program").symlink_to(programs.folder / "program")
    child = "registered after it: 0\nregistered before the driver: 4\ndestructor: 4\n"
    own = f"{child}last, of status 3: 4, 0 by the gate, ended 0\n"
    assert Programs(tmp_path).run("program", "stays", preload=[gate]) == (3, child + own, "")


def test_driver_that_nobody_keeps_ends_when_it_does(programs: Programs, gate: Path) -> None:
    output = "registered before the driver: 4\ndestructor: 4\n"
    for preload in ([], [gate]):
        assert programs.run("program", "leaves", preload=preload) == (3, output, "")


def test_linked_program_leaves_calls_in_every_way(programs: Programs, gate: Path) -> None:
    cpp = shutil.which("c++")
    if cpp is None:
        pytest.skip("no C++ compiler")
    source, folder = SOURCES / "linked.cpp", programs.folder
    options = [f"-I{CSRC}", f"-L{folder}", "-l:libcuda.so.1", "-ldl", "-lpthread"]
    subprocess.run([cpp, "-O1", "-o", str(folder / "linked"), str(source), *options], check=True)
    assert programs.run("linked", preload=[gate]) == (0, "", "")


def test_static_program_runs_as_without_the_gate(programs: Programs, gate: Path) -> None:
    source = programs.folder / "static.c"
    source.write_text('#include <stdio.h>\nint main(void) { return puts("static") < 0; }\n')
    command = [compiler() or "cc", "-static", "-o", str(programs.folder / "static"), str(source)]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("no static C library")
    assert programs.run("static", preload=[gate]) == (0, "static\n", "")


@pytest.mark.parametrize("command", [("musl-gcc",), ("gcc", "-m32")], ids=["musl", "32 bits"])
def test_program_that_cannot_have_cuda_runs_as_without_the_gate(
    programs: Programs, gate: Path, command: tuple[str, ...]
) -> None:
    source, target = programs.folder / "other.c", programs.folder / command[-1]
    source.write_text(
        "#include <dlfcn.h>\n#include <stdio.h>\n#include <sys/wait.h>\n#include <unistd.h>\n"
        "int main(void) {\n"
        '    if (!dlsym(RTLD_DEFAULT, "puts")) return 1;\n'
        "    if (fork() == 0) _exit(0);\n"
        "    wait(NULL);\n"
        '    return puts("goes on") < 0;\n'
        "}\n"
    )
    build = [*command, "-D_GNU_SOURCE", "-o", str(target), str(source), "-ldl"]
    if (
        not shutil.which(command[0])
        or subprocess.run(build, capture_output=True, check=False).returncode != 0
    ):
        pytest.skip(f"{' '.join(command)} cannot build it")
    plain = programs.run(target.name)
    assert plain == (0, "goes on\n", "")
    code, output, said = programs.run(target.name, preload=[gate])
    # The loader of 32-bit programs may say that it does not take the library.
    lines = [line for line in said.splitlines() if "wrong ELF class" not in line]
    assert (code, output, lines) == (0, "goes on\n", [])


def test_program_linked_with_the_driver_runs_behind_the_gate(
    programs: Programs, gate: Path
) -> None:
    assert programs.run("direct") == (0, "", "")
    # What libcuda lacks is there, and says so: CUDA_ERROR_STUB_LIBRARY.
    code, text, message = programs.run("direct", preload=[gate])
    assert (code, text, message) == (0, "without a driver's function: 34\n", "")


@pytest.mark.parametrize("order", ["before", "after"])
def test_another_preloaded_tool_works_on(programs: Programs, gate: Path, order: str) -> None:
    other = programs.folder / "other.so"
    preload = [other, gate] if order == "before" else [gate, other]
    code, text, message = programs.run("direct", preload=preload)
    assert (code, message) == (0, "")
    # The gate takes the driver's own functions, so what stands behind it sees no call.
    seen = 2 if order == "before" else 0
    assert text.splitlines()[-1] == f"other tool saw {seen} calls"


@pytest.mark.parametrize("sanitizer", ["libasan.so", "libtsan.so"])
def test_sanitizer_before_the_gate_starts(programs: Programs, gate: Path, sanitizer: str) -> None:
    found = subprocess.run(
        [compiler() or "cc", f"-print-file-name={sanitizer}"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    if not Path(found).is_absolute():
        pytest.skip("this compiler does not have it")
    assert programs.run("program", "convention", preload=[found, gate])[0] == 0


def test_program_without_cuda_is_left_alone(gate: Path) -> None:
    plain = subprocess.run(["ls", "/"], capture_output=True, check=True)
    gated = subprocess.run(
        ["ls", "/"],
        env={**os.environ, "LD_PRELOAD": preloading(gate)},
        capture_output=True,
        check=True,
    )
    assert (gated.stdout, gated.stderr) == (plain.stdout, b"")


def test_recording_by_cupti_beside_the_gate_is_complete(
    fake: Backend, gate: Path, tmp_path: Path
) -> None:
    profile = "gviz.profile('x.gviz', collector='cupti', node_launches=5)"
    text = f"{PREAMBLE}with {profile}:\n    launch(chain(), 5)\n"
    done = run_script(fake, tmp_path, text, LD_PRELOAD=preloading(gate))
    assert (done.returncode, done.stderr) == (0, "")
    with Recording(tmp_path / "x.gviz") as recording:
        (graph,) = recording.fetch_graphs()
        spans = [launch.span_count for launch in recording.fetch_launches(graph.graph_id)]
    assert spans == [4, 4, 4, 4, 4]


LAUNCHES = f"{PREAMBLE}launch(chain(), 5)\n"


def notes(path: Path) -> list[str]:
    """Return the notes of a recording about the gate, after a look that it is whole."""
    with Recording(path) as recording:
        (graph,) = recording.fetch_graphs()
        assert len(recording.fetch_launches(graph.graph_id)) == 5
        return [note.text for note in recording.fetch_notes(1) if "the gate" in note.text]


def test_run_preloads_the_gate_where_it_is_wanted(fake: Backend, tmp_path: Path) -> None:
    text = LAUNCHES + "import ctypes\nctypes.CDLL(None).gviz_gate\n"
    done = run_script(fake, tmp_path, text, "-o", "x.gviz", GVIZ_GATE="1")
    assert done.returncode == 0, done.stderr
    assert notes(tmp_path / "x.gviz") == []


def test_run_with_cupti_preloads_nothing(fake: Backend, tmp_path: Path) -> None:
    text = LAUNCHES + f"assert os.environ.get('LD_PRELOAD', '') == {preloading()!r}\n"
    done = run_script(fake, tmp_path, text, "-o", "x.gviz", "--collector", "cupti")
    assert done.returncode == 0, done.stderr
    assert notes(tmp_path / "x.gviz") == []


def test_gate_that_cannot_be_read_is_a_line_in_the_recording(fake: Backend, tmp_path: Path) -> None:
    done = run_script(fake, tmp_path, LAUNCHES, "-o", "x.gviz", GVIZ_GATE="/nowhere/_gate.so")
    assert done.returncode == 0, done.stderr
    assert "ld.so" not in done.stderr
    (note,) = notes(tmp_path / "x.gviz")
    assert note == "the gate is not in this process: /nowhere/_gate.so cannot be read"


def test_child_that_clears_ld_preload_says_so(fake: Backend, tmp_path: Path) -> None:
    (tmp_path / "child.py").write_text(LAUNCHES)
    text = (
        "import os, subprocess, sys\n"
        f"os.environ['LD_PRELOAD'] = {preloading()!r}\n"
        "subprocess.run([sys.executable, '-P', 'child.py'], check=True)\n"
    )
    done = run_script(fake, tmp_path, text, "-o", "x.gviz", GVIZ_GATE="1")
    assert done.returncode == 0, done.stderr
    (note,) = notes(tmp_path / "x.gviz")
    assert "LD_PRELOAD" in note
