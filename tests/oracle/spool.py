"""Spools: records one after another, with CUPTI's activity records in some of them.

References
----------
docs/recording.md does not describe them; collectors/csrc/records/records.h does. Offsets in
activity records are those of ``CUpti_ActivityKernel10``, ``CUpti_ActivityMemcpy6`` and
``CUpti_ActivityMemset4`` in cupti_activity.h, CUPTI 13.0.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

from oracle.raw import Call, Edge, Raw, Work

_SEGMENT_HEADER_BYTES = 64
_COMMITTED_AT = 24
_BUFFER, _STRING, _LAUNCH, _GRAPH, _EDGES = 12, 13, 17, 19, 21
_NODE_BITS = 32
_PROGRAMMATIC = 1
_NO_PARENT = 0


def read_spool(folder: Path) -> Raw:
    """Return the work, the graph launches, and the edges of the graphs of executables."""
    raw = Raw()
    names: dict[int, str] = {}
    buffers: list[bytes] = []
    of_exec: dict[int, int] = {}
    edges: dict[int, list[Edge]] = {}
    for kind, payload in _records(folder):
        if kind == _BUFFER:
            buffers.append(payload)
        elif kind == _STRING:
            names[struct.unpack_from("<Q", payload)[0]] = payload[8:].decode()
        elif kind == _LAUNCH:
            _, correlation, start, end, _, result = struct.unpack_from("<IIQQIi", payload)
            if result == 0:
                raw.launches.append(Call(correlation, start, end))
        elif kind == _GRAPH:
            graph, executable, parent = struct.unpack_from("<III", payload)
            if parent == _NO_PARENT:
                of_exec[executable] = graph
        elif kind == _EDGES:
            graph, count = struct.unpack_from("<II", payload)
            found = struct.iter_unpack("<IIBBBx", payload[8 : 8 + 12 * count])
            edges[graph] = [Edge(a, b, type_ == _PROGRAMMATIC) for a, b, _, _, type_ in found]
    for buffer in buffers:
        raw.work += _activities(buffer, names)
    raw.edges = {executable: edges.get(graph, []) for executable, graph in of_exec.items()}
    return raw


def _records(folder: Path) -> Iterator[tuple[int, bytes]]:
    for path in sorted(folder.glob("*.segment")):
        data = path.read_bytes()
        (committed,) = struct.unpack_from("<Q", data, _COMMITTED_AT)
        at = _SEGMENT_HEADER_BYTES
        while at + 8 <= committed:
            kind, size = struct.unpack_from("<II", data, at)
            yield kind, data[at + 8 : at + 8 + size]
            at += (8 + size + 7) & ~7


def _activities(buffer: bytes, names: dict[int, str]) -> Iterator[Work]:
    count, valid = struct.unpack_from("<II", buffer)
    offsets = struct.unpack_from(f"<{count}I", buffer, 8)
    begin = 8 + 4 * (count + count % 2)
    raw = buffer[begin : begin + valid]
    for at in offsets:
        (kind,) = struct.unpack_from("<I", raw, at)
        start, end = struct.unpack_from("<QQ", raw, at + 16)
        if kind == 10:
            device, _, stream = struct.unpack_from("<III", raw, at + 40)
            (correlation,) = struct.unpack_from("<I", raw, at + 92)
            (name,) = struct.unpack_from("<Q", raw, at + 104)
            (number,) = struct.unpack_from("<Q", raw, at + 144)
            what, text = "kernel", names[name]
        elif kind in (1, 2):
            device, _, stream, correlation = struct.unpack_from("<IIII", raw, at + 32)
            (number,) = struct.unpack_from("<Q", raw, at + 64)
            what, text = ("memcpy" if kind == 1 else "memset"), ""
        else:
            continue
        node = (number >> _NODE_BITS, number & (1 << _NODE_BITS) - 1) if number else None
        yield Work(what, text, start, end, device, stream, correlation, node)
