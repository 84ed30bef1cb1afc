"""Names of torch.compile's graphs, on a stand-in for torch's class."""

from __future__ import annotations

import sys
from collections.abc import Callable
from enum import Enum
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from gviz.collectors import native
from gviz.collectors.hooks.compiled_graphs import CompiledGraphHook


class Mode(Enum):
    FORWARD = 1
    BACKWARD = 2


def tensor(*shape: int) -> Any:
    return SimpleNamespace(shape=shape)


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, str]]:
    names: list[tuple[int, str]] = []
    monkeypatch.setattr(native, "name_graphs", lambda kind, name: names.append((kind, name)))
    return names


@pytest.fixture
def node_class(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Stands for CUDAGraphNode: records what its inputs were, or raises."""

    class CUDAGraphNode:
        def __init__(self, mode: Mode, changing: list[int], compile_id: str = "0/0") -> None:
            self.mode, self.non_static_input_idx, self.compile_id = mode, changing, compile_id

        def _record(self, model: Callable[[Any], Any], inputs: list[Any]) -> Any:
            return model(inputs)

    module: Any = ModuleType("torch._inductor.cudagraph_trees")
    module.CUDAGraphNode = CUDAGraphNode
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return CUDAGraphNode


@pytest.fixture
def hook() -> CompiledGraphHook:
    return CompiledGraphHook()


def test_graph_is_named_by_function_and_shapes(
    hook: CompiledGraphHook, node_class: Any, names: list[tuple[int, str]]
) -> None:
    hook.install()
    node = node_class(Mode.FORWARD, [1, 3, 2])
    inputs = [tensor(64, 64), tensor(8, 64), tensor(), 8]
    assert node._record(lambda given: len(given), inputs) == 4
    (kind, name), after = names
    assert kind == 2
    assert name.startswith("test_compiled_graphs.py:")
    assert name.endswith(" test_graph_is_named_by_function_and_shapes [8x64, scalar]")
    assert after == (0, "")


def test_backward_is_named_after_its_forward(
    hook: CompiledGraphHook,
    node_class: Any,
    names: list[tuple[int, str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hook.install()
    node_class(Mode.FORWARD, [])._record(lambda given: None, [])
    monkeypatch.setattr("gviz.collectors.hooks.compiled_graphs.python_frames", lambda frame: [])
    node_class(Mode.BACKWARD, [0])._record(lambda given: None, [tensor(2, 3)])
    node_class(Mode.BACKWARD, [0], "1/0")._record(lambda given: None, [tensor(2)])
    assert names[2][1] == f"{names[0][1]} backward [2x3]"
    assert names[4][1] == "torch.compile backward [2]"


def test_many_inputs_are_cut(
    hook: CompiledGraphHook, node_class: Any, names: list[tuple[int, str]]
) -> None:
    hook.install()
    node_class(Mode.FORWARD, list(range(6)))._record(lambda given: None, [tensor(1)] * 6)
    assert names[0][1].endswith(" [1, 1, 1, 1, …]")


def test_error_of_the_recording_comes_out_and_ends_the_name(
    hook: CompiledGraphHook, node_class: Any, names: list[tuple[int, str]]
) -> None:
    hook.install()
    with pytest.raises(ZeroDivisionError):
        node_class(Mode.FORWARD, [])._record(lambda given: 1 // 0, [])
    assert names[-1] == (0, "")


def test_class_of_another_version_goes_without_names(
    hook: CompiledGraphHook, node_class: Any, names: list[tuple[int, str]]
) -> None:
    hook.install()
    node = node_class(Mode.FORWARD, None)
    assert node._record(lambda given: "recorded", [tensor(1)]) == "recorded"
    assert names[0] == (2, "")


def test_class_is_as_it_was_afterwards(hook: CompiledGraphHook, node_class: Any) -> None:
    before = dict(vars(node_class))
    hook.install()
    assert dict(vars(node_class)) != before
    hook.remove()
    assert dict(vars(node_class)) == before
