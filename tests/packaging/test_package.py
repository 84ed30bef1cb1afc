"""The package as it is built: every folder named, everything in the wheel, nothing else."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text())
SETUPTOOLS = CONFIG["tool"]["setuptools"]


def _package_folders() -> dict[str, Path]:
    """Return every folder with an ``__init__.py`` by the import name it has to have."""
    mapped = SETUPTOOLS["package-dir"]
    found = {}
    for name, folder in mapped.items():
        for init in (ROOT / folder).rglob("__init__.py"):
            inner = init.parent.relative_to(ROOT / folder).parts
            found[".".join((name, *inner))] = init.parent
    return found


def test_package_list_names_every_package_folder() -> None:
    assert sorted(SETUPTOOLS["packages"]) == sorted(_package_folders())


def test_folders_with_modules_are_packages() -> None:
    # Programs beside recordings, and what gviz run puts on a program's PYTHONPATH.
    data = {
        ROOT / "assets" / "recordings",
        ROOT / "assets" / "launch_costs",
        ROOT / "collectors" / "startup",
    }
    modules = [
        path
        for folder in SETUPTOOLS["package-dir"].values()
        for path in (ROOT / folder).rglob("*.py")
        if data.isdisjoint(path.parents) and "__pycache__" not in path.parts
    ]
    bare = {m.parent for m in modules if not (m.parent / "__init__.py").exists()}
    assert bare == set(), "each needs an __init__.py and a line in pyproject.toml"


def test_version_is_the_same_everywhere() -> None:
    import gviz

    assert gviz.__version__ == CONFIG["project"]["version"]


def test_no_requirement_is_pinned_to_one_version() -> None:
    extras = CONFIG["project"]["optional-dependencies"].values()
    for requirement in [*CONFIG["project"]["dependencies"], *(r for e in extras for r in e)]:
        assert "==" not in requirement


def test_licence_is_the_full_apache_text() -> None:
    text = (ROOT / "LICENSE").read_text()
    assert "Apache License" in text
    assert "TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION" in text
    assert "END OF TERMS AND CONDITIONS" in text
    assert CONFIG["project"]["license"] == "Apache-2.0"


def test_sdist_holds_what_a_build_and_its_tests_need(built: Path) -> None:
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        names = {name.partition("/")[2] for name in tar.getnames()}
    wanted = {"LICENSE", "README.md", "Makefile", "pyproject.toml", "setup.py", "tests/conftest.py"}
    wanted |= {
        path.relative_to(ROOT).as_posix()
        for folder in ("collectors/csrc", "assets", "gviz", "app", "collectors")
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and path.suffix not in (".pyc", ".so")
    }
    assert wanted - names == set()
    assert [name for name in names if name.endswith((".so", ".pyc"))] == []


def test_wheel_from_the_sdist_passes_the_content_check(built: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-P", str(ROOT / "tools" / "check_wheel.py"), str(built)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "content as expected" in done.stdout


def test_content_check_finds_what_is_wrong_with_a_wheel(tmp_path: Path) -> None:

    with zipfile.ZipFile(tmp_path / "gviz-1-py3-none-any.whl", "w") as archive:
        archive.writestr("gviz/tests/test_a.py", "")
        archive.writestr("gviz/collectors/csrc/core/core.h", "")
    done = subprocess.run(
        [sys.executable, "-P", str(ROOT / "tools" / "check_wheel.py"), str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    for fault in (
        "gviz/py.typed is missing",
        "native library is there 0 times",
        "launch costs' library is there 0 times",
        "not a wheel for every Python on one platform",
        "licence file is missing",
        "gviz/tests/test_a.py does not belong",
        "gviz/collectors/csrc/core/core.h does not belong",
    ):
        assert fault in done.stdout
