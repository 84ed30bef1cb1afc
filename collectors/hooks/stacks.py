"""Python stacks of graph nodes, taken when a node is created.

The native library calls :meth:`StackTaker.take` on the thread that creates the node. A stack is
recognised by its code objects and instruction offsets; what is new is written to the spool at
once, so that a crash does not lose it. Source lines are read by the writer process. Where PyTorch's
autograd knows the operation, the number stands for a stack together with that.
"""

from __future__ import annotations

import itertools
import json
import linecache
import os
import sys
from types import CodeType, FrameType

from gviz.collectors import native
from gviz.collectors.hooks.autograd import AutogradPlace, AutogradWatch
from gviz.spool import RecordType, StackReason

#: Frames kept of a stack, innermost first.
MAX_DEPTH = 64
_REASON_NO_FRAMES = int(StackReason.NO_PYTHON_THREAD)
_REASON_SHUTDOWN = int(StackReason.SHUTDOWN)
_REASON_FAILED = int(StackReason.FAILED)
#: The folder of all collectors: their patches of frameworks stand in the program's stacks.
_OWN_FILES = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


class StackTaker:
    """Gives each distinct Python stack an id and writes it to the spool once."""

    def __init__(self) -> None:
        # By identity: hashing a code object hashes its whole bytecode.
        self._ids: dict[tuple[int, ...], int] = {}
        self._codes: dict[int, CodeType] = {}  # kept alive, so that an identity stays one
        self._numbers = itertools.count(1)
        self._autograd = AutogradWatch()
        self._last_place: tuple[int, AutogradPlace, int] | None = None
        self._installed = False

    def install(self) -> None:
        """Have the native library request a stack at every node."""
        native.set_stack_callback(self.take)
        self._installed = True

    def remove(self) -> None:
        """Take the callback away."""
        if self._installed:
            native.set_stack_callback(None)
            self._installed = False

    def begin_again(self) -> None:
        """After fork(): the child's spool has none of the parent's stacks."""
        self._ids.clear()
        self._codes.clear()
        self._last_place = None
        self._numbers = itertools.count(1)

    def take(self) -> int:
        """Return the id of the calling thread's stack, or a reason below zero.

        With what autograd knows it is an id of both.

        Raises nothing of its own, but what a signal handler of the program raises when Python
        runs it here.
        """
        try:
            if sys.is_finalizing():
                return _REASON_SHUTDOWN
            try:
                frame: FrameType | None = sys._getframe(1)
            except ValueError:
                return self._with_autograd(_REASON_NO_FRAMES)
            key: list[int] = []
            codes: list[CodeType] = []
            while frame is not None and len(codes) < MAX_DEPTH:
                code = frame.f_code
                codes.append(code)
                key.append(id(code))
                key.append(frame.f_lasti)
                frame = frame.f_back
            found = self._ids.get(tuple(key))
            return self._with_autograd(self._add(tuple(key), codes) if found is None else found)
        except Exception as error:
            if _is_of_gviz(error):
                return _REASON_FAILED
            raise

    def _with_autograd(self, stack: int) -> int:
        """Return the id of a stack, or of a reason, with autograd's operation if it has one."""
        try:
            place = self._autograd.place()
        except Exception as error:
            if _is_of_gviz(error):
                return stack  # PyTorch's functions are not what they were
            raise
        if place is None:
            return stack
        last = self._last_place
        if last is not None and last[:2] == (stack, place):
            return last[2]
        number = next(self._numbers)
        payload = json.dumps([number, stack, place.name, place.sequence_nr])
        native.append(RecordType.AUTOGRAD, payload.encode())
        self._last_place = (stack, place, number)
        return number

    def _add(self, key: tuple[int, ...], codes: list[CodeType]) -> int:
        self._codes.update((id(code), code) for code in codes)
        # Not the table's length: another thread may run while the record is appended.
        stack_id = next(self._numbers)
        frames = [
            _frame(code, lasti)
            for code, lasti in zip(codes, key[1::2], strict=True)
            if not code.co_filename.startswith(_OWN_FILES)  # gviz's own are not the user's
        ]
        native.append(RecordType.STACK, json.dumps([stack_id, frames]).encode())
        self._ids[key] = stack_id
        return stack_id


def _is_of_gviz(error: Exception) -> bool:
    """Return whether an exception began in code of gviz, not in a handler that interrupted it."""
    if isinstance(error, (MemoryError, RecursionError)):
        return True
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is None or trace.tb_frame.f_code.co_filename.startswith(_OWN_FILES)


def python_frames(frame: FrameType | None) -> list[tuple[str, int, str]]:
    """Return file, line and function of a frame and its callers, innermost first, gviz left out."""
    found: list[tuple[str, int, str]] = []
    while frame is not None and len(found) < MAX_DEPTH:
        if not frame.f_code.co_filename.startswith(_OWN_FILES):
            file, line, function, _ = _frame(frame.f_code, frame.f_lasti)
            found.append((file, line, function))
        frame = frame.f_back
    return found


def _frame(code: CodeType, lasti: int) -> tuple[str, int, str, str | None]:
    """Return file, line, function and, for code that is in no file, the line's text."""
    line = code.co_firstlineno
    for start, end, number in code.co_lines():
        if start <= lasti < end:
            line = number or line
            break
    source = None
    if code.co_filename.startswith("<"):  # a notebook cell or exec: only this process has it
        source = linecache.getline(code.co_filename, line).strip() or None
    return code.co_filename, line, code.co_qualname, source
