"""``gviz run``: the program runs as under python itself, and its graphs are recorded."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from contract.backend import Backend, preloading
from contract.recorded import TURN, await_recorded, methods
from waiting import eventually

from gviz.cli.recording_path import find_source
from gviz.recording import rows
from gviz.recording.reader import Recording
from gviz.spool.processes.snapshot import Snapshots
from gviz.spool.records.format import spool_of

pytestmark = pytest.mark.installed

_TESTS = Path(__file__).parent.parent

#: Says how it was started; then does as its first argument says.
HELLO = """
import os, signal, sys, __main__
print(sys.argv[1:], sys.path[0] == os.path.dirname(os.path.abspath(__file__)), __name__,
      __spec__ is None, __main__.__file__ == __file__,
      [entry for entry in sys.path if "startup" in entry])
sys.stdout.flush()
ending = sys.argv[1]
if ending == "raise":
    raise ValueError("from the program")
if ending == "exit":
    sys.exit(3)
if ending == "_exit":
    os._exit(4)
if ending == "kill":
    os.kill(os.getpid(), signal.SIGTERM)
"""

#: Launches a graph for ever.
ENDLESS = """
import sys
from contract import driver
from contract.cases import GRAPH_SHAPES, build_shape
cuda = driver.Driver()
stream = cuda.stream()
graph_exec = cuda.instantiate(build_shape(cuda, GRAPH_SHAPES["diamond"]))
print("ready", flush=True)
import time
while True:
    cuda.launch_graph(graph_exec, stream)
    cuda.wait(stream)
    time.sleep(0.002)
"""

#: Waits for a line before it uses CUDA, or between launches; exits with 5.
PAUSING = """
import sys

def pause():
    print("ready", flush=True)
    sys.stdin.readline()

if sys.argv[1] == "early":
    pause()
from contract import driver
from contract.cases import GRAPH_SHAPES, build_shape
cuda = driver.Driver()
stream = cuda.stream()
graph_exec = cuda.instantiate(build_shape(cuda, GRAPH_SHAPES["diamond"]))
for at in range(400):
    if at == 200 and sys.argv[1] == "late":
        pause()
    cuda.launch_graph(graph_exec, stream)
    cuda.wait(stream)
