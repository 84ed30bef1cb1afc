"""Python stacks of nodes: equal ones share an id, and nothing reaches the C code that asks."""

from __future__ import annotations

import json
import linecache
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

from gviz.collectors import native
from gviz.collectors.hooks import stacks
from gviz.collectors.hooks.stacks import MAX_DEPTH, StackTaker
from gviz.collectors.watching import watch_torch
from gviz.spool.records.enums import STACK_REASONS, StackReason
from gviz.spool.records.format import RecordType

NO_FRAMES, SHUTDOWN = StackReason.NO_PYTHON_THREAD, StackReason.SHUTDOWN
FAILED = StackReason.FAILED

Frames = list[list[object]]


class Written:
    """Stands for the spool: what was appended, decoded."""

    def __init__(self) -> None:
        self.stacks: dict[int, Frames] = {}
        self.count = 0

    def append(self, kind: int, payload: bytes) -> None:
        assert kind == RecordType.STACK
        number, frames = json.loads(payload)
        assert number not in self.stacks, "an id was given twice"
        self.stacks[number] = frames
        self.count += 1


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> Written:
    written = Written()
    monkeypatch.setattr(native, "append", written.append)
    return written


def test_equal_stacks_have_one_id_and_are_written_once(written: Written) -> None:
    taker = StackTaker()
    ids = [taker.take() for _ in range(5)]
    assert ids == [1] * 5
    assert written.count == 1


def test_patches_of_frameworks_are_not_in_the_stack(written: Written) -> None:
    # As a patched function of a framework calls the one that it stands for.
    patch = compile("def call(function):\n    return function()\n", watch_torch.__file__, "exec")
    names: dict[str, Callable[[Callable[[], int]], int]] = {}
    exec(patch, names)
    number = names["call"](StackTaker().take)
    assert [frame[2] for frame in written.stacks[number]][:1] == [
        "test_patches_of_frameworks_are_not_in_the_stack"
    ]


def test_another_line_is_another_stack(written: Written) -> None:
    taker = StackTaker()
    first = taker.take()
    second = taker.take()
    assert (first, second) == (1, 2)
    lines = [written.stacks[i][0][1] for i in (first, second)]
    assert lines[1] == int(str(lines[0])) + 1


def test_another_caller_is_another_stack(written: Written) -> None:
    taker = StackTaker()

    def inner() -> int:
        return taker.take()

    ids = [inner(), inner()]
    assert ids[0] != ids[1] or written.count == 1
    callers = [written.stacks[i][0][2] for i in sorted(written.stacks)]
    assert all(str(c).endswith("<locals>.inner") for c in callers)


def test_frames_name_file_line_and_function_innermost_first(written: Written) -> None:
    taker = StackTaker()

    def inner() -> int:
        return taker.take()

    frames = written.stacks[inner()]
    here = str(Path(__file__))
    code = inner.__code__
    name = "test_frames_name_file_line_and_function_innermost_first"
    assert frames[0] == [here, code.co_firstlineno + 1, f"{name}.<locals>.inner", None]
    assert frames[1] == [here, code.co_firstlineno + 3, name, None]


def call_from(file: str, text: str, take: Callable[[], int]) -> int:
    """Run a function of a made-up file that asks for its stack."""
    space: dict[str, object] = {"take": take}
    exec(compile(text, file, "exec"), space)
    function = space["function"]
    assert callable(function)
    number = function()
    assert isinstance(number, int)
    return number


def test_text_of_code_in_no_file_is_kept(written: Written, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "def function():\n    return take()  # cell\n"
    file = "<ipython-input-1>"
    lines = text.splitlines(keepends=True)
    monkeypatch.setitem(linecache.cache, file, (len(text), None, lines, file))
    number = call_from(file, text, StackTaker().take)
    assert written.stacks[number][0] == [file, 2, "function", "return take()  # cell"]


def test_string_without_lines_is_kept_by_its_name(written: Written) -> None:
    number = call_from("<string>", "def function():\n    return take()\n", StackTaker().take)
    assert written.stacks[number][0] == ["<string>", 2, "function", None]


def test_frames_of_gviz_are_left_out(written: Written) -> None:
    own = str(Path(stacks.__file__).parent / "profiler.py")
    number = call_from(own, "def function():\n    return take()\n", StackTaker().take)
    files = [frame[0] for frame in written.stacks[number]]
    assert own not in files
    assert files[0] == str(Path(__file__))


def test_deep_stack_is_cut_at_its_outer_end(written: Written) -> None:
    taker = StackTaker()

    def recurse(depth: int) -> int:
        return recurse(depth - 1) if depth else taker.take()

    frames = written.stacks[recurse(2 * MAX_DEPTH)]
    assert len(frames) == MAX_DEPTH
    assert {str(frame[2]).rpartition(".")[2] for frame in frames} == {"recurse"}


def _gviz_failure(kind: int, payload: bytes) -> None:
    exec(compile("raise ValueError", stacks.__file__, "exec"))


def _out_of_memory(kind: int, payload: bytes) -> None:
    raise MemoryError


@pytest.mark.parametrize("fail", [_gviz_failure, _out_of_memory])
def test_failure_is_a_reason_and_the_next_stack_is_taken(
    written: Written, monkeypatch: pytest.MonkeyPatch, fail: Callable[[int, bytes], None]
) -> None:
    taker = StackTaker()
    with monkeypatch.context() as patch:
        patch.setattr(native, "append", fail)
        assert taker.take() == FAILED
    number = taker.take()
    assert number > 0
    assert number in written.stacks


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, TimeoutError, LookupError])
def test_what_a_signal_handler_raises_is_not_swallowed(
    written: Written, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    def interrupted(kind: int, payload: bytes) -> None:
        raise error("from a handler that Python ran here")

    with monkeypatch.context() as patch:
        patch.setattr(native, "append", interrupted)
        with pytest.raises(error, match="from a handler"):
            StackTaker().take()


def test_thread_without_python_frames_is_a_reason(
    written: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_frame(depth: int) -> FrameType:
        raise ValueError("call stack is not deep enough")

    taker = StackTaker()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "_getframe", no_frame)
        assert taker.take() == NO_FRAMES
    assert written.count == 0


def test_interpreter_at_its_end_is_a_reason(
    written: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    taker = StackTaker()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "is_finalizing", lambda: True)
        assert taker.take() == SHUTDOWN


def test_every_reason_has_a_sentence() -> None:
    assert set(StackReason) == set(STACK_REASONS)


def test_child_begins_with_no_stacks(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers: list[int] = []
    monkeypatch.setattr(native, "append", lambda _, p: numbers.append(json.loads(p)[0]))
    taker = StackTaker()

    def take() -> int:
        return taker.take()

    taken = []
    for _ in range(2):
        taken += [take() for _ in range(2)]
        taker.begin_again()
    assert taken == [1, 1, 1, 1]
    assert numbers == [1, 1]


def test_two_threads_at_once_get_different_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    # Appending lets other threads run: both are in it here before either goes on.
    both = threading.Barrier(2, timeout=120)
    numbers: list[int] = []

    def append(kind: int, payload: bytes) -> None:
        both.wait()
        numbers.append(json.loads(payload)[0])

    monkeypatch.setattr(native, "append", append)
    taker = StackTaker()
    taken: list[int] = []

    def one() -> None:
        taken.append(taker.take())

    def other() -> None:
        taken.append(taker.take())

    threads = [threading.Thread(target=target) for target in (one, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(numbers) == [1, 2]
    assert sorted(taken) == [1, 2]
