"""Payloads of text or JSON, and times: checked as they come in.

A spool may be damaged, and who reads one must not fall over what no collector writes.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np

from gviz.model import AlternatingReadings
from gviz.recording import LATEST_NS, MOST_BYTES, rows, table_of

_LARGEST_ID = 2**63 - 1
_NUMBERS_32 = range(-(2**31), 2**31)
_META_TYPES = {
    column.name: int if column.sql_type == "INTEGER" else str
    for column in table_of(rows.Run).columns
} | {"libraries": dict, "graph_pattern": str}


def check_time(*times_ns: int) -> None:
    """Raise ValueError for a time that no clock can have had."""
    if not all(0 <= time_ns <= LATEST_NS for time_ns in times_ns):
        raise ValueError(f"{max(times_ns, key=abs)} is no time")


def check_sizes(*sizes: int) -> None:
    """Raise ValueError for a size, such as of memory in bytes, that there cannot be."""
    if not all(0 <= size <= MOST_BYTES for size in sizes):
        raise ValueError(f"{max(sizes, key=abs)} is no size")


def check_storable(*numbers: int) -> None:
    """Raise ValueError for a number above 63 bits, such as an address that no process has."""
    if any(number >> 63 for number in numbers):
        raise ValueError(f"{max(numbers)} has more than 63 bits")


def read_text(payload: bytes) -> str:
    """Return a text; bytes that are none become signs of replacement."""
    return payload.decode("utf-8", "replace")


def _json(payload: bytes) -> Any:
    """Return a JSON value whose texts can be stored.

    Python reads bytes of file names and arguments that are no UTF-8 as lone surrogates, which
    have no encoding; here they become escapes.
    """
    try:
        # As text: json itself lets bytes through that are no UTF-8.
        value = json.loads(read_text(payload))
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    return _storable(value) if b"\\ud" in payload.lower() else value


def _storable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, list):
        return [_storable(v) for v in value]
    if isinstance(value, dict):
        return {_storable(k): _storable(v) for k, v in value.items()}
    return value


def read_metadata(payload: bytes) -> dict[str, Any]:
    """Return a process's metadata; ValueError for values of other types than a run has."""
    metadata = _json(payload)
    if not isinstance(metadata, dict):
        raise ValueError(f"it is {metadata!r:.40}")
    for name, value in metadata.items():
        kind = _META_TYPES.get(name)
        if kind is not None and value is not None and type(value) is not kind:
            raise ValueError(f"{name} is {value!r:.40}")
        if kind is int and value is not None:
            check_time(value)
    if not all(isinstance(version, str) for version in (metadata.get("libraries") or {}).values()):
        raise ValueError("a library's version is no text")
    return metadata


def read_alternation(payload: bytes) -> AlternatingReadings:
    """Return the readings of a graph and its work eagerly; ValueError for what are none."""
    found = _json(payload)
    if not isinstance(found, dict) or not {"name", "state", "graph", "eager"} <= found.keys():
        raise ValueError(f"it is {found!r:.40}")
    readings = AlternatingReadings.from_json(found)
    largest = max(np.abs(side).max() for side in (readings.graph, readings.eager))
    if largest > LATEST_NS:
        raise ValueError(f"{largest} is no time")
    return readings


def read_stack(payload: bytes) -> tuple[int, list[list[Any]]]:
    """Return the number of a stack and its frames: file, line, function and text or None."""
    stack_id, frames = _json(payload)
    if type(stack_id) is not int or not 0 <= stack_id <= _LARGEST_ID:
        raise ValueError(f"{stack_id!r:.40} is no stack's number")
    for file, line, function, source in frames:
        is_text = isinstance(file, str) and isinstance(function, str)
        if not is_text or not (source is None or isinstance(source, str)):
            raise ValueError(f"a frame is {[file, line, function, source]!r:.80}")
        if type(line) is not int or not 0 <= line <= _LARGEST_ID:
            raise ValueError(f"{line!r:.40} is no line's number")
    return stack_id, frames


class AutogradRecord(NamedTuple):
    """A stack together with the operation of PyTorch's autograd that was under way.

    Attributes
    ----------
    stack
        > 0: of a STACK record, else a StackReason.
    name
        Of the autograd node that ran; None: in the forward pass.
    sequence_nr
        Of that autograd node, or of the one that the operation of the forward pass made; None: it
        has none.
    """

    stack: int
    name: str | None
    sequence_nr: int | None


class SignatureRecord(NamedTuple):
    """The parameters of a kernel as a framework declares them: pairs of name and type."""

    symbol: str
    known_by: str
    parameters: tuple[tuple[str, str], ...]


def read_signature(payload: bytes) -> SignatureRecord:
    """Return what a framework says of a kernel's parameters."""
    symbol, known_by, pairs = _json(payload)
    if not (isinstance(symbol, str) and isinstance(known_by, str) and isinstance(pairs, list)):
        raise ValueError(f"{symbol!r:.40} has no signature")
    for pair in pairs:
        if not (isinstance(pair, list) and [type(x) for x in pair] == [str, str]):
            raise ValueError(f"{pair!r:.40} is no name and type")
    return SignatureRecord(symbol, known_by, tuple((name, kind) for name, kind in pairs))


def read_autograd(payload: bytes) -> tuple[int, AutogradRecord]:
    """Return a number that stands for a stack and an operation, and what it stands for."""
    number, stack, name, sequence_nr = _json(payload)
    for one in (number, stack):
        if type(one) is not int or one not in _NUMBERS_32:
            raise ValueError(f"{one!r:.40} is no stack's number")
    if not (name is None or isinstance(name, str)):
        raise ValueError(f"an autograd node's name is {name!r:.40}")
    if sequence_nr is not None and (
        type(sequence_nr) is not int or not 0 <= sequence_nr <= _LARGEST_ID
    ):
        raise ValueError(f"{sequence_nr!r:.40} is no sequence number")
    return number, AutogradRecord(stack, name, sequence_nr)
