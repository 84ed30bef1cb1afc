"""The binary format of a spool, as ``collectors/csrc`` writes it.

A spool is a directory of segment files ``000000.segment``, ``000001.segment``, ... A segment
is a header of 64 bytes and records one after another, little endian, each padded to 8 bytes:

======  ====  ==========================================================
offset  type  segment header
======  ====  ==========================================================
0       8s    ``GVIZSPL1``
8       u32   format version (1)
12      u32   index of the segment
16      u64   capacity in bytes
24      u64   committed: offset past the last whole record
32      u64   process id
40      u64   start of that process, in clock ticks since boot; 0: not known
======  ====  ==========================================================

A record is ``u32 type, u32 size`` and ``size`` bytes of payload. The fixed parts of the
payloads are the numpy dtypes and struct formats below; they mirror the C structs of the
same names.
"""

from __future__ import annotations

import struct
from enum import IntEnum
from pathlib import Path

from gviz.errors import RecordingError

MAGIC = b"GVIZSPL1"
VERSION = 1
SEGMENT_HEADER = struct.Struct("<8sIIQQQ24x")
#: Process id and start, at offset 32 of a segment.
SEGMENT_OWNER = struct.Struct("<QQ")
SEGMENT_OWNER_OFFSET = 32
RECORD_HEADER = struct.Struct("<II")
SEGMENT_SUFFIX = ".segment"
#: Directory of a recording's spool: the recording's path with this appended.
SPOOL_SUFFIX = "-spool"
NO_STREAM = 0xFFFFFFFF
#: Text of the NVTX range by which the hooks find out whether NVTX reaches us; not recorded.
PROBE_TEXT = "gviz probe"


def spool_of(recording: Path) -> Path:
    """Return the directory of a recording's spool."""
    return recording.with_name(recording.name + SPOOL_SUFFIX)


def make_spool(spool: Path) -> None:
    """Make the directory of a spool, for this user only.

    Raises
    ------
    RecordingError
        If it is there already, left over from an earlier run, or cannot be made.
    """
    try:
        spool.mkdir(mode=0o700)
    except FileExistsError:
        raise RecordingError(
            f"{spool} is left over from an earlier run; 'gviz info {spool}' folds it into "
            "a recording, or remove it"
        ) from None
    except OSError as error:
        raise RecordingError(f"cannot write {spool}: {error.strerror}") from error


class RecordType(IntEnum):
    """Kind of a spool record (``enum record_type`` in csrc/spool/spool.h)."""

    META = 1
    END = 2
    NOTE = 3
    COUNTER = 4
    DEVICE = 10
    WINDOW = 11
    BUFFER = 12
    STRING = 13
    CALL = 14
    LIFE = 15
    CALL_NAME = 16
    LAUNCH = 17
    LAUNCH_TIME = 18
    GRAPH = 19
    NODE = 20
    EDGES = 21
    FUNCTION = 22
    CREATED = 23
    CLONED = 24
    STACK = 25
    NVTX_PATH = 26
    NVTX_RANGE = 27
    DOT = 28
    CAPTURE_ERROR = 30
    CAPTURE_FAILED = 31
    UPDATES = 32
    UPDATE_FAILED = 33
    INSTANTIATE_FAILED = 34
    DEVICE_MEMORY = 35
    RUNTIME_CALL_NAME = 36
    CONDITIONAL = 40
    PARAMETER = 41
    GRAPH_MEMORY = 42
    FREED = 43
    NODE_TIMES = 50
    CALIBRATION = 51
    COLLECTOR = 52
    REFUSED = 53
    PERIOD = 60
    GRAPH_ORIGIN = 70
    STOPPED = 75


