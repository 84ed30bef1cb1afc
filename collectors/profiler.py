"""``gviz.profile``: record the CUDA graphs of the code inside a ``with`` block."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from gviz.collectors.attach import recording_path
from gviz.collectors.options import ProfileOptions
from gviz.collectors.session import Session
from gviz.errors import CollectorError, GvizError
from gviz.recording.output import check_output

if TYPE_CHECKING:
    from os import PathLike

_active_lock = threading.Lock()
_active: profile | None = None


class profile:
    """Record every CUDA graph of this process while active, into one file.

    Single-use, and one active in the whole process: CUPTI allows one subscriber.
    NEW -> RECORDING -> FINISHED. What was recorded is kept when the body raises, on
    Ctrl-C, and when the interpreter exits inside the block.

    Parameters
    ----------
    path
        The recording to write, by convention ``*.gviz``.
    name
        What to call the run; by default the file's stem.
    node_launches
        Of which launches of each executable node times are taken: a number N (the first
        N), ``"every:K"`` or ``"all"``.
    eager_operations
        How many kernels, copies and memsets outside graphs are recorded at most.
    collector
        What measures: ``"cupti"``; ``"events"``, without CUPTI, for graphs of PyTorch and CuPy
        and those given to ``gviz.watch``; ``"topology"``, the same without node times; ``"auto"``:
        CUPTI if it can be had, else events.
    overwrite
        Replace an existing file.

    Raises
    ------
    RecordingError
        If ``path`` exists (and not ``overwrite``) or cannot be written.
    UsageError
        If an option cannot be understood.
    CollectorError
        On entry, if another profile is active in this process, or this one was used before.

    Notes
    -----
    A machine without a GPU, a missing CUPTI, or a CUPTI that another profiler holds do not
    raise: one line on stderr says so, the body runs, and the recording says what measured, and
    why.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        *,
        name: str | None = None,
        node_launches: int | str = 20,
        eager_operations: int = 20_000,
        collector: str = "auto",
        overwrite: bool = False,
    ) -> None:
        self.path = Path(path)
        options = ProfileOptions(
            name=name,
            node_launches=node_launches,
            eager_operations=eager_operations,
            collector=collector,
            overwrite=overwrite,
        )
        check_output(self.path, overwrite=overwrite)
        self._session = Session(self.path, options)
        self._used = False

    def __enter__(self) -> profile:
        global _active
        with _active_lock:
            if self._used:
                raise CollectorError("a profile is single-use; make a new gviz.profile(...)")
            if _active is not None:
                raise CollectorError(
                    f"a profile is active in this process already (it writes {_active.path}); "
                    "end it first"
                )
            self._used = True
            outer = recording_path()
            if outer is not None:
                print(
                    f"gviz: gviz run records into {outer}; nothing is written to {self.path}",
                    file=sys.stderr,
                )
                return self
            _active = self
        try:
            self._session.start()
        except BaseException as inner:
            self._session.abandon()
            _release()
            if isinstance(inner, GvizError) or not isinstance(inner, Exception):
                raise
            # gviz's own trouble is not the program's.
            print(f"gviz: nothing is recorded: {inner}", file=sys.stderr)
            return self
        atexit.register(self._finish)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        atexit.unregister(self._finish)
        try:
            self._finish()
        except Exception as inner:  # never mask what the body raised, or break what it did
            print(f"gviz: {self.path} was not finished: {inner}", file=sys.stderr)

    def _finish(self) -> None:
        try:
            self._session.finish()
        finally:
            _release()


def _release() -> None:
    global _active
    with _active_lock:
        _active = None


def _forget_in_child() -> None:
    """A forked child does not record: the profile, and a lock somebody held, are the parent's."""
    global _active, _active_lock
    _active_lock = threading.Lock()
    _active = None


os.register_at_fork(after_in_child=_forget_in_child)
