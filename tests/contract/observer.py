"""A small CUPTI subscriber in Python: what the contract's programs see without gviz.

Its buffer callbacks run on CUPTI's own thread and take the GIL there, which a profiler must
not do; in a program that only waits inside driver calls it is safe.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint8, c_uint32, c_uint64, c_void_p
from types import TracebackType
from typing import Any

RESOURCE = {
    9: "GRAPH_CREATED",
    13: "GRAPHNODE_CREATED",
    15: "GRAPHNODE_DEPENDENCY_CREATED",
    17: "GRAPHEXEC_CREATE_STARTING",
    18: "GRAPHEXEC_CREATED",
    19: "GRAPHEXEC_DESTROY_STARTING",
    20: "GRAPHNODE_CLONED",
    23: "GRAPH_NODE_SET_PARAMS",
}
_DRIVER_API, _RESOURCE = 1, 3
_MEMCPY, _MEMSET, _KERNEL = 1, 2, 10
_BUFFER_BYTES = 64 * 1024

_Callback = ctypes.CFUNCTYPE(None, c_void_p, c_int, c_uint32, c_void_p)
_Requested = ctypes.CFUNCTYPE(
    None, ctypes.POINTER(c_void_p), ctypes.POINTER(c_size_t), ctypes.POINTER(c_size_t)
)
_Completed = ctypes.CFUNCTYPE(None, c_void_p, c_uint32, c_void_p, c_size_t, c_size_t)


class _GraphData(ctypes.Structure):
    _fields_ = [
        ("graph", c_void_p),
        ("original_graph", c_void_p),
        ("node", c_void_p),
        ("original_node", c_void_p),
        ("node_type", c_int),
        ("dependency", c_void_p),
        ("graph_exec", c_void_p),
    ]


class _ResourceData(ctypes.Structure):
    _fields_ = [
        ("context", c_void_p),
        ("handle", c_void_p),
        ("graph", ctypes.POINTER(_GraphData)),
    ]


class _CallbackData(ctypes.Structure):
    _fields_ = [
        ("site", c_int),
        ("function_name", c_char_p),
        ("params", c_void_p),
        ("result", ctypes.POINTER(c_int)),
        ("symbol_name", c_char_p),
        ("context", c_void_p),
        ("context_uid", c_uint32),
        ("correlation_data", c_void_p),
        ("correlation_id", c_uint32),
    ]


#: Offsets of what is read from a record: start, end, stream, correlation, node id, graph id.
_OFFSETS = {
    _KERNEL: (16, 24, 48, 92, 144, 156),
    _MEMCPY: (16, 24, 40, 44, 64, 72),
    _MEMSET: (16, 24, 40, 44, 64, 72),
}


def library_path() -> str:
    """Return CUPTI's path: GVIZ_CUPTI, or the one of the nvidia-cuda-cupti package."""
    if "GVIZ_CUPTI" in os.environ:
        return os.environ["GVIZ_CUPTI"]
    from gviz.cuda.cupti_library import find_cupti

    return str(find_cupti()[0].path)


