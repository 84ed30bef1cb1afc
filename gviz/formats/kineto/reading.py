"""Reads Chrome traces of Kineto, PyTorch's profiler."""

from __future__ import annotations

import gzip
import json
import zlib
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from gviz.cuda import NodeType
from gviz.errors import ImportingError
from gviz.formats.kineto.events import Args, Event, EventParser, annotation, nanoseconds, triple
from gviz.formats.kineto.json_objects import ObjectReader
from gviz.formats.kineto.source_file import SourceFile
from gviz.formats.traces import (
    COPY_KINDS,
    MOST_INT,
    NODE_MASK,
    UNKNOWN,
    DeviceFacts,
    Progress,
    Trace,
    cuda_version,
    graph_node,
    integer,
    known,
    size,
    storable,
)
from gviz.recording import LATEST_NS

_GPU_WORK = {
    "kernel": int(NodeType.KERNEL),
    "gpu_memcpy": int(NodeType.MEMCPY),
    "gpu_memset": int(NodeType.MEMSET),
    # Before PyTorch 1.12.
    "Kernel": int(NodeType.KERNEL),
    "Memcpy": int(NodeType.MEMCPY),
    "Memset": int(NodeType.MEMSET),
}
#: PyTorch's operators; "Operator" before 1.12.
_OPERATORS = frozenset({"cpu_op", "Operator"})
_CALLS = frozenset({"cuda_runtime", "cuda_driver", "Runtime"})
#: Categories of work that is none of a GPU's streams, by how they begin: what it is of, and advice.
_OTHER_WORK = {
    "mtia_": ("an MTIA accelerator", "gviz shows work of GPUs"),
    "cuda_profiler_range": (
        "CUPTI's range profiler (counters, one kernel at a time)",
        "profile without profiler_metrics to have the times of kernels",
    ),
}
_NO_ARGS = Args()
LANES_NOTE = (
    "The trace does not say whether the streams of its annotated graphs are CUDA's: before "
    "PyTorch's exporter wrote annotations, torch.cuda._annotate_cuda_graph_trace added them and "
    "moved nodes to lanes. Inferred edges follow what the trace says."
)


def read_kineto(
    path: Path, *, progress: Progress | None = None, most_bytes: int | None = None
) -> Trace:
    """Read a trace, packed with gzip or not.

    Parameters
    ----------
    path
        What ``torch.profiler``'s ``export_chrome_trace`` wrote.
    progress
        Is told how much was read.
    most_bytes
        Bytes that are unpacked at most; None: any number.

    Raises
    ------
    ImportingError
        If the file cannot be read, is no such trace, or holds no GPU work.
    """
    shown = path.name
    found = _Reading()
    try:
        with SourceFile(path, most_bytes=most_bytes) as source:
            reader = ObjectReader(source, shown, "traceEvents", EventParser(shown))
            for events in reader.read():
                found.take(events)
                if progress is not None:
                    progress(source.share)
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise ImportingError(
            f"{shown} cannot be unpacked: {error}; it was cut off or changed, copy it again"
        ) from None
    except OSError as error:
        raise ImportingError(f"{path} cannot be read: {error.strerror or error}") from None
    found.finish(_outside(reader.outside, shown))
    _check(found, shown)
    return found.trace


