"""Values as their records come in: what probes read, as arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from gviz.spool.records import (
    RecordType,
    ValuesRecord,
    ValuesRefusedRecord,
    check_sizes,
    check_time,
    table,
)


class MadeReading(NamedTuple):
    """A slice that was read: its record, values (dtype PROBED_VALUE), pieces (WRITTEN_PIECE)."""

    record: ValuesRecord
    values: npt.NDArray[Any]
    pieces: npt.NDArray[Any]


class ValueContents(Protocol):
    """The part of a spool's contents that these records fill."""

    readings: list[MadeReading | ValuesRefusedRecord]


def _values(c: ValueContents, p: bytes) -> None:
    record = table.VALUES.unpack(p)
    values = np.frombuffer(p, table.PROBED_VALUE.dtype, record.values, table.VALUES.size)
    end = table.VALUES.size + values.nbytes
    pieces = np.frombuffer(p, table.WRITTEN_PIECE.dtype, record.pieces, end)
    check_time(record.begin_ns, record.held_ns, record.plain_ns, record.probed_ns)
    check_sizes(record.saved_bytes, record.probed_bytes)
    for name in ("start", "bytes"):
        check_sizes(int(values[name].max(initial=0)))
    c.readings.append(MadeReading(record._replace(tail=b""), values, pieces))


def _refused(c: ValueContents, p: bytes) -> None:
    c.readings.append(table.VALUES_REFUSED.unpack(p))


VALUE_TAKERS: dict[int, Callable[[ValueContents, bytes], None]] = {
    RecordType.VALUES: _values,
    RecordType.VALUES_REFUSED: _refused,
}
