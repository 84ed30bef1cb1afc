"""Operations of PyTorch's autograd at the creation of nodes; a module stands for torch."""

from __future__ import annotations

import json
import sys
import threading
from types import SimpleNamespace
from typing import Any

import pytest

from gviz.collectors import native
from gviz.collectors.hooks.autograd import AutogradPlace, AutogradWatch
from gviz.collectors.hooks.stacks import StackTaker
from gviz.spool.records.enums import StackReason
from gviz.spool.records.format import RecordType

ACCUMULATES = "torch::autograd::AccumulateGrad"


class Node:
    def __init__(self, name: str, number: int) -> None:
        self._name, self._number = name, number

    def name(self) -> str:
        return self._name

    def _sequence_nr(self) -> int:
        return self._number


class Torch:
    """The part of torch that gviz reads: a thread's next number, the autograd node that runs."""

    def __init__(self) -> None:
        self.next_number = 0
        self.node: Node | None = None
        self._C = SimpleNamespace(
            _current_autograd_node=lambda: self.node,
            _autograd=SimpleNamespace(_get_sequence_nr=lambda: self.next_number),
        )


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> Torch:
    found = Torch()
    monkeypatch.setitem(sys.modules, "torch", found)  # type: ignore[arg-type]
    return found


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, Any]]:
    found: list[tuple[int, Any]] = []
    monkeypatch.setattr(native, "append", lambda kind, p: found.append((kind, json.loads(p))))
    return found


def test_first_node_of_an_operation_has_its_number(torch: Torch) -> None:
    watch = AutogradWatch()
    assert watch.place() is None, "no autograd node was made yet"
    torch.next_number = 5
    assert watch.place() == AutogradPlace(None, 4)
    assert watch.place() is None, "another kernel, perhaps of work without an autograd node"
    torch.next_number = 8
    assert watch.place() == AutogradPlace(None, 7)


def test_each_thread_has_its_own_numbers(torch: Torch) -> None:
    watch = AutogradWatch()
    torch.next_number = 5
    found = [watch.place()]
    thread = threading.Thread(target=lambda: found.append(watch.place()))
    thread.start()
    thread.join()
    assert found == [AutogradPlace(None, 4)] * 2


def test_node_of_autograd_is_named_with_its_number(torch: Torch) -> None:
    torch.next_number, torch.node = 90, Node("MulBackward0", 12)
    watch = AutogradWatch()
    assert [watch.place(), watch.place()] == [AutogradPlace("MulBackward0", 12)] * 2


def test_node_that_adds_to_a_gradient_has_no_number(torch: Torch) -> None:
    torch.node = Node(ACCUMULATES, 2**64 - 1)
    assert AutogradWatch().place() == AutogradPlace(ACCUMULATES, None)


def test_torch_is_not_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    assert AutogradWatch().place() is None
    assert "torch" not in sys.modules


def test_torch_that_is_being_imported_is_asked_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace())  # type: ignore[arg-type]
    watch = AutogradWatch()
    assert watch.place() is None
    whole = Torch()
    whole.next_number = 1
    monkeypatch.setitem(sys.modules, "torch", whole)  # type: ignore[arg-type]
    assert watch.place() == AutogradPlace(None, 0)


def test_number_stands_for_a_stack_and_an_operation(
    torch: Torch, written: list[tuple[int, Any]]
) -> None:
    torch.next_number = 3
    taker = StackTaker()
    taken = []
    for number in (3, 3, 4, 4):
        torch.next_number = number
        taken.append(taker.take())
    (stack, *operations) = written
    assert stack[0] == RecordType.STACK
    assert operations == [
        (RecordType.AUTOGRAD, [taken[0], stack[1][0], None, 2]),
        (RecordType.AUTOGRAD, [taken[2], stack[1][0], None, 3]),
    ]
    assert taken[1] == taken[3] == stack[1][0]


def test_kernels_of_one_autograd_node_share_a_number_without_frames(
    torch: Torch, written: list[tuple[int, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_frame(depth: int) -> object:
        raise ValueError("call stack is not deep enough")

    torch.node = Node("AddmmBackward0", 12)
    taker = StackTaker()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "_getframe", no_frame)
        taken = [taker.take() for _ in range(3)]
        torch.node = Node("MulBackward0", 11)
        taken.append(taker.take())
    no_thread = int(StackReason.NO_PYTHON_THREAD)
    assert taken == [1, 1, 1, 2]
    assert [payload for _, payload in written] == [
        [1, no_thread, "AddmmBackward0", 12],
        [2, no_thread, "MulBackward0", 11],
    ]


def test_torch_that_is_something_else_costs_only_the_operation(
    torch: Torch, written: list[tuple[int, Any]]
) -> None:
    torch.node = object()  # type: ignore[assignment]
    assert StackTaker().take() == 1
    assert [kind for kind, _ in written] == [RecordType.STACK]


def test_what_a_signal_handler_raises_in_there_is_not_swallowed(
    torch: Torch, written: list[tuple[int, Any]]
) -> None:
    def interrupted() -> int:
        raise TimeoutError("from a handler that Python ran here")

    torch._C._autograd._get_sequence_nr = interrupted
    with pytest.raises(TimeoutError, match="from a handler"):
        StackTaker().take()


def test_child_writes_its_operations_anew(torch: Torch, written: list[tuple[int, Any]]) -> None:
    torch.node = Node("MulBackward0", 11)
    taker = StackTaker()

    def take() -> int:
        return taker.take()

    taken = []
    for _ in range(2):
        taken.append(take())
        taker.begin_again()
    assert taken[0] == taken[1]
    assert [kind for kind, _ in written] == [RecordType.STACK, RecordType.AUTOGRAD] * 2
