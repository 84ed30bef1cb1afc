"""Processes that make the facts of nodes beside the one that writes a file.

Facts are most of the work, and those of 400 nodes need nothing of the others. A process is asked
for one blob after another; the one that writes makes what is left once it has nothing else to do.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from functools import cache
from pathlib import Path
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import IO

from gviz.app.files import Library
from gviz.app.html_file.facts import FactBlobs, Inspected, blob_count, inspected, make_facts
from gviz.app.html_file.packed import Packed
from gviz.app.html_file.source import Source, open_source
from gviz.errors import RecordingError
from gviz.system import own_command, own_environment

#: A blob to make: of which graph, the how many-eth, and where it goes. None: there will be no more.
_Task = tuple[int, int, "Future[FactBlobs]"]
#: Below so many blobs for each, a process takes longer to begin than it saves.
_LEAST_BLOBS = 2
#: Each has the graph in its memory.
_MOST_PROCESSES = 15


class FactMakers:
    """Makes the facts of one graph level after another; processes end with the ``with`` block.

    Parameters
    ----------
    source
        Of the graphs.
    most
        Processes at most; None: one for each processor but that of this process.
    """

    def __init__(self, source: Source, most: int | None = None) -> None:
        spare = len(os.sched_getaffinity(0)) - 1
        self._most = min(spare, _MOST_PROCESSES) if most is None else most
        self._source = source
        self._processes: list[subprocess.Popen[bytes]] = []
        self._tasks: SimpleQueue[_Task | None] = SimpleQueue()
        self._futures: list[Future[FactBlobs]] = []
        self._work: Inspected | None = None

    def __enter__(self) -> FactMakers:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        while self._take() is not None:
            pass
        for process in self._processes:
            self._tasks.put(None)
            process.kill()
        for process in self._processes:
            process.wait()
            for stream in (process.stdin, process.stdout):
                assert stream is not None
                with contextlib.suppress(OSError):  # what was not sent yet is not wanted
                    stream.close()

    def begin(self, work: Inspected) -> None:
        """Have the facts of a level made."""
        self._work = work
        count = blob_count(work)
        self._futures = [Future() for _ in range(count)]
        for number, future in enumerate(self._futures):
            self._tasks.put((work.graph_id, number, future))
        for _ in range(len(self._processes), min(self._most, count // _LEAST_BLOBS)):
            process = self._start()
            self._processes.append(process)
            threading.Thread(target=self._ask, args=(process,), daemon=True).start()

    def blobs(self) -> Iterator[tuple[str, bytes]]:
        """Yield ``facts-ID-N`` and ``copy-ID-N`` of the level, one after another."""
        assert self._work is not None
        for number, (facts, copies) in enumerate(self._results(self._work)):
            yield f"facts-{self._work.graph_id}-{number}", facts
            yield f"copy-{self._work.graph_id}-{number}", copies

    def _results(self, work: Inspected) -> Iterator[FactBlobs]:
        """Yield the facts of the level, blob by blob, and forget them."""
        for at in range(len(self._futures)):
            while not self._futures[at].done() and (taken := self._take()) is not None:
                _, number, future = taken
                future.set_result(make_facts(work, number))
            yield self._futures[at].result()
            self._futures[at] = Future()

    def _take(self) -> _Task | None:
        try:
            return self._tasks.get_nowait()
        except Empty:
            return None

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            own_command("gviz.app.html_file.fact_makers"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=own_environment() | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        )

    def _ask(self, process: subprocess.Popen[bytes]) -> None:
        """Have a process make one blob after another, until there will be no more."""
        source = self._source
        files = [[str(f.path), f.version] for f in source.library.files()]
        ids = [graph.graph_id for graph in source.graphs]
        requests: list[tuple[object, ...]] = [(files, ids, list(source.partners.items()))]
        while (task := self._tasks.get()) is not None:
            graph_id, number, future = task
            requests.append((graph_id, number))
            try:
                while requests:
                    _send(process.stdin, *requests.pop(0))
                future.set_result(_receive(process.stdout))
            except (OSError, ValueError) as error:
                sentence = "a process that describes nodes ended; write the file again"
                future.set_exception(RecordingError(f"{sentence} ({error})"))
                return


def _send(stream: IO[bytes] | None, *values: object) -> None:
    assert stream is not None
    stream.write(json.dumps(values).encode() + b"\n")
    stream.flush()


def _receive(stream: IO[bytes] | None) -> FactBlobs:
    """Return an answer; ValueError where it is none."""
    assert stream is not None
    sizes = json.loads(stream.readline())
    facts, copies = (Packed(stream.read(size)) for size in sizes)
    return facts, copies


def answer(given: IO[bytes], made: IO[bytes]) -> None:
    """Make blobs as they are requested, until nothing more is."""
    files, graph_ids, partners = json.loads(given.readline())
    library = Library([Path(path) for path, _ in files])
    opened = library.files()
    try:
        with opened[0].at(files[0][1]), opened[-1].at(files[-1][1]):
            source = open_source(library, graph_ids, dict(partners))
            read = cache(lambda graph_id: inspected(source, graph_id))
            for line in given:
                graph_id, number = json.loads(line)
                found = make_facts(read(graph_id), number)
                _send(made, *map(len, found))
                for data in found:
                    made.write(data)
                made.flush()
    finally:
        library.close()


if __name__ == "__main__":
    answer(sys.stdin.buffer, sys.stdout.buffer)
