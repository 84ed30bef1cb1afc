"""Records of device memory: what steps of a graph's life take, and what its nodes do."""

from __future__ import annotations

from typing import NamedTuple

from gviz.spool.records.structure import I32, U32, U64


class DeviceMemoryRecord(NamedTuple):
    """Free device memory before and after a step of an executable's life, in bytes.

    Attributes
    ----------
    step
        enum memory_step
    """

    exec_id: U32
    step: U32
    free_before: U64
    free_after: U64


class GraphMemoryRecord(NamedTuple):
    """Memory of alloc nodes on a device, in bytes."""

    time_ns: U64
    device_id: I32
    used: U64
    used_high: U64
    reserved: U64
    reserved_high: U64


class FreedRecord(NamedTuple):
    """The program freed what a graph had allocated."""

    time_ns: U64
    address: U64
    call: U32
    thread_id: U32


class BlockRecord(NamedTuple):
    """A block of device memory that the program has allocated or mapped, or freed.

    Attributes
    ----------
    bytes
        of memory that is freed, those in which the blocks begin that are
    freed
        1, else 0
    """

    time_ns: U64
    address: U64
    bytes: U64
    freed: U32
    reserved: U32 = 0
