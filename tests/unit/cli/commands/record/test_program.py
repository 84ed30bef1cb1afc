"""The argument of ``gviz run``, and what it is taken for."""

from __future__ import annotations

import errno
import sys
from pathlib import Path

import pytest

from gviz.cli.commands.record.program import command_of, default_name
from gviz.errors import UsageError

ELF = b"\x7fELF\x02\x01\x01"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with programs of every kind, and one on PATH."""
    here, path = tmp_path / "here", tmp_path / "path"
    here.mkdir()
    path.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("PATH", str(path))
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    make(path / "torchrun", b"#!/bin/sh\n")
    make(here / "binary", ELF)
    make(here / "data", ELF, executable=False)
    make(here / "job.sh", b"#!/bin/sh\n")
    make(here / "train.py", b"#!/usr/bin/env python3\n")
    make(here / "plain.py", b"", executable=False)
    make(here / "script", b"print()", executable=False)
    make(here / "app.pyz", b"PK\x03\x04", executable=False)
    (here / "package").mkdir()
    make(here / "package" / "__main__.py", b"", executable=False)
    (here / "folder").mkdir()
    return here


def make(path: Path, content: bytes, *, executable: bool = True) -> None:
    path.write_bytes(content)
    path.chmod(0o755 if executable else 0o644)


@pytest.mark.parametrize(
    "program", ["train.py", "./train.py", "plain.py", "script", "app.pyz", "package", "package/"]
)
def test_python_code_runs_under_this_python(program: str) -> None:
    assert command_of(program, ["--flag"]) == [sys.executable, program, "--flag"]


def test_active_environment_has_the_python_of_scripts(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = folder / "env" / "bin" / "python"
    python.parent.mkdir(parents=True)
    make(python, ELF)
    monkeypatch.setenv("VIRTUAL_ENV", str(folder / "env"))
    assert command_of("plain.py", []) == [str(python), "plain.py"]
    assert command_of("a.b", [], module=True) == [str(python), "-m", "a.b"]
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    assert command_of("plain.py", []) == [sys.executable, "plain.py"]
    monkeypatch.setenv("VIRTUAL_ENV", str(folder / "gone"))
    assert command_of("plain.py", []) == [sys.executable, "plain.py"]


@pytest.mark.parametrize("mark", ["uv-receipt.toml", "pipx_metadata.json"])
def test_installed_as_a_tool_it_leaves_scripts_to_the_python_on_path(
    folder: Path, monkeypatch: pytest.MonkeyPatch, mark: str
) -> None:
    monkeypatch.setattr(sys, "prefix", str(folder))
    (folder / mark).touch()
    assert command_of("plain.py", []) == [sys.executable, "plain.py"]  # there is none on PATH
    python = folder.parent / "path" / "python3"
    make(python, ELF)
    assert command_of("plain.py", []) == [str(python), "plain.py"]


def test_module_runs_as_a_module() -> None:
    assert command_of("a.b", ["-x"], module=True) == [sys.executable, "-m", "a.b", "-x"]


@pytest.mark.parametrize("program", ["./binary", "./job.sh", "torchrun", "../here/binary"])
def test_other_programs_start_as_they_are(program: str) -> None:
    assert command_of(program, ["--flag"]) == [program, "--flag"]


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("none.py", "there is no script none.py"),
        ("none", "there is no program none"),
        ("./none", "there is no program none"),
        ("binary", r"no program binary on PATH; for the file here: \./binary"),
        ("./data", r"cannot be started; make it executable: chmod \+x data"),
        ("folder", "is a directory without __main__.py"),
        ("/dev/null", "cannot be started"),
    ],
)
def test_what_cannot_be_started_is_one_sentence(program: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        command_of(program, [])


def test_program_whose_first_bytes_cannot_be_read_is_not_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(Path, "open", fail)
    with pytest.raises(UsageError, match="binary cannot be read: Input/output error"):
        command_of("./binary", [])


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (["./bin/solver", "input.py"], "solver"),
        (["dir/train.py", "other.py"], "train"),
        (["torchrun", "--nproc-per-node=2", "dir/train.py"], "train"),
        (["python", "-c", "pass"], "python"),
        (["package.module"], "package"),
    ],
)
def test_run_is_named_after_the_users_program(command: list[str], name: str) -> None:
    assert default_name(command[0], command[1:]) == name


def test_module_is_called_as_it_is_imported() -> None:
    assert default_name("package.module", [], module=True) == "package.module"


def test_folder_here_has_its_own_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert default_name(".", []) == tmp_path.name