sys.exit(5)
"""


def start(
    backend: Backend,
    output: Path | None,
    *program: str,
    options: tuple[str, ...] = (),
    preloaded: Path | None = None,
    folder: Path | None = None,
) -> subprocess.Popen[str]:
    """Start ``gviz run`` in a process of its own; without an output it names the file."""
    named = () if output is None else ("-o", str(output))
    extra = {} if preloaded is None else {"LD_PRELOAD": preloading(preloaded)}
    path = os.pathsep.join(filter(None, [str(_TESTS), os.environ.get("PYTHONPATH")]))
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "gviz", "run", *named, *options, *program],
        cwd=folder,
        env={**backend.environment, "PYTHONPATH": path, **extra},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def script(folder: Path, text: str) -> str:
    """Write a script; return its path."""
    path = folder / "script.py"
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize(
    ("ending", "code"), [("ok", 0), ("raise", 1), ("exit", 3), ("_exit", 4), ("kill", -15)]
)
def test_run_ends_as_python_does(backend: Backend, tmp_path: Path, ending: str, code: int) -> None:
    program = script(tmp_path, HELLO)
    plain = subprocess.run(
        [sys.executable, program, ending], capture_output=True, text=True, check=False
    )
    output = tmp_path / "out.gviz"
    run = start(backend, output, program, ending, "--flag", "-x", options=("--json",))
    stdout, stderr = run.communicate(timeout=120)
    assert run.returncode == code == plain.returncode
    stdout, line = stdout.splitlines(keepends=True)
    assert json.loads(line) == {
        "run_version": 1,
        "path": str(output),
        "size_bytes": output.stat().st_size,
        "exit_code": code if code >= 0 else 128 - code,
    }
    assert stdout == f"['{ending}', '--flag', '-x'] True __main__ True True []\n"
    assert ("ValueError: from the program" in stderr) == (ending == "raise")
    assert "gviz/collectors" not in stderr, "no frame of ours in the traceback"
    with Recording(output) as recording:
        (row,) = recording.fetch_runs()
        assert row.exit_code == (code if code >= 0 else 128 - code)
        assert row.state == ("aborted" if ending in ("_exit", "kill") else "completed")
    assert not Path(f"{output}-spool").exists()


def test_run_names_the_recording_after_the_program(backend: Backend, tmp_path: Path) -> None:
    program = script(tmp_path, HELLO)
    for name in ("script.gviz", "script-2.gviz", "script-3.gviz"):
        run = start(backend, None, program, "ok", folder=tmp_path)
        _, stderr = run.communicate(timeout=120)
        assert (run.returncode, stderr.count(f"wrote {tmp_path / name};")) == (0, 1), stderr
        if name == "script-2.gviz":
            (tmp_path / name).rename(tmp_path / "kept.gviz")
            Path(f"{tmp_path / name}-spool").mkdir()  # left over: its recording is still to come


def test_run_names_a_recording_beside_its_folder_without_dots(
    backend: Backend, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere" / "deep").mkdir(parents=True)
    (tmp_path / "here").symlink_to(tmp_path / "elsewhere" / "deep")
    run = start(backend, Path("here/../x.gviz"), script(tmp_path, HELLO), "ok", folder=tmp_path)
    _, stderr = run.communicate(timeout=120)
    written = tmp_path / "elsewhere" / "x.gviz"
    assert (run.returncode, stderr.count(f"wrote {written};")) == (0, 1), stderr
    assert written.exists()


def test_run_says_that_a_program_has_used_no_cuda(backend: Backend, tmp_path: Path) -> None:
    run = start(backend, tmp_path / "x.gviz", script(tmp_path, "print('done')\n"))
    stdout, stderr = run.communicate(timeout=120)
    assert (run.returncode, stdout) == (0, "done\n")
    assert "x.gviz; it has no graph: the program did not initialise CUDA" in stderr
    assert "look at it" not in stderr


@pytest.mark.quick
def test_run_module_records_graphs(backend: Backend, tmp_path: Path) -> None:
    output = tmp_path / "out.gviz"
    unused = tmp_path / "unused.gviz"
    options = ("--collector", "cupti", "--node-launches", "2", "--eager-operations", "0")
    arguments = ("-m", "contract.programs", "shapes", "none", str(unused), "{}")
    run = start(backend, output, *arguments, options=(*options, "--name", "shapes"))
    _, stderr = run.communicate(timeout=120)
    assert run.returncode == 0, stderr
    with Recording(output) as recording:
        (row,) = recording.fetch_runs()
        assert (row.name, row.source, row.state) == ("shapes", "run", "completed")
        graphs = recording.fetch_graphs()
        assert len(graphs) >= 8
        for graph in graphs:
            nodes = recording.fetch_nodes(graph.graph_id)
            launches = recording.fetch_launches(graph.graph_id)
            assert [launch.span_count for launch in launches] == [len(nodes), len(nodes), 0]
            assert all(node.stack_id is not None for node in nodes)


def test_run_inside_run_leaves_the_program_alone(backend: Backend, tmp_path: Path) -> None:
    output, inner = tmp_path / "out.gviz", tmp_path / "inner.gviz"
    arguments = ("-m", "contract.programs", "captured", "gviz", str(inner), "{}")
    run = start(backend, output, *arguments)
    _, stderr = run.communicate(timeout=120)
    assert run.returncode == 0, stderr
    assert "nothing is written to" in stderr
    assert not inner.exists()
    with Recording(output) as recording:
        assert len(recording.fetch_graphs()) == 1


def ready(run: subprocess.Popen[str], output: Path | None = None) -> None:
    """Wait until the program says so; with an output until many launches for it are written."""
    assert run.stdout is not None
    assert run.stdout.readline() == "ready\n", run.communicate()[1]
    if output:
        snapshot = output.with_name("awaited.gviz")
        await_recorded(spool_of(output), snapshot, lambda found: len(timed_in(found)) > 20)


def timed_in(recording: Recording) -> list[rows.Launch]:
    """Return the launches of which each node is timed; none before there is a graph."""
    return [
        launch
        for graph in recording.fetch_graphs()
        for launch in recording.fetch_launches(graph.graph_id)
        if launch.span_count == 4
    ]


def launches_of(output: Path) -> tuple[str, int]:
    """Return the state of a recording and how many launches have node times."""
    with Recording(output) as recording:
        (row,) = recording.fetch_runs()
        return row.state, len(timed_in(recording))


@pytest.mark.quick
def test_interrupt_reaches_the_program_and_keeps_the_recording(
    backend: Backend, tmp_path: Path
) -> None:
    output = tmp_path / "out.gviz"
    run = start(backend, output, script(tmp_path, ENDLESS), options=("--node-launches", "all"))
    ready(run, output)
    os.killpg(run.pid, signal.SIGINT)  # as the terminal does on Ctrl-C
    _, stderr = run.communicate(timeout=120)
    assert run.returncode == -signal.SIGINT, stderr
    assert "KeyboardInterrupt" in stderr
    state, recorded = launches_of(output)
    assert state == "completed"
    assert recorded > 20


def test_killed_tree_is_folded_by_the_next_info(backend: Backend, tmp_path: Path) -> None:
    output = tmp_path / "out.gviz"
    run = start(backend, output, script(tmp_path, ENDLESS), options=("--node-launches", "all"))
    ready(run, output)
    os.killpg(run.pid, signal.SIGKILL)  # parent and program at once: nobody can fold
    run.communicate(timeout=120)
    assert not output.exists()
    info = subprocess.run(
        [sys.executable, "-P", "-m", "gviz", "info", str(output)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert info.returncode == 0, info.stderr
    assert "aborted" in info.stdout
    state, recorded = launches_of(output)
    assert state == "aborted"
    assert recorded > 20


def timed_launches(output: Path) -> int:
    """Return how many launches have node times, also those without a row."""
    with Recording(output) as recording:
        return recording.count_launches(1)[1]


def test_running_program_is_seen_before_and_while_it_uses_cuda(
    backend: Backend, tmp_path: Path
) -> None:
    output, snapshot = tmp_path / "out.gviz", tmp_path / "snapshot.gviz"
    text = "import sys; print('started', flush=True); sys.stdin.readline()\n" + ENDLESS
    options = ("--node-launches", "all")
    run = start(backend, output, script(tmp_path, text), options=options)
    assert run.stdout is not None
    assert run.stdout.readline() == "started\n"
    assert find_source(output) == spool_of(output)
    snapshots = Snapshots(spool_of(output), snapshot)
    answer = snapshots.take()
    assert (answer.is_over, answer.failure) == (False, "")
    assert run.stdin is not None
    run.stdin.write("go\n")
    run.stdin.flush()
    ready(run, output)
    answer = snapshots.take()
    assert (answer.written, answer.is_over, answer.failure) == (True, False, "")
    assert launches_of(snapshot)[0] == "recording"
    first = timed_launches(snapshot)
    assert first > 20
    eventually(
        lambda: snapshots.take().written and timed_launches(snapshot) > first, "later launches"
    )
    os.killpg(run.pid, signal.SIGINT)
    run.communicate(timeout=120)
    assert snapshots.take().is_over
    assert launches_of(output)[0] == "completed"


def test_missing_script_is_one_sentence(backend: Backend, tmp_path: Path) -> None:
    run = start(backend, tmp_path / "out.gviz", str(tmp_path / "none.py"))
    stdout, stderr = run.communicate(timeout=120)
    assert (run.returncode, stdout) == (2, "")
    assert stderr.startswith("gviz: there is no script")
    assert len(stderr.splitlines()) == 1


def test_existing_output_is_not_overwritten(backend: Backend, tmp_path: Path) -> None:
    output = tmp_path / "out.gviz"
    output.write_text("precious")
    run = start(backend, output, script(tmp_path, HELLO), "ok")
    stdout, stderr = run.communicate(timeout=120)
    assert (run.returncode, stdout) == (1, "")
    assert "--overwrite" in stderr
    assert output.read_text() == "precious"


def _occupy(output: Path) -> None:
    output.write_text("precious")


def _replace_spool(output: Path) -> None:
    spool = spool_of(output)
    shutil.rmtree(spool)
    (spool / "000000.segment").mkdir(parents=True)


def _damage(output: Path) -> None:
    (spool_of(output) / "000000.segment").write_bytes(b"no segment" * 20)


def _move(output: Path) -> None:
    output.parent.rename(output.parent.with_name("moved"))


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda output: shutil.rmtree(spool_of(output)), "its spool has gone"),
        (lambda output: shutil.rmtree(output.parent), "its spool has gone"),
        (_move, "its spool has gone"),
        (_occupy, "exists"),
        (lambda output: output.mkdir(), "it is a directory"),
        (_replace_spool, "what was recorded is left in"),
        (_damage, "what was recorded is left in"),
    ],
    ids=[
        "spool deleted",
        "folder deleted",
        "folder moved",
        "output occupied",
        "output a folder",
        "segment a folder",
        "segment damaged",
    ],
)
@pytest.mark.parametrize("moment", ["early", "late"])
def test_program_ends_as_it_does_also_where_no_recording_can_be_written(
    backend: Backend, tmp_path: Path, spoil: Callable[[Path], object], says: str, moment: str
) -> None:
    output = tmp_path / "folder" / "out.gviz"
    output.parent.mkdir()
    run = start(backend, output, script(tmp_path, PAUSING), moment)
    ready(run)
    spoil(output)
    _, stderr = run.communicate("go\n", timeout=120)
    assert run.returncode == 5, stderr
    assert "Traceback" not in stderr
    assert f"gviz: {output} was not written: " in stderr
    assert says in stderr


def jumping_clock(folder: Path) -> Path:
    """Build what changes the clock of a process; return it, to be preloaded."""
    library, source = folder / "jumps.so", Path(__file__).with_name("jumping_clock.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return library


def test_clock_that_jumps_changes_neither_exit_code_nor_recording(
    backend: Backend, tmp_path: Path
) -> None:
    library, output = jumping_clock(tmp_path), tmp_path / "out.gviz"
    jumps = "import time\nassert abs(time.time() - time.time()) > 3600\n"
    run = start(backend, output, script(tmp_path, jumps + PAUSING), "never", preloaded=library)
    with run:
        try:
            _, stderr = run.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, signal.SIGKILL)
            raise
    assert run.returncode == 5, stderr
    assert "Traceback" not in stderr
    with Recording(output) as recording:
        (graph,) = recording.fetch_graphs()
        assert recording.count_launches(graph.graph_id)[0] == 400  # many have no row of their own


#: Half of its launches come after the clock was set back by two hours.
SET_BACK = """
import sys, time
from pathlib import Path
from contract import driver
from contract.cases import GRAPH_SHAPES, build_shape
cuda = driver.Driver()
stream = cuda.stream()
graph_exec = cuda.instantiate(build_shape(cuda, GRAPH_SHAPES["diamond"]))
before = time.time()
for at in range(80):
    if at == 40:
        Path(sys.argv[1]).touch()
    cuda.launch_graph(graph_exec, stream)
    cuda.wait(stream)
    time.sleep(0.02)
