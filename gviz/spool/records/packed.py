"""Records of one type and fixed size, kept as the bytes that they came in."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gviz.spool.records.structure import Layout
from gviz.stats import BoolArray


class PackedRecords:
    """Records of one type: as many bytes each as their structure has, and no object.

    Parameters
    ----------
    layout
        Of the structure, which nothing follows.
    """

    def __init__(self, layout: Layout[Any]) -> None:
        self._layout = layout
        self._bytes = bytearray()

    def __len__(self) -> int:
        return len(self._bytes) // self._layout.size

    def add(self, payload: bytes) -> None:
        """Take a record in, by its payload, whose size was checked."""
        self._bytes += payload

    def extend(self, records: npt.NDArray[np.void]) -> None:
        """Take records of the structure's dtype in."""
        self._bytes += records.tobytes()

    def choose(self, chosen: BoolArray) -> None:
        """Forget all records but those chosen."""
        self._bytes = bytearray(self.to_array().compress(chosen).tobytes())

    def to_array(self) -> npt.NDArray[np.void]:
        """Return the records in order of arrival, in the structure's dtype."""
        return np.frombuffer(bytes(self._bytes), self._layout.dtype)
