"""Numbers that stand for a word in records: each listed once, for Python and for the C header."""

from __future__ import annotations

from enum import IntEnum


class PeriodReason(IntEnum):
    """Cause of the begin or the end of a period."""

    ATTACHED = 1
    DELAY = 2
    CALL = 3
    SIGNAL = 4
    RETURNED = 5
    DURATION = 6
    LAUNCHES = 7
    LEFT = 8
    END = 9
    FOLLOWED = 10  # another collector goes on after CUPTI was left
    RANGE = 11  # the program's own, that was to be recorded
    REQUEST = 12  # of another process: gviz start, gviz stop


class WindowReason(IntEnum):
    """Cause of the opening of a window."""

    EAGER = 1
    LAUNCHES = 2


class MemoryStep(IntEnum):
    """Step of an executable's life that takes device memory."""

    INSTANTIATE = 1
    UPLOAD = 2
    FIRST_LAUNCH = 3


class TrialKind(IntEnum):
    """Edit of a graph that a trial is about; EXECUTABLE and CONTROL: none."""

    ANY = 0
    EXECUTABLE = 1  # an unedited copy against the program's executable
    CONTROL = 2  # against another unedited copy
    IMPLIED = 3
    DELAY = 4
    PRIORITY = 5
    ORDER = 6
    SERIAL = 7
    LAYER = 8
    OFF = 9  # without the nodes of a kernel family
    HALF = 10  # with pauses of half their time in their place


class TrialResults(IntEnum):
    """Of what two copies of a graph leave in memory, whether it is the same."""

    NOT_TESTED = 0
    EQUAL = 1
    DIFFERENT = 2


class ValueExtent(IntEnum):
    """End of memory that was probed; BLOCK is one of an allocator of the program's, as a whole."""

    REPORTED = 1
    NEXT = 3
    ALLOCATION = 4
    BLOCK = 5
    BLOCK_END = 6


class ValueFlag(IntEnum):
    """Remark on a value, in bits."""

    TYPE_ELSEWHERE = 1  # the type is that of the same address at another node
    VARIES_BEFORE = 2  # a second launch of the same copy read something else
    VARIES_AFTER = 4


class ChangeKind(IntEnum):
    """One change of a copy."""

    CUT = 1
    DELAY = 2
    PRIORITY = 3
    MOVE = 4
    JOIN = 5
    OFF = 6
    SPIN = 7  # a pause in its place


class FaultKind(IntEnum):
    """A thing that the black box sees while the program runs."""

    ERROR = 1  # a call returned an error that stays
    STALL = 2  # a launch made no progress for as long as was given


class StackReason(IntEnum):
    """Cause of the lack of a Python stack, in place of a stack's number."""

    NOT_REQUESTED = 0
    NO_PYTHON_THREAD = -1
    SHUTDOWN = -2
    FAILED = -3
    NOT_PYTHON = -4
    PYTHON_UNPREPARED = -5


#: In words, of a node.
STACK_REASONS: dict[int, str] = {
    StackReason.NOT_REQUESTED: "Python stacks were not requested",
    StackReason.NO_PYTHON_THREAD: (
        "created on a thread without Python frames, such as autograd's backward thread"
    ),
    StackReason.SHUTDOWN: "the interpreter was shutting down",
    StackReason.FAILED: "taking the stack failed",
    StackReason.NOT_PYTHON: "not a Python program",
    StackReason.PYTHON_UNPREPARED: (
        "gviz's Python part was not loaded: PYTHONPATH was replaced or ignored (python -E, -I, -S)"
    ),
}


def word_of(reason: type[IntEnum], number: int) -> str:
    """Return the word of a reason; one that a later gviz wrote has its number."""
    known = {int(member): member.name.lower().replace("_", " ") for member in reason}
    return known.get(number, f"reason {number}")