assert time.time() < before
"""


def test_launches_are_timed_as_before_once_the_clock_was_set_back(
    fake: Backend, tmp_path: Path
) -> None:
    marker, output = tmp_path / "set back", tmp_path / "out.gviz"
    backend = Backend("fake", {**fake.environment, "CLOCK_SET_BACK": str(marker)}, tmp_path)
    program = (script(tmp_path, SET_BACK), str(marker))
    with start(backend, output, *program, preloaded=jumping_clock(tmp_path)) as run:
        _, stderr = run.communicate(timeout=120)
    assert run.returncode == 0, stderr
    with Recording(output) as recording:
        found = {x.name: x.value for x in recording.fetch_measurements(1)}
    assert found["launches_timed_by_events"] > 40


@pytest.mark.parametrize(
    ("collector", "environment", "reason"),
    [
        ("events", {}, "requested"),
        ("auto", {"FAKE_CUPTI_TAKEN": "1"}, "CUPTI cannot be used"),
    ],
)
def test_run_without_cupti_watches(
    fake: Backend, tmp_path: Path, collector: str, environment: dict[str, str], reason: str
) -> None:
    output, unused = tmp_path / "out.gviz", tmp_path / "unused.gviz"
    program = ("-m", "contract.programs", "torch_graphs", "none", str(unused), "{}")
    backend = Backend("fake", {**fake.environment, **environment}, tmp_path)
    run = start(backend, output, *program, options=("--collector", collector, "--no-gate"))
    _, stderr = run.communicate(timeout=120)
    assert run.returncode == 0, stderr
    assert stderr.count("gviz: CUPTI cannot be used") == (collector == "auto")
    with Recording(output) as recording:
        (row,) = recording.fetch_runs()
        assert row.collector == "events"
        assert (row.collector_reason or "").startswith(reason)
        graphs = recording.fetch_graphs()
        assert len(graphs) == 6
        launches = recording.fetch_launches(graphs[0].graph_id)
        # One more than inside the block of the program: gviz run records to the end.
        assert methods(recording, graphs[0])[:-1] == [None, *TURN, *TURN, "events"]
        assert len(launches) == 11
