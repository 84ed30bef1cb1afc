"""Folders of what takes long to build: built once for all workers of a run of the tests."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest


def built_once(factory: pytest.TempPathFactory, name: str, build: Callable[[Path], object]) -> Path:
    """Return a folder that ``build`` has filled; who comes meanwhile waits.

    Parameters
    ----------
    name
        Name of the folder, in the folder of the whole run.
    build
        Fills an empty folder, which may be moved afterwards. What it raises is raised, and whoever
        comes next tries again.
    """
    base = factory.getbasetemp()
    # A worker's folder lies in that of the run; that of a pytest which a test starts does not.
    is_worker = base.name == f"popen-{os.environ.get('PYTEST_XDIST_WORKER')}"
    run = base.parent if is_worker else base
    folder = run / name
    with (run / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            made = factory.mktemp(name)
            build(made)
            made.rename(folder)
    return folder
