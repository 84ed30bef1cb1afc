"""The driver's parameter structures, as ctypes lays them out."""

from __future__ import annotations

import ctypes
from ctypes import c_int, c_size_t, c_uint, c_ulonglong, c_void_p

HOST_FUNCTION = ctypes.CFUNCTYPE(None, c_void_p)


class KernelNodeParams(ctypes.Structure):
    """CUDA_KERNEL_NODE_PARAMS of CUDA 12 and 13."""

    _fields_ = [
        ("func", c_void_p),
        ("grid", c_uint * 3),
        ("block", c_uint * 3),
        ("shared_mem_bytes", c_uint),
        ("kernel_params", ctypes.POINTER(c_void_p)),
        ("extra", c_void_p),
        ("kern", c_void_p),
        ("ctx", c_void_p),
    ]


class CopyEnd(ctypes.Structure):
    """One end of CUDA_MEMCPY3D."""

    _fields_ = [
        ("x_bytes", c_size_t),
        ("y", c_size_t),
        ("z", c_size_t),
        ("lod", c_size_t),
        ("memory_type", c_int),
        ("host", c_void_p),
        ("device", c_ulonglong),
        ("array", c_void_p),
        ("reserved", c_void_p),
        ("pitch", c_size_t),
        ("height", c_size_t),
    ]


class MemcpyParams(ctypes.Structure):
    """CUDA_MEMCPY3D."""

    _fields_ = [
        ("source", CopyEnd),
        ("destination", CopyEnd),
        ("width_bytes", c_size_t),
        ("height", c_size_t),
        ("depth", c_size_t),
    ]


class MemsetParams(ctypes.Structure):
    """CUDA_MEMSET_NODE_PARAMS."""

    _fields_ = [
        ("destination", c_ulonglong),
        ("pitch", c_size_t),
        ("value", c_uint),
        ("element_bytes", c_uint),
        ("width", c_size_t),
        ("height", c_size_t),
    ]


class HostParams(ctypes.Structure):
    """CUDA_HOST_NODE_PARAMS."""

    _fields_ = [("function", HOST_FUNCTION), ("data", c_void_p)]


class AllocParams(ctypes.Structure):
    """CUDA_MEM_ALLOC_NODE_PARAMS: a pinned allocation on a device."""

    _fields_ = [
        ("alloc_type", c_int),
        ("handle_types", c_int),
        ("location_type", c_int),
        ("location_id", c_int),
        ("security", c_void_p),
        ("max_size", c_size_t),
        ("usage", ctypes.c_ushort),
        ("reserved", ctypes.c_ubyte * 54),
        ("access", c_void_p),
        ("access_count", c_size_t),
        ("bytes", c_size_t),
        ("address", c_ulonglong),
    ]


class BatchMemOp(ctypes.Structure):
    """CUstreamBatchMemOpParams of a 32-bit write (48 bytes)."""

    _fields_ = [
        ("operation", c_int),
        ("address", c_ulonglong),
        ("value", c_ulonglong),
        ("flags", c_uint),
        ("alias", c_ulonglong),
        ("pad", c_ulonglong),
    ]


class BatchMemOpParams(ctypes.Structure):
    """CUDA_BATCH_MEM_OP_NODE_PARAMS."""

    _fields_ = [
        ("ctx", c_void_p),
        ("count", c_uint),
        ("operations", ctypes.POINTER(BatchMemOp)),
        ("flags", c_uint),
    ]


class SemaphoreParams(ctypes.Structure):
    """CUDA_EXT_SEM_SIGNAL_NODE_PARAMS and _WAIT_: they are laid out alike."""

    _fields_ = [("semaphores", c_void_p), ("params", c_void_p), ("count", c_uint)]


class Conditional(ctypes.Structure):
    """CUDA_CONDITIONAL_NODE_PARAMS."""

    _fields_ = [
        ("handle", c_ulonglong),
        ("type", c_int),
        ("size", c_uint),
        ("bodies", ctypes.POINTER(c_void_p)),
        ("ctx", c_void_p),
    ]


class AnyNode(ctypes.Union):
    """The union inside CUgraphNodeParams, as far as the contract needs it."""

    _fields_ = [
        ("reserved", ctypes.c_longlong * 29),
        ("conditional", Conditional),
        ("memset", MemsetParams),
    ]


class NodeParams(ctypes.Structure):
    """CUgraphNodeParams."""

    _fields_ = [
        ("type", c_int),
        ("reserved", c_int * 3),
        ("any", AnyNode),
        ("reserved2", ctypes.c_longlong),
    ]


class EdgeData(ctypes.Structure):
    """CUgraphEdgeData."""

    _fields_ = [
        ("from_port", ctypes.c_ubyte),
        ("to_port", ctypes.c_ubyte),
        ("type", ctypes.c_ubyte),
        ("reserved", ctypes.c_ubyte * 5),
    ]


class KernelAttribute(ctypes.Structure):
    """CUlaunchAttribute; the value as its first word."""

    _fields_ = [
        ("id", c_int),
        ("pad", ctypes.c_ubyte * 4),
        ("value", c_uint * 16),
    ]


class LaunchConfig(ctypes.Structure):
    """CUlaunchConfig."""

    _fields_ = [
        ("grid", c_uint * 3),
        ("block", c_uint * 3),
        ("shared_mem_bytes", c_uint),
        ("stream", c_void_p),
        ("attributes", ctypes.POINTER(KernelAttribute)),
        ("attribute_count", c_uint),
    ]
