"""Facts told of the process that is recorded, and those that are not."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gviz.collectors import metadata

SECRET = "s3cr3t-token-of-the-user"
_RANK_VARIABLES = ("RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "PMI_RANK", "LOCAL_RANK")


@pytest.fixture
def clean(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for variable in _RANK_VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    return monkeypatch


def test_no_environment_variable_is_reported(clean: pytest.MonkeyPatch) -> None:
    clean.setenv("API_TOKEN", SECRET)
    clean.setenv("RANK", SECRET)
    clean.setenv("PATH", os.environ["PATH"] + os.pathsep + f"/{SECRET}")
    reported = metadata.process() | metadata.machine() | metadata.libraries()
    assert SECRET not in json.dumps(reported)
    assert set(reported) <= {
        "command", "process_id", "rank", "started_ns", "gviz_version", "python_version", "host",
        "git_revision", "git_dirty", "libraries",
    }  # fmt: skip


def test_process_is_this_one(clean: pytest.MonkeyPatch) -> None:
    clean.setattr(sys, "orig_argv", ["python", "a script.py", "--x"])
    reported = metadata.process()
    assert reported["process_id"] == os.getpid()
    assert reported["command"] == "python 'a script.py' --x"
    assert reported["rank"] is None
    assert isinstance(reported["started_ns"], int)


@pytest.mark.parametrize("variable", _RANK_VARIABLES)
def test_rank_is_that_of_the_launcher(clean: pytest.MonkeyPatch, variable: str) -> None:
    clean.setenv(variable, "3")
    assert metadata.process()["rank"] == 3


def test_rank_that_is_no_number_is_none(clean: pytest.MonkeyPatch) -> None:
    clean.setenv("RANK", "first")
    assert metadata.process()["rank"] is None


def test_only_loaded_libraries_are_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("torch-2.11.0+cu130.dist-info", "jax-0.11.2.dist-info", "torch"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(tmp_path / "none"), *sys.path])
    for module in ("torch", "cupy", "jax", "triton", "numba", "cuda", "warp", "nvtx", "jaxlib"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setitem(sys.modules, "torch", sys)
    found = metadata.libraries()["libraries"]
    assert isinstance(found, dict)
    reported = {name: found[name] for name in found if not name.startswith("nvidia-")}
    assert reported == {"torch": "2.11.0+cu130"}


@pytest.mark.skipif(shutil.which("git") is None, reason="no git here")
def test_revision_is_that_of_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert "git_revision" not in metadata.machine()

    def git(*arguments: str) -> str:
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
        command = ["git", *identity, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    git("init", "--quiet")
    (tmp_path / "file").write_text("1")
    git("add", "file")
    git("commit", "--quiet", "-m", "first")
    reported = metadata.machine()
    assert (reported["git_revision"], reported["git_dirty"]) == (git("rev-parse", "HEAD"), 0)
    (tmp_path / "file").write_text("2")
    assert metadata.machine()["git_dirty"] == 1


def test_git_that_hangs_or_is_missing_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert set(metadata.machine()) == {"host"}
    script = tmp_path / "git"
    script.write_text("#!/bin/sh\nexec /bin/sleep 60\n")
    script.chmod(0o755)
    monkeypatch.setattr(metadata, "_GIT_SECONDS", 0.05)
    assert set(metadata.machine()) == {"host"}
