"""The first node with NaN or infinite elements, and whether what it was given was sound."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from gviz.analysis.subject import GraphSubject
from gviz.analysis.values.value_finding import (
    ValueFinding,
    finding_of,
    named,
    which_argument,
)
from gviz.model import Direction, GivenMemory, GraphValues, MemoryContents
from gviz.text import counted

_FIX_MADE = "Look at the operation of this node with the ranges of its inputs (gviz values)."
_FIX_GIVEN = (
    "Look at what the program writes to this memory before it launches the graph: inputs, weights, "
    "state that an earlier launch left."
)
_FIX_MAY = (
    "Read the first launch of a fresh process, where no launch before has left anything there."
)


class _Strange(NamedTuple):
    """A kind of numbers; ``number_of``: how many there are of it."""

    kind: str
    word: str
    number_of: Callable[[MemoryContents], int | None]


_KINDS = (
    _Strange("nan", "NaN", lambda contents: contents.nan_count),
    _Strange("infinite", "infinite", lambda contents: contents.infinite_count),
)


def strange_numbers(subject: GraphSubject, values: GraphValues) -> Iterator[ValueFinding]:
    """Yield where NaN begin, and where infinite elements do."""
    for strange in _KINDS:
        for _, found in groupby(values.given, lambda memory: memory.place):
            finding = _of_node(subject, strange, list(found))
            if finding is not None:
                yield finding
                break


def _of_node(
    subject: GraphSubject, strange: _Strange, given: Sequence[GivenMemory]
) -> ValueFinding | None:
    """Return what is strange of a node before which no node had any; None: nothing.

    Memory that it only writes may hold such numbers of an earlier launch.
    """

    def count(contents: MemoryContents) -> int:
        return strange.number_of(contents) or 0

    for memory in given:
        is_read = memory.direction in (Direction.READ, Direction.UNKNOWN)
        if is_read and count(memory.before) and not memory.is_changed:
            return _given(subject, strange, memory, count(memory.before))
    for memory in given:
        if memory.may_be_written and count(memory.after):
            return _made(subject, strange, memory, given, count)
    return None


def _given(
    subject: GraphSubject, strange: _Strange, memory: GivenMemory, count: int
) -> ValueFinding:
    what = f"{_number(count, strange)} of {_elements(memory)}"
    reason = (
        f"{named(subject, memory.node)} is the first that is given {strange.word} elements: {what} "
        f"that {which_argument(memory)} leads to, which no node of the graph wrote before"
    )
    return finding_of(subject, strange.kind, reason, _FIX_GIVEN, memory)


def _made(
    subject: GraphSubject,
    strange: _Strange,
    memory: GivenMemory,
    given: Sequence[GivenMemory],
    count: Callable[[MemoryContents], int],
) -> ValueFinding:
    after, before = count(memory.after), count(memory.before)
    what = f"{_number(after, strange)} of {_elements(memory)} ({which_argument(memory)})"
    who = named(subject, memory.node)
    untyped = [which_argument(m) for m in given if m.may_be_read and not m.element and not m.start]
    caveat = f"; the types of {', '.join(untyped)} are not known" if untyped else ""
    if after > before:
        reason = f"{who} outputs {what}, and all that it is given is free of them{caveat}"
        return finding_of(subject, strange.kind, reason, _FIX_MADE, memory)
    reason = (
        f"{who} is the first that leaves {what}; as many stood there before it, of an earlier "
        f"launch or its own input, and all else that it is given is free of them{caveat}"
    )
    return finding_of(subject, strange.kind, reason, _FIX_MAY, memory, is_suspicion=True)


def _number(count: int, strange: _Strange) -> str:
    return f"{count:,} {strange.word}"


def _elements(memory: GivenMemory) -> str:
    return counted(memory.bytes // memory.element.size_bytes, "element")
