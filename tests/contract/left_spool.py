"""Recordings made of a program's spool by its test, in place of a writer process.

A writer starts Python and imports numpy for each program, which takes three times as long as the
program and all that is recorded of it. What it would do is done here, once the program has ended.
Writers themselves run in the tests of scripts, of ``gviz run`` and of faults, and on a GPU.
"""

from __future__ import annotations

import os
from pathlib import Path

from gviz.errors import GvizError
from gviz.spool import spool_of

#: Set for programs whose spool is left to their test.
LEAVES_SPOOL = "CONTRACT_LEAVES_SPOOL"


class _NoWriter:
    """In place of gviz.collectors.writer.WriterProcess: the spool stays."""

    def __init__(self, spool: Path, output: Path, *, overwrite: bool) -> None:
        pass

    def wait(self) -> None:
        """Wait for nothing."""


def leave_spool() -> None:
    """Have gviz.profile start no writer in this process, where its test says so."""
    if LEAVES_SPOOL in os.environ:
        from gviz.collectors import writer

        writer.WriterProcess = _NoWriter  # type: ignore[assignment, misc]


def fold_spool(output: Path) -> str:
    """Make the recording; return what a writer would say on stderr."""
    from gviz.spool.folding import fold
    from gviz.spool.folding.recording_fold import read_contents
    from gviz.spool.processes.removal import remove_spool

    spool = spool_of(output)
    if not spool.is_dir():
        return ""
    try:
        fold(read_contents(spool), spool, output)
        remove_spool(spool)
    except GvizError as error:
        return f"gviz: {error}\n"
    return ""
