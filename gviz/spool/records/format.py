"""The binary format of a spool, as ``collectors/csrc`` writes it.

A spool is a directory of segment files ``000000.segment``, ``000001.segment``, ... A segment
is a header of 64 bytes (``table.SegmentHeader``) and records one after another, little endian,
each padded to 8 bytes: ``u32 type, u32 size`` and ``size`` bytes of payload, whose structures
``table`` declares.
"""

from __future__ import annotations

from enum import IntEnum
from pathlib import Path

MAGIC = b"GVIZSPL1"
VERSION = 1
SEGMENT_SUFFIX = ".segment"
#: Directory of a recording's spool: the recording's path with this appended.
SPOOL_SUFFIX = "-spool"
#: Socket beside the segments of a process that takes requests (collectors/csrc/window/request.c).
CONTROL_SOCKET = "control.socket"
#: File in a job's directory, with a process id: a request to begin that came before CUDA was used.
START_REQUEST_PREFIX = "start-"
#: Empty file there, with a process id and an errno: why that process could make no spool.
UNOPENED_PREFIX = "unopened-"
#: File beside the segments that launches write while they run, words of 32 bits (CrumbsRecord);
#: or a link to one in memory, which says behind its words in which namespace of processes its
#: process is, and in the next line where the link is.
CRUMBS_FILE = "crumbs"
CRUMBS_BYTES = 1 << 20
#: File in a job's directory with the states of its GPUs, a line of JSON each.
GPU_STATES = "gpu_states"
#: File beside the segments that the driver writes when a kernel fails.
CORE_DUMP_FILE = "core.nvcudmp"
#: The answer to a request from another namespace of the network, behind it the sender's address.
ANSWER_PREFIX = "answer-"
NO_STREAM = 0xFFFFFFFF
#: Text of the NVTX range by which the hooks find out whether NVTX reaches us; not recorded.
PROBE_TEXT = "gviz probe"
#: Stands among record types for a part of a segment that cannot be read.
DAMAGED = 0
#: Above all numbers of record types, also those of later versions of gviz.
TYPES_END = 0x10000


def spool_of(recording: Path) -> Path:
    """Return the directory of a recording's spool."""
    return recording.with_name(recording.name + SPOOL_SUFFIX)


def recording_of(spool: Path) -> Path | None:
    """Return the recording that a process's spool becomes, or is part of; None: not named so."""
    for folder in (spool, spool.parent):
        if folder.name.endswith(SPOOL_SUFFIX):
            return folder.with_name(folder.name.removesuffix(SPOOL_SUFFIX))
    return None


class RecordType(IntEnum):
    """Kind of a spool record."""

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
    AUTOGRAD = 29
    CAPTURE_ERROR = 30
    CAPTURE_FAILED = 31
    UPDATES = 32
    UPDATE_FAILED = 33
    INSTANTIATE_FAILED = 34
    DEVICE_MEMORY = 35
    RUNTIME_CALL_NAME = 36
    UPDATES_PASSED = 37
    CONDITIONAL = 40
    PARAMETER = 41
    GRAPH_MEMORY = 42
    FREED = 43
    SIGNATURE = 44
    NODE_TIMES = 50
    COLLECTOR = 52
    REFUSED = 53
    CALIBRATION = 54
    OPERATIONS = 55
    PERIOD = 60
    ALTERNATION = 61
    LAUNCHES_PASSED = 62
    VISITED = 63
    GRAPH_ORIGIN = 70
    TRIAL = 71
    TRIAL_REFUSED = 72
    STOPPED = 75
    CRUMBS = 80
    CRUMBS_REFUSED = 81
    FAULT = 82
    BLOCK = 83
    VALUES = 90
    VALUES_REFUSED = 91


#: In place of an executable's id in a walk: the walk belongs to the failure record after it.
WALK_FAILED = 0xFFFFFFFF
WHOLE_GRAPH = 0xFFFFFFFF
UNKNOWN_NODE = 0xFFFFFFFE
#: In place of a node's id (graph << 32 | local): the driver named none.
NO_NODE = 0xFFFFFFFFFFFFFFFF
CAPTURE_STREAM_DESTROYED = 1
CAPTURE_LEGACY_STREAM = 2
CAPTURE_KEPT_GOING = 4

ORIGIN_CAPTURE, ORIGIN_INSTANTIATE = 1, 2
ORIGIN_UNWANTED = 1
LAUNCH_NODE_LEVEL = 1
LAUNCH_EVENTS = 2
LAUNCH_CAPTURED = 4
LAUNCH_LATE = 8
LAUNCH_COPY = 16
#: Ids of graphs and executables above this are gviz's own: CUPTI was not there to number them.
OWN_IDS = 1 << 30
#: Correlation ids from this on likewise.
OWN_CORRELATIONS = 1 << 31
#: In place of a node's type: of kernels that are launched on a stream.
OUTSIDE_GRAPHS = -1
