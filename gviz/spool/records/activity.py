"""Raw CUPTI activity records to numpy arrays.

A record of each kind is a structured dtype at CUPTI's offsets. A buffer is seen as such records
at every multiple of 8 bytes, of which those at the records' offsets are gathered, a column at a
time: no Python runs per record.

References
----------
cupti_activity.h, CUPTI 13.0.85: ``CUpti_ActivityKernel10``, ``CUpti_ActivityMemcpy6``,
``CUpti_ActivityMemcpyPtoP4``, ``CUpti_ActivityMemset4``. Later releases only append fields.
``CUpti_ActivityGraphHostNode`` is from CUPTI 13.1 (its layout from the header of 13.4).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gviz.cuda import NodeType
from gviz.spool.records.table import BUFFER
from gviz.stats import is_ascending

#: One activity record: what gviz keeps of it.
ACTIVITY = np.dtype(
    [
        ("start_ns", "<i8"),
        ("end_ns", "<i8"),
        ("graph_node_id", "<u8"),  # 0: outside graphs
        ("name", "<u8"),  # kernels: pointer, a STRING record holds the text
        ("bytes", "<i8"),  # copies and memsets
        ("correlation_id", "<u4"),
        ("stream_id", "<u4"),
        ("device_id", "<i4"),
        ("type", "<i4"),  # CUgraphNodeType of the same work
        ("grid", "<u4", 3),
        ("block", "<u4", 3),
        ("shared_mem_bytes", "<u4"),  # dynamic
        ("static_shared_mem_bytes", "<u4"),
        ("registers", "<u4"),
        ("copy_kind", "<u4"),
    ]
)
_KEPT = frozenset(ACTIVITY.names or ())


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


KERNEL = ActivityKind(
    10,
    NodeType.KERNEL,
    _record(
        {
            "kind": ("<u4", 0), "registers": ("<u2", 6), "start_ns": ("<u8", 16),
            "end_ns": ("<u8", 24), "device_id": ("<u4", 40), "stream_id": ("<u4", 48),
            "grid": (("<u4", 3), 52), "block": (("<u4", 3), 64),
            "static_shared_mem_bytes": ("<u4", 76), "shared_mem_bytes": ("<u4", 80),
            "correlation_id": ("<u4", 92), "name": ("<u8", 104), "graph_node_id": ("<u8", 144),
        }
    ),
    216,
)  # fmt: skip
_TRANSFER = {
    "kind": ("<u4", 0), "bytes": ("<u8", 8), "start_ns": ("<u8", 16), "end_ns": ("<u8", 24),
    "device_id": ("<u4", 32), "stream_id": ("<u4", 40),
}  # fmt: skip
MEMCPY = ActivityKind(
    1,
    NodeType.MEMCPY,
    _record(
        {**_TRANSFER, "copy_kind": ("u1", 4), "correlation_id": ("<u4", 44),
         "graph_node_id": ("<u8", 64)}
    ),
    96,
)  # fmt: skip
#: A copy from one GPU to another.
MEMCPY_PEER = ActivityKind(
    22,
    NodeType.MEMCPY,
    _record(
        {**_TRANSFER, "copy_kind": ("u1", 4), "correlation_id": ("<u4", 60),
         "graph_node_id": ("<u8", 72)}
    ),
    96,
)  # fmt: skip
MEMSET = ActivityKind(
    2,
    NodeType.MEMSET,
    _record(
        {**_TRANSFER, "value": ("<u4", 4), "correlation_id": ("<u4", 44),
         "graph_node_id": ("<u8", 64)}
    ),
    88,
)  # fmt: skip
HOST_NODE = ActivityKind(
    56,
    NodeType.HOST,
    _record(
        {
            "kind": ("<u4", 0), "stream_id": ("<u4", 4), "device_id": ("<u4", 12),
            "correlation_id": ("<u4", 16), "graph_node_id": ("<u8", 24), "start_ns": ("<u8", 40),
            "end_ns": ("<u8", 48),
        }
    ),
    56,
)  # fmt: skip
ACTIVITY_KINDS = (KERNEL, MEMCPY, MEMCPY_PEER, MEMSET, HOST_NODE)
#: Records begin at multiples of this many bytes.
ALIGNMENT = 8


def decode_buffer(payload: bytes) -> npt.NDArray[np.void]:
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
    parts: list[npt.NDArray[np.void]] = []
    for kind in ACTIVITY_KINDS:
        chosen = at[number == kind.number]
        if len(chosen):
            parts.append(_gather(kind, raw, chosen))
    return parts[0] if len(parts) == 1 else _join(parts)


def _gather(kind: ActivityKind, raw: bytes, at: npt.NDArray[np.intp]) -> npt.NDArray[np.void]:
    records = _overlapping(raw, kind.record)
    out = np.zeros(len(at), ACTIVITY)
    out["type"] = kind.type
    for name in kind.record.names or ():
        if name in _KEPT:
            out[name] = records[name][at]
    return out


def _overlapping(raw: bytes, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return what would be read at each multiple of 8 bytes, for as long as all of it is there."""
    count = max(0, (len(raw) - dtype.itemsize) // ALIGNMENT + 1)
    return np.ndarray((count,), dtype, raw, strides=(ALIGNMENT,))


def join(parts: Sequence[npt.NDArray[np.void]]) -> npt.NDArray[np.void]:
    """Return the arrays of several buffers as one, ordered by start."""
    whole = _join(parts)
    if is_ascending((whole["start_ns"],)):
        return whole
    return whole[np.argsort(whole["start_ns"], kind="stable")]


def _join(parts: Sequence[npt.NDArray[np.void]]) -> npt.NDArray[np.void]:
    return np.concatenate(parts) if parts else np.zeros(0, ACTIVITY)
