"""Versions of what gviz needs: bounds, the lock of `make`, and the wheel's bill of materials."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
#: Of whoever has a GPU, fuzzes, or builds what is published.
NOT_LOCKED = {"cuda13", "fuzz", "wheel"}
#: What the watched program's environment may have in a version of its own.
CORE = {"msgspec", "networkx", "numpy", "pydot", "rich", "shtab"}


def made_with(what: str, path: Path) -> str:
    """Run the tool."""
    command = [sys.executable, "-P", str(ROOT / "tools" / "made_with.py"), what, str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_lock_has_a_version_of_each_requirement_within_its_bounds() -> None:
    lines = (ROOT / "tools" / "lock.txt").read_text().splitlines()
    pinned = dict(line.split("==") for line in lines if not line.startswith("#"))
    extras = PROJECT["optional-dependencies"]
    wanted = [r for name in extras.keys() - NOT_LOCKED for r in extras[name]]
    for requirement in map(Requirement, [*PROJECT["dependencies"], *wanted]):
        found = pinned[canonicalize_name(requirement.name)]
        assert found in requirement.specifier, requirement


def test_only_the_viewers_requirements_have_upper_bounds() -> None:
    for requirement in map(Requirement, PROJECT["dependencies"]):
        bounds = {specifier.operator for specifier in requirement.specifier}
        assert bounds == ({">="} if requirement.name in CORE else {">=", "<"}), requirement


def test_lowest_versions_are_the_lower_bounds_of_the_core_and_of_fleets() -> None:
    pins = [Requirement(pin) for pin in made_with("lowest", ROOT / "pyproject.toml").split()]
    of_fleets = PROJECT["optional-dependencies"]["fleet"]
    assert {pin.name for pin in pins} == CORE | {Requirement(one).name for one in of_fleets}
    needed = map(Requirement, [*PROJECT["dependencies"], *of_fleets])
    bounds = {r.name: r.specifier for r in needed}
    for pin in pins:
        assert str(pin.specifier).replace("==", ">=") == str(bounds[pin.name])


def test_bill_names_the_wheel_and_all_that_it_needs(tmp_path: Path) -> None:
    wheel = tmp_path / "gviz-1-py3-none-any.whl"
    needs = ["Requires-Dist: dash>=4.0,<5", 'Requires-Dist: pytest>=8; extra == "test"']
    head = ["Metadata-Version: 2.4", "Name: gviz", "Version: 1", "License-Expression: Apache-2.0"]
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("gviz-1.dist-info/METADATA", "\n".join([*head, *needs, "", ""]))
    bill = json.loads(made_with("sbom", wheel))
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    top = bill["metadata"]["component"]
    assert top["hashes"][0]["content"] == hashlib.sha256(wheel.read_bytes()).hexdigest()
    versions = {part["name"]: part["version"] for part in bill["components"]}
    # What dash itself requires is there, what only tests do is not.
    assert versions["dash"] == version("dash")
    assert versions["flask"] == version("flask")
    assert "pytest" not in versions
    edges = {one["ref"]: one["dependsOn"] for one in bill["dependencies"]}
    dash = f"pkg:pypi/dash@{version('dash')}"
    assert edges["pkg:pypi/gviz@1"] == [dash]
    assert f"pkg:pypi/flask@{version('flask')}" in edges[dash]
    assert edges.keys() == {part["bom-ref"] for part in [top, *bill["components"]]}


def test_requirement_that_is_not_installed_is_named(tmp_path: Path) -> None:
    file = tmp_path / "pyproject.toml"
    file.write_text(
        '[project]\ndependencies = ["no-such-part>=1"]\n[project.optional-dependencies]\n'
    )
    with pytest.raises(subprocess.CalledProcessError) as raised:
        made_with("lock", file)
    assert "no-such-part is not installed in" in raised.value.stderr