class Observer:
    """Subscribes on entry and unsubscribes on exit.

    Attributes
    ----------
    events
        Dictionaries in the order of arrival: driver calls (``call``, ``site``, ``result``,
        ``correlation_id``) and resource callbacks (``resource`` and graph, node and
        executable ids).
    records
        Activity records as dictionaries, complete after the exit.
    """

    def __init__(self, calls: Sequence[str] = ()) -> None:
        self.library = ctypes.CDLL(library_path())
        self.events: list[dict[str, Any]] = []
        self.records: list[dict[str, Any]] = []
        self._calls = calls
        self._subscriber = c_void_p()
        self._buffers: dict[int, Any] = {}
        # Held for as long as CUPTI may call them.
        self._callback = _Callback(self._on_callback)
        self._requested = _Requested(self._on_requested)
        self._completed = _Completed(self._on_completed)

    def check(self, name: str, *arguments: Any) -> None:
        """Call a CUPTI function that must succeed."""
        code = getattr(self.library, name)(*arguments)
        assert code == 0, f"{name} returned {code}"

    def __enter__(self) -> Observer:
        self.check("cuptiSubscribe", byref(self._subscriber), self._callback, None)
        for cbid in RESOURCE:
            self._enable(1, _RESOURCE, cbid)
        for cbid in self._cbids():
            self._enable(1, _DRIVER_API, cbid)
        self.check("cuptiActivityRegisterCallbacks", self._requested, self._completed)
        for kind in _OFFSETS:
            self.check("cuptiActivityEnable", c_int(kind))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.check("cuptiActivityFlushAll", c_uint32(0))
        for activity in _OFFSETS:
            self.check("cuptiActivityDisable", c_int(activity))
        self.check("cuptiUnsubscribe", self._subscriber)

    def _enable(self, on: int, domain: int, cbid: int) -> None:
        arguments = (c_uint32(on), self._subscriber, c_int(domain), c_uint32(cbid))
        self.check("cuptiEnableCallback", *arguments)

    def _cbids(self) -> list[int]:
        """Return the numbers of the wanted driver calls, found by name."""
        name, found = c_char_p(), []
        for cbid in range(1, 800):
            code = self.library.cuptiGetCallbackName(
                c_int(_DRIVER_API), c_uint32(cbid), byref(name)
            )
            if code == 0 and name.value and name.value.decode() in self._calls:
                found.append(cbid)
        return found

    # -- callbacks ------------------------------------------------------------------------

    def _on_callback(self, _data: Any, domain: int, cbid: int, data: Any) -> None:
        if domain == _RESOURCE:
            resource = ctypes.cast(data, ctypes.POINTER(_ResourceData)).contents
            self.events.append({"resource": RESOURCE[cbid], **self._ids(resource.graph.contents)})
        else:
            call = ctypes.cast(data, ctypes.POINTER(_CallbackData)).contents
            self.events.append(
                {
                    "call": call.function_name.decode(),
                    "site": call.site,
                    "result": call.result.contents.value if call.site == 1 else None,
                    "correlation_id": call.correlation_id,
                }
            )

    def _ids(self, graph: _GraphData) -> dict[str, Any]:
        return {
            "graph_id": self._id("cuptiGetGraphId", graph.graph, c_uint32),
            "exec_id": self._id("cuptiGetGraphExecId", graph.graph_exec, c_uint32),
            "node_id": self._id("cuptiGetGraphNodeId", graph.node, c_uint64),
            "original_node_id": self._id("cuptiGetGraphNodeId", graph.original_node, c_uint64),
            "dependency_id": self._id("cuptiGetGraphNodeId", graph.dependency, c_uint64),
            "node_type": graph.node_type,
        }

    def _id(self, function: str, handle: int | None, type_: Any) -> int | None:
        """Return an id, or None where the handle is null or not (yet) answered for."""
        out = type_()
        if not handle or getattr(self.library, function)(c_void_p(handle), byref(out)) != 0:
            return None
        return int(out.value)

    def _on_requested(self, buffer: Any, size: Any, most: Any) -> None:
        # The record's fields are 8-byte aligned, so the buffer must be too.
        memory = (c_uint64 * (_BUFFER_BYTES // 8))()
        address = ctypes.addressof(memory)
        self._buffers[address] = memory
        buffer[0], size[0], most[0] = address, _BUFFER_BYTES, 0

    def _on_completed(
        self, _context: Any, _stream: int, buffer: int, _size: int, valid: int
    ) -> None:
        record = c_void_p()
        start = ctypes.cast(c_void_p(buffer), ctypes.POINTER(c_uint8))
        while self.library.cuptiActivityGetNextRecord(start, c_size_t(valid), byref(record)) == 0:
            self._take(record.value or 0)
        del self._buffers[buffer]

    def _take(self, address: int) -> None:
        kind = c_uint32.from_address(address).value
        if kind not in _OFFSETS:
            return
        begin, end, stream, correlation, node, graph = _OFFSETS[kind]
        node_id = c_uint64.from_address(address + node).value
        found: dict[str, Any] = {
            "kind": kind,
            "start_ns": c_uint64.from_address(address + begin).value,
            "end_ns": c_uint64.from_address(address + end).value,
            "stream_id": c_uint32.from_address(address + stream).value,
            "correlation_id": c_uint32.from_address(address + correlation).value,
            "exec_id": node_id >> 32,
            "node_id": node_id & 0xFFFFFFFF,
            "graph_id": c_uint32.from_address(address + graph).value,
        }
        if kind == _KERNEL:
            name = c_char_p.from_address(address + 104).value
            found["name"] = name.decode() if name else None
            found["grid"] = [c_uint32.from_address(address + 52 + 4 * i).value for i in range(3)]
        else:
            found["bytes"] = c_uint64.from_address(address + 8).value
        self.records.append(found)
