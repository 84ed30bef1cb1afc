"""``gviz run`` on programs of every kind: binaries, and programs of several processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path

import pytest
from contract.backend import Backend
from contract.recorded import await_recorded
from contract.test_run import start
from contract.writers import awaited_by, writer_of
from ended_processes import tells_ends
from fake.build import compiler

from gviz.recording import rows
from gviz.recording.reader import Recording
from gviz.spool import spool_of

pytestmark = pytest.mark.installed

_SOURCE = Path(__file__).parent / "binary.c"
_PLAIN = "words are 4\n"

#: Builds a graph of four kernels in a row, and launches it three times.
WORK = """
import os, sys
from contract import driver
from contract.cases import GRAPH_SHAPES, build_shape
from contract.programs import launch_times

def work():
    cuda = driver.Driver()
    launch_times(cuda, build_shape(cuda, GRAPH_SHAPES["chain"]), 3, cuda.stream())
"""

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def binary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program of binary.c."""
    target = tmp_path_factory.mktemp("binary") / "binary"
    flags = ["-std=gnu11", "-Wall", "-Wextra", "-Werror"]
    command = [compiler() or "cc", *flags, "-o", str(target), str(_SOURCE), "-ldl"]
    subprocess.run(command, check=True)
    return target


@pytest.fixture
def run(backend: Backend, tmp_path: Path) -> Run:
    """Run a program under gviz into ``out.gviz``."""

    def run(
        *program: str, options: tuple[str, ...] = (), environment: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        where = Backend(backend.name, {**backend.environment, **(environment or {})}, tmp_path)
        process = start(where, tmp_path / "out.gviz", *program, options=options)
        stdout, stderr = process.communicate(timeout=120)
        assert not (tmp_path / "out.gviz-spool").exists(), stderr
        return subprocess.CompletedProcess(program, process.returncode, stdout, stderr)

    return run


@contextmanager
def opened(tmp_path: Path):
    with Recording(tmp_path / "out.gviz") as recording:
        yield recording


def python_script(tmp_path: Path, text: str) -> str:
    path = tmp_path / "script.py"
    path.write_text(WORK + text)
    return str(path)


def await_launches(output: Path, counts: list[int]) -> None:
    """Wait until so many launches of each graph are written."""

    def are_there(found: Recording) -> bool:
        return [len(found.fetch_launches(g.graph_id)) for g in found.fetch_graphs()] == counts

    await_recorded(spool_of(output), output.with_name("awaited.gviz"), are_there)


def graph_of(recording: Recording, run: rows.Run) -> rows.Graph:
    """Return the one graph of a run, having checked that all of it was recorded."""
    (graph,) = recording.fetch_graphs(run.run_id)
    nodes = recording.fetch_nodes(graph.graph_id)
    assert len(nodes) == 4
    assert graph.topology_id is not None
    assert len(recording.fetch_edges(graph.topology_id)) == 3
    launches = recording.fetch_launches(graph.graph_id)
    assert len(launches) == 3
    assert {launch.span_count for launch in launches[1:]} <= {0, 4}  # copies in their place
    assert len(recording.fetch_devices(run.run_id)) == 1
    return graph


def stack_reasons(recording: Recording, run: rows.Run) -> set[str | None]:
    graph = graph_of(recording, run)
    return {node.stack_reason for node in recording.fetch_nodes(graph.graph_id)}


class TestBinary:
    @pytest.mark.quick
    def test_binary_is_recorded_and_unchanged(
        self, run: Run, backend: Backend, binary: Path, tmp_path: Path
    ) -> None:
        arguments = [str(binary), "run", "it's", "\x01\udcff\u00e9"]
        plain = subprocess.run(
            arguments, env=dict(backend.environment), capture_output=True, text=True, check=False
        )
        done = run(*arguments)
        assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout) == (3, _PLAIN)
        assert done.stderr.startswith(plain.stderr)
        with opened(tmp_path) as recording:
            (row,) = recording.fetch_runs()
            assert (row.name, row.state, row.source) == ("binary", "completed", "run")
            assert (row.exit_code, row.collector) == (3, "events")
            assert row.process_id is not None
            assert row.python_version is None
            assert row.command == f"{binary} run 'it'\"'\"'s' '\x01\ufffd\u00e9'"
            assert row.node_launches == "20"
            assert stack_reasons(recording, row) == {"not a Python program"}
            (graph,) = recording.fetch_graphs()
            assert graph.origin == "explicit"
            values = [node.memset_value for node in recording.fetch_nodes(graph.graph_id)]
            assert values == [1, 2, 3, 4]

    def test_options_reach_a_binary(self, run: Run, binary: Path, tmp_path: Path) -> None:
        options = ("--collector", "cupti", "--node-launches", "1", "--eager-operations", "0")
        run(str(binary), options=options)
        with opened(tmp_path) as recording:
            (graph,) = recording.fetch_graphs()
            launches = recording.fetch_launches(graph.graph_id)
            assert [launch.span_count for launch in launches] == [4, 0, 0]
            assert recording.fetch_run_stream_operations(1) == []

    def test_nvtx_ranges_of_a_binary_arrive(self, run: Run, binary: Path, tmp_path: Path) -> None:
        run(str(binary), "nvtx")
        with opened(tmp_path) as recording:
            paths = recording.fetch_nvtx_paths(1)
            first, second = recording.fetch_graphs()
            before = {n.nvtx_path_id for n in recording.fetch_nodes(first.graph_id)}
            inside = {n.nvtx_path_id for n in recording.fetch_nodes(second.graph_id)}
            # "outer" was opened before the driver initialised.
            assert [paths[i].text for i in before if i is not None] == ["outer"]
            (inner,) = inside
            assert inner is not None
            assert paths[inner].text == "inner"
            assert paths[inner].parent_id in before
            assert [r.nvtx_path_id for r in recording.fetch_nvtx_ranges(1)] == [inner]

    def test_ranges_end_by_the_call_of_the_payload_extension(
        self, run: Run, binary: Path, tmp_path: Path
    ) -> None:
        """As NCCL ends that of ncclCommInitRankConfig; all that followed would be inside."""
        run(str(binary), "nvtx payload")
        with opened(tmp_path) as recording:
            (graph,) = recording.fetch_graphs()
            assert {n.nvtx_path_id for n in recording.fetch_nodes(graph.graph_id)} == {None}

    def test_launches_of_exit_handlers_are_recorded(
        self, run: Run, binary: Path, tmp_path: Path
    ) -> None:
        assert run(str(binary), "atexit").returncode == 3
        with opened(tmp_path) as recording:
            (graph,) = recording.fetch_graphs()
            assert len(recording.fetch_launches(graph.graph_id)) == 5
            assert recording.fetch_runs()[0].state == "completed"

    def test_binary_that_leaves_at_once_is_recorded_as_aborted(
        self, run: Run, binary: Path, tmp_path: Path
    ) -> None:
        done = run(str(binary), "_exit")
        assert (done.returncode, done.stdout) == (5, _PLAIN)
        with opened(tmp_path) as recording:
            (row,) = recording.fetch_runs()
            assert (row.state, row.exit_code) == ("aborted", 5)
            assert len(recording.fetch_graphs()) == 1

    def test_killed_binary_is_recorded_up_to_the_last_flush(
        self, backend: Backend, binary: Path, tmp_path: Path
    ) -> None:
        process = start(backend, tmp_path / "out.gviz", str(binary), "wait")
        assert process.stdout is not None
        assert [process.stdout.readline() for _ in range(2)] == [_PLAIN, "ready\n"]
        await_launches(tmp_path / "out.gviz", [3])
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        os.kill(int(children[0]), signal.SIGKILL)
        process.communicate(timeout=120)
        assert process.returncode == -signal.SIGKILL
        with opened(tmp_path) as recording:
            (row,) = recording.fetch_runs()
            assert (row.state, row.exit_code) == ("aborted", 128 + signal.SIGKILL)
            graph_of(recording, row)

    def test_binary_without_cuda_leaves_no_recording(
        self, run: Run, binary: Path, tmp_path: Path
    ) -> None:
        done = run(str(binary), "nothing")
        assert (done.returncode, done.stdout) == (3, "no CUDA here\n")
        assert "no process initialised CUDA" in done.stderr
        assert not (tmp_path / "out.gviz").exists()

    def test_child_that_uses_cuda_first_gets_a_run_of_its_own(
        self, run: Run, binary: Path, tmp_path: Path
    ) -> None:
        assert run(str(binary), "fork first").returncode == 3
        with opened(tmp_path) as recording:
            first, child = recording.fetch_runs()
            assert (first.name, child.name) == ("binary", f"binary pid {child.process_id}")
            assert first.exit_code == 3
            assert child.exit_code in (4, None)  # it may end before the writer has seen it
            assert first.state == child.state == "completed"
            for row in (first, child):
                assert stack_reasons(recording, row) == {"not a Python program"}

    @pytest.mark.parametrize(("code", "state"), [(0, "completed"), (6, "aborted")])
    def test_child_that_leaves_at_once_ended_as_it_says(
        self, backend: Backend, binary: Path, tmp_path: Path, code: int, state: str
    ) -> None:
        if not tells_ends():
            pytest.skip("Linux tells of ended processes of others from 6.15 on")
        process = start(backend, tmp_path / "out.gviz", str(binary), "fork first", str(code))
        spool, writer = tmp_path / "out.gviz-spool", writer_of(process.pid)
        until = time.monotonic() + 60
        while not {int(f.name.partition("-")[0]) for f in spool.glob("*-*")} & awaited_by(writer):
            assert time.monotonic() < until
            time.sleep(0.01)
        await_launches(tmp_path / "out.gviz", [3, 3])
        process.communicate("\n", timeout=120)
        assert process.returncode == 3
        with opened(tmp_path) as recording:
            _, child = recording.fetch_runs()
            assert (child.state, child.exit_code) == (state, code)
            graph_of(recording, child)

    def test_child_of_a_process_that_uses_cuda_is_left_alone(
        self, run: Run, binary: Path, tmp_path: Path
    ) -> None:
        assert run(str(binary), "fork later").returncode == 3
        with opened(tmp_path) as recording:
            (row,) = recording.fetch_runs()
            assert row.state == "completed"
            graph_of(recording, row)

    def test_program_that_replaces_itself_has_two_runs(
        self, run: Run, binary: Path, tmp_path: Path
    ) -> None:
        done = run(str(binary), "exec", str(binary))
        assert (done.returncode, done.stdout) == (3, _PLAIN * 2)
        with opened(tmp_path) as recording:
            before, after = recording.fetch_runs()
            assert before.process_id == after.process_id
            assert (before.state, after.state) == ("aborted", "completed")
            assert (before.exit_code, after.exit_code) == (None, 3)
            graph_of(recording, after)

    def test_without_children_only_the_first_process_is_recorded(
        self, run: Run, binary: Path, tmp_path: Path
    ) -> None:
        assert run(str(binary), "fork first", options=("--no-children",)).returncode == 3
        with opened(tmp_path) as recording:
            (row,) = recording.fetch_runs()
            assert row.name == "binary"


