"""Faces of packages: every name leads to what defines it, loaded when it is asked for."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import pytest

from gviz.face import attach, read_face

#: Every package with a face, by import name, read from where it is installed.
PACKAGES = sorted(
    {
        ".".join([root, *stub.parent.relative_to(folder).parts])
        for root in ("gviz", "gviz.app", "gviz.collectors")
        for folder in map(Path, import_module(root).__path__)
        for stub in folder.rglob("__init__.pyi")
    }
    - {"gviz"}
)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_name_of_a_face_is_what_its_module_defines(package: str) -> None:
    module = import_module(package)
    face = read_face(str(module.__file__).replace(".py", ".pyi"))
    assert sorted(face) == module.__all__
    for name, source in face.items():
        value = getattr(module, name)
        if source == package:
            assert value is import_module(f"{package}.{name}")
        else:
            assert value is getattr(import_module(source), name)
    assert set(face) <= set(dir(module))


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A package of two modules, one of which cannot be imported."""
    name = f"faced_{tmp_path.name}"
    folder = tmp_path / name
    folder.mkdir()
    (folder / "__init__.py").write_text(
        "from gviz.face import attach\n__getattr__, __dir__ = attach(__name__, __file__)\n"
    )
    (folder / "__init__.pyi").write_text(
        f"from {name} import inner as inner\n"
        f"from {name}.inner import one as one\n"
        f"from {name}.inner import gone as gone\n"
        f"from {name}.broken import two as two\n"
    )
    (folder / "inner.py").write_text("one = 1\n")
    (folder / "broken.py").write_text("raise RuntimeError('no')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    return name


def test_a_module_is_loaded_when_its_name_is_requested(package: str) -> None:
    module = import_module(package)
    assert f"{package}.inner" not in sys.modules
    assert module.one == 1
    assert f"{package}.inner" in sys.modules
    assert vars(module)["one"] == 1  # found without the face from here on
    assert module.inner is sys.modules[f"{package}.inner"]


def test_a_name_that_is_in_no_face_is_an_attribute_error(package: str) -> None:
    module = import_module(package)
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'three'"):
        _ = module.three
    assert not hasattr(module, "__wrapped__")


def test_a_name_that_its_module_lacks_names_both(package: str) -> None:
    with pytest.raises(ImportError, match=rf"{package}\.gone cannot be loaded: .*'gone'"):
        _ = import_module(package).gone


def test_an_error_of_a_module_comes_out(package: str) -> None:
    with pytest.raises(RuntimeError, match="no"):
        _ = import_module(package).two


def test_a_face_that_is_missing_names_the_file(tmp_path: Path) -> None:
    load, _ = attach("nowhere", str(tmp_path / "__init__.py"))
    with pytest.raises(FileNotFoundError, match=r"__init__\.pyi"):
        load("name")
