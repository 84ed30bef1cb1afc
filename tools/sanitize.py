"""sanitize.py TREE SANITIZERS [PYTEST...]: run tests with sanitizers in the native libraries.

TREE holds the libraries as ``link_tree.py TREE SANITIZERS`` compiles them with address,undefined or
thread. pytest runs with what follows, by default the contract on the fake driver. Exit code:
pytest's, or 1 where a sanitizer had something to say in any process: that is printed last.
ThreadSanitizer sees the library's own accesses and all locks, and no atomic operations of the
driver, of Python and of the gate, whose order of things it does not know.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: The library that has to be loaded first.
_RUNTIMES = {"address,undefined": "libasan.so", "thread": "libtsan.so"}
_OPTIONS = {
    # Python and the driver leave memory to the end of the process; a SIGSEGV may be the test's.
    "ASAN_OPTIONS": "detect_leaks=0:handle_segv=0:allocator_may_return_null=1:"
    # The gate is preloaded too, and may stand before.
    "verify_asan_link_order=0:exitcode=99:log_path={report}.address",
    "UBSAN_OPTIONS": "print_stacktrace=1:log_path={report}.undefined",
    # Programs end as they do; what was found stands in the report.
    "TSAN_OPTIONS": "exitcode=0:handle_segv=0:report_signal_unsafe=0:log_path={report}.thread",
    # Each of Python's own allocations has a place that is watched.
    "PYTHONMALLOC": "malloc",
}
#: The shim of the first takes the place of the sanitizer's functions; the second preloads one. No
#: sanitizer runs in the programs of the others, which load a library that binds to its own names
#: first, or have another C library, or count instructions, of which a sanitizer adds its own. The
#: clock of the next two is asked by the sanitizer's allocator, which keeps what the last two free.
_LEFT_OUT = (
    "--ignore=tests/contract/test_faults.py",
    *(
        f"--deselect=tests/contract/test_gate.py::test_{name}"
        for name in (
            "sanitizer_before_the_gate_starts",
            "stub_adds_few_instructions",
            "program_behind_the_gate[deepbind]",
            "program_that_cannot_have_cuda_runs_as_without_the_gate[musl]",
        )
    ),
    "--deselect=tests/contract/test_run.py::"
    "test_clock_that_jumps_changes_neither_exit_code_nor_recording",
    "--deselect=tests/contract/test_run.py::"
    "test_launches_are_timed_as_before_once_the_clock_was_set_back",
    "--deselect=tests/contract/test_trials.py::"
    "test_executables_that_are_gone_leave_nothing_to_keep",
    "--deselect=tests/contract/test_stress.py::TestStress::test_graph_of_50000_nodes",
)
#: Beside these, by sanitizer. ThreadSanitizer takes bash down, before gviz begins, stands between a
#: shim and its caller, and has memory of its own; a call takes ten times as long, so that what is
#: about times, or needs the thread of copies to keep up, fails.
_ALSO_LEFT_OUT = {
    "thread": (
        "test_processes.py::TestPrograms::test_shell_script_is_no_run_of_its_own",
        *(
            f"{test}::{name}"
            for test in ("test_events.py::TestEvents", "test_told.py::TestCopies")
            for name in (
                "test_durations_are_those_of_the_work",
                "test_times_of_a_launch_fit_together",
                "test_calibration_is_stored",
            )
        ),
        "test_told.py::TestCopies::test_copies_catch_up_with_updates_made_meanwhile",
        "test_told.py::test_new_executables_stay_out_of_windows",
        "test_told.py::test_records_of_a_sampled_executable_grow_slower_and_slower",
        "test_others.py::test_delay_that_passes_while_left_costs_no_time",
        "test_periods.py::test_delay_and_duration_are_kept",
        "test_periods.py::test_period_that_ends_by_itself_leaves_nothing_on",
    )
}


def environment(tree: Path, runtime_name: str, report: Path) -> dict[str, str]:
    """Return the environment of a process that loads the libraries of ``tree``."""
    name = f"-print-file-name={runtime_name}"
    runtime = subprocess.check_output([os.environ.get("CC", "cc"), name], text=True).strip()
    if not Path(runtime).is_absolute():
        raise SystemExit(f"the C compiler has no {runtime_name}; install gcc's")
    path = os.pathsep.join(filter(None, [str(tree), os.environ.get("PYTHONPATH")]))
    options = {name: text.format(report=report) for name, text in _OPTIONS.items()}
    return {**os.environ, **options, "LD_PRELOAD": runtime, "PYTHONPATH": path}


def _check_library(tree: Path, variables: dict[str, str]) -> None:
    code = "from gviz.collectors import native; print(native.library_path())"
    command = [sys.executable, "-P", "-c", code]
    used = subprocess.check_output(command, env=variables, text=True).strip()
    if not Path(used).is_relative_to(tree):
        raise SystemExit(f"{used} would be tested, which has no sanitizers")


def main(target: str, sanitizers: str, *arguments: str) -> int:
    """Run and report."""
    tree = Path(target).resolve()
    if not tree.is_dir():
        raise SystemExit(f"{tree} is not there; run: tools/link_tree.py {tree} {sanitizers}")
    with tempfile.TemporaryDirectory() as folder:
        return _run(tree, sanitizers, Path(folder), arguments)


def _run(tree: Path, sanitizers: str, folder: Path, arguments: Sequence[str]) -> int:
    variables = environment(tree, _RUNTIMES[sanitizers], folder / "report")
    _check_library(tree, variables)
    also = [f"--deselect=tests/contract/{name}" for name in _ALSO_LEFT_OUT.get(sanitizers, ())]
    pytest = [sys.executable, "-P", "-m", "pytest", "-p", "no:cacheprovider", *_LEFT_OUT, *also]
    tests = arguments or ("-m", "not gpu", "tests/contract")
    code = subprocess.run([*pytest, *tests], cwd=ROOT, env=variables, check=False).returncode
    reports = sorted(folder.glob("report.*"))
    for path in reports:
        print(f"== {path.name}\n{path.read_text(errors='replace')}")
    print(f"sanitizers: {len(reports)} reports")
    return code or bool(reports)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
