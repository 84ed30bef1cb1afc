"""Records of the black box as they come in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from gviz.spool.records import (
    BlockRecord,
    CrumbsRecord,
    FaultRecord,
    RecordType,
    check_storable,
    check_time,
    table,
)


class MadeCrumbs(NamedTuple):
    """The crumbs of an executable: the record, and its nodes (dtype CRUMB)."""

    record: CrumbsRecord
    nodes: npt.NDArray[Any]

    @property
    def end(self) -> int:
        """Return the place behind its last word."""
        return self.record.first + 1 + self.record.crumb_count


class BlackBoxContents(Protocol):
    """The part of a spool's contents that these records fill."""

    crumbs: list[MadeCrumbs]
    crumb_refusals: dict[int, str]
    faults: list[FaultRecord]
    blocks: list[BlockRecord]


def _crumbs(c: BlackBoxContents, p: bytes) -> None:
    record = table.CRUMBS.unpack(p)
    nodes = np.frombuffer(p, table.CRUMB.dtype, record.crumb_count, table.CRUMBS.size)
    made = MadeCrumbs(record._replace(crumbs=b""), nodes)
    # Words are used again once an executable is destroyed.
    c.crumbs = [one for one in c.crumbs if one.end <= record.first or made.end <= one.record.first]
    c.crumbs.append(made)


def _refused(c: BlackBoxContents, p: bytes) -> None:
    refused = table.CRUMBS_REFUSED.unpack(p)
    c.crumb_refusals[refused.exec_id] = refused.why


def _fault(c: BlackBoxContents, p: bytes) -> None:
    fault = table.FAULT.unpack(p)
    check_time(fault.time_ns)
    c.faults.append(fault)


def _block(c: BlackBoxContents, p: bytes) -> None:
    block = table.BLOCK.unpack(p)
    check_time(block.time_ns)
    check_storable(block.address, block.bytes)
    c.blocks.append(block)


BLACK_BOX_TAKERS: dict[int, Callable[[BlackBoxContents, bytes], None]] = {
    RecordType.CRUMBS: _crumbs,
    RecordType.CRUMBS_REFUSED: _refused,
    RecordType.FAULT: _fault,
    RecordType.BLOCK: _block,
}
