"""Each process loads the one of gviz's two native libraries that it needs."""

from __future__ import annotations

from pathlib import Path

import pytest
from contract.backend import Backend
from contract.scripts import PREAMBLE, run_script

pytestmark = pytest.mark.installed

#: Prints which of gviz's libraries are mapped into the process.
MAPPED = """
import pathlib
paths = {line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}
names = {pathlib.Path(path).name.partition(".")[0] for path in paths}
print("mapped:", *sorted(names & {"_native", "_launchcost"}))
"""
RUN = PREAMBLE + "launch(chain(), 3)\n" + MAPPED
PROFILE = PREAMBLE + "with gviz.profile('out.gviz'):\n    launch(chain(), 3)\n" + MAPPED
MEASURE = (
    "from gviz.collectors.launchcost import native\nwith native.laboratory(0):\n    pass\n" + MAPPED
)


@pytest.mark.parametrize(
    ("program", "options", "mapped"),
    [
        pytest.param(RUN, ("-o", "out.gviz"), "_native", id="gviz run"),
        pytest.param(PROFILE, (), "_native", id="gviz.profile"),
        pytest.param(MEASURE, (), "_launchcost", id="launch costs"),
    ],
)
def test_a_process_maps_only_the_library_it_needs(
    backend: Backend, tmp_path: Path, program: str, options: tuple[str, ...], mapped: str
) -> None:
    done = run_script(backend, tmp_path, program, *options)
    assert done.returncode == 0, done.stderr
    assert f"mapped: {mapped}\n" in done.stdout


#: Prints the packages of others that the process has imported.
IMPORTED = """
import sys
files = {name: getattr(module, "__file__", None) or "" for name, module in sys.modules.items()}
found = {name.partition(".")[0] for name, path in files.items() if "-packages" in path}
print("imported:", *sorted(name for name in found if name != "gviz" and name[0] != "_"))
"""
IMPORTING = PREAMBLE + "with gviz.profile('out.gviz'):\n    launch(chain(), 3)\n" + IMPORTED


def test_a_profiled_program_imports_numpy_and_msgspec_at_most(
    backend: Backend, tmp_path: Path
) -> None:
    done = run_script(backend, tmp_path, IMPORTING)
    assert done.returncode == 0, done.stderr
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("imported:")]
    assert set(line.split()[1:]) <= {"numpy", "msgspec"}
