"""Bad input: odd names, empty graphs, launches into captures, disks that fill up."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from contract.backend import Backend, Outcome, preloading
from contract.recorded import RUN, launch_ids, top_graphs
from contract.scripts import PREAMBLE, run_script

_TESTS = Path(__file__).parent.parent
_RESULT = [0.0, 6.0, 12.0, 18.0]

#: posix_fallocate and open fail once so many segments were made; as on a disk that is full.
FULL_DISK = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/types.h>
int posix_fallocate(int file, off_t offset, off_t bytes) {
    static int calls;
    int (*next)(int, off_t, off_t) = dlsym(RTLD_NEXT, "posix_fallocate");
    return calls++ < atoi(getenv("SEGMENTS_LEFT")) ? next(file, offset, bytes) : ENOSPC;
}
"""

if importlib.util.find_spec("dash") is not None:
    from everything import show_everything
else:  # a machine with a GPU need not have the viewer's packages

    def show_everything(path: Path) -> str:
        """Return what the command line shows of a recording."""
        from gviz.cli.command_line import main

        with contextlib.redirect_stdout(io.StringIO()) as shown:
            assert main(["info", str(path)]) == 0
        return shown.getvalue()


@pytest.fixture(scope="session")
def full_disk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library for LD_PRELOAD that makes the disk full for the spool."""
    folder = tmp_path_factory.mktemp("full")
    (folder / "full.c").write_text(FULL_DISK)
    command = [os.environ.get("CC", "cc"), "-shared", "-fPIC", "-o", "full.so", "full.c", "-ldl"]
    subprocess.run(command, cwd=folder, check=True)
    return folder / "full.so"


def run_stress(backend: Backend, program: str, **options: object) -> Outcome:
    """Run a program of stress_programs.py; it must end well."""
    outcome = backend.run(program, script="stress_programs.py", writer=True, **options)
    assert outcome.returncode == 0, outcome.stderr
    return outcome


# -- names -------------------------------------------------------------------------------------


def assert_names_are_kept(outcome: Outcome) -> None:
    """Every name is there, on the graph's side and on the stream's, and can be shown."""
    assert outcome.stderr == ""
    names = outcome.facts["names"]
    with outcome.recording() as recording:
        functions = recording.fetch_functions(RUN)
        (graph,) = top_graphs(recording)
        nodes = recording.fetch_nodes(graph.graph_id)
        assert [functions[n.function_id or 0].mangled_name for n in nodes] == names
        operations = recording.fetch_run_stream_operations(RUN)
        assert [functions[o.function_id or 0].mangled_name for o in operations] == 2 * names
        assert len(functions) == len(names)
        assert all(len(node.name) > 0 for node in nodes)
        assert len(launch_ids(recording, graph)) == outcome.facts["launches"]
    shown = show_everything(outcome.output)
    if importlib.util.find_spec("dash") is not None:  # the command line cuts them shorter
        assert "k" * 50 in shown


def test_names_of_4000_characters_are_kept(backend: Backend) -> None:
    assert_names_are_kept(run_stress(backend, "named"))


def test_names_that_are_no_text_are_kept_readable(fake: Backend) -> None:
    assert_names_are_kept(run_stress(fake, "oddly_named"))


# -- graphs ------------------------------------------------------------------------------------


@pytest.mark.quick
def test_graph_without_nodes_is_recorded_and_shown(backend: Backend) -> None:
    outcome = backend.run("shapes")
    assert outcome.returncode == 0, outcome.stderr
    with outcome.recording() as recording:
        empty = top_graphs(recording)[0]
        assert recording.fetch_nodes(empty.graph_id) == []
        launches = recording.fetch_launches(empty.graph_id)
        assert len(launches) == outcome.facts["launches"]
        assert {launch.span_count for launch in launches} == {0}
        assert {launch.gpu_start_ns for launch in launches} == {None}
        missing = [
            m.value
            for m in recording.fetch_measurements(RUN)
            if m.name == "launches_without_node_times"
        ]
        assert missing == [0]
    show_everything(outcome.output)


def test_launch_into_a_capture_leaves_no_event_of_gviz(backend: Backend) -> None:
    recorded, plain = backend.run("captured_launch"), backend.run("captured_launch", "none")
    assert recorded.returncode == plain.returncode == 0
    assert (recorded.facts["launch"], recorded.facts["end"]) == (
        plain.facts["launch"], plain.facts["end"],
    )  # fmt: skip
    with recorded.recording() as recording:
        for graph in recording.fetch_graphs():
            types = {node.type for node in recording.fetch_nodes(graph.graph_id)}
            assert types <= {0}, "no event node among the kernels"
        (inner,) = [g for g in top_graphs(recording) if recording.fetch_launches(g.graph_id)]
        assert len(recording.fetch_launches(inner.graph_id)) == recorded.facts["launches"]
    show_everything(recorded.output)


# -- disks that fill up ------------------------------------------------------------------------


@pytest.mark.parametrize("segments", [1, 2])
def test_full_disk_stops_the_recording_and_not_the_program(
    backend: Backend, full_disk: Path, segments: int
) -> None:
    environment = {"LD_PRELOAD": preloading(full_disk), "SEGMENTS_LEFT": str(segments)}
    outcome = run_stress(backend, "growing", environment=environment)
    assert outcome.facts["result"] == _RESULT
    assert outcome.facts["cupti_is_free"], "the program pays no longer for what is not kept"
    (line,) = outcome.stderr.splitlines()
    assert line.startswith("gviz: collecting stopped: the spool cannot grow: No space left")
    assert "; make room on its disk, or have it on another (gviz run -o PATH); the program" in line
    with outcome.recording() as recording:
        (run,) = recording.fetch_runs()
        assert run.state == "aborted"
        notes = [note.text for note in recording.fetch_notes(RUN)]
        assert any("collecting stopped: the spool cannot grow: No space" in n for n in notes)
        assert not any("without closing" in note for note in notes)
        assert len(recording.fetch_graphs()) >= 1, "what was written before is there"
    assert not Path(f"{outcome.output}-spool").exists()
    show_everything(outcome.output)


def test_disk_full_from_the_start_is_one_line(backend: Backend, full_disk: Path) -> None:
    environment = {"LD_PRELOAD": preloading(full_disk), "SEGMENTS_LEFT": "0"}
    outcome = run_stress(backend, "growing", environment=environment)
    assert outcome.facts["result"] == _RESULT
    assert "cannot write the spool" in outcome.stderr
    assert "No space left on device" in outcome.stderr
    assert "Traceback" not in outcome.stderr


def test_run_says_that_the_disk_was_full_from_the_start(
    fake: Backend, full_disk: Path, tmp_path: Path
) -> None:
    script = PREAMBLE + "launch(chain(), 3)\nsys.exit(42)\n"
    variables = {"LD_PRELOAD": preloading(full_disk), "SEGMENTS_LEFT": "0"}
    done = run_script(fake, tmp_path, script, "-o", "out.gviz", **variables)
    assert done.returncode == 42, done.stderr
    last = done.stderr.splitlines()[-1]
    assert "out.gviz was not written: nothing could be recorded in " in last
    assert "No space left on device" in last
    assert [path.name for path in tmp_path.iterdir()] == ["script.py"]


@pytest.mark.parametrize("action", [signal.SIG_DFL, signal.SIG_IGN])
def test_file_size_limit_does_not_end_the_program(
    backend: Backend, tmp_path: Path, action: signal.Handlers
) -> None:
    # Beyond the limit the kernel sends SIGXFSZ, which ends a program that does not ignore it.
    # Python ignores it; a program of another language does not.
    output = tmp_path / "out.gviz"
    code = (
        f"import signal, sys, runpy; signal.signal(signal.SIGXFSZ, signal.Handlers({int(action)}));"
        f"sys.argv = ['stress', 'growing', 'gviz', {str(output)!r}];"
        "runpy.run_module('contract.stress_programs', run_name='__main__')"
    )
    path = os.pathsep.join(filter(None, [str(_TESTS), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        env={**backend.environment, "PYTHONPATH": path},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20)),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert str(_RESULT) in done.stdout
    assert "cannot write the spool" in done.stderr
    assert "File too large" in done.stderr
