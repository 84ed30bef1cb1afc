"""The package as it is built, made once for all tests of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from built_once import built_once, package_sources
from places import ROOT


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist and the wheel that was built from it."""
    return built_once(tmp_path_factory, "dist", _build, package_sources())


def _build(out: Path) -> None:
    command = [sys.executable, "-P", "-m", "build", "--no-isolation", "--outdir", str(out)]
    done = subprocess.run(
        [*command, str(ROOT)], capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
