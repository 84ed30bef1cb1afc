"""NVTX hooks on stand-ins for the libraries: what is wrapped, and that all is undone."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from gviz.collectors import native
from gviz.collectors.hooks.nvtx import NvtxHooks

VARIABLE = "NVTX_INJECTION64_PATH"


@dataclass
class Library:
    """Stands for the native library: what it was told."""

    path: Path | None = Path("/gviz/_native.so")
    open: list[str] = field(default_factory=list)
    heard: list[str] = field(default_factory=list)

    def push(self, text: str) -> None:
        self.open.append(text)
        self.heard.append(text)

    def pop(self) -> None:
        if self.open:
            self.open.pop()


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Library:
    library = Library()
    monkeypatch.setattr(native, "library_path", lambda: library.path)
    monkeypatch.setattr(native, "nvtx_push", library.push)
    monkeypatch.setattr(native, "nvtx_pop", library.pop)
    monkeypatch.setattr(native, "nvtx_depth", lambda: len(library.open))
    monkeypatch.delenv(VARIABLE, raising=False)
    for name in ("nvtx.nvtx", "torch.cuda.nvtx", "cupy.cuda"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return library


class TorchFunctions:
    """Stands for torch._C._nvtx; ``injected``: it found gviz at its first call."""

    def __init__(self, injected: Library | None = None) -> None:
        self.calls: list[str] = []
        self._injected = injected

    def rangePushA(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError("rangePushA(): incompatible function arguments")
        self.calls.append(f"push {text}")
        if self._injected:
            self._injected.push(text)
        return len(self.calls)

    def rangePop(self) -> int:
        self.calls.append("pop")
        if self._injected:
            self._injected.pop()
        return len(self.calls)

    def markA(self, text: str) -> str:
        return f"mark {text}"


def torch_module(functions: TorchFunctions) -> ModuleType:
    """Return a module written as torch/cuda/nvtx.py is."""
    module: Any = ModuleType("torch.cuda.nvtx")
    module._nvtx = functions
    module.range_push = lambda text: module._nvtx.rangePushA(text)
    module.range_pop = lambda: module._nvtx.rangePop()
    return module  # type: ignore[no-any-return]


@dataclass
class Attributes:
    message: object


def nvtx_module() -> ModuleType:
    """Return a module written as nvtx/nvtx.py is."""
    module: Any = ModuleType("nvtx.nvtx")
    module.calls = []
    module.libnvtx_push_range = lambda attributes, domain: module.calls.append("push")
    module.libnvtx_pop_range = lambda domain: module.calls.append("pop")
    module.push_range = lambda text: module.libnvtx_push_range(Attributes(text), "domain")
    module.pop_range = lambda: module.libnvtx_pop_range("domain")
    return module  # type: ignore[no-any-return]


@pytest.fixture
def notes() -> list[str]:
    return []


@pytest.fixture
def hooks(library: Library, notes: list[str]) -> Iterator[NvtxHooks]:
    hooks = NvtxHooks(notes.append)
    yield hooks
    hooks.remove()  # the environment is the whole session's


def add(monkeypatch: pytest.MonkeyPatch, module: ModuleType) -> Any:
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return module


def test_libraries_to_come_find_gviz_until_the_end(hooks: NvtxHooks, library: Library) -> None:
    hooks.install()
    assert os.environ[VARIABLE] == str(library.path)
    hooks.remove()
    assert VARIABLE not in os.environ


def test_injection_of_another_tool_is_left_alone(
    hooks: NvtxHooks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "/other/tool.so")
    hooks.install()
    assert os.environ[VARIABLE] == "/other/tool.so"
    hooks.remove()
    assert os.environ[VARIABLE] == "/other/tool.so"


def test_without_a_native_library_nothing_is_set(hooks: NvtxHooks, library: Library) -> None:
    library.path = None
    hooks.install()
    assert VARIABLE not in os.environ


def test_torch_ranges_arrive_in_python_and_everything_is_restored(
    hooks: NvtxHooks, library: Library, notes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    functions = TorchFunctions()
    module = add(monkeypatch, torch_module(functions))
    before = dict(vars(module))
    hooks.install()
    functions.calls.clear()
    assert module.range_push("layer 0") == 1
    assert library.open == ["layer 0"]
    assert module.range_pop() == 2
    assert library.open == []
    assert module._nvtx.markA("x") == "mark x", "what is not wrapped is passed through"
    assert functions.calls == ["push layer 0", "pop"]
    assert len(notes) == 1
    assert notes[0].startswith("torch made NVTX calls before gviz attached")
    hooks.remove()
    assert dict(vars(module)) == before


def test_nvtx_ranges_arrive_in_python_and_everything_is_restored(
    hooks: NvtxHooks, library: Library, notes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    module = add(monkeypatch, nvtx_module())
    before = dict(vars(module))
    hooks.install()
    module.calls.clear()
    module.push_range("outer")

    @dataclass
    class Registered:
        string: str

    module.libnvtx_push_range(Attributes(Registered("inner")), "domain")
    assert library.open == ["outer", "inner"]
    module.pop_range()
    module.pop_range()
    assert library.open == []
    assert module.calls == ["push", "push", "pop", "pop"]
    assert len(notes) == 1
    hooks.remove()
    assert dict(vars(module)) == before


def cupy_module(*, available: bool = True) -> ModuleType:
    """Return a module as cupy.cuda is, whose nvtx functions cupyx.profiler.time_range calls."""
    functions: Any = ModuleType("cupy_backends.cuda.libs.nvtx")
    functions.available = available
    functions.calls = []
    functions.RangePush = lambda message, id_color=-1: functions.calls.append((message, id_color))
    functions.RangePushC = lambda message, color=0: functions.calls.append((message, color))
    functions.RangePop = lambda: functions.calls.append("pop")
    module: Any = ModuleType("cupy.cuda")
    module.nvtx = functions
    return module  # type: ignore[no-any-return]


def test_cupy_ranges_arrive_in_python_and_everything_is_restored(
    hooks: NvtxHooks, library: Library, notes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    functions = add(monkeypatch, cupy_module()).nvtx
    before = dict(vars(functions))
    hooks.install()
    functions.calls.clear()
    functions.RangePush("outer", 3)
    functions.RangePushC("inner", color=255)
    assert library.open == ["outer", "inner"]
    functions.RangePop()
    functions.RangePop()
    assert library.open == []
    assert functions.calls == [("outer", 3), ("inner", 255), "pop", "pop"]
    assert notes[0].startswith("cupy made NVTX calls before gviz attached")
    hooks.remove()
    assert dict(vars(functions)) == before


def test_cupy_without_nvtx_is_left_alone(
    hooks: NvtxHooks, notes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    functions = add(monkeypatch, cupy_module(available=False)).nvtx
    hooks.install()
    assert (functions.calls, notes) == ([], [])


def test_module_whose_ranges_arrive_natively_is_not_wrapped(
    hooks: NvtxHooks, library: Library, notes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    functions = TorchFunctions(injected=library)
    module = add(monkeypatch, torch_module(functions))
    hooks.install()
    assert module._nvtx is functions
    assert (notes, library.open) == ([], [])
    module.range_push("once")
    assert library.heard[1:] == ["once"]


def test_module_that_fails_is_left_alone_and_the_other_is_wrapped(
    hooks: NvtxHooks, library: Library, notes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = add(monkeypatch, nvtx_module())

    def fail(text: str) -> None:
        raise RuntimeError("NVTX functions not installed")

    broken.push_range = fail
    before = dict(vars(broken))
    module = add(monkeypatch, torch_module(TorchFunctions()))
    hooks.install()
    assert dict(vars(broken)) == before
    module.range_push("layer 0")
    assert library.open == ["layer 0"]
    assert notes[0] == "the NVTX ranges of nvtx are missing: NVTX functions not installed"
    assert len(notes) == 2


def test_module_of_another_version_is_left_alone(
    hooks: NvtxHooks, notes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    module = add(monkeypatch, nvtx_module())
    module.push_range = module.pop_range = lambda *arguments: None
    del module.libnvtx_push_range
    before = dict(vars(module))
    hooks.install()
    assert dict(vars(module)) == before
    assert "libnvtx_push_range" in notes[0]
    hooks.remove()


def test_call_that_the_library_refuses_opens_no_range(
    hooks: NvtxHooks, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = add(monkeypatch, torch_module(TorchFunctions()))
    hooks.install()
    with pytest.raises(TypeError, match="incompatible function arguments"):
        module.range_push(7)
    assert library.open == []


def test_removing_twice_is_harmless(hooks: NvtxHooks) -> None:
    hooks.install()
    hooks.remove()
    hooks.remove()
    assert VARIABLE not in os.environ
