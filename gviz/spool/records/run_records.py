"""Records of the file and of the run: its beginning, devices, periods, windows, raw buffers."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import gviz.spool.records.structure as s
from gviz.spool.records.structure import I32, U32, U64, Tail, Text


class SegmentHeader(NamedTuple):
    """The beginning of a segment file.

    Attributes
    ----------
    magic
        GVIZSPL1
    committed
        offset past the last whole record
    process_start
        clock ticks after boot; 0: not known
    """

    magic: s.Char8
    version: U32
    number: U32
    capacity: U64
    committed: s.AtomicU64
    process_id: U64
    process_start: U64 = 0
    reserved: s.U64x2 = (0, 0)


class RecordHeader(NamedTuple):
    """The beginning of a record; ``size`` bytes follow, and zeros up to a multiple of 8."""

    type: U32
    size: U32


class DeviceRecord(NamedTuple):
    """A GPU."""

    ordinal: I32
    major: I32
    minor: I32
    multiprocessors: I32
    max_threads: I32
    memory_bytes: U64
    bus_id: s.Char32
    name: Text = ""

    @property
    def pci_bus_id(self) -> str:
        """Its PCI address; "": not known."""
        return self.bus_id.rstrip(b"\0").decode("utf-8", "replace")


class PeriodRecord(NamedTuple):
    """Recording begins or ends, and why.

    Attributes
    ----------
    reason
        enum period_reason
    profiler
        that CUPTI is left to
    """

    time_ns: U64
    begins: U32
    reason: U32
    profiler: Text = ""


class WindowRecord(NamedTuple):
    """CUPTI's activity records are switched on or off.

    Attributes
    ----------
    reason
        enum window_reason
    """

    time_ns: U64
    is_open: U32
    reason: U32


class BufferRecord(NamedTuple):
    """Raw CUPTI activity records.

    Attributes
    ----------
    buffer
        an offset of 4 bytes for each record, padded to 8, then the bytes
    """

    records: U32
    valid_bytes: U32
    buffer: Annotated[bytes, Tail()] = b""


class StringRecord(NamedTuple):
    """The text behind a kernel name's pointer."""

    pointer: U64
    text: Text = ""
