"""The program that ``gviz run`` runs, and the command line that starts it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from gviz.errors import UsageError

_ELF = b"\x7fELF"


def command_of(program: str, arguments: Sequence[str], *, module: bool = False) -> list[str]:
    """Return the command that starts a program as the user would, recorded or not.

    A Python module, script or directory runs under this Python; a binary, an executable with a
    shebang and a name found on PATH run as they are.

    Parameters
    ----------
    program
        A module, a path, or a name without a slash.
    arguments
        Of the program.
    module
        Whether ``program`` is a module.

    Raises
    ------
    UsageError
        If it is nothing that can be started.
    """
    python = [sys.executable, *(["-m"] if module else []), program, *arguments]
    if module:
        return python
    path = Path(program)
    if path.is_dir() and (path / "__main__.py").exists():
        return python
    if path.suffix == ".py" and path.is_file():
        return python
    if "/" not in program:
        if shutil.which(program) is not None:
            return [program, *arguments]
        if path.is_file() and _starts_itself(path):
            raise UsageError(f"there is no program {program} on PATH; for the file here: ./{path}")
    _check_file(path)
    return [program, *arguments] if _starts_itself(path) else python


def _check_file(path: Path) -> None:
    if path.is_dir():
        raise UsageError(f"{path} is a directory without __main__.py; name a script")
    if not path.exists():
        kind = "script" if path.suffix == ".py" else "program"
        raise UsageError(f"there is no {kind} {path}; check the path")
    if not path.is_file() or (not os.access(path, os.R_OK | os.X_OK) and _magic(path) == _ELF):
        raise UsageError(f"{path} cannot be started; make it executable: chmod +x {path}")


def _magic(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(len(_ELF))
    except OSError:
        return b""


def _starts_itself(path: Path) -> bool:
    """Return whether the system can start a file: a binary, or a script naming its interpreter."""
    if not os.access(path, os.X_OK):
        return False
    magic = _magic(path)
    # What can be run but not read is a binary.
    return magic == _ELF or magic.startswith(b"#!") or not os.access(path, os.R_OK)


def default_name(program: str, arguments: Sequence[str], *, module: bool = False) -> str:
    """Return what to call a run: the script's name, also behind ``python`` or ``torchrun``.

    A module is called as it is imported.
    """
    if module:
        return program
    scripts = [a for a in arguments if a.endswith(".py")]
    behind_launcher = not program.endswith(".py") and scripts and "/" not in program
    named = Path(scripts[0] if behind_launcher else program)
    return named.stem or named.absolute().name  # "." is a folder with __main__.py
