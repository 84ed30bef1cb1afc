"""Some of the contract with sanitizers in the native libraries; ``make sanitize`` runs it all."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from built_once import built_once
from fake.build import Fakes
from places import ROOT

#: Tests of graphs with bodies, so that each program with other bodies runs.
_BODIES = (
    "mixed_graph_has_its_levels",
    "bodies_inside_a_branch_come_after_all_branches",
    "dot_of_the_driver_agrees_with_the_bodies",
    "iterations_of_a_loop_in_a_loop_count_on",
    "queued_launches_keep_their_bodies",
    "captured_body_is_a_body",
    "bodies_of_a_node_added_before_are_known_from_records",
    "destroyed_graphs_leave_no_bodies_behind",
)
#: What goes through most of csrc: walks of nested graphs, captures that break, refused updates,
#: binaries that fork and end.
_TESTS = {
    "address,undefined": (
        *(f"test_nesting.py::TestBodies::test_{name}" for name in _BODIES),
        "test_life.py::TestUpdates::test_refused_updates_say_what_differed",
        "test_life.py::TestCaptures::test_breaking_is_not_changed_by_watching",
        "test_processes.py::TestBinary::test_child_that_uses_cuda_first_gets_a_run_of_its_own",
        "test_processes.py::TestBinary::test_launches_of_exit_handlers_are_recorded",
    ),
    # A driver that is initialised, used and left, the gate's closer beside a program, and the
    # thread of the process's last moment.
    "thread": (
        "test_processes.py::TestBinary::test_launches_of_exit_handlers_are_recorded",
        "test_quiet.py::test_gate_stays_open_while_work_is_in_flight[fake-a stream]",
        "test_trials.py::test_one_update_is_followed",
    ),
}
#: Compiles a program with a fault, and does not look at how it ends.
_FAULT = """
import subprocess
import pytest

@pytest.mark.thorough
def test_fault(tmp_path):
    source = tmp_path / "fault.c"
    source.write_text({source!r})
    fault = str(tmp_path / "fault")
    subprocess.run(["cc", *{flags!r}, "-o", fault, str(source)], check=True)
    subprocess.run([fault])
"""
_SHIFT = "int main(int count, char **given) { return 1 << (count + 40); }"
_RACE = """
#include <pthread.h>
static int shared;
static void *set(void *given) { shared = 1; return given; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, set, 0);
    shared = 2;
    return pthread_join(thread, 0);
}
"""
#: By sanitizer: a program, how it is compiled, and what is said of it.
_PLANTED = {
    "address,undefined": (
        _SHIFT,
        ["-fsanitize=undefined", "-static-libubsan"],
        "shift exponent 41 is too large",
    ),
    "thread": (_RACE, ["-fsanitize=thread"], "data race"),
}


def run_tool(name: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a script of tools."""
    command = [sys.executable, "-P", str(ROOT / "tools" / name), *arguments]
    environment = {**os.environ, **environment}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def _link_tree(call: str) -> None:
    """Call a function of tools/link_tree.py."""
    command = [sys.executable, "-P", "-c", f"import link_tree; from pathlib import Path; {call}"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tools")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def tree(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path, sanitizers: str) -> Path:
    """A tree with the libraries compiled for sanitizers, once for all changes of Python alone."""

    def build(folder: Path) -> None:
        (folder / "launchcost").mkdir()
        _link_tree(f"link_tree.compile_native(Path({str(folder)!r}), {sanitizers.split(',')})")

    sources = [ROOT / "tools" / "link_tree.py", *(ROOT / "collectors").rglob("*.[ch]")]
    libraries = built_once(tmp_path_factory, f"sanitized-{sanitizers}", build, sources)
    tree = tmp_path / "tree"
    _link_tree(f"link_tree.link(Path({str(tree)!r}), own_libraries=True)")
    shutil.copytree(libraries, tree / "gviz" / "collectors", dirs_exist_ok=True)
    return tree


@pytest.mark.timeout(600)
@pytest.mark.parametrize("sanitizers", _TESTS)
def test_sanitizers_report_a_planted_fault_and_none_of_gviz(
    fakes: Fakes, tree: Path, tmp_path: Path, sanitizers: str
) -> None:
    source, flags, said = _PLANTED[sanitizers]
    planted = tmp_path / "test_planted.py"
    planted.write_text(_FAULT.format(source=source, flags=flags))
    tests = [f"tests/contract/{name}" for name in _TESTS[sanitizers]]
    arguments = (str(tree), sanitizers, "-q", "-m", "not gpu", str(planted), *tests)
    done = run_tool("sanitize.py", *arguments, GVIZ_FAKES=str(fakes.folder))
    assert done.returncode == 1, done.stdout + done.stderr
    assert " passed" in done.stdout
    assert "failed" not in done.stdout, done.stdout
    # Of the planted program alone.
    assert "sanitizers: 1 reports" in done.stdout, done.stdout
    assert said in done.stdout
