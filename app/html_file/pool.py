"""Payloads whose equal arrays and strings are stored once: those of launches share much."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from gviz.app.views import unpack


class Pool:
    """Arrays of many payloads, each once.

    Attributes
    ----------
    headers
        A header for each payload added, ``arrays`` as in :mod:`gviz.app.views.wire` with offsets
        into :attr:`data`, ``strings`` the place of its list in :attr:`strings`.
    strings
        Lists of strings.
    """

    def __init__(self) -> None:
        self.headers: list[dict[str, Any]] = []
        self.strings: list[list[str]] = []
        self._chunks: list[bytes] = []
        self._size = 0
        self._offsets: dict[tuple[str, bytes], int] = {}
        self._lists: dict[str, int] = {}

    @property
    def data(self) -> bytes:
        """The arrays, each at a multiple of 8."""
        return b"".join(self._chunks)

    def add(self, payload: bytes) -> int:
        """Add a payload (:mod:`gviz.app.views.wire`); return its place among them."""
        header, arrays = unpack(payload)
        header["arrays"] = {
            name: {"dtype": array.dtype.str[1:], "offset": self._place(array), "length": len(array)}
            for name, array in arrays.items()
        }
        header["strings"] = self._list(header["strings"])
        self.headers.append(header)
        return len(self.headers) - 1

    def _place(self, array: np.ndarray[Any, Any]) -> int:
        raw = array.tobytes()
        key = (array.dtype.str, raw)
        if key not in self._offsets:
            self._offsets[key] = self._size
            padded = raw + b"\0" * (-len(raw) % 8)
            self._chunks.append(padded)
            self._size += len(padded)
        return self._offsets[key]

    def _list(self, strings: list[str]) -> int:
        key = json.dumps(strings)
        if key not in self._lists:
            self._lists[key] = len(self.strings)
            self.strings.append(strings)
        return self._lists[key]
