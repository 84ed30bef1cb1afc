"""A reader of Chrome trace events that is as strict as viewers are: what it says they show.

Rules from the Trace Event Format (Duffy, 2016) and from Perfetto's importer
(src/trace_processor/importers/json and common/{slice,flow}_tracker.cc): events are put in order of
time, equal ones in that of the file; slices of one thread lie inside or beside each other; an arrow
binds, at each end, to the innermost slice that is open on its thread then; it must begin before it
ends, and each is drawn once.
"""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

Thread = tuple[int, int]


@dataclass
class Slice:
    name: str
    category: str
    thread: Thread
    start_ns: int
    end_ns: int
    arguments: dict[str, Any]


@dataclass
class Trace:
    """A file as a viewer reads it."""

    head: dict[str, Any]
    slices: list[Slice] = field(default_factory=list)
    arrows: list[tuple[str, Slice, Slice]] = field(default_factory=list)
    process_names: dict[int, str] = field(default_factory=dict)
    thread_names: dict[Thread, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def of(self, category: str) -> list[Slice]:
        return [s for s in self.slices if s.category == category]


def read_trace(path: Path) -> Trace:
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    document = json.loads(data, parse_float=Decimal)
    events = document.pop("traceEvents")
    trace = Trace(document)
    for event in events:
        if event["ph"] == "M":
            thread = (event["pid"], event["tid"])
            if event["name"] == "process_name":
                assert event["pid"] not in trace.process_names
                trace.process_names[event["pid"]] = event["args"]["name"]
            elif event["name"] == "thread_name":
                assert thread not in trace.thread_names
                trace.thread_names[thread] = event["args"]["name"]
    timed = [event for event in events if event["ph"] != "M"]
    timed.sort(key=lambda event: event["ts"])  # stable
    _Reader(trace).read(timed)
    return trace


class _Reader:
    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.open: dict[Thread, list[Slice]] = defaultdict(list)
        self.begun: dict[tuple[str, str, int], Slice] = {}

    def read(self, events: list[dict[str, Any]]) -> None:
        for event in events:
            start = _nanoseconds(event["ts"])
            thread = (event["pid"], event["tid"])
            stack = self.open[thread]
            while stack and stack[-1].end_ns <= start:
                stack.pop()
            if thread not in self.trace.thread_names:
                self.trace.problems.append(f"thread {thread} has no name")
            if event["ph"] == "X":
                self._slice(event, thread, start)
            else:
                self._flow(event, thread)
        if self.begun:
            self.trace.problems.append(f"{len(self.begun)} arrows do not end")

    def _slice(self, event: dict[str, Any], thread: Thread, start: int) -> None:
        end = start + _nanoseconds(event["dur"])
        arguments = event["args"]
        found = Slice(event["name"], event["cat"], thread, start, end, arguments)
        if end < start or start < 0:
            self.trace.problems.append(f"{found} has an impossible time")
        stack = self.open[thread]
        if stack and end > stack[-1].end_ns:
            self.trace.problems.append(f"{found} crosses {stack[-1]}")
        stack.append(found)
        self.trace.slices.append(found)

    def _flow(self, event: dict[str, Any], thread: Thread) -> None:
        stack = self.open[thread]
        if not stack:
            self.trace.problems.append(f"{event} lies in no slice")
            return
        key = (event["cat"], event["name"], event["id"])
        if event["ph"] == "s":
            if key in self.begun:
                self.trace.problems.append(f"{event} begins twice")
            self.begun[key] = stack[-1]
        else:
            assert (event["ph"], event["bp"]) == ("f", "e")
            if key not in self.begun:
                self.trace.problems.append(f"{event} ends before it begins")
                return
            self.trace.arrows.append((event["cat"], self.begun.pop(key), stack[-1]))


def _nanoseconds(value: Decimal | int) -> int:
    exact = Decimal(value) * 1000
    assert exact == int(exact), f"{value} us is no whole number of ns"
    return int(exact)
