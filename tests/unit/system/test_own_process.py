"""Processes of gviz's own: the installation's modules first, and no settings of the program's."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import gviz
from gviz.system.own_process import own_command, own_environment, put_pythonpath_last


def test_environment_has_where_files_are_and_nothing_about_what_programs_do() -> None:
    given = {"PYTHONHOME": "/h", "PYTHONWARNINGS": "error", "PYTHONPATH": "/p", "HOME": "/me"}
    found = own_environment(given)
    assert {"PYTHONHOME", "HOME"} <= set(found)
    assert not {"PYTHONWARNINGS", "PYTHONPATH"} & set(found)


def test_a_process_has_one_thread_whatever_the_program_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "threads.py").write_text(
        "import os, numpy; print(len(os.listdir('/proc/self/task')))"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "8")
    done = subprocess.run(
        own_command("threads"), env=own_environment(), capture_output=True, text=True, check=False
    )
    assert done.stdout == "1\n", done.stderr


def test_process_has_modules_of_the_installation_and_last_those_of_pythonpath(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("json", "numpy", "runpy"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('shadowed')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("PYTHONWARNINGS", "nonsense")
    done = subprocess.run(
        own_command("gviz", "--version"),
        env=own_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == (f"gviz {gviz.__version__}\n", "")


def test_module_that_is_on_pythonpath_only_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere.py").write_text("print('found')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    command, environment = own_command("elsewhere"), own_environment()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == "found\n", done.stderr


def test_process_looks_for_garbage_less_often_than_python_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = "import gc; print(gc.get_threshold()[0])"
    (tmp_path / "ours.py").write_text(ours)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    script = f"import gviz.__main__ as it; it.put_pythonpath_last = lambda: exec({ours!r}); "
    script += "import gviz.cli; gviz.cli.main = lambda: 0; it.main()"
    found = []
    for command, environment in (
        ([sys.executable, "-P", "-c", ours], dict(os.environ)),
        (own_command("ours"), own_environment()),
        ([sys.executable, "-P", "-c", script], dict(os.environ)),
    ):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        found.append(int(done.stdout))
    pythons, *of_gviz = found
    assert min(of_gviz) > 2 * pythons


def test_folders_of_pythonpath_come_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(sys, "path", [str(tmp_path), "/a", "/b"])
    put_pythonpath_last()
    assert sys.path == ["/a", "/b", str(tmp_path)]
