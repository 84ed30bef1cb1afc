"""Preloading the gate: what the dynamic linker would complain about is left out."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from gviz.collectors import native
from gviz.collectors.preloading import plan_preloading, read_machine, read_needed


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    """A copy of the gate."""
    built = native.gate_path()
    assert built is not None
    return Path(shutil.copy(built, tmp_path / "_gate.so"))


@pytest.mark.parametrize("given", [None, "", "/own.so", "/own.so:/other.so"])
def test_gate_stands_behind_what_the_user_preloads(gate: Path, given: str | None) -> None:
    found = plan_preloading(gate, sys.executable, given)
    assert (found.variable, found.obstacle) == (f"{given}:{gate}" if given else str(gate), None)


def test_script_is_started_by_a_program_of_this_machine(gate: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.sh"
    script.write_text("#!/bin/sh\n")
    assert plan_preloading(gate, str(script), None).obstacle is None


def test_gate_that_is_missing_is_left_out(tmp_path: Path) -> None:
    assert plan_preloading(None, "true", None).obstacle == "it was not built"
    found = plan_preloading(tmp_path / "_gate.so", "true", "/own.so")
    assert found.variable is None
    assert "cannot be read" in str(found.obstacle)


@pytest.mark.parametrize(
    ("data", "says"),
    [(b"", "no 64-bit library"), (b"\x7fELF\x01\x01" + bytes(40), "no 64-bit library")],
    ids=["empty", "32-bit"],
)
def test_gate_that_is_no_library_is_left_out(gate: Path, data: bytes, says: str) -> None:
    gate.write_bytes(data)
    assert says in str(plan_preloading(gate, sys.executable, None).obstacle)


@pytest.mark.parametrize("foreign", ["gate", "program"])
def test_another_architecture_is_left_out(gate: Path, tmp_path: Path, foreign: str) -> None:
    program = Path(shutil.copy(os.path.realpath(sys.executable), tmp_path / "program"))
    path = gate if foreign == "gate" else program
    data = bytearray(path.read_bytes())
    struct.pack_into("<H", data, 18, 243)  # RISC-V
    path.write_bytes(data)
    found = plan_preloading(gate, str(program), None)
    assert found.variable is None
    assert "another architecture" in str(found.obstacle)


@pytest.mark.parametrize("name", ["a b", "a:b", "$LIB"])
def test_path_that_ld_preload_cannot_hold_is_left_out(gate: Path, name: str) -> None:
    path = gate.parent / name / "_gate.so"
    path.parent.mkdir()
    gate.rename(path)
    assert "LD_PRELOAD" in str(plan_preloading(path, "true", None).obstacle)


def test_sanitizer_of_the_program_stands_first(gate: Path, tmp_path: Path) -> None:
    source = tmp_path / "main.c"
    source.write_text("int main(void) { return 0; }\n")
    program = tmp_path / "program"
    command = [shutil.which("cc") or "cc", "-fsanitize=address", str(source), "-o", str(program)]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("this compiler has no address sanitizer")
    needed = read_needed(program)
    assert needed[0].startswith("libasan.so")
    found = plan_preloading(gate, str(program), "/own.so")
    assert found.variable == f"{needed[0]}:/own.so:{gate}"


def test_damaged_program_has_no_libraries(tmp_path: Path) -> None:
    data = Path(os.path.realpath(sys.executable)).read_bytes()
    for length in (0, 10, 20, 60, 200, 1000):
        (tmp_path / "program").write_bytes(data[:length])
        assert read_needed(tmp_path / "program") == []
    assert read_machine(tmp_path / "no such file") is None
