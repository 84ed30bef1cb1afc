"""The program that ``gviz run`` runs, and the command line that starts it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from gviz.errors import UsageError

_ELF = b"\x7fELF"
#: What ``uv tool install`` and ``pipx install`` leave in the environments that they make, which
#: have nothing of the user's.
_TOOL_MARKS = ("uv-receipt.toml", "pipx_metadata.json")


def command_of(program: str, arguments: Sequence[str], *, module: bool = False) -> list[str]:
    """Return the command that starts a program as the user would, recorded or not.

    A Python module, script or directory runs under the Python of the active environment; where
    none is active, under this one, or under the one on PATH if gviz was installed as a tool. A
    binary, an executable with a shebang and a name found on PATH run as they are.

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
    python = [_python(), *(["-m"] if module else []), program, *arguments]
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


def _python() -> str:
    """Return the Python that a user who types ``python`` means."""
    active = os.environ.get("VIRTUAL_ENV")
    if active and Path(active).resolve() != Path(sys.prefix).resolve():
        found = shutil.which("python", path=os.path.join(active, "bin"))
    elif any(Path(sys.prefix, mark).exists() for mark in _TOOL_MARKS):
        found = shutil.which("python") or shutil.which("python3")
    else:
        found = None
    return found or sys.executable


def _check_file(path: Path) -> None:
    if path.is_dir():
        raise UsageError(f"{path} is a directory without __main__.py; name a script")
    if not path.exists():
        kind = "script" if path.suffix == ".py" else "program"
        raise UsageError(f"there is no {kind} {path}; check the path")
    is_data = os.access(path, os.R_OK) and not os.access(path, os.X_OK)
    if not path.is_file() or (is_data and _magic(path) == _ELF):
        raise UsageError(f"{path} cannot be started; make it executable: chmod +x {path}")


def _magic(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(len(_ELF))
    except OSError as error:  # nobody knows what it is
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error


def _starts_itself(path: Path) -> bool:
    """Return whether the system can start a file: a binary, or a script naming its interpreter."""
    if not os.access(path, os.X_OK):
        return False
    if not os.access(path, os.R_OK):
        return True  # what can be run but not read is a binary
    magic = _magic(path)
    return magic == _ELF or magic.startswith(b"#!")


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
