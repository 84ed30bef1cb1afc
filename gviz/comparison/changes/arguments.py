"""Differences between the arguments of paired kernel nodes: values, addresses, or bytes that no
one can tell.

CUDA keeps the bytes of arguments, not their types. What can be known:

- the kernel's name spells its parameters' types, where it is a C++ name: numbers are values and
  pointers addresses;
- a class passed by value holds numbers, addresses, and padding, which is what the stack held by
  chance and differs from run to run. A word of it is taken for a value if it is the same in all
  nodes of equal work, at least two, on each side; looks like a number on both; and neither is nor
  stands beside part of an address. Else it counts as an address, or as unknown.

Measured on pairs of recordings of one program in two processes, on one machine and on two (a
decode step and a training step in PyTorch, 7,392 arguments a pair): half of the arguments differ
in bytes, and none is taken for changed.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from gviz.cuda import likely_number, parameter_types

#: ``value``: the program does something else; ``address``: the same at another place;
#: ``unknown``: bytes of a class passed by value that may be padding.
Kind = Literal["value", "address", "unknown"]

#: User-space addresses as Linux gives them to programs, libraries and CUDA on x86-64 and Arm
#: (above 2^44, below 2^47 or 2^48).
_ADDRESSES = (1 << 44, 1 << 48)
_NUMBERS = re.compile(
    r"(?:bool|(?:un)?signed|(?:(?:un)?signed )?(?:char|short|int|long|long long|__int128)"
    r"|float|double|__half|c10::Half|c10::BFloat16|__nv_bfloat16)(?: const)?"
)
_POINTER = re.compile(r"[*&](?: const)?(?: ?__restrict__)?$")
#: Kinds of bytes that are no values, and whether they are parts of addresses.
_REST: tuple[tuple[Kind, bool], ...] = (("address", True), ("unknown", False))
#: Digits of a float that a program wrote down; of random ones 3% have so few.
_MOST_DIGITS = 6
#: Nodes of equal work in which a word must be the same to be taken for a value.
_LEAST_WITNESSES = 2


class NodeArgument(NamedTuple):
    """One argument of a node: columns of table argument."""

    node_id: int
    position: int
    value: bytes
    allocation_address: int | None


class ArgumentPair(NamedTuple):
    """An argument of one node before and after.

    Attributes
    ----------
    pair
        Which pair of nodes.
    kernel
        Name of the kernel, demangled; the same in both graphs.
    shape
        Launch shapes before and after: nodes of one kernel and equal shapes do equal work.
    before, after
        Of one position.
    """

    pair: int
    kernel: str
    shape: object
    before: NodeArgument
    after: NodeArgument


class ArgumentChange(NamedTuple):
    """A difference of an argument.

    Attributes
    ----------
    pair, position
        Which.
    kind
        See :data:`Kind`.
    offset
        First byte that differs; None: the argument as a whole.
    before, after
        As text.
    """

    pair: int
    position: int
    kind: Kind
    offset: int | None
    before: str
    after: str


def compare_arguments(pairs: Iterable[ArgumentPair]) -> list[ArgumentChange]:
    """Return what differs, by pair and position."""
    found: list[ArgumentChange] = []
    classes: dict[tuple[object, ...], list[ArgumentPair]] = defaultdict(list)
    for pair in pairs:
        before, after = pair.before, pair.after
        if len(before.value) != len(after.value):
            sizes = (f"{len(before.value)} bytes", f"{len(after.value)} bytes")
            found.append(ArgumentChange(pair.pair, before.position, "value", None, *sizes))
        elif _is_class(pair):
            key = (pair.kernel, before.position, pair.shape, len(before.value))
            # Also the equal ones: they are witnesses.
            classes[key].append(pair)
        elif before.value != after.value:
            texts = (_text(before.value), _text(after.value))
            kind = _kind(pair)
            found.append(ArgumentChange(pair.pair, before.position, kind, None, *texts))
    tops = _address_tops(pair for same in classes.values() for pair in same)
    for same in classes.values():
        if any(pair.before.value != pair.after.value for pair in same):
            found += _compare_classes(same, tops)
    return sorted(found, key=lambda change: (change.pair, change.position))


def _types(pair: ArgumentPair) -> str | None:
    types = parameter_types(pair.kernel)
    return types[pair.before.position] if types and pair.before.position < len(types) else None


def _is_class(pair: ArgumentPair) -> bool:
    spelt = _types(pair)
    if spelt is None:
        return len(pair.before.value) not in (1, 2, 4, 8)
    return _POINTER.search(spelt) is None and _NUMBERS.fullmatch(spelt) is None


def _kind(pair: ArgumentPair) -> Kind:
    """Return how a number or pointer differs. A pointer that is null on one side is a value."""
    numbers = [int.from_bytes(a.value, "little") for a in (pair.before, pair.after)]
    if 0 in numbers or len(pair.before.value) != 8:
        return "value"
    spelt = _types(pair)
    if spelt is not None and _POINTER.search(spelt):
        return "address"
    points = pair.before.allocation_address is not None or pair.after.allocation_address is not None
    low, high = _ADDRESSES
    return "address" if points or all(low <= n < high for n in numbers) else "value"


def _address_tops(pairs: Iterable[ArgumentPair]) -> set[int]:
    """Return the upper halves of all words that look like addresses.

    They stay behind where half of an old address was written over.
    """
    found: set[int] = set()
    for pair in pairs:
        for argument in (pair.before, pair.after):
            words = np.frombuffer(argument.value, np.uint64, len(argument.value) // 8)
            found.update((words[_is_address(words)] >> np.uint64(32)).tolist())
    return found


def _is_address(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
    found: npt.NDArray[np.bool_] = (words >= _ADDRESSES[0]) & (words < _ADDRESSES[1])
    return found


def _compare_classes(same: Sequence[ArgumentPair], tops: set[int]) -> list[ArgumentChange]:
    """Return what differs in a class passed by value to nodes of equal work."""
    before, after = (
        np.frombuffer(b"".join(values), np.uint8).reshape(len(same), -1)
        for values in ([p.before.value for p in same], [p.after.value for p in same])
    )
    values, addresses = _sort_words(before, after, tops)
    found: list[ArgumentChange] = []
    explained = addresses.copy()
    for word in values:
        explained[4 * word : 4 * word + 4] = True
    for index in np.flatnonzero((before != after).any(axis=1)).tolist():
        pair, one, two = same[index], before[index], after[index]
        differs = one != two
        position = pair.before.position
        for word in values:
            at = slice(4 * word, 4 * word + 4)
            if differs[at].any():
                texts = (_text(one[at].tobytes()), _text(two[at].tobytes()))
                found.append(ArgumentChange(pair.pair, position, "value", 4 * word, *texts))
        for kind, which in _REST:
            places = np.flatnonzero(differs & (addresses if which else ~explained))
            if len(places):
                start = int(places[0]) & ~7
                at = slice(start, start + 8)
                texts = (_text(one[at].tobytes()), _text(two[at].tobytes()))
                found.append(ArgumentChange(pair.pair, position, kind, start, *texts))
    return found


def _sort_words(
    before: npt.NDArray[np.uint8], after: npt.NDArray[np.uint8], tops: set[int]
) -> tuple[list[int], npt.NDArray[np.bool_]]:
    """Return which words of four bytes are values that changed, and which bytes are addresses.

    ``before`` and ``after`` have a row for each pair.
    """
    size = before.shape[1]
    addresses = np.zeros(size, bool)
    whole = size // 8
    for side in (before, after):
        words = np.ascontiguousarray(side[:, : 8 * whole]).view(np.uint64)
        addresses[: 8 * whole] |= np.repeat(_is_address(words).any(axis=0), 8)
    if len(before) < _LEAST_WITNESSES:
        return [], addresses
    steady = (before == before[0]).all(axis=0) & (after == after[0]).all(axis=0)
    candidates = steady & ~addresses
    end = size - size % 4
    whole_words = candidates[:end].reshape(-1, 4).all(axis=1)
    differs = (before[0] != after[0])[:end].reshape(-1, 4).any(axis=1)
    values = []
    for word in np.flatnonzero(whole_words & differs).tolist():
        raw = [side[0, 4 * word : 4 * word + 4].tobytes() for side in (before, after)]
        is_top = any(int.from_bytes(r, "little") in tops for r in raw)
        if not is_top and all(map(_is_number, raw)):
            values.append(word)
    return values, addresses


def _is_number(word: bytes) -> bool:
    """Return whether four bytes look like a number that a program wrote down or counted.

    Half of an address or of a random word often is a float, too, but none with few digits.
    """
    number = likely_number(word)
    if isinstance(number, float):
        digits = f"{np.float32(number)!s}".partition("e")[0].strip("-0.").replace(".", "")
        return len(digits) <= _MOST_DIGITS
    return number is not None


def _text(value: bytes) -> str:
    number = likely_number(value)
    if number is not None:
        return f"{number:.6g}" if isinstance(number, float) else str(number)
    return f"0x{int.from_bytes(value, 'little'):x}" if len(value) <= 8 else value[:16].hex(" ", 4)
