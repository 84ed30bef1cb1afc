from __future__ import annotations

import importlib
import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import pytest

from gviz.collectors.hooks.import_hook import on_import


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A package with a submodule that nobody has imported."""
    name = "gviz_hooked"
    folder = tmp_path / name
    folder.mkdir()
    (folder / "__init__.py").write_text("value = 1\nloader = __spec__.loader\n")
    (folder / "inner.py").write_text("value = 2\n")
    (folder / "broken.py").write_text("raise LookupError('from the module')\n")
    monkeypatch.syspath_prepend(tmp_path)
    meta_path = list(sys.meta_path)
    yield name
    assert sys.meta_path == meta_path, "the finder stays behind"
    for module in [m for m in sys.modules if m.partition(".")[0] == name]:
        del sys.modules[module]


def test_callback_gets_the_module_when_its_code_has_run(package: str) -> None:
    seen: list[int] = []
    remove = on_import(package, lambda module: seen.append(module.value))
    assert seen == []
    module = importlib.import_module(package)
    assert seen == [1]
    importlib.import_module(package)
    assert seen == [1]
    importlib.reload(module)
    assert seen == [1, 1]
    remove()
    remove()
    importlib.reload(module)
    assert seen == [1, 1]


def test_module_that_is_there_is_reported_at_once(package: str) -> None:
    module = importlib.import_module(package)
    seen: list[ModuleType] = []
    on_import(package, seen.append)()
    assert seen == [module]


def test_submodule_is_watched_by_its_full_name(package: str) -> None:
    seen: list[str] = []
    remove = on_import(f"{package}.inner", lambda module: seen.append(module.__name__))
    importlib.import_module(package)
    assert seen == []
    importlib.import_module(f"{package}.inner")
    assert seen == [f"{package}.inner"]
    remove()


def test_module_keeps_its_own_loader(package: str) -> None:
    remove = on_import(package, lambda module: None)
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert isinstance(spec.loader, SourceFileLoader)
    assert spec.loader.get_source(package) is not None
    module = importlib.import_module(package)
    assert module.__spec__ is not None
    assert type(module.loader) is type(module.__loader__) is SourceFileLoader
    assert type(module.__spec__.loader) is SourceFileLoader
    remove()


def test_failing_import_fails_as_without_the_hook(package: str) -> None:
    seen: list[ModuleType] = []
    removers = [on_import(f"{package}.{name}", seen.append) for name in ("broken", "missing")]
    for _ in range(2):
        with pytest.raises(LookupError, match="from the module"):
            importlib.import_module(f"{package}.broken")
    with pytest.raises(ModuleNotFoundError, match="missing"):
        importlib.import_module(f"{package}.missing")
    assert seen == []
    for remove in removers:
        remove()


def test_failing_callback_is_one_line_and_the_import_goes_on(
    package: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(module: ModuleType) -> None:
        raise ValueError("too bad")

    seen: list[ModuleType] = []
    removers = [on_import(package, fail), on_import(package, seen.append)]
    module = importlib.import_module(package)
    assert seen == [module]
    error = capsys.readouterr().err
    assert error == f"gviz: a hook on {package} failed: too bad\n"
    for remove in removers:
        remove()


def test_callback_may_remove_itself(package: str) -> None:
    seen: list[ModuleType] = []

    def once(module: ModuleType) -> None:
        seen.append(module)
        remove()

    remove = on_import(package, once)
    module = importlib.import_module(package)
    importlib.reload(module)
    assert seen == [module]


def test_hook_imports_nothing_heavy() -> None:
    text = (
        "import sys; from gviz.collectors.hooks import import_hook; "
        "import_hook.on_import('torch.profiler', print); "
        "print([m for m in ('torch', 'numpy', 'jax') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", text], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
