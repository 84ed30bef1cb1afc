"""The bytes between server and views: one JSON header and typed arrays behind it.

Format (version 1, little endian)::

    uint32  length of the header in bytes
    bytes   header, UTF-8 JSON, padded with spaces so that the arrays start at a multiple of 8
    bytes   arrays, each at ``offset`` from the end of the header, a multiple of 8

``header["arrays"]`` maps a name to ``{"dtype", "offset", "length"}`` (length in elements,
dtype one of u1, u4, i4, f4, f8). With ``"repeated": true`` all elements are the same and only one
is there: much of a large graph is not known of any node. Strings are in ``header["strings"]``;
arrays hold indices into it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gviz.recording import Texts
from gviz.stats import first_of_groups, group_rows

Arrays = dict[str, npt.NDArray[Any]]

#: Of fewer elements that are all the same, all are sent: a mark of that would take as many bytes.
_MANY = 64


class Strings:
    """A table of distinct strings and their indices, which may begin with some."""

    def __init__(self, texts: Sequence[str] = ()) -> None:
        self._index: dict[str, int] = {text: index for index, text in enumerate(texts)}

    def add(self, text: str) -> int:
        """Return the index of ``text``, adding it when it is new."""
        return self._index.setdefault(text, len(self._index))

    def indices(self, texts: Sequence[str]) -> npt.NDArray[np.uint32]:
        """Return the indices of several strings (uint32)."""
        return np.array([self.add(t) for t in texts], np.uint32)

    def codes(self, column: Texts) -> npt.NDArray[np.int32]:
        """Return the indices of a column of texts (int32; -1: none), adding what it has of new."""
        used, which = group_rows(column.codes.astype(np.int64))
        first = first_of_groups(which, len(used))
        found = np.full(len(used), -1, np.int32)
        for at in np.argsort(first).tolist():  # numbered as they come
            if used[at] >= 0:
                found[at] = self.add(column.values[used[at]])
        return found[which]

    def to_list(self) -> list[str]:
        """Return the strings in order of their indices."""
        return list(self._index)


def offsets(sizes: Sequence[int] | npt.NDArray[Any]) -> npt.NDArray[np.uint32]:
    """Return where pieces of these sizes begin that stand one after the other, and where the last
    ends.
    """
    return np.concatenate(([0], np.cumsum(sizes))).astype(np.uint32)


def join_offsets(parts: Sequence[npt.NDArray[Any]]) -> npt.NDArray[np.uint32]:
    """Return the offsets of pieces whose arrays stand one after the other, out of each array's."""
    return offsets(np.concatenate([np.diff(part) for part in parts]))


def pack(header: dict[str, Any], arrays: Arrays) -> bytes:
    """Return the payload of a header and its arrays (see the module's format)."""
    parts: list[bytes] = []
    table: dict[str, dict[str, Any]] = {}
    offset = 0
    for name, array in arrays.items():
        data = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
        table[name] = {"dtype": data.dtype.str[1:], "offset": offset, "length": len(array)}
        if _is_repeated(data):
            table[name]["repeated"] = True
            data = data[:1]
        raw = data.tobytes()
        padding = -len(raw) % 8
        parts += [raw, b"\0" * padding]
        offset += len(raw) + padding
    text = json.dumps({**header, "version": 1, "arrays": table}, separators=(",", ":")).encode()
    text += b" " * (-(len(text) + 4) % 8)
    return b"".join([len(text).to_bytes(4, "little"), text, *parts])


def by_lines(values: Mapping[str, Any]) -> bytes:
    """Return a large object as JSON with a line for each member.

    assets/web/core/payload.js reads one after the other, between which a page has its turn.
    """
    members = (json.dumps({name: value}, separators=(",", ":")) for name, value in values.items())
    lines = ",\n".join(member[1:-1] for member in members)
    return f"{{{lines}}}".encode()


def unpack(payload: bytes) -> tuple[dict[str, Any], Arrays]:
    """Return header and arrays of a payload: the inverse of :func:`pack`."""
    size = int.from_bytes(payload[:4], "little")
    header = json.loads(payload[4 : 4 + size])
    arrays: Arrays = {}
    for name, a in header["arrays"].items():
        there = 1 if a.get("repeated") else a["length"]
        found = np.frombuffer(payload, "<" + a["dtype"], there, 4 + size + a["offset"])
        arrays[name] = found if there == a["length"] else np.repeat(found, a["length"])
    return header, arrays


def _is_repeated(data: npt.NDArray[Any]) -> bool:
    if len(data) < _MANY:
        return False
    # By their bits: NaN is not equal to itself.
    bits = data.view(f"u{data.itemsize}")
    return bool((bits == bits[0]).all())


def node_types(numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
    """Return node types as bytes; a number beyond a byte, which CUDA has not, becomes 255."""
    return np.minimum(numbers, 255).astype(np.uint8)
