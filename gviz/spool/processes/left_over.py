"""Spools that a killed program, or one that outlived ``gviz run``, left behind."""

from __future__ import annotations

from pathlib import Path

from gviz.errors import SpoolError
from gviz.spool.processes.all_processes import JobSpools
from gviz.spool.processes.attended import is_attended
from gviz.spool.records import SPOOL_SUFFIX, spool_of
from gviz.system import NO_PROGRESS, Progress

#: Share of folding that reads the records; the rest makes the recording of them.
_READ = 0.5


class StillRunningError(SpoolError):
    """The spool is not left over: a program, or the gviz that records it, still runs."""

    def __init__(self, spool: Path, why: str) -> None:
        super().__init__(f"{spool} {why}; 'gviz view {spool}' shows what there is so far")
        self.spool = spool


def fold_left_over(path: str | Path, progress: Progress = NO_PROGRESS) -> Path:
    """Fold the spools that a killed program left behind, and remove them.

    Parameters
    ----------
    path
        The spool directory, or the recording that it would have become.
    progress
        Told the share that is done.

    Returns
    -------
    Path
        The recording, with one run for each process.

    Raises
    ------
    StillRunningError
        If its program is still running, or a gviz is about to make the recording.
    SpoolError
        If it is no spool, or a damaged one.
    RecordingError
        If the recording exists or cannot be written.
    """
    path = Path(path)
    spool = path if path.is_dir() else spool_of(path)
    if not spool.name.endswith(SPOOL_SUFFIX):
        raise SpoolError(f"{spool} is not a spool: its name does not end in {SPOOL_SUFFIX}")
    output = spool.with_name(spool.name.removesuffix(SPOOL_SUFFIX))
    job = JobSpools(spool)
    job.read(progress.part(0.0, _READ))
    if job.is_recorded and output.exists():
        job.add_to(output)
        return output
    found = [p for p in job.processes if p.has_records or p.failure is not None]
    for process in (p for p in job.growing() if p in found):
        raise StillRunningError(
            spool,
            f"belongs to process {process.owner.process_id}, which is still running: the "
            "recording appears when that ends",
        )
    if is_attended(spool):
        why = "is being made a recording" if found else "waits for its program to use CUDA"
        raise StillRunningError(spool, why)
    if any(process.has_gone() for process in found):
        if output.exists():  # its writer has made it in this moment
            return output
        raise SpoolError(f"{spool} was removed while it was read; record again")
    if not found:
        raise SpoolError(f"{spool} holds no records of gviz; remove it")
    job.write(output, progress=progress.part(_READ, 1.0))
    return output


def add_left_over(recording: Path) -> None:
    """Add to a recording the processes that outlived its ``gviz run`` and have ended since."""
    spool = spool_of(recording)
    if spool.is_dir():
        job = JobSpools(spool)
        if job.is_recorded:
            job.read()
            job.add_to(recording)