class TestPrograms:
    def test_python_found_on_path_is_recorded_with_stacks(self, run: Run, tmp_path: Path) -> None:
        folder = tmp_path / "bin"
        folder.mkdir()
        (folder / "anypython").symlink_to(sys.executable)
        path = f"{folder}{os.pathsep}{os.environ['PATH']}"
        script = python_script(tmp_path, "work()\nsys.exit(7)")
        # Outside its environment the interpreter finds no gviz: it comes with the run.
        done = run("anypython", script, environment={"PATH": path})
        assert done.returncode == 7, done.stderr
        with opened(tmp_path) as recording:
            (row,) = recording.fetch_runs()
            assert (row.name, row.exit_code) == ("script", 7)
            graph = graph_of(recording, row)
            for node in recording.fetch_nodes(graph.graph_id):
                assert node.stack_id is not None, node.stack_reason

    def test_isolated_python_is_recorded_without_stacks(self, run: Run, tmp_path: Path) -> None:
        script = python_script(tmp_path, "work()")
        tests = str(Path(__file__).parent.parent)
        text = f"import sys; sys.path[:0] = [{tests!r}, *{sys.path!r}]\n"
        Path(script).write_text(text + Path(script).read_text())
        assert run(sys.executable, "-I", script).returncode == 0
        with opened(tmp_path) as recording:
            (row,) = recording.fetch_runs()
            (reason,) = stack_reasons(recording, row)
            assert reason is not None
            assert "Python part was not loaded" in reason

    def test_shell_script_is_no_run_of_its_own(
        self, run: Run, binary: Path, tmp_path: Path
    ) -> None:
        script = tmp_path / "job.sh"
        script.write_text(f"#!/bin/sh\n{binary}\n{binary} || exit 6\n")
        script.chmod(0o755)
        assert run(str(script)).returncode == 6
        with opened(tmp_path) as recording:
            runs = recording.fetch_runs()
            assert [r.name for r in runs] == [f"job pid {r.process_id}" for r in runs]
            assert [r.state for r in runs] == ["completed", "completed"]
            assert runs[0].started_ns < runs[1].started_ns  # type: ignore[operator]

    @pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
    def test_multiprocessing_gives_a_run_a_process(
        self, run: Run, tmp_path: Path, method: str
    ) -> None:
        script = python_script(
            tmp_path,
            f"""
import multiprocessing
if __name__ == "__main__":
    context = multiprocessing.get_context({method!r})
    processes = [context.Process(target=work) for _ in range(2)]
    processes.append(context.Process(target=print, args=("no CUDA", )))
    for process in processes: process.start()
    for process in processes: process.join()
    assert [p.exitcode for p in processes] == [0, 0, 0]
""",
        )
        done = run(script)
        assert (done.returncode, done.stdout) == (0, "no CUDA\n"), done.stderr
        with opened(tmp_path) as recording:
            runs = recording.fetch_runs()
            assert [r.name for r in runs] == [f"script pid {r.process_id}" for r in runs]
            assert len({r.process_id for r in runs}) == 2
            for row in runs:
                assert row.state == "completed"
                assert row.python_version is not None
                graph = graph_of(recording, row)
                for node in recording.fetch_nodes(graph.graph_id):
                    assert node.stack_id is not None, node.stack_reason
                    functions = {f.function for f in recording.fetch_stack(node.stack_id)}
                    assert "work" in functions

    @pytest.mark.parametrize("method", ["fork", "spawn"])
    def test_workers_that_a_pool_terminates_ended_well(
        self, run: Run, tmp_path: Path, method: str
    ) -> None:
        script = python_script(
            tmp_path,
            f"""
import multiprocessing, time
from pathlib import Path
from contract.recorded import await_own_launches

def work_and_wait(at):
    work()
    await_own_launches(3)
    Path(__file__).with_name(f"worked {{at}}").touch()
    time.sleep(100)

if __name__ == "__main__":
    with multiprocessing.get_context({method!r}).Pool(2) as pool:
        pool.map_async(work_and_wait, range(2), chunksize=1)
        while not all(Path(__file__).with_name(f"worked {{at}}").exists() for at in range(2)):
            time.sleep(0.01)
        workers = list(pool._pool)
    for worker in workers: worker.join()
    print([worker.exitcode for worker in workers])
""",
        )
        done = run(script)
        assert done.stdout == f"{[-signal.SIGTERM] * 2}\n", done.stderr
        with opened(tmp_path) as recording:
            runs = recording.fetch_runs()
            assert [row.state for row in runs] == ["completed", "completed"]
            for row in runs:
                graph_of(recording, row)
                (note,) = (n for n in recording.fetch_notes(row.run_id) if "closing" in n.text)
                assert note.text.startswith("the process was terminated by its parent")

    @pytest.mark.parametrize(("code", "state"), [(0, "completed"), (3, "aborted")])
    def test_child_that_leaves_by_os_exit_ended_as_it_says(
        self, run: Run, tmp_path: Path, code: int, state: str
    ) -> None:
        script = python_script(
            tmp_path,
            f"""
import pickle
from contract.recorded import await_own_launches
assert pickle.loads(pickle.dumps(os._exit)) is os._exit
if (child := os.fork()) == 0:
    work()
    await_own_launches(3)
    os._exit(status={code})
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
""",
        )
        done = run(script)
        assert (done.returncode, done.stdout) == (0, f"{code}\n"), done.stderr
        with opened(tmp_path) as recording:
            (row,) = recording.fetch_runs()
            assert row.state == state
            graph_of(recording, row)

    def test_workers_that_end_well_are_completed_and_killed_ones_aborted(
        self, run: Run, tmp_path: Path, gviz_here: Run
    ) -> None:
        script = python_script(
            tmp_path,
            """
import multiprocessing, signal
from concurrent.futures import ProcessPoolExecutor
from contract.recorded import await_own_launches

def work_as(name):
    work()
    print(os.getpid(), name, flush=True)

def be_killed():
    work_as("killed")
    await_own_launches(3)
    os.kill(os.getpid(), signal.SIGKILL)

def fail():
    work_as("failed")
    await_own_launches(3)
    os._exit(3)

context = multiprocessing.get_context("fork")
for target, arguments in ((work_as, ("process",)), (be_killed, ()), (fail, ())):
    process = context.Process(target=target, args=arguments)
    process.start()
    process.join()
with context.Pool(1) as pool:  # ended by close and join, not by its context
    pool.map(work_as, ["pool"])
    pool.close()
    pool.join()
with ProcessPoolExecutor(1, context) as executor:
    executor.submit(work_as, "executor").result()
if os.fork() == 0:
    work_as("fork")
    os._exit(0)
os.wait()
""",
        )
        done = run(script)
        assert done.returncode == 0, done.stderr
        names = {int(line.split()[0]): line.split()[1] for line in done.stdout.splitlines()}
        ends = dict.fromkeys(("process", "pool", "executor", "fork"), "completed")
        ends |= {"killed": "aborted", "failed": "aborted"}
        output = tmp_path / "out.gviz"
        with opened(tmp_path) as recording:
            runs = recording.fetch_runs()
            assert {names[row.process_id or 0]: row.state for row in runs} == ends
            unclosed = set()
            for row in runs:
                graph_of(recording, row)
                if any("closing" in note.text for note in recording.fetch_notes(row.run_id)):
                    unclosed.add(names[row.process_id or 0])
            # Those that multiprocessing ends close their recordings, though they leave by os._exit.
            assert unclosed == {"fork", "killed", "failed"}
        # Wherever runs are listed.
        found = [r["run"] for r in json.loads(gviz_here("info", output, "--json").stdout)["runs"]]
        assert {names[row["process_id"]]: row["state"] for row in found} == ends
        text = gviz_here("info", output).stdout
        for row in runs:
            assert f"run {row.run_id}: {row.name} ({row.state}" in text

    def test_parent_and_forked_child_both_record(self, run: Run, tmp_path: Path) -> None:
        script = python_script(
            tmp_path,
            """
child = os.fork()
work()
if child == 0:
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
""",
        )
        done = run(script)
        assert done.returncode == 0, done.stderr
        with opened(tmp_path) as recording:
            first, child = recording.fetch_runs()
            assert (first.name, child.name) == ("script", f"script pid {child.process_id}")
            assert first.exit_code == 0
            assert child.exit_code in (0, None)
            assert first.state == child.state == "completed"
            for row in (first, child):
                assert stack_reasons(recording, row) == {None}

    def test_launcher_of_ranks_names_them(self, run: Run, tmp_path: Path) -> None:
        worker = tmp_path / "worker.py"
        # One write: both ranks have the same pipe.
        worker.write_text(WORK + "work()\nprint('rank ' + os.environ['RANK'] + '\\n', end='')")
        script = python_script(
            tmp_path,
            f"""
import subprocess
ranks = [
    subprocess.Popen([sys.executable, {str(worker)!r}], env={{**os.environ, "RANK": str(i)}})
    for i in (1, 0)
]
assert [rank.wait() for rank in ranks] == [0, 0]
""",
        )
        done = run(script, options=("--name", "train"))
        assert done.returncode == 0, done.stderr
        assert sorted(done.stdout.splitlines()) == ["rank 0", "rank 1"]
        with opened(tmp_path) as recording:
            # The launcher used no CUDA: it is no run.
            runs = recording.fetch_runs()
            assert [(r.rank, r.name) for r in runs] == [(0, "train rank 0"), (1, "train rank 1")]
            for row in runs:
                assert stack_reasons(recording, row) == {None}

    def test_run_inside_run_is_recorded_outside(
        self, run: Run, binary: Path, tmp_path: Path
    ) -> None:
        inner = tmp_path / "inner.gviz"
        script = python_script(
            tmp_path,
            f"""
import subprocess
command = [sys.executable, "-P", "-m", "gviz", "run", "-o", {str(inner)!r}, {str(binary)!r}]
sys.exit(subprocess.run(command).returncode)
""",
        )
        done = run(script)
        assert (done.returncode, done.stdout) == (3, _PLAIN), done.stderr
        assert "nothing is written to" in done.stderr
        assert not inner.exists()
        with opened(tmp_path) as recording:
            (row,) = recording.fetch_runs()
            graph_of(recording, row)

    def test_without_children_the_environment_is_clean(self, run: Run, tmp_path: Path) -> None:
        script = tmp_path / "script.py"
        script.write_text(
            "import json, os; print(json.dumps({k: v for k, v in os.environ.items() "
            "if 'GVIZ' in k or k == 'PYTHONPATH'}))"
        )
        done = run(str(script), options=("--no-children",))
        seen = json.loads(done.stdout)
        assert not any("startup" in value for value in seen.values())
        assert set(seen) - set(os.environ) <= {"PYTHONPATH", "GVIZ_CUPTI"}

    def test_process_that_outlives_the_program_is_added_later(
        self, backend: Backend, binary: Path, tmp_path: Path
    ) -> None:
        output = tmp_path / "out.gviz"
        script = python_script(
            tmp_path,
            f"""
import subprocess
work()
late = subprocess.Popen(
    [{str(binary)!r}, "wait"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    start_new_session=True, text=True,
)
assert [late.stdout.readline() for _ in range(2)] == [{_PLAIN!r}, "ready\\n"]
print(late.pid)
""",
        )
        process = start(backend, output, script)
        stdout, stderr = process.communicate(timeout=120)
        late = int(stdout)
        try:
            assert process.returncode == 0, stderr
            assert "1 of its processes still run" in stderr
            with opened(tmp_path) as recording:
                (row,) = recording.fetch_runs()
                notes = [note.text for note in recording.fetch_notes(row.run_id)]
                assert any(f"process {late} was still running" in text for text in notes)
            assert len(info(output)["runs"]) == 1
        finally:
            os.kill(late, signal.SIGKILL)
        wait_for_end(late)
        assert [r["run"]["name"] for r in info(output)["runs"]] == ["script", f"script pid {late}"]
        assert not Path(f"{output}-spool").exists()
        with opened(tmp_path) as recording:
            assert [r.state for r in recording.fetch_runs()] == ["completed", "aborted"]

    def test_killed_tree_of_processes_is_folded_by_the_next_info(
        self, backend: Backend, binary: Path, tmp_path: Path
    ) -> None:
        output = tmp_path / "out.gviz"
        script = python_script(
            tmp_path,
            f"""
import subprocess
work()
children = [subprocess.Popen([{str(binary)!r}, "wait"], stdout=subprocess.PIPE) for _ in "ab"]
for child in children:
    child.stdout.readline(), child.stdout.readline()
print("ready", flush=True)
children[0].wait()
""",
        )
        process = start(backend, output, script)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        await_launches(output, [3, 3, 3])
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=120)
        assert not output.exists()
        assert len(info(output)["runs"]) == 3
        with opened(tmp_path) as recording:
            for row in recording.fetch_runs():
                assert row.state == "aborted"
                graph_of(recording, row)


def info(output: Path) -> dict[str, list[dict[str, dict[str, object]]]]:
    """Return what ``gviz info --json`` says."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", "gviz", "info", "--json", str(output)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, list[dict[str, dict[str, object]]]] = json.loads(done.stdout)
    return found


def wait_for_end(process: int) -> None:
    """Wait until a process that is nobody's child here is gone."""
    for _ in range(200):
        try:
            status = Path(f"/proc/{process}/stat").read_text()
        except OSError:
            return
        if status.rpartition(")")[2].split()[0] in "ZX":
            return
        time.sleep(0.02)
    raise AssertionError(f"process {process} does not end")
