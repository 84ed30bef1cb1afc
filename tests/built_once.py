"""Folders of what takes long to build: built once for all workers, and kept until a source changes.

Kept folders lie in build/once, which ``make clean`` removes.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path

import pytest
from places import ROOT

_KEPT = ROOT / "build" / "once"
#: Folders and files at the top that the package is built from.
_PACKAGE = ("app", "assets", "collectors", "gviz", "tools", "pyproject.toml", "setup.py",
            "MANIFEST.in", "README.md", "LICENSE")  # fmt: skip
_KEPT_S = 86_400
_NO_SOURCE = frozenset({"__pycache__", "node_modules"})


def built_once(
    factory: pytest.TempPathFactory,
    name: str,
    build: Callable[[Path], object],
    sources: Iterable[Path] = (),
) -> Path:
    """Return a folder that ``build`` has filled; who comes meanwhile waits.

    Parameters
    ----------
    name
        Name of the folder, in the folder of the whole run.
    build
        Fills an empty folder, which may be moved afterwards. What it raises is raised, and whoever
        comes next tries again.
    sources
        What it is built from: the folder is kept for later runs, until one of these changes.
    """
    base = factory.getbasetemp()
    # A worker's folder lies in that of the run; that of a pytest which a test starts does not.
    is_worker = base.name == f"popen-{os.environ.get('PYTEST_XDIST_WORKER')}"
    place = base.parent if is_worker else base
    named = name
    if files := sorted(sources):
        place, named = _KEPT, f"{name}-{_digest(files)}"
        place.mkdir(parents=True, exist_ok=True)
    folder = place / named
    with (place / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            made = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=place))
            try:
                build(made)
            except BaseException:
                shutil.rmtree(made)
                raise
            made.rename(folder)
        if files:
            os.utime(folder)
            _remove_unused(place, name)
    return folder


def _remove_unused(place: Path, name: str) -> None:
    """Remove folders that no run has taken for a day, and those that were never finished."""
    for folder in (*place.glob(f"{name}-*"), *place.glob(f".{name}-*")):
        if folder.stat().st_mtime < time.time() - _KEPT_S:
            shutil.rmtree(folder)


def package_sources() -> list[Path]:
    """Return the files that the package is built from."""
    tops = [ROOT / name for name in _PACKAGE]
    inside = [path for top in tops if top.is_dir() for path in _files_in(top)]
    return [*(top for top in tops if top.is_file()), *inside]


def _files_in(folder: Path) -> Iterable[Path]:
    for at, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name not in _NO_SOURCE]
        yield from (Path(at, name) for name in files if not name.endswith((".so", ".pyc")))


def _digest(files: Iterable[Path]) -> str:
    """Return what says which files these are, what is in them, and what they are built with."""
    found = sha256(f"{sys.version} {os.environ.get('CC')} {os.environ.get('CFLAGS')}".encode())
    for path in files:
        text = path.read_bytes()
        found.update(f"\n{path} {len(text)}\n".encode() + text)
    return found.hexdigest()[:16]