def _outside(text: bytes, shown: str) -> dict[str, Any]:
    try:
        value = json.loads(text.decode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        raise ImportingError(
            f"{shown} is no JSON outside of its traceEvents: {error}; export the trace again"
        ) from None
    return value if isinstance(value, dict) else {}


def _check(found: _Reading, shown: str) -> None:
    trace, others = found.trace, found.others
    if len(trace.activities) or trace.invalid:
        return
    for prefix, (what, advice) in _OTHER_WORK.items():
        count = sum(n for category, n in others.items() if category.startswith(prefix))
        if count:
            raise ImportingError(f"{shown} holds {count:,} events of {what} and no kernel, copy or "
                                 f"memset of a GPU; {advice}")  # fmt: skip
    if trace.host_events:
        raise ImportingError(
            f"{shown} holds {trace.host_events:,} events of the CPU and none of a GPU; profile "
            "with ProfilerActivity.CUDA, on a machine with a GPU"
        )
    raise ImportingError(
        f"{shown} holds no kernel, copy or memset: give what torch.profiler's "
        "export_chrome_trace wrote"
    )


class _Reading:
    """Takes events in; times are relative to the base until :meth:`finish`."""

    def __init__(self) -> None:
        self.trace = Trace("PyTorch's profiler (Kineto)", "kineto", shared_memory_is_total=True)
        #: Events of _OTHER_WORK, by category.
        self.others: Counter[str] = Counter()
        self._pids: dict[int, int] = {}
        self._latest_ns = 0

    def take(self, events: Iterable[Event | None]) -> None:
        """Take events in."""
        host: dict[str, Callable[[Event], None]] = {
            **dict.fromkeys(_OPERATORS, self._add_operator),
            **dict.fromkeys(_CALLS, self._add_call),
            "user_annotation": self._add_range,
        }
        for event in events:
            if event is None or event.ph != "X":
                continue
            category = event.cat
            if not isinstance(category, str):
                continue
            add = host.get(category)
            if add is not None:
                add(event)
                self.trace.host_events += 1
            elif (kind := _GPU_WORK.get(category)) is not None:
                self._add_work(event, kind)
            elif category.startswith(tuple(_OTHER_WORK)):
                self.others[category] += 1
            else:
                self.trace.host_events += not category.startswith("gpu_")

    def _add_work(self, event: Event, kind: int) -> None:
        trace, args = self.trace, event.args or _NO_ARGS
        name = event.name if isinstance(event.name, str) else "?"
        interval = self._interval(event)
        if interval is None:
            trace.invalid += 1
            return
        exec_id, node_id = graph_node(args.graph_node_id, args.graph_id)
        is_kernel = kind == NodeType.KERNEL
        grid, block = triple(args.grid), triple(args.block)
        if node_id != UNKNOWN and (said := annotation(args)) is not None:
            trace.annotate(exec_id, node_id, said)
        ran_on = args.stream if args.original_stream is None else args.original_stream
        trace.add_activity(
            (
                kind, trace.name_number(name) if is_kernel else UNKNOWN, *interval,
                known(args.device, MOST_INT), known(ran_on), known(args.correlation),
                exec_id, node_id,
                *(grid or (UNKNOWN,) * 3), *(block or (UNKNOWN,) * 3),
                known(args.shared_memory), known(args.registers), known(args.bytes),
                _copy_kind(name, args.copy_kind) if kind == NodeType.MEMCPY else UNKNOWN,
            )
        )  # fmt: skip

    def _add_call(self, event: Event) -> None:
        args = event.args or _NO_ARGS
        correlation = integer(args.correlation)
        interval = self._interval(event)
        if correlation is None or interval is None or not isinstance(event.name, str):
            return
        is_launch = int("GraphLaunch" in event.name)
        if is_launch or "Launch" in event.name or "Mem" in event.name:
            thread = max(0, integer(event.tid) or 0) & NODE_MASK
            self.trace.calls.add(
                (known(correlation), *interval, thread, is_launch, known(args.stream))
            )

    def _add_operator(self, event: Event) -> None:
        interval, thread = self._interval(event), integer(event.tid)
        if interval is not None and thread is not None and isinstance(event.name, str):
            self.trace.add_operator(max(0, thread) & NODE_MASK, interval, event.name)

    def _add_range(self, event: Event) -> None:
        interval, thread = self._interval(event), integer(event.tid)
        process = integer(event.pid)
        if process is not None:
            self._pids[process] = self._pids.get(process, 0) + 1
        if interval is None or thread is None or not isinstance(event.name, str):
            return
        domain = (event.args or _NO_ARGS).domain
        named = domain if isinstance(domain, str) and domain else None
        self.trace.add_range(max(0, thread) & NODE_MASK, interval, event.name, named)

    def _interval(self, event: Event) -> tuple[int, int] | None:
        start, duration = nanoseconds(event.ts), nanoseconds(event.dur)
        if start is None or duration is None or duration < 0 or start < 0:
            return None
        end = start + duration
        if end >= LATEST_NS:
            return None
        self._latest_ns = max(self._latest_ns, end)
        return start, end

    def finish(self, outside: dict[str, Any]) -> None:
        """Take in what stands outside of the events."""
        trace = self.trace
        trace.base_ns = _base(outside)
        if trace.base_ns + self._latest_ns >= LATEST_NS:
            trace.notes.append(
                ("warning", f"The trace says that its times count from {trace.base_ns:,} ns, which "
                            "cannot be: they are shown as counted from 0.")
            )  # fmt: skip
            trace.base_ns = 0
        devices = outside.get("deviceProperties")
        for device in devices if isinstance(devices, list) else ():
            if isinstance(device, dict) and (facts := _device(device)) is not None:
                trace.devices.setdefault(facts.device_id, facts)
        distributed = outside.get("distributedInfo")
        if isinstance(distributed, dict):
            trace.rank = size(distributed.get("rank"))
        trace.driver_version = cuda_version(outside.get("cuda_driver_version"))
        cupti = integer(outside.get("cupti_version"))
        trace.cupti_version = None if cupti is None else str(cupti)
        # The exporter that keeps the streams says so; the script before it moved work to lanes.
        if trace.annotations and not outside.get("cudaGraphInlineAnnotated"):
            trace.notes.append(("limit", LANES_NOTE))
        if self._pids:
            trace.process_id = max(self._pids, key=self._pids.__getitem__)


def _base(outside: dict[str, Any]) -> int:
    base = integer(outside.get("baseTimeNanoseconds"))
    return base if base is not None and 0 <= base < LATEST_NS else 0


def _copy_kind(name: str, told: Any) -> int:
    """Return the direction out of a name such as ``Memcpy HtoD (Pinned -> Device)``."""
    words = name.split()
    if len(words) > 1:
        return COPY_KINDS.get(words[1].lower(), UNKNOWN)
    return COPY_KINDS.get(told.lower(), UNKNOWN) if isinstance(told, str) else UNKNOWN


def _device(told: dict[str, Any]) -> DeviceFacts | None:
    number = integer(told.get("id"))
    if number is None or not 0 <= number < 1 << 31:
        return None
    major, minor = integer(told.get("computeMajor")), integer(told.get("computeMinor"))
    name = told.get("name")
    return DeviceFacts(
        device_id=number,
        name=storable(name) if isinstance(name, str) else f"GPU {number}",
        compute_capability=None if major is None else f"{major}.{minor or 0}",
        multiprocessor_count=size(told.get("numSms"), MOST_INT),
        memory_bytes=size(told.get("totalGlobalMem")),
        max_threads_per_multiprocessor=size(
            told.get("maxThreadsPerMultiprocessor", told.get("maxThreadsPerMultiProcessor")),
            MOST_INT,
        ),
    )
