"""Raw CUPTI activity records to rows of ACTIVITY.

A record of each kind is a structured dtype at CUPTI's offsets. A buffer is seen as such records
at every multiple of 8 bytes, of which those at the records' offsets are gathered, a column at a
time: no Python runs per record. Here CUPTI's own words for what is not known become UNKNOWN.

References
----------
cupti_activity.h, CUPTI 13.0.85: ``CUpti_ActivityKernel10``, ``CUpti_ActivityMemcpy6``,
``CUpti_ActivityMemcpyPtoP4``, ``CUpti_ActivityMemset4``. Later releases only append fields.
``CUpti_ActivityGraphHostNode`` is from CUPTI 13.1 (its layout from the header of 13.4).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gviz.cuda import CopyKind, NodeType
from gviz.dataclass import dataclass
from gviz.runs import ACTIVITY, Activities, blank_activities, join_activities
from gviz.spool.records.table import BUFFER
from gviz.stats import UNKNOWN, is_ascending

_FIELDS = frozenset(ACTIVITY.names or ())


@dataclass(frozen=True, slots=True)
class ActivityKind:
    """A kind of CUPTI's activity records.

    Attributes
    ----------
    number
        CUpti_ActivityKind.
    type
        Of a node that does the same work.
    record
        The fields that are read, named as in ACTIVITY, at their offsets; as long as the last ends.
    size
        Bytes of a record in CUPTI 13.0 (host nodes: 13.1).
    """

    number: int
    type: NodeType
    record: np.dtype[np.void]
    size: int


def _record(fields: Mapping[str, tuple[str | tuple[str, int], int]]) -> np.dtype[np.void]:
    return np.dtype(
        {
            "names": list(fields),
            "formats": [code for code, _ in fields.values()],
            "offsets": [offset for _, offset in fields.values()],
        }
    )


def _graph_node(offset: int) -> dict[str, tuple[str, int]]:
    """Return the fields of a graphNodeId: the node, and above it the executable."""
    return {"node_id": ("<u4", offset), "exec_id": ("<u4", offset + 4)}


KERNEL = ActivityKind(
    10,
    NodeType.KERNEL,
    _record(
        {
            "kind": ("<u4", 0), "registers": ("<u2", 6), "start_ns": ("<u8", 16),
            "end_ns": ("<u8", 24), "device_id": ("<i4", 40), "stream_id": ("<u4", 48),
            "grid": (("<u4", 3), 52), "block": (("<u4", 3), 64),
            "static_shared_mem_bytes": ("<u4", 76), "shared_mem_bytes": ("<u4", 80),
            "correlation_id": ("<u4", 92), "name": ("<u8", 104), **_graph_node(144),
        }
    ),
    216,
)  # fmt: skip
_TRANSFER = {
    "kind": ("<u4", 0), "bytes": ("<u8", 8), "start_ns": ("<u8", 16), "end_ns": ("<u8", 24),
    "device_id": ("<i4", 32), "stream_id": ("<u4", 40),
}  # fmt: skip
MEMCPY = ActivityKind(
    1,
    NodeType.MEMCPY,
    _record(
        {**_TRANSFER, "copy_kind": ("u1", 4), "correlation_id": ("<u4", 44),
         **_graph_node(64)}
    ),
    96,
)  # fmt: skip
#: A copy from one GPU to another.
MEMCPY_PEER = ActivityKind(
    22,
    NodeType.MEMCPY,
    _record(
        {**_TRANSFER, "copy_kind": ("u1", 4), "correlation_id": ("<u4", 60),
         **_graph_node(72)}
    ),
    96,
)  # fmt: skip
MEMSET = ActivityKind(
    2,
    NodeType.MEMSET,
    _record(
        {**_TRANSFER, "value": ("<u4", 4), "correlation_id": ("<u4", 44),
         **_graph_node(64)}
    ),
    88,
)  # fmt: skip
HOST_NODE = ActivityKind(
    56,
    NodeType.HOST,
    _record(
        {
            "kind": ("<u4", 0), "stream_id": ("<u4", 4), "device_id": ("<i4", 12),
            "correlation_id": ("<u4", 16), **_graph_node(24), "start_ns": ("<u8", 40),
            "end_ns": ("<u8", 48),
        }
    ),
    56,
)  # fmt: skip
ACTIVITY_KINDS = (KERNEL, MEMCPY, MEMCPY_PEER, MEMSET, HOST_NODE)
#: Records begin at multiples of this many bytes.
ALIGNMENT = 8


def decode_buffer(payload: bytes) -> Activities:
    """Return the work in one BUFFER record (dtype ACTIVITY, shape (n,)).

    Kernels, copies, memsets and host nodes; records of other kinds are left out.
    """
    buffer = BUFFER.unpack(payload)
    offsets = np.frombuffer(payload, "<u4", buffer.records, BUFFER.size)
    raw = payload[BUFFER.size + 4 * (buffer.records + (buffer.records & 1)) :][: buffer.valid_bytes]
    if len(raw) < buffer.valid_bytes:
        raise ValueError(f"it ends after {len(raw)} of {buffer.valid_bytes} bytes")
    at = (offsets // ALIGNMENT).astype(np.intp)
    number = _overlapping(raw, np.dtype("<u4"))[at]
    places = [(kind, at[number == kind.number]) for kind in ACTIVITY_KINDS]
    found = blank_activities(sum(len(mine) for _, mine in places))
    done = 0
    for kind, mine in places:
        if len(mine):
            _gather(kind, raw, mine, found[done : done + len(mine)])
            done += len(mine)
    _mark_unknown(found)
    return found


def _gather(kind: ActivityKind, raw: bytes, at: npt.NDArray[np.intp], out: Activities) -> None:
    """Read the records of a kind that begin there."""
    records = _overlapping(raw, kind.record)
    out["type"] = kind.type
    for name in kind.record.names or ():
        if name in _FIELDS:
            out[name] = records[name][at]


def _mark_unknown(records: Activities) -> None:
    """Put UNKNOWN in place of CUPTI's zeros: executable and node, and the direction of a copy."""
    outside = records["exec_id"] == 0
    if outside.any():
        outside &= records["node_id"] == 0
        records["exec_id"][outside] = records["node_id"][outside] = UNKNOWN
    undirected = records["copy_kind"] == CopyKind.UNKNOWN
    if undirected.any():
        records["copy_kind"][undirected] = UNKNOWN


def _overlapping(raw: bytes, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return what would be read at each multiple of 8 bytes, for as long as all of it is there."""
    count = max(0, (len(raw) - dtype.itemsize) // ALIGNMENT + 1)
    return np.ndarray((count,), dtype, raw, strides=(ALIGNMENT,))


def join(parts: Sequence[Activities]) -> Activities:
    """Return the arrays of several buffers as one, ordered by start."""
    whole = join_activities(parts) if parts else blank_activities(0)
    if is_ascending((whole["start_ns"],)):
        return whole
    ordered: Activities = whole.take(np.argsort(whole["start_ns"], kind="stable"))
    return ordered
