"""``gviz top``: the graphs of a running program in the terminal, anew every few seconds."""

from __future__ import annotations

import argparse
import contextlib
import json
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gviz.cli.recording_path import file_path, find_source
from gviz.errors import SpoolError, UsageError
from gviz.recording import Recording
from gviz.report import RecordingSummary, launch_counts, live_document, render_text, summarize
from gviz.spool import SPOOL_SUFFIX
from gviz.system import inform, own_command, own_environment
from gviz.text import duration

if TYPE_CHECKING:
    from gviz.cli.command_line import Subparsers

_EVERY_S = 2.0
#: So many times as long as a snapshot took is waited at least, for it works beside the program.
_PAUSE_RATIO = 4.0
#: Escape sequences: to the screen's first place, and clear all that follows.
_CLEAR = "\x1b[H\x1b[J"


def add_parser(subparsers: Subparsers) -> None:
    """Add the parser of ``gviz top``."""
    parser = subparsers.add_parser(
        "top",
        help="show the graphs of a running program in the terminal",
        description="Show the graphs of a program that is being recorded: launches a second, times "
        "of launches and calls, the share outside graphs, windows; from what it has recorded so "
        "far, until it ends or Ctrl-C. It is read beside the program, at low priority.",
    )
    parser.add_argument(
        "recording",
        nargs="?",
        type=file_path,
        metavar="FILE",
        help="the recording to be, or its spool (default: the newest that is recorded here)",
    )
    parser.add_argument(
        "--every",
        type=float,
        default=_EVERY_S,
        metavar="S",
        help="seconds between two looks at least (default: %(default)s)",
    )
    parser.add_argument("--once", action="store_true", help="look twice, print once, and end")


def run(arguments: argparse.Namespace) -> int:
    """Show the program until it ends, or until Ctrl-C; return 0."""
    spool = _spool(arguments.recording)
    with contextlib.suppress(KeyboardInterrupt), _Looks(spool) as looks:
        before: _Look | None = None
        while not looks.is_over:
            begun = time.monotonic()
            look = looks.take()
            if before is not None and look is not None:
                print(_screen(before, look, spool), flush=True)
                if arguments.once:
                    return 0
            if look is None and not looks.is_over:
                inform(f"gviz: {_name(spool)}: the program has not used CUDA so far")
            before = look
            took = time.monotonic() - begun
            time.sleep(max(arguments.every - took, _PAUSE_RATIO * took))
        print(f"gviz: {_name(spool)} is recorded no more; 'gviz info' says what is in it")
    return 0


def _spool(path: Path | None) -> Path:
    """Return the spool that still grows."""
    found = [path] if path is not None else list(Path().glob(f"*{SPOOL_SUFFIX}"))
    if not found:
        raise UsageError("nothing is being recorded here; start 'gviz run PROGRAM', or name a file")
    newest = max(found, key=lambda one: one.stat().st_mtime_ns if one.exists() else 0)
    source = find_source(newest)
    if not source.name.endswith(SPOOL_SUFFIX):
        raise UsageError(f"{source} is not being recorded; 'gviz info {source}' says what is in it")
    return source


def _name(spool: Path) -> str:
    return spool.name.removesuffix(SPOOL_SUFFIX)


@dataclass(frozen=True, slots=True)
class _Look:
    """A program as far as it was recorded at ``time_s`` of the monotonic clock."""

    found: RecordingSummary
    time_s: float


class _Looks:
    """Looks at a spool, by snapshots that a process of gviz's own makes.

    Attributes
    ----------
    is_over
        Whether nothing will come any more.
    """

    def __init__(self, spool: Path) -> None:
        self.is_over = False
        self._last: RecordingSummary | None = None
        self._folder = tempfile.TemporaryDirectory(prefix="gviz-top-")
        self._output = Path(self._folder.name) / "snapshot.gviz"
        self._process = subprocess.Popen(
            own_command("gviz.spool.processes.snapshot", str(spool), str(self._output)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=own_environment(),
            start_new_session=True,  # Ctrl-C is ours alone
        )

    def __enter__(self) -> _Looks:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.communicate()  # its input ends, and so does it
        self._folder.cleanup()

    def take(self) -> _Look | None:
        """Return what is recorded now; None: nothing yet.

        Raises
        ------
        SpoolError
            If the spool cannot be read.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        now = time.monotonic()
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline() or '{"failure": "its reader ended"}')
        self.is_over = answer.get("is_over", False)
        if answer["failure"] and not self.is_over:
            raise SpoolError(f"the program cannot be looked at: {answer['failure']}")
        if answer.get("written"):
            with Recording(self._output) as recording:
                self._last = summarize(recording, slowest=0)
        return None if self._last is None else _Look(self._last, now)


def _screen(before: _Look, look: _Look, spool: Path) -> str:
    """Return the screen: the document, and where that is a terminal what clears it."""
    seconds = look.time_s - before.time_s
    earlier = launch_counts(before.found)
    rates = {
        graph_id: (count - earlier.get(graph_id, 0)) / seconds
        for graph_id, count in launch_counts(look.found).items()
    }
    title = f"{_name(spool)}, recorded now; rates over the last {duration(1e9 * seconds)}"
    text = render_text(
        live_document(look.found, rates, title), shutil.get_terminal_size((100, 24)).columns
    )
    return f"{_CLEAR}{text}" if sys.stdout.isatty() else f"{text}\n"
