"""Versions of installed distributions, from the names of their folders."""

from __future__ import annotations

import re
import sys
from importlib.metadata import distributions
from pathlib import Path

import pytest

from gviz.system.distributions import installed_versions


def test_versions_are_those_that_python_knows() -> None:
    known = {re.sub(r"[-_.]+", "-", d.metadata["Name"]).lower(): d.version for d in distributions()}
    found = installed_versions(sys.path)
    assert {name: found.get(name) for name in ("numpy", "pytest", "dash")} == {
        name: known[name] for name in ("numpy", "pytest", "dash")
    }


@pytest.mark.parametrize(
    ("folder", "name", "version"),
    [
        ("cuda_core-1.2.0.dist-info", "cuda-core", "1.2.0"),
        ("cupy-14.2.0-py3.12.egg-info", "cupy", "14.2.0"),
        ("nvidia_cuda_cupti-13.0.85.dist-info", "nvidia-cuda-cupti", "13.0.85"),
    ],
)
def test_version_is_in_the_name_of_the_folder(
    tmp_path: Path, folder: str, name: str, version: str
) -> None:
    (tmp_path / folder).mkdir()
    assert installed_versions([str(tmp_path / "none"), str(tmp_path)]) == {name: version}


def test_first_of_two_counts(tmp_path: Path) -> None:
    for folder, version in (("a", "2.11.0"), ("b", "2.9.0")):
        (tmp_path / folder / f"torch-{version}.dist-info").mkdir(parents=True)
    folders = [str(tmp_path / "a"), str(tmp_path / "b")]
    assert installed_versions(folders) == {"torch": "2.11.0"}
    assert installed_versions(folders[::-1]) == {"torch": "2.9.0"}
