"""The writer process of ``gviz run``: follow the spools of a program, then make the recording.

Run as ``gviz.spool.processes.follow_job SPOOL OUTPUT [--overwrite]``. It touches no CUDA. It reads
records as they are appended, so that little is left to do at the end. A line ``PROCESS_ID
EXIT_CODE`` on standard input says how the program ended; the input's end without one says that
``gviz run`` was killed, and that the spools stay for ``gviz info``.
"""

from __future__ import annotations

import argparse
import os
import select
import sys
import traceback
from pathlib import Path

from gviz.dataclass import dataclass
from gviz.errors import GvizError
from gviz.recording import written_sentence
from gviz.spool.processes.all_processes import JobSpools
from gviz.spool.processes.gpu_sampler import GpuSampler
from gviz.system import ProgressLine, inform, say

#: How long processes that outlive the program may take to end: ranks, after their launcher.
_SETTLE_SECONDS = 2.0
_POLL_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class ProgramEnd:
    """The end of the program.

    Attributes
    ----------
    process_id
        Of the first process.
    exit_code
        Above 128: ended by the signal of the rest.
    """

    process_id: int
    exit_code: int


def follow_job(spool: Path, output: Path, *, overwrite: bool) -> int:
    """Read the spools until the program has ended, and write the recording.

    Returns
    -------
    int
        0: written, or there was nothing to write; 1: it could not be written, and a sentence on
        standard error says why.
    """
    end: ProgramEnd | None = None
    try:
        job = JobSpools(spool)
        with GpuSampler(spool) as sampler:
            while end is None:
                if _has_line():
                    end = _read_end()
                    if end is None:
                        return 1
                # Checked before reading: what a process that is gone now wrote is there to be read.
                job.read()
                job.await_ends()
                for process in job.processes:
                    sampler.watch(process.contents)
        job.settle(_SETTLE_SECONDS)
        _write(job, end, output, overwrite=overwrite)
    except Exception as error:
        # Said when the program has ended: its output is not to be disturbed.
        if end is None and _read_end() is None:
            return 1
        _say_failure(error, spool, output)
        return 1
    return 0


def _has_line() -> bool:
    return bool(select.select([sys.stdin], [], [], _POLL_SECONDS)[0])


def _read_end() -> ProgramEnd | None:
    """Wait for the program's end; None: ``gviz run`` was killed before."""
    words = sys.stdin.readline().split()
    return ProgramEnd(int(words[0]), int(words[1])) if words else None


def _write(job: JobSpools, end: ProgramEnd, output: Path, *, overwrite: bool) -> None:
    left = len(job.growing())
    is_of_use = any(process.is_of_use() for process in job.processes)
    with ProgressLine() as line:  # the program has ended: nobody else writes there
        written = job.write(
            output,
            overwrite=overwrite,
            main=end.process_id,
            exit_code=end.exit_code,
            progress=line.progress,
        )
    if written and not is_of_use:
        say(f"gviz: wrote {output}; it has no graph: the program did not initialise CUDA where "
            "gviz could see it; 'gviz doctor' says whether recording would work here")  # fmt: skip
    elif written:
        inform(written_sentence(output))
    else:
        why = _why_nothing(job, is_running=left > 0)
        job.discard()
        say(f"gviz: {output} was not written: {why}")
    if left:
        say(
            f"gviz: {left} of its processes still run; 'gviz info {output}' adds them "
            "once they have ended"
        )


def _why_nothing(job: JobSpools, *, is_running: bool) -> str:
    """Return why no process that has ended left anything to record."""
    if is_running:
        return "the process that used CUDA still runs"
    if (reason := job.why_unopened()) is not None:
        return f"nothing could be recorded in {job.directory}: {reason}; name another place with -o"
    return "no process initialised CUDA where gviz could see it"


def _say_failure(error: Exception, spool: Path, output: Path) -> None:
    if not spool.is_dir():
        why = f"its spool has gone: {spool} must stay until the program has ended"
    else:
        why = f"{_reason(error)}; what was recorded is left in {spool}"
    say(f"gviz: {output} was not written: {why}")


def _reason(error: Exception) -> str:
    """Return an error as a sentence; what gviz did not expect also says where it came up."""
    if isinstance(error, GvizError | OSError):
        return str(error)
    where = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({os.path.basename(where.filename)}:{where.lineno})"


def main() -> int:
    """Run the writer; exit 1 with a sentence on stderr if the recording cannot be written."""
    parser = argparse.ArgumentParser(prog="gviz.spool.processes.follow_job")
    parser.add_argument("spool", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--overwrite", action="store_true")
    arguments = parser.parse_args()
    return follow_job(arguments.spool, arguments.output, overwrite=arguments.overwrite)


if __name__ == "__main__":
    sys.exit(main())
