"""sanitize.py TREE [PYTEST...]: run tests with sanitizers in the native libraries.

The libraries are compiled with AddressSanitizer and UndefinedBehaviorSanitizer into TREE, and
pytest runs with what follows, by default the contract on the fake driver. Exit code: pytest's, or
1 where a sanitizer had something to say in any process: that is printed last.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SANITIZERS = "address,undefined"
_OPTIONS = {
    # Python and the driver leave memory to the end of the process; a SIGSEGV may be the test's.
    "ASAN_OPTIONS": "detect_leaks=0:handle_segv=0:allocator_may_return_null=1:"
    # The gate is preloaded too, and may stand before.
    "verify_asan_link_order=0:exitcode=99:log_path={report}.address",
    "UBSAN_OPTIONS": "print_stacktrace=1:log_path={report}.undefined",
    # Each of Python's own allocations has a place that is watched.
    "PYTHONMALLOC": "malloc",
}
#: Shims of their own take the place of the sanitizer's; one test is about LD_PRELOAD itself.
_LEFT_OUT = (
    "--ignore=tests/contract/test_faults.py",
    "--deselect=tests/contract/test_gate.py::test_run_without_its_variable_preloads_nothing",
)


def environment(tree: Path, report: Path) -> dict[str, str]:
    """Return the environment of a process that loads the libraries of ``tree``."""
    name = ["-print-file-name=libasan.so"]
    runtime = subprocess.check_output([os.environ.get("CC", "cc"), *name], text=True).strip()
    if not Path(runtime).is_absolute():
        raise SystemExit("the C compiler has no AddressSanitizer: install gcc's libasan")
    path = os.pathsep.join(filter(None, [str(tree), os.environ.get("PYTHONPATH")]))
    options = {name: text.format(report=report) for name, text in _OPTIONS.items()}
    return {**os.environ, **options, "LD_PRELOAD": runtime, "PYTHONPATH": path}


def _check_library(tree: Path, variables: dict[str, str]) -> None:
    code = "from gviz.collectors import native; print(native.library_path())"
    command = [sys.executable, "-P", "-c", code]
    used = subprocess.check_output(command, env=variables, text=True).strip()
    if not Path(used).is_relative_to(tree):
        raise SystemExit(f"{used} would be tested, which has no sanitizers")


def main(target: str, *arguments: str) -> int:
    """Compile, run and report."""
    tree = Path(target).resolve()
    build = [sys.executable, "-P", str(ROOT / "tools" / "link_tree.py"), str(tree), SANITIZERS]
    subprocess.run(build, check=True)
    variables = environment(tree, tree / "report")
    _check_library(tree, variables)
    pytest = [sys.executable, "-P", "-m", "pytest", "-p", "no:cacheprovider", *_LEFT_OUT]
    tests = arguments or ("-m", "not gpu", "tests/contract")
    code = subprocess.run([*pytest, *tests], cwd=ROOT, env=variables, check=False).returncode
    reports = sorted(tree.glob("report.*"))
    for path in reports:
        print(f"== {path.name}\n{path.read_text(errors='replace')}")
    print(f"sanitizers: {len(reports)} reports")
    return code or bool(reports)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
