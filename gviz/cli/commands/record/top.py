"""``gviz top``: the graphs of a running program in the terminal, anew every few seconds."""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from gviz.cli.output import add_json, print_json, print_text, terminal_width
from gviz.cli.recording_path import file_path, find_source
from gviz.dataclass import dataclass
from gviz.errors import SpoolError, UsageError
from gviz.recording import Recording
from gviz.report import RecordingSummary, launch_counts, live_document, render_text, summarize
from gviz.spool import SPOOL_SUFFIX, SnapshotProcess
from gviz.system import inform
from gviz.text import duration

if TYPE_CHECKING:
    from gviz.cli.command_line import Subparsers

#: Version of the keys of its JSON.
TOP_VERSION = 1
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
    add_json(
        parser,
        "seconds between two looks, graphs (graph_id, launch_count, launches_per_second), summary "
        "(as gviz info --json); a line a look",
    )


def run(arguments: argparse.Namespace) -> int:
    """Show the program until it ends, or until Ctrl-C; return 0."""
    spool = _spool(arguments.recording)
    with contextlib.suppress(KeyboardInterrupt), _ended_in_order(), _Looks(spool) as looks:
        before: _Look | None = None
        while not looks.is_over:
            begun = time.monotonic()
            look = looks.take()
            if before is not None and look is not None:
                _show(before, look, spool, as_json=arguments.json)
                if arguments.once:
                    return 0
            if look is None and not looks.is_over:
                inform(f"gviz: {_name(spool)}: the program has not used CUDA so far")
            before = look
            took = time.monotonic() - begun
            time.sleep(max(arguments.every - took, _PAUSE_RATIO * took))
        inform(f"gviz: {_name(spool)} is recorded no more; 'gviz info' says what is in it")
    return 0


@contextlib.contextmanager
def _ended_in_order() -> Iterator[None]:
    """Have SIGTERM and SIGHUP end the block as an exception does: its snapshot is removed."""

    def end(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    previous = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _spool(path: Path | None) -> Path:
    """Return the spool that still grows."""
    found = [path] if path is not None else list(Path().glob(f"*{SPOOL_SUFFIX}"))
    if not found:
        raise UsageError("nothing is being recorded here; start 'gviz run PROGRAM', or name a file")
    newest = max(found, key=lambda one: one.stat().st_mtime_ns if one.exists() else 0)
    source = find_source(newest)
    if not source.exists():
        raise UsageError(
            f"there is no {source}, and nothing records into it; "
            f"'gviz run -o {source} PROGRAM' does"
        )
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
        self._spool = spool
        self._last: RecordingSummary | None = None
        # A snapshot may be under way when this one ends.
        self._folder = tempfile.TemporaryDirectory(prefix="gviz-top-", ignore_cleanup_errors=True)
        self._output = Path(self._folder.name) / "snapshot.gviz"
        self._process = SnapshotProcess(spool, self._output)

    def __enter__(self) -> _Looks:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.close()
        self._folder.cleanup()

    def take(self) -> _Look | None:
        """Return what is recorded now; None: nothing so far, or nothing more.

        Raises
        ------
        SpoolError
            If the spool cannot be read.
        """
        now = time.monotonic()
        answer = self._process.request()
        self.is_over = answer.is_over
        if answer.failure and not self.is_over:
            raise SpoolError(f"the program cannot be looked at: {answer.failure}")
        if answer.written:
            with Recording(self._output) as recording:
                found = summarize(recording, slowest=0)
            self._last = replace(found, path=str(self._spool))
        elif self.is_over:  # the program ended: as if it launched nothing since the look before
            return None
        return None if self._last is None else _Look(self._last, now)


def _show(before: _Look, look: _Look, spool: Path, *, as_json: bool) -> None:
    """Print what changed between two looks; a terminal is cleared before."""
    seconds = look.time_s - before.time_s
    earlier = launch_counts(before.found)
    counts = launch_counts(look.found)
    rates = {at: (count - earlier.get(at, 0)) / seconds for at, count in counts.items()}
    if as_json:
        graphs = [
            {"graph_id": at, "launch_count": count, "launches_per_second": rates[at]}
            for at, count in counts.items()
        ]
        summary = asdict(look.found)
        print_json(
            {"top_version": TOP_VERSION, "seconds": seconds, "graphs": graphs, "summary": summary}
        )
        return
    title = f"{_name(spool)}, recorded now; rates over the last {duration(1e9 * seconds)}"
    if sys.stdout.isatty():
        print(_CLEAR, end="")
    print_text(f"{render_text(live_document(look.found, rates, title), terminal_width())}\n")
