"""The records of a spool: each one declaration, from which all code that reads or writes it goes.

Python decodes a record by its layout, numpy by the layout's dtype, and
``collectors/csrc/records/records.h`` is generated from this table (``make docs``), with the
numbers that stand for a word.
Ids of graphs, executables and nodes are CUPTI's; where a number has no meaning of its own, 0 is
none. Times are nanoseconds since the epoch.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from gviz.cuda import ElementType, NameKind
from gviz.spool.records.call_records import (
    CallNameRecord,
    CallRecord,
    LaunchesPassedRecord,
    LaunchRecord,
    LaunchTimeRecord,
    LifeRecord,
    NvtxPathRecord,
    NvtxRangeRecord,
    RuntimeCallNameRecord,
    VisitedRecord,
)
from gviz.spool.records.enums import (
    ChangeKind,
    FaultKind,
    MemoryStep,
    PeriodReason,
    StackReason,
    TrialKind,
    TrialResults,
    ValueExtent,
    ValueFlag,
    WindowReason,
)
from gviz.spool.records.event_records import (
    CalibrationRecord,
    NodeTime,
    NodeTimesRecord,
    Operation,
    OperationsRecord,
    RefusedRecord,
)
from gviz.spool.records.failure_records import (
    CaptureErrorRecord,
    CaptureFailedRecord,
    Crumb,
    CrumbsRecord,
    CrumbsRefusedRecord,
    FaultRecord,
    InstantiateFailedRecord,
    UpdateFailedRecord,
    UpdatesPassedRecord,
    UpdatesRecord,
)
from gviz.spool.records.format import RecordType
from gviz.spool.records.graph_records import (
    ArgumentRecord,
    ClonedRecord,
    ConditionalRecord,
    CreatedRecord,
    DotRecord,
    EdgeRecord,
    EdgesRecord,
    FunctionRecord,
    GraphRecord,
    NodeRecord,
    OriginRecord,
    ParameterRecord,
)
from gviz.spool.records.memory_records import (
    BlockRecord,
    DeviceMemoryRecord,
    FreedRecord,
    GraphMemoryRecord,
)
from gviz.spool.records.run_records import (
    BufferRecord,
    DeviceRecord,
    PeriodRecord,
    RecordHeader,
    SegmentHeader,
    StringRecord,
    WindowRecord,
)
from gviz.spool.records.structure import Layout
from gviz.spool.records.trial_records import (
    ProbedValue,
    TrialEdit,
    TrialPair,
    TrialRecord,
    TrialRefusedRecord,
    ValuesRecord,
    ValuesRefusedRecord,
    WrittenPiece,
)

SEGMENT_HEADER = Layout(SegmentHeader)
RECORD_HEADER = Layout(RecordHeader)
ARGUMENT = Layout(ArgumentRecord)
EDGE = Layout(EdgeRecord)
NODE_TIME = Layout(NodeTime)
OPERATION = Layout(Operation)
TRIAL_EDIT = Layout(TrialEdit)
TRIAL_PAIR = Layout(TrialPair)
CRUMB = Layout(Crumb)
PROBED_VALUE = Layout(ProbedValue)
WRITTEN_PIECE = Layout(WrittenPiece)

DEVICE = Layout(DeviceRecord)
PERIOD = Layout(PeriodRecord)
WINDOW = Layout(WindowRecord)
BUFFER = Layout(BufferRecord)
STRING = Layout(StringRecord)
CALL_NAME = Layout(CallNameRecord)
RUNTIME_CALL_NAME = Layout(RuntimeCallNameRecord)
CALL = Layout(CallRecord)
LIFE = Layout(LifeRecord)
LAUNCH = Layout(LaunchRecord)
LAUNCH_TIME = Layout(LaunchTimeRecord)
LAUNCHES_PASSED = Layout(LaunchesPassedRecord)
VISITED = Layout(VisitedRecord)
GRAPH = Layout(GraphRecord)
NODE = Layout(NodeRecord)
EDGES = Layout(EdgesRecord)
CONDITIONAL = Layout(ConditionalRecord)
PARAMETER = Layout(ParameterRecord)
FUNCTION = Layout(FunctionRecord)
CREATED = Layout(CreatedRecord)
CLONED = Layout(ClonedRecord)
GRAPH_ORIGIN = Layout(OriginRecord)
DOT = Layout(DotRecord)
NVTX_PATH = Layout(NvtxPathRecord)
NVTX_RANGE = Layout(NvtxRangeRecord)
CAPTURE_ERROR = Layout(CaptureErrorRecord)
CAPTURE_FAILED = Layout(CaptureFailedRecord)
UPDATES = Layout(UpdatesRecord)
UPDATES_PASSED = Layout(UpdatesPassedRecord)
UPDATE_FAILED = Layout(UpdateFailedRecord)
INSTANTIATE_FAILED = Layout(InstantiateFailedRecord)
DEVICE_MEMORY = Layout(DeviceMemoryRecord)
GRAPH_MEMORY = Layout(GraphMemoryRecord)
FREED = Layout(FreedRecord)
NODE_TIMES = Layout(NodeTimesRecord)
CALIBRATION = Layout(CalibrationRecord)
OPERATIONS = Layout(OperationsRecord)
REFUSED = Layout(RefusedRecord)
TRIAL = Layout(TrialRecord)
TRIAL_REFUSED = Layout(TrialRefusedRecord)
CRUMBS = Layout(CrumbsRecord)
CRUMBS_REFUSED = Layout(CrumbsRefusedRecord)
FAULT = Layout(FaultRecord)
BLOCK = Layout(BlockRecord)
VALUES = Layout(ValuesRecord)
VALUES_REFUSED = Layout(ValuesRefusedRecord)

#: The structures that are no record of their own: parts of the file, and of other records.
PARTS: tuple[Layout[Any], ...] = (
    SEGMENT_HEADER,
    RECORD_HEADER,
    ARGUMENT,
    EDGE,
    NODE_TIME,
    OPERATION,
    TRIAL_EDIT,
    TRIAL_PAIR,
    CRUMB,
    PROBED_VALUE,
    WRITTEN_PIECE,
)
#: Numbers in records that stand for a word.
ENUMS: tuple[type[IntEnum], ...] = (
    PeriodReason, WindowReason, MemoryStep, StackReason, NameKind, TrialKind, TrialResults,
    ChangeKind, FaultKind, ElementType, ValueExtent, ValueFlag,
)  # fmt: skip
#: The layout of each type of record.
LAYOUTS: dict[RecordType, Layout[Any]] = {
    RecordType.DEVICE: DEVICE,
    RecordType.WINDOW: WINDOW,
    RecordType.BUFFER: BUFFER,
    RecordType.STRING: STRING,
    RecordType.CALL: CALL,
    RecordType.LIFE: LIFE,
    RecordType.CALL_NAME: CALL_NAME,
    RecordType.LAUNCH: LAUNCH,
    RecordType.LAUNCH_TIME: LAUNCH_TIME,
    RecordType.LAUNCHES_PASSED: LAUNCHES_PASSED,
    RecordType.VISITED: VISITED,
    RecordType.GRAPH: GRAPH,
    RecordType.NODE: NODE,
    RecordType.EDGES: EDGES,
    RecordType.FUNCTION: FUNCTION,
    RecordType.CREATED: CREATED,
    RecordType.CLONED: CLONED,
    RecordType.NVTX_PATH: NVTX_PATH,
    RecordType.NVTX_RANGE: NVTX_RANGE,
    RecordType.DOT: DOT,
    RecordType.CAPTURE_ERROR: CAPTURE_ERROR,
    RecordType.CAPTURE_FAILED: CAPTURE_FAILED,
    RecordType.UPDATES: UPDATES,
    RecordType.UPDATES_PASSED: UPDATES_PASSED,
    RecordType.UPDATE_FAILED: UPDATE_FAILED,
    RecordType.INSTANTIATE_FAILED: INSTANTIATE_FAILED,
    RecordType.DEVICE_MEMORY: DEVICE_MEMORY,
    RecordType.RUNTIME_CALL_NAME: RUNTIME_CALL_NAME,
    RecordType.CONDITIONAL: CONDITIONAL,
    RecordType.PARAMETER: PARAMETER,
    RecordType.GRAPH_MEMORY: GRAPH_MEMORY,
    RecordType.FREED: FREED,
    RecordType.NODE_TIMES: NODE_TIMES,
    RecordType.CALIBRATION: CALIBRATION,
    RecordType.OPERATIONS: OPERATIONS,
    RecordType.REFUSED: REFUSED,
    RecordType.PERIOD: PERIOD,
    RecordType.GRAPH_ORIGIN: GRAPH_ORIGIN,
    RecordType.TRIAL: TRIAL,
    RecordType.TRIAL_REFUSED: TRIAL_REFUSED,
    RecordType.CRUMBS: CRUMBS,
    RecordType.CRUMBS_REFUSED: CRUMBS_REFUSED,
    RecordType.FAULT: FAULT,
    RecordType.BLOCK: BLOCK,
    RecordType.VALUES: VALUES,
    RecordType.VALUES_REFUSED: VALUES_REFUSED,
}
#: What the types of record hold that are text alone.
TEXTS: dict[RecordType, str] = {
    RecordType.META: "JSON from Python: name, command, versions",
    RecordType.END: "Nothing: the recording was closed in order; or a word: it was, and trials "
    "of the process's last moment may come",
    RecordType.NOTE: "Kind, newline, a sentence for the reader of the recording",
    RecordType.COUNTER: "A number about the measuring itself: name, value, unit, method, in lines",
    RecordType.STACK: "JSON from Python: a stack's number and its frames",
    RecordType.AUTOGRAD: (
        "JSON from Python: a number for a stack, or a reason, with autograd's node and its number"
    ),
    RecordType.SIGNATURE: (
        "JSON from Python: a kernel's symbol, the framework, names and types of its parameters"
    ),
    RecordType.ALTERNATION: "JSON from Python: a graph and its work eagerly, timed alternately",
    RecordType.COLLECTOR: "What measures from here on, newline, why",
    RecordType.STOPPED: "Why collecting stopped before its end; the last record",
}
