"""Reads Chrome traces of Kineto, PyTorch's profiler."""

from __future__ import annotations

import gzip
import json
import zlib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from gviz.cuda import NodeType
from gviz.errors import ImportingError
from gviz.formats.kineto.columns import dimensions, graph_nodes, nanoseconds, numbers, threads
from gviz.formats.kineto.events import Args, Event, EventParser, annotation
from gviz.formats.kineto.json_objects import ObjectReader
from gviz.formats.kineto.source_file import SourceFile
from gviz.formats.traces import (
    CALL,
    COPY_KINDS,
    MOST_INT,
    RANGE,
    DeviceFacts,
    Trace,
    cuda_version,
    integer,
    size,
    storable,
)
from gviz.model import OPERATOR_DOMAIN
from gviz.recording import LATEST_NS
from gviz.runs import blank_activities
from gviz.stats import UNKNOWN, IntArray
from gviz.system import ShareRead

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
#: Ranges that the program names.
_ANNOTATION = "user_annotation"
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
    "moved nodes to lanes. Inferred edges follow the trace."
)


def read_kineto(
    path: Path, *, progress: ShareRead | None = None, most_bytes: int | None = None
) -> Trace:
    """Read a trace, packed with gzip or not.

    Parameters
    ----------
    path
        What ``torch.profiler``'s ``export_chrome_trace`` wrote.
    progress
        Called with the share that was read.
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
        work: list[Event] = []
        calls: list[Event] = []
        named: list[Event] = []
        append = {
            **dict.fromkeys(_GPU_WORK, work.append),
            **dict.fromkeys(_CALLS, calls.append),
            **dict.fromkeys((*_OPERATORS, _ANNOTATION), named.append),
        }
        for event in events:
            if event is None or event.ph != "X" or not isinstance(event.cat, str):
                continue
            take = append.get(event.cat)
            if take is not None:
                take(event)
            elif event.cat.startswith(tuple(_OTHER_WORK)):
                self.others[event.cat] += 1
            else:
                self.trace.host_events += not event.cat.startswith("gpu_")
        self.trace.host_events += len(calls) + len(named)
        if work:
            self._add_work(work)
        if calls:
            self._add_calls(calls)
        if named:
            self._add_named(named)

    def _add_work(self, events: list[Event]) -> None:
        trace = self.trace
        events, start, end = self._timed(events, count_others=True)
        args = [event.args or _NO_ARGS for event in events]
        kind = np.array([_GPU_WORK[event.cat] for event in events], np.int64)
        is_kernel = kind == NodeType.KERNEL
        texts = [event.name if isinstance(event.name, str) else "?" for event in events]
        rows = blank_activities(len(events))
        rows["type"], rows["start_ns"], rows["end_ns"] = kind, start, end
        rows["name"] = [
            trace.name_number(text) if named else UNKNOWN
            for text, named in zip(texts, is_kernel.tolist(), strict=True)
        ]
        rows["exec_id"], rows["node_id"] = graph_nodes(
            [a.graph_node_id for a in args], [a.graph_id for a in args]
        )
        rows["device_id"] = numbers([a.device for a in args], MOST_INT)
        rows["stream_id"] = numbers(
            [a.stream if a.original_stream is None else a.original_stream for a in args]
        )
        rows["correlation_id"] = numbers([a.correlation for a in args])
        rows["grid"] = dimensions([a.grid for a in args])
        rows["block"] = dimensions([a.block for a in args])
        rows["shared_mem_bytes"] = numbers([a.shared_memory for a in args])
        rows["registers"] = numbers([a.registers for a in args])
        rows["bytes"] = numbers([a.bytes for a in args])
        for i in np.flatnonzero(kind == NodeType.MEMCPY).tolist():
            rows["copy_kind"][i] = _copy_kind(texts[i], args[i].copy_kind)
        trace.add_activities(rows)
        for i in np.flatnonzero(rows["node_id"] != UNKNOWN).tolist():
            annotated = annotation(args[i])
            if annotated is not None:
                trace.annotate(int(rows["exec_id"][i]), int(rows["node_id"][i]), annotated)

    def _add_calls(self, events: list[Event]) -> None:
        events = [event for event in events if isinstance(event.name, str)]
        events, start, end = self._timed(events)
        correlations = [(event.args or _NO_ARGS).correlation for event in events]
        is_launch = ["GraphLaunch" in event.name for event in events]
        kept = [
            integer(correlation) is not None and ("Launch" in event.name or "Mem" in event.name)
            for event, correlation in zip(events, correlations, strict=True)
        ]
        rows = np.empty(len(events), CALL)
        rows["correlation_id"] = numbers(correlations)
        rows["start_ns"], rows["end_ns"] = start, end
        rows["thread_id"], _ = threads([event.tid for event in events])
        rows["is_graph_launch"] = is_launch
        rows["stream_id"] = numbers([(event.args or _NO_ARGS).stream for event in events])
        self.trace.calls.extend(rows[np.array(kept, bool)])

    def _add_named(self, events: list[Event]) -> None:
        """Take operators and annotations in."""
        for event in events:
            if event.cat == _ANNOTATION and (process := integer(event.pid)) is not None:
                self._pids[process] = self._pids.get(process, 0) + 1
        events, start, end = self._timed(events)
        thread, known_ = threads([event.tid for event in events])
        kept = known_ & np.array([isinstance(event.name, str) for event in events], bool)
        rows = np.empty(len(events), RANGE)
        rows["thread_id"], rows["start_ns"], rows["end_ns"] = thread, start, end
        if not kept.all():
            events = [event for event, keep in zip(events, kept.tolist(), strict=True) if keep]
        names = [
            (_domain(event) if event.cat == _ANNOTATION else OPERATOR_DOMAIN, event.name)
            for event in events
        ]
        is_operator = np.array([event.cat != _ANNOTATION for event in events], bool)
        self.trace.add_ranges(rows[kept], names, is_operator)

    def _timed(
        self, events: list[Event], *, count_others: bool = False
    ) -> tuple[list[Event], IntArray, IntArray]:
        """Return the events that have a start and an end, and these."""
        start = nanoseconds([event.ts for event in events])
        duration = nanoseconds([event.dur for event in events])
        end = start + duration
        good = (start >= 0) & (duration >= 0) & (end < LATEST_NS)
        if not good.all():
            events = [event for event, keep in zip(events, good.tolist(), strict=True) if keep]
            start, end = start[good], end[good]
            self.trace.invalid += int((~good).sum()) if count_others else 0
        self._latest_ns = max(self._latest_ns, int(end.max(initial=0)))
        return events, start, end

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


def _domain(event: Event) -> str | None:
    domain = (event.args or _NO_ARGS).domain
    return domain if isinstance(domain, str) and domain else None


def _copy_kind(name: str, recorded: Any) -> int:
    """Return the direction out of a name such as ``Memcpy HtoD (Pinned -> Device)``."""
    words = name.split()
    if len(words) > 1:
        return COPY_KINDS.get(words[1].lower(), UNKNOWN)
    return COPY_KINDS.get(recorded.lower(), UNKNOWN) if isinstance(recorded, str) else UNKNOWN


def _device(properties: dict[str, Any]) -> DeviceFacts | None:
    number = integer(properties.get("id"))
    if number is None or not 0 <= number < 1 << 31:
        return None
    major, minor = integer(properties.get("computeMajor")), integer(properties.get("computeMinor"))
    name = properties.get("name")
    return DeviceFacts(
        device_id=number,
        name=storable(name) if isinstance(name, str) else f"GPU {number}",
        compute_capability=None if major is None else f"{major}.{minor or 0}",
        multiprocessor_count=size(properties.get("numSms"), MOST_INT),
        memory_bytes=size(properties.get("totalGlobalMem")),
        max_threads_per_multiprocessor=size(
            properties.get(
                "maxThreadsPerMultiprocessor", properties.get("maxThreadsPerMultiProcessor")
            ),
            MOST_INT,
        ),
    )
