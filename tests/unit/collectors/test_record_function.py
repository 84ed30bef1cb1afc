"""The hook on record_function, on a stand-in written as torch's class is."""

from __future__ import annotations

import inspect
import sys
import threading
from contextlib import ContextDecorator
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from gviz.collectors import native
from gviz.collectors.hooks.record_function import RecordFunctionHook


class RecordFunction(ContextDecorator):
    """Stands for torch.autograd.profiler.record_function."""

    def __init__(self, name: Any) -> None:
        self.name = name

    def __enter__(self) -> Any:
        if not isinstance(self.name, str):
            raise TypeError("expected a str")
        return self

    def __exit__(self, kind: object, value: object, trace: object) -> None:
        return None


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    heard: list[str] = []
    monkeypatch.setattr(native, "nvtx_push", heard.append)
    monkeypatch.setattr(native, "nvtx_pop", lambda: heard.append("pop"))
    return heard


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A module torch.autograd.profiler with a torch whose compiler can be told to trace."""
    state = SimpleNamespace(tracing=False)
    package: Any = ModuleType("torch")
    package.__path__ = []
    compiler: Any = ModuleType("torch.compiler")
    compiler.__spec__ = SimpleNamespace(name="torch.compiler")
    compiler.is_compiling = lambda: state.tracing
    package.compiler = compiler
    module: Any = ModuleType("torch.autograd.profiler")
    module.torch = package
    module.record_function = type("record_function", (RecordFunction,), dict(vars(RecordFunction)))
    for name, value in (
        ("torch", package),
        ("torch.compiler", compiler),
        (module.__name__, module),
    ):
        monkeypatch.setitem(sys.modules, name, value)
    return SimpleNamespace(
        record_function=module.record_function, state=state, package=package, module=module
    )


@pytest.fixture
def hook() -> RecordFunctionHook:
    return RecordFunctionHook()


def test_ranges_are_opened_and_closed_in_order(
    hook: RecordFunctionHook, torch: Any, heard: list[str]
) -> None:
    hook.install()
    with torch.record_function("step") as entered, torch.record_function("forward"):
        assert entered.name == "step"
    assert heard == ["step", "forward", "pop", "pop"]


def test_decorated_recursive_function_opens_one_range_a_call(
    hook: RecordFunctionHook, torch: Any, heard: list[str]
) -> None:
    hook.install()

    @torch.record_function("walk")
    def walk(depth: int) -> int:
        return depth if depth == 0 else walk(depth - 1)

    assert walk(2) == 0
    assert heard == ["walk"] * 3 + ["pop"] * 3


def test_class_is_as_it_was_afterwards(
    hook: RecordFunctionHook, torch: Any, heard: list[str]
) -> None:
    before = dict(vars(torch.record_function))
    hook.install()
    assert inspect.getsource(torch.record_function.__enter__).lstrip().startswith("def __enter__")
    assert "expected a str" in inspect.getsource(torch.record_function.__enter__), (
        "TorchScript reads the source of the class's own method"
    )
    hook.remove()
    assert dict(vars(torch.record_function)) == before
    with torch.record_function("after"):
        pass
    assert heard == []


def test_range_entered_before_the_hook_is_not_closed(
    hook: RecordFunctionHook, torch: Any, heard: list[str]
) -> None:
    with torch.record_function("before"):
        hook.install()
    assert heard == []


def test_range_left_on_another_thread_closes_none_there(
    hook: RecordFunctionHook, torch: Any, heard: list[str]
) -> None:
    hook.install()
    entered = torch.record_function("async")
    entered.__enter__()
    thread = threading.Thread(target=lambda: entered.__exit__(None, None, None))
    thread.start()
    thread.join()
    assert heard == ["async"]


def test_name_that_torch_refuses_opens_no_range(
    hook: RecordFunctionHook, torch: Any, heard: list[str]
) -> None:
    hook.install()
    with pytest.raises(TypeError, match="expected a str"):
        torch.record_function(7).__enter__()
    assert heard == []


def test_traced_code_opens_no_range(hook: RecordFunctionHook, torch: Any, heard: list[str]) -> None:
    hook.install()
    torch.state.tracing = True
    with torch.record_function("traced"):
        pass
    assert heard == []


def test_pytorch_of_another_shape_is_left_alone_and_reported(
    hook: RecordFunctionHook, torch: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    del torch.module.record_function
    hook.install()
    assert "record_function" in capsys.readouterr().err
    hook.remove()
