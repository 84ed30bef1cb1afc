"""Acting on imports: once, with the executed module, and without a trace afterwards."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from gviz.collectors.imports import ImportWatch


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A package ``gviz_watched`` whose submodule imports another one of it."""
    folder = tmp_path / "gviz_watched"
    folder.mkdir()
    (folder / "__init__.py").write_text("from gviz_watched import first\n")
    (folder / "first.py").write_text("from gviz_watched import second\nvalue = second.value + 1\n")
    (folder / "second.py").write_text("value = 1\n")
    (folder / "broken.py").write_text("raise KeyError('its own')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "gviz_watched"
    for name in [n for n in sys.modules if n.startswith("gviz_watched")]:
        del sys.modules[name]


@pytest.fixture
def watch() -> Iterator[ImportWatch]:
    notes: list[str] = []
    found = ImportWatch(notes.append)
    found.notes = notes  # type: ignore[attr-defined]
    yield found
    found.remove()
    assert found not in sys.meta_path


def test_module_is_acted_on_when_it_has_been_executed(package: str, watch: ImportWatch) -> None:
    seen: list[tuple[str, int]] = []
    watch.when_imported(f"{package}.first", lambda m: seen.append((m.__name__, m.value)))
    watch.when_imported(f"{package}.second", lambda m: seen.append((m.__name__, m.value)))
    assert package not in sys.modules, "nothing is imported by watching"
    module = importlib.import_module(package)
    assert seen == [(f"{package}.second", 1), (f"{package}.first", 2)]
    importlib.reload(module.first)
    assert len(seen) == 2, "once"


def test_loader_is_as_it_was_afterwards(package: str, watch: ImportWatch) -> None:
    watch.when_imported(f"{package}.second", lambda m: None)
    module = importlib.import_module(f"{package}.second")
    assert module.__spec__ is not None
    assert vars(module.__spec__.loader).keys() == {"name", "path"}
    assert type(module.__spec__.loader).__name__ == "SourceFileLoader"


def test_module_that_is_there_is_acted_on_at_once(watch: ImportWatch) -> None:
    seen: list[ModuleType] = []
    watch.when_imported("json", seen.append)
    assert seen == [sys.modules["json"]]
    assert watch not in sys.meta_path


def test_failing_import_fails_as_without_watching(package: str, watch: ImportWatch) -> None:
    watch.when_imported(f"{package}.broken", lambda m: pytest.fail("not executed"))
    with pytest.raises(KeyError, match="its own"):
        importlib.import_module(f"{package}.broken")


def test_failing_action_is_told_and_the_import_succeeds(package: str, watch: ImportWatch) -> None:
    watch.when_imported(f"{package}.second", lambda m: m.missing)
    assert importlib.import_module(f"{package}.second").value == 1
    (note,) = watch.notes  # type: ignore[attr-defined]
    assert note.startswith(f"{package}.second could not be hooked into: ")


def test_nothing_happens_once_removed(package: str, watch: ImportWatch) -> None:
    watch.when_imported(f"{package}.second", lambda m: pytest.fail("removed"))
    watch.remove()
    importlib.import_module(package)


def test_module_that_nobody_finds_stays_missing(watch: ImportWatch) -> None:
    watch.when_imported("gviz_missing", lambda m: pytest.fail("there is none"))
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("gviz_missing")
