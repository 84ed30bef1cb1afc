"""Processes of gviz's own beside a program: nothing that happens to them changes the program."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from contract.backend import Backend
from contract.scripts import PREAMBLE, environment, run_script
from contract.writers import writer_of

from gviz.recording.reader import Recording
from gviz.spool.processes.left_over import fold_left_over

pytestmark = pytest.mark.installed

#: Launches, waits for a line, and ends.
_PROGRAM = PREAMBLE + 'launch(chain(), 3)\nprint("ready", flush=True)\nsys.stdin.readline()\n'
#: gviz run, with less patience than 30 s.
_RUN = """
import sys
from gviz.collectors import writer
writer._STILL_SECONDS = 0.5
from gviz.cli import main
sys.exit(main(sys.argv[1:]))
"""
#: gviz.profile, with less patience.
_PROFILE = """
import sys
import gviz
from gviz.collectors import writer
writer._STILL_SECONDS = 0.5
with gviz.profile("out.gviz"):
    exec(open(sys.argv[1]).read())
"""


def _start(
    backend: Backend, folder: Path, code: str, *arguments: str, ending: str = "sys.exit(42)"
) -> subprocess.Popen[str]:
    (folder / "script.py").write_text(_PROGRAM + ending)
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", code, *arguments, "script.py"],
        env=environment(backend),
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n", process.communicate()[1]
    return process


@pytest.mark.quick
@pytest.mark.parametrize("ending", [signal.SIGSTOP, signal.SIGKILL], ids=["stopped", "killed"])
@pytest.mark.parametrize(
    ("code", "arguments"),
    [(_RUN, ("run", "-o", "out.gviz")), (_PROFILE, ())],
    ids=["run", "profile"],
)
def test_program_ends_as_it_does_whatever_becomes_of_the_writer(
    backend: Backend,
    tmp_path: Path,
    code: str,
    arguments: tuple[str, ...],
    ending: signal.Signals,
) -> None:
    process = _start(backend, tmp_path, code, *arguments)
    writer = writer_of(process.pid)
    os.kill(writer, ending)
    stdout, stderr = process.communicate("go\n", timeout=120)
    assert (process.returncode, stdout) == (42, ""), stderr
    assert "Traceback" not in stderr
    assert "out.gviz was not written: its writer" in stderr
    assert not Path(f"/proc/{writer}").exists()
    # Nothing is lost: what was recorded is made a recording later.
    with Recording(fold_left_over(tmp_path / "out.gviz")) as recording:
        (graph,) = recording.fetch_graphs()
        assert len(recording.fetch_launches(graph.graph_id)) == 3


def test_writer_that_works_and_never_ends_is_not_awaited(backend: Backend, tmp_path: Path) -> None:
    # Figures that change while nothing is done: those of a thread that turns in circles.
    patience = "writer._LONGEST_SECONDS = 0.5\nwriter._work_of = lambda _: object()\n"
    code = _PROFILE.replace("writer._STILL_SECONDS = 0.5\n", patience)
    process = _start(backend, tmp_path, code)
    os.kill(writer_of(process.pid), signal.SIGSTOP)
    _, stderr = process.communicate("go\n", timeout=120)
    assert process.returncode == 42, stderr
    assert re.search(r"worked for 5\d\d ms and was ended", stderr)
    with Recording(fold_left_over(tmp_path / "out.gviz")) as recording:
        assert len(recording.fetch_graphs()) == 1


def test_signal_that_ended_the_program_is_kept_whatever_becomes_of_the_writer(
    backend: Backend, tmp_path: Path
) -> None:
    ending = "os.kill(os.getpid(), signal.SIGUSR1)"
    process = _start(backend, tmp_path, _RUN, "run", "-o", "out.gviz", ending=ending)
    os.kill(writer_of(process.pid), signal.SIGSTOP)
    process.communicate("go\n", timeout=120)
    assert process.returncode == -signal.SIGUSR1


def _shadow(folder: Path, *names: str) -> str:
    """Make modules that end whoever imports them; return their folder."""
    modules = folder / "modules"
    modules.mkdir()
    for name in names:
        (modules / f"{name}.py").write_text(f"raise SystemExit('{name} of the program')\n")
    return str(modules)


@pytest.mark.parametrize("kind", ["run", "profile"])
def test_modules_on_pythonpath_are_not_taken_for_those_that_gviz_needs(
    backend: Backend, tmp_path: Path, kind: str
) -> None:
    shadow = _shadow(tmp_path, "numpy", "sqlite3", "argparse", "shlex", "subprocess")
    path = os.pathsep.join([shadow, environment(backend)["PYTHONPATH"]])
    script = PREAMBLE.replace("import gviz\n", "") + "launch(chain(), 3)\nsys.exit(42)\n"
    options: tuple[str, ...] = ("-o", "out.gviz")
    if kind == "profile":
        # What the watched process itself imports is the program's own choice.
        shadow_free = "sys.path[:] = [p for p in sys.path if not p.endswith('/modules')]\n"
        work = 'with gviz.profile("out.gviz"):\n    launch(chain(), 3)\nsys.exit(42)\n'
        script = "import sys\n" + shadow_free + PREAMBLE + work
        options = ()
    done = run_script(backend, tmp_path, script, *options, PYTHONPATH=path)
    assert done.returncode == 42, done.stderr
    with Recording(tmp_path / "out.gviz") as recording:
        assert len(recording.fetch_graphs()) == 1


def test_program_gets_its_own_modules_where_gviz_uses_the_same_names(
    backend: Backend, tmp_path: Path
) -> None:
    for name in ("json", "platform", "queue"):
        (tmp_path / f"{name}.py").write_text("OWN = True\n")
    (tmp_path / "shlex").mkdir()  # a folder of data
    text = "import json, platform, queue, shlex\nprint(json.OWN, platform.OWN, shlex.join(['a']))\n"
    done = run_script(backend, tmp_path, text, "-o", "out.gviz")
    assert (done.returncode, done.stdout) == (0, "True True a\n"), done.stderr
    assert "not recorded" not in done.stderr


def test_program_gets_the_descriptors_that_gviz_was_given(backend: Backend, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("import os, sys\nprint(os.read(int(sys.argv[1]), 9))\n")
    given, written = os.pipe()
    os.write(written, b"theirs")
    done = subprocess.run(
        [sys.executable, "-P", "-m", "gviz", "run", "-o", "out.gviz", "script.py", str(given)],
        env=environment(backend),
        cwd=tmp_path,
        pass_fds=[given],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    for end in (given, written):
        os.close(end)
    assert (done.returncode, done.stdout) == (0, "b'theirs'\n"), done.stderr


def test_pipes_that_the_program_closes_are_closed_while_it_runs(
    backend: Backend, tmp_path: Path
) -> None:
    closes = "for number in (0, 1, int(sys.argv[1])):\n    os.close(number)\n"
    waits = "while not os.path.exists('go'):\n    time.sleep(0.05)\nsys.exit(42)\n"
    (tmp_path / "script.py").write_text(
        f"import os, time\n{PREAMBLE}launch(chain(), 3)\n{closes}{waits}"
    )
    read, given = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "gviz", "run", "-o", "out.gviz", "script.py", str(given)],
        env=environment(backend),
        cwd=tmp_path,
        pass_fds=[given],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    os.close(given)
    assert process.stdin is not None
    assert process.stdout is not None
    outputs = [process.stdout.fileno(), read]
    for output in outputs:
        assert select.select([output], [], [], 60)[0], "somebody still has it"
        assert os.read(output, 1) == b""
    # Nobody reads it: poll says so of the end that is written.
    input_ = select.poll()
    input_.register(process.stdin, select.POLLERR)
    assert input_.poll(60_000), "somebody still reads it"
    assert process.poll() is None
    (tmp_path / "go").touch()
    assert process.wait(60) == 42
    with Recording(tmp_path / "out.gviz") as recording:
        assert len(recording.fetch_graphs()) == 1
    os.close(read)
    process.stdin.close()
    process.stdout.close()


def _close_stderr() -> None:
    os.close(2)


def _fill_stderr() -> None:
    os.dup2(os.open("/dev/full", os.O_WRONLY), 2)


@pytest.mark.parametrize("spoil", [_close_stderr, _fill_stderr], ids=["closed", "full"])
def test_standard_error_that_takes_nothing_changes_nothing(
    backend: Backend, tmp_path: Path, spoil: Callable[[], None]
) -> None:
    (tmp_path / "script.py").write_text("print('mine')\nraise SystemExit(42)\n")
    done = subprocess.run(
        [sys.executable, "-P", "-m", "gviz", "run", "-o", "out.gviz", "script.py"],
        env=environment(backend),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
        timeout=120,
        check=False,
        preexec_fn=spoil,
    )
    assert (done.returncode, done.stdout) == (42, "mine\n")


@pytest.mark.parametrize("number", [1, 2])
def test_recording_is_written_where_a_standard_stream_is_closed(
    backend: Backend, tmp_path: Path, number: int
) -> None:
    (tmp_path / "script.py").write_text(f"{PREAMBLE}launch(chain(), 3)\nsys.exit(42)\n")
    done = subprocess.run(
        [sys.executable, "-P", "-m", "gviz", "run", "-o", "out.gviz", "script.py"],
        env=environment(backend),
        cwd=tmp_path,
        capture_output=True,
        timeout=120,
        check=False,
        preexec_fn=lambda: os.close(number),
    )
    assert done.returncode == 42
    with Recording(tmp_path / "out.gviz") as recording:
        assert recording.fetch_graphs()


@pytest.mark.parametrize("command", [_RUN, _PROFILE], ids=["run", "profile"])
def test_second_gviz_on_one_output_is_told_of_the_first(
    backend: Backend, tmp_path: Path, command: str
) -> None:
    arguments = ("run", "-o", "out.gviz") if command is _RUN else ()
    first = _start(backend, tmp_path, command, *arguments)
    second = run_script(backend, tmp_path, "print('never')", "-o", "out.gviz")
    assert (second.returncode, second.stdout) == (1, "")
    assert "another gviz is recording into" in second.stderr
    assert "left over" not in second.stderr
    first.communicate("go\n", timeout=120)
    assert first.returncode == 42
    assert (tmp_path / "out.gviz").exists()
