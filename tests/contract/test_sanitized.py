"""Some of the contract with sanitizers in the native libraries; ``make sanitize`` runs it all."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parent.parent.parent
#: What goes through most of csrc: walks of nested graphs, captures that break, refused updates,
#: binaries that fork and end.
_TESTS = (
    "tests/contract/test_nesting.py::TestBodies",
    "tests/contract/test_life.py::TestUpdates",
    "tests/contract/test_life.py::TestCaptures::test_breaking_is_not_changed_by_watching",
    "tests/contract/test_processes.py::TestBinary::test_child_that_uses_cuda_first_gets_a_run_of_its_own",
    "tests/contract/test_processes.py::TestBinary::test_launches_of_exit_handlers_are_recorded",
)
#: Compiles a program that shifts too far, and does not look at how it ends.
_FAULT = """
import subprocess
import pytest

@pytest.mark.thorough
def test_fault(tmp_path):
    source = tmp_path / "fault.c"
    source.write_text("int main(int count, char **given) { return 1 << (count + 40); }")
    fault = str(tmp_path / "fault")
    flags = ["-fsanitize=undefined", "-static-libubsan"]
    subprocess.run(["cc", *flags, "-o", fault, str(source)], check=True)
    subprocess.run([fault])
"""


def sanitize(tree: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the tool."""
    tool = str(_ROOT / "tools" / "sanitize.py")
    command = [sys.executable, "-P", tool, str(tree), "address,undefined", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.timeout(600)
def test_sanitizers_report_a_planted_fault_and_none_of_gviz(tmp_path: Path) -> None:
    planted = tmp_path / "test_planted.py"
    planted.write_text(_FAULT)
    done = sanitize(tmp_path / "tree", "-q", "-m", "not gpu", str(planted), *_TESTS)
    assert done.returncode == 1, done.stdout + done.stderr
    assert " passed" in done.stdout
    assert "failed" not in done.stdout, done.stdout
    # Of the planted program alone.
    assert "sanitizers: 1 reports" in done.stdout, done.stdout
    assert "shift exponent 41 is too large" in done.stdout
