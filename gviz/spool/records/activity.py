"""Raw CUPTI activity buffers to numpy arrays.

A buffer is read as 64-bit words at the records' offsets, a column a gather: no Python runs
per record.

References
----------
cupti_activity.h, CUPTI 13.0.85: ``CUpti_ActivityKernel10``, ``CUpti_ActivityMemcpy6``,
``CUpti_ActivityMemcpyPtoP4``, ``CUpti_ActivityMemset4``. Later releases only append fields.
``CUpti_ActivityGraphHostNode`` is from CUPTI 13.1 (its layout from the header of 13.4).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gviz.cuda import NodeType
from gviz.spool.records import format as f

_MEMCPY, _MEMSET, _KERNEL, _MEMCPY_PEER, _HOST_NODE = 1, 2, 10, 22, 56

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

Words = npt.NDArray[np.uint64]
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


def decode_buffer(payload: bytes) -> npt.NDArray[np.void]:
    """Return the work in one BUFFER record (dtype ACTIVITY, shape (n,)).

    Kernels, copies, memsets and host nodes; records of other kinds are left out.
    """
    count, valid = f.BUFFER.unpack_from(payload)
    offsets = np.frombuffer(payload, "<u4", count, f.BUFFER.size)
    raw = f.BUFFER.size + 4 * (count + (count & 1))
    words = np.frombuffer(payload, "<u8", valid // 8, raw)
    at = (offsets >> 3).astype(np.intp)
    kind = (words[at] & _LOW).astype(np.int32)
    parts: list[npt.NDArray[np.void]] = []
    for number, decode in (
        (_KERNEL, _kernels),
        (_MEMCPY, _copies),
        (_MEMCPY_PEER, _peer_copies),
        (_MEMSET, _memsets),
        (_HOST_NODE, _host_nodes),
    ):
        chosen = at[kind == number]
        if len(chosen):
            out = np.zeros(len(chosen), ACTIVITY)
            decode(words, chosen, out)
            parts.append(out)
    return parts[0] if len(parts) == 1 else _join(parts)


def join(parts: Sequence[npt.NDArray[np.void]]) -> npt.NDArray[np.void]:
    """Return the arrays of several buffers as one, ordered by start."""
    whole = _join(parts)
    return whole[np.argsort(whole["start_ns"], kind="stable")]


def _join(parts: Sequence[npt.NDArray[np.void]]) -> npt.NDArray[np.void]:
    return np.concatenate(parts) if parts else np.zeros(0, ACTIVITY)


def _times(words: Words, at: npt.NDArray[np.intp], out: npt.NDArray[np.void]) -> None:
    out["start_ns"] = words[at + 2]
    out["end_ns"] = words[at + 3]


def _kernels(words: Words, at: npt.NDArray[np.intp], out: npt.NDArray[np.void]) -> None:
    _times(words, at, out)
    out["type"] = NodeType.KERNEL
    out["registers"] = words[at] >> np.uint64(48)
    out["device_id"] = words[at + 5] & _LOW
    stream_grid, grid = words[at + 6], words[at + 7]
    out["stream_id"] = stream_grid & _LOW
    out["grid"][:, 0] = stream_grid >> _HALF
    out["grid"][:, 1] = grid & _LOW
    out["grid"][:, 2] = grid >> _HALF
    block, block_shared = words[at + 8], words[at + 9]
    out["block"][:, 0] = block & _LOW
    out["block"][:, 1] = block >> _HALF
    out["block"][:, 2] = block_shared & _LOW
    out["static_shared_mem_bytes"] = block_shared >> _HALF
    out["shared_mem_bytes"] = words[at + 10] & _LOW
    out["correlation_id"] = words[at + 11] >> _HALF
    out["name"] = words[at + 13]
    out["graph_node_id"] = words[at + 18]


def _copies(words: Words, at: npt.NDArray[np.intp], out: npt.NDArray[np.void]) -> None:
    _transfer(words, at, out, NodeType.MEMCPY)
    out["copy_kind"] = words[at] >> _HALF & np.uint64(0xFF)
    out["correlation_id"] = words[at + 5] >> _HALF
    out["graph_node_id"] = words[at + 8]


def _peer_copies(words: Words, at: npt.NDArray[np.intp], out: npt.NDArray[np.void]) -> None:
    _transfer(words, at, out, NodeType.MEMCPY)
    out["copy_kind"] = words[at] >> _HALF & np.uint64(0xFF)
    out["correlation_id"] = words[at + 7] >> _HALF
    out["graph_node_id"] = words[at + 9]


def _memsets(words: Words, at: npt.NDArray[np.intp], out: npt.NDArray[np.void]) -> None:
    _transfer(words, at, out, NodeType.MEMSET)
    out["correlation_id"] = words[at + 5] >> _HALF
    out["graph_node_id"] = words[at + 8]


def _host_nodes(words: Words, at: npt.NDArray[np.intp], out: npt.NDArray[np.void]) -> None:
    out["type"] = NodeType.HOST
    out["stream_id"] = words[at] >> _HALF
    out["device_id"] = words[at + 1] >> _HALF
    out["correlation_id"] = words[at + 2] & _LOW
    out["graph_node_id"] = words[at + 3]
    out["start_ns"] = words[at + 5]
    out["end_ns"] = words[at + 6]


def _transfer(
    words: Words, at: npt.NDArray[np.intp], out: npt.NDArray[np.void], kind: NodeType
) -> None:
    _times(words, at, out)
    out["type"] = kind
    out["bytes"] = words[at + 1]
    out["device_id"] = words[at + 4] & _LOW
    out["stream_id"] = words[at + 5] & _LOW