#: ordinal, major, minor, multiprocessors, max_threads, memory_bytes, bus id; then the name
DEVICE = struct.Struct("<5i4xQ32s")
#: time_ns, open, reason (1 eager, 2 launches)
WINDOW = struct.Struct("<QII")
#: record count, valid bytes; then count u32 offsets (padded to even) and the raw buffer
BUFFER = struct.Struct("<II")
#: call id, correlation, start_ns, end_ns, thread, result
CALL = struct.Struct("<IIQQIi")
#: call id, correlation, start, end, thread, result, graph id, exec id, flags, stream, mode
LIFE = struct.Struct("<IIQQIiIIQII")
#: exec id, correlation, start, end, thread, result, stream, flags, event token
LAUNCH = struct.Struct("<IIQQIiIIQ")
#: token, duration_ns
LAUNCH_TIME = struct.Struct("<QQ")
#: graph id, exec id, parent graph id, parent node id, branch, node count, edge count
GRAPH = struct.Struct("<7I4x")
#: graph, node, type, device, function key, grid, block, shared mem, max blocks, priority,
#: cooperative, source and destination memory type, bytes, source, destination, value,
#: element bytes, child graph id, argument count; then the arguments
NODE = struct.Struct("<IIiiQ3I3IIiiiiiQQQIIII")
#: size, padded size, allocation, allocation bytes; then the padded value
ARGUMENT = struct.Struct("<IIQQ")
#: key, registers, static shared bytes, local bytes, max threads; then the mangled name
FUNCTION = struct.Struct("<Qiiii")
#: node id (graph << 32 | local), time_ns, thread, stream, nvtx path, stack or reason, type
CREATED = struct.Struct("<QQIIIii4x")
#: node id of the clone, node id of the original
CLONED = struct.Struct("<QQ")
#: path id, parent id; then domain, newline, text
NVTX_PATH = struct.Struct("<II")
#: path, thread, start_ns, end_ns
NVTX_RANGE = struct.Struct("<IIQQ")
#: correlation, exec id, count, slices, device, host time of the start event (0: unknown),
#: ns from the start to the end event; then count x NODE_TIME
NODE_TIMES = struct.Struct("<4Ii4xQQ")
#: graph, node, ns from the start event to the event before it, ns from there to the one after
NODE_TIME = struct.Struct("<IIQQ")
#: device, node type, bias_ns, early_bias_ns, spread_ns, raw_ns, reference_ns, more_ns,
#: early_more_ns, samples, early samples; see collectors/csrc/events/calibrate.c
CALIBRATION = struct.Struct("<iiqqqqqqqII")
#: graph id, exec id; then why nodes of the graph are not timed
REFUSED = struct.Struct("<II")
#: graph id, edge count; then count x (u32 from, u32 to, u8 from_port, u8 to_port, u8 type, u8)
EDGES = struct.Struct("<II")
#: capture, graph id, thread, stream, mode, flags, capture's start; then of the error: time, driver
#: call, runtime call (0 none), result, thread, stream, stack or reason, nvtx path
CAPTURE_ERROR = struct.Struct("<6IQQIIiIIiI4x")
#: capture, graph id, thread, stream, mode, flags, start, end, result of the end, thread of the end
CAPTURE_FAILED = struct.Struct("<6IQQiI")
#: exec id, node (or WHOLE_GRAPH, UNKNOWN_NODE), call, result, value, count, thread, the node's
#: graph id, start of the first and of the last, host time of all
UPDATES = struct.Struct("<IIIiIIIIQQQ")
#: exec id, graph id, call, thread, start, end, result, detail, error node, error from-node, walked
UPDATE_FAILED = struct.Struct("<4IQQiiQQI4x")
#: graph id, call, thread, walked, start, end, flags, result, detail, error node
INSTANTIATE_FAILED = struct.Struct("<4IQQQiiQ")
#: exec id, step (1 instantiate, 2 upload, 3 first launch), free bytes before, after
DEVICE_MEMORY = struct.Struct("<IIQQ")

#: In place of an executable's id in a walk: the walk belongs to the failure record after it.
WALK_FAILED = 0xFFFFFFFF
WHOLE_GRAPH = 0xFFFFFFFF
UNKNOWN_NODE = 0xFFFFFFFE
#: In place of a node's id (graph << 32 | local): the driver named none.
NO_NODE = 0xFFFFFFFFFFFFFFFF
CAPTURE_STREAM_DESTROYED = 1
CAPTURE_LEGACY_STREAM = 2

#: graph id, exec id (0: its capture), kind, nvtx path, stack or reason, thread, flags, kind of
#: the name, time_ns; then the name that the program or a framework gave
GRAPH_ORIGIN = struct.Struct("<IIIIiIIIQ")

ORIGIN_CAPTURE, ORIGIN_INSTANTIATE = 1, 2
ORIGIN_UNWANTED = 1
#: time_ns, begins (1) or ends (0), reason; then the name of the profiler CUPTI was left to.
#: Outside a period too, with 0: attached and waiting, CUPTI left, CUPTI taken again
PERIOD = struct.Struct("<QII")

#: graph id, node id, CUgraphConditionalNodeType, size, handle, how many bodies are known
CONDITIONAL = struct.Struct("<IIiIQI4x")
#: graph id, node id; then name, newline, value
PARAMETER = struct.Struct("<II")
#: time_ns, device, used, its high mark, reserved, its high mark (bytes)
GRAPH_MEMORY = struct.Struct("<Qi4x4Q")
#: time_ns, address, call id, thread
FREED = struct.Struct("<QQII")

LAUNCH_NODE_LEVEL = 1
LAUNCH_EVENTS = 2
LAUNCH_LATE = 8
LAUNCH_COPY = 16
#: Ids of graphs and executables above this are gviz's own: CUPTI was not there to number them.
OWN_IDS = 1 << 30
WINDOW_REASONS = {1: "eager", 2: "launches"}
#: Why a period begins or ends (``enum period_reason`` in csrc/window/window.h).
PERIOD_REASONS = {
    1: "attached",
    2: "delay",
    3: "call",
    4: "signal",
    5: "returned",
    6: "duration",
    7: "launches",
    8: "left",
    9: "end",
    10: "followed",
}

#: Why a node has no Python stack, by the number stored in its place.
STACK_REASONS = {
    0: "Python stacks were not asked for",
    -1: "created on a thread without Python frames, such as autograd's backward thread",
    -2: "the interpreter was shutting down",
    -3: "taking the stack failed",
    -4: "not a Python program",
    -5: "gviz's Python part was not loaded: PYTHONPATH was replaced or ignored (python -E, -I, -S)",
}
