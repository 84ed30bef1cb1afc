"""The writer process: follow a spool until it ends, then fold it.

Run as ``gviz.spool.processes.follow SPOOL OUTPUT --watched PROCESS_ID [--overwrite]``.
It touches no CUDA. It reads records as they are appended, so that little is left to do at the end.
A line on standard input, or its end, says that nothing more will be appended.
"""

from __future__ import annotations

import argparse
import os
import select
import sys
import time
from collections.abc import Callable
from pathlib import Path

from gviz.errors import GvizError
from gviz.spool.folding import fold
from gviz.spool.processes.attended import attend
from gviz.spool.processes.gpu_sampler import GpuSampler
from gviz.spool.processes.removal import remove_spool
from gviz.spool.records import SpoolReader
from gviz.spool.streams import Contents
from gviz.system import MODE_VARIABLE, say, use_mode

_POLL_SECONDS = 0.05


def gather(reader: SpoolReader, over: Callable[[Contents], bool]) -> Contents:
    """Read a spool while it grows, until ``over`` says of what was read that no more will come."""
    contents = Contents()
    last = False
    while not last:
        # Checked before reading: what a process that is gone now wrote is there to be read.
        last = over(contents)
        for record in reader.records():
            contents.add(record)
        if not (last or over(contents)):
            time.sleep(_POLL_SECONDS)
    return contents


def follow(
    spool: Path, output: Path, *, overwrite: bool, watched: int, end_requested: Callable[[], bool]
) -> Path:
    """Read the spool until it is closed or its process is gone, fold it, and remove it.

    Parameters
    ----------
    watched
        Process id of the parent that appends; when it is no longer our parent it has ended.
    end_requested
        Whether the parent has announced that it appends no more. A spool that could not grow, on a
        full disk, never says so itself.
    """
    reader = SpoolReader(spool)
    with attend(spool):
        with GpuSampler(spool) as sampler:

            def over(contents: Contents) -> bool:
                sampler.watch(contents)
                return contents.ended or os.getppid() != watched or end_requested()

            contents = gather(reader, over)
        fold(contents, spool, output, overwrite=overwrite)
        remove_spool(spool)
    return output


def _end_requested() -> bool:
    return bool(select.select([sys.stdin], [], [], 0)[0])


def _use_configured_mode() -> None:
    """Take the permissions of the recording from ``gviz.toml`` where the program was started."""
    try:
        use_mode(None)
    except GvizError as error:  # what was recorded is not lost by it
        say(f"gviz: {error}; the recording is written for its owner alone")
        os.environ.pop(MODE_VARIABLE, None)


def main() -> int:
    """Run the writer; exit 1 with a sentence on stderr if the recording cannot be written."""
    parser = argparse.ArgumentParser(prog="gviz.spool.processes.follow")
    parser.add_argument("spool", type=Path)
    parser.add_argument("output", type=Path)
    # Given, not looked up here: the parent may be gone before this process could look.
    parser.add_argument("--watched", type=int, required=True)
    parser.add_argument("--overwrite", action="store_true")
    arguments = parser.parse_args()
    _use_configured_mode()
    try:
        follow(
            arguments.spool,
            arguments.output,
            overwrite=arguments.overwrite,
            watched=arguments.watched,
            end_requested=_end_requested,
        )
    except GvizError as error:
        print(f"gviz: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
