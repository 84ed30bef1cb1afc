"""A recording of a program that still runs: what its spools hold so far, made anew on demand.

Run as ``gviz.spool.processes.snapshot SPOOL OUTPUT`` beside the program, at low
priority. Each line on standard input requests a snapshot; the answer is a line of JSON, see
:class:`Answer`. It ends with its standard input. The spools are read on, never from their
beginning again, and never changed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

from gviz.dataclass import dataclass
from gviz.errors import GvizError
from gviz.spool.processes.all_processes import JobSpools
from gviz.spool.processes.attended import is_attended

#: Politeness towards the program that is measured (man 2 nice).
_NICENESS = 15


@dataclass(frozen=True, slots=True)
class Answer:
    """The outcome of a request for a snapshot.

    Attributes
    ----------
    written
        ``OUTPUT`` is new.
    is_over
        Nothing will come any more.
    failure
        Why there is no snapshot, in a sentence; "" without a failure.
    """

    written: bool = False
    is_over: bool = False
    failure: str = ""


class Snapshots:
    """The snapshots of one job, written to one place after another.

    Parameters
    ----------
    spool
        The job's directory.
    output
        Where each snapshot goes, in one step.
    """

    def __init__(self, spool: Path, output: Path) -> None:
        self._job = JobSpools(spool)
        self._output = output
        self._known: object = None

    def take(self) -> Answer:
        """Read on, and write a snapshot if there is anything new."""
        try:
            return self._take()
        except (GvizError, OSError) as error:
            folder = self._job.directory
            if folder.is_dir():
                return Answer(failure=f"{folder} cannot be read: {error}")
            return Answer(is_over=True, failure=f"{folder} was made a recording, or removed")

    def _take(self) -> Answer:
        attended = is_attended(self._job.directory)
        # Checked before reading: what a process that is gone now wrote is there to be read.
        before = self._job.growing()
        self._job.read()
        after = self._job.growing()
        now = (self._job.bytes_read, frozenset(p.directory for p in after))
        # Of a process that ended without a word, the last records may have come after the look.
        cut = any(p not in after and not p.contents.ended for p in before)
        is_over = not (after or cut or attended)
        if now == self._known:
            return Answer(is_over=is_over)
        failure = self._write()
        if not failure:
            self._known = now
        return Answer(written=not failure and self._output.exists(), is_over=is_over,
                      failure=failure)  # fmt: skip

    def _write(self) -> str:
        """Fold in a child of this process: folding settles what was read, and reading goes on."""
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            status = 1
            try:
                self._job.snapshot(self._output)
                status = 0
            except GvizError as error:
                os.write(writing, str(error).encode()[:4096])
            finally:
                os._exit(status)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            message = pipe.read().decode()
        _, status = os.waitpid(child, 0)
        return message or ("the snapshot could not be made" if status else "")


def main() -> int:
    """Answer questions until there are no more."""
    parser = argparse.ArgumentParser(prog="gviz.spool.processes.snapshot")
    parser.add_argument("spool", type=Path)
    parser.add_argument("output", type=Path)
    arguments = parser.parse_args()
    os.nice(_NICENESS)
    try:
        snapshots = Snapshots(arguments.spool, arguments.output)
    except GvizError as error:
        print(json.dumps(asdict(Answer(is_over=True, failure=str(error)))), flush=True)
        return 1
    for _ in sys.stdin:
        answer = json.dumps(asdict(snapshots.take())) + "\n"
        try:
            os.write(sys.stdout.fileno(), answer.encode())
        except BrokenPipeError:  # who asked has been ended meanwhile
            break
    return 0


if __name__ == "__main__":
    sys.exit(main())
