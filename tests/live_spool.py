"""A spool that grows under a test's hand, as that of a program that runs."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

from spool_writing import (
    SpoolWriter,
    buffer,
    graph_records,
    launch_record,
    name_records,
    work,
)

from gviz.spool.records import format as f
from gviz.spool.records.format import RecordType

#: Nodes of the program's graph: a chain of kernels.
NODES = 6
_EXEC = 2


class LiveProgram:
    """A program that launches a chain of kernels; it "runs" in the process of the test.

    Parameters
    ----------
    recording
        The recording it is to become; its spool stands beside it.
    process_id
        The process that it "runs" in, if not the test's own.
    """

    def __init__(self, recording: Path, process_id: int | None = None) -> None:
        self.recording = recording
        self.spool = recording.with_name(recording.name + f.SPOOL_SUFFIX)
        self._writer = SpoolWriter(self.spool)
        self._launches = 0
        meta = {
            "name": "live program",
            "process_id": process_id or os.getpid(),
            "host": socket.gethostname(),
            "started_ns": 1,
        }
        self._writer.append(RecordType.META, json.dumps(meta).encode())
        for kind, payload in name_records():
            self._writer.append(kind, payload)

    def instantiate(self) -> None:
        """Make the graph."""
        edges = [(i, i + 1) for i in range(NODES - 1)]
        for kind, payload in graph_records(1, _EXEC, [0] * NODES, edges):
            self._writer.append(kind, payload)

    def launch(self, count: int = 1) -> None:
        """Launch the graph so many times, every node timed."""
        for _ in range(count):
            self._launches += 1
            at, number = 10_000 * self._launches, self._launches
            self._writer.append(*launch_record(_EXEC, number, at))
            records = [work(_EXEC, n, number, at + 100 + 1_000 * n, 900) for n in range(NODES)]
            self._writer.append(RecordType.BUFFER, buffer(records))

    def end(self) -> None:
        """End the program as it should end."""
        self._writer.append(RecordType.END, b"")

    def abort(self) -> None:
        """End it without a word: its spool belongs to a process that is not there."""
        # Above what Linux gives out (PID_MAX_LIMIT, 2^22).
        self._writer.give_to(5_000_010)
        gone = {"process_id": 5_000_010}
        self._writer.append(RecordType.META, json.dumps(gone).encode())
