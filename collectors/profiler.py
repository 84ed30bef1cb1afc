"""``gviz.profile``: record the CUDA graphs of the code inside a ``with`` block."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from gviz.collectors import native
from gviz.collectors.attach import recording_path, running_session, warn_of_outer_run
from gviz.collectors.options import ProfileOptions
from gviz.collectors.session import Session
from gviz.errors import CollectorError, GvizError
from gviz.recording import check_output
from gviz.system import say

if TYPE_CHECKING:
    from os import PathLike

_active_lock = threading.Lock()
_active: ProfiledBlock | None = None


class ProfiledBlock:
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
        N), ``"every:K"``, ``"every:10s"`` (one in that time) or ``"all"``.
    eager_operations
        How many kernels, copies and memsets outside graphs are recorded at most.
    graph
        A shell pattern such as ``"decode*"``: only graphs whose name matches get node times.
        Of the others nodes, edges and whole-launch times are recorded. None: all graphs.
    delay_s, duration_s
        Recording starts so many seconds after entering the block, and lasts so long (None: to
        its end).
    max_launches
        Recording ends after so many graph launches (None: never).
    paused
        Do not record until :meth:`start` or the signal.
    toggle_signal
        Name of a signal, such as ``"SIGUSR2"``, that starts and stops recording. A program that
        handles it itself keeps it.
    collector
        What measures: ``"cupti"``; ``"events"``, without CUPTI, for graphs of PyTorch and CuPy
        and those given to ``gviz.watch``; ``"topology"``, the same without node times; ``"auto"``:
        CUPTI if it can be had, else events; in a program under ``gviz run`` as that says.
    trials
        Try edits of graphs between launches (docs/what_if.md). That needs the gate from the
        program's start, so the recording says that nothing was tried: ``gviz run --trials`` does.
    values
        Read what nodes do with their memory (docs/values.md): True, or a shell pattern of the
        names of their kernels. The gate is needed as for trials: ``gviz run --values`` does it.
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
        graph: str | None = None,
        delay_s: float = 0.0,
        duration_s: float | None = None,
        max_launches: int | None = None,
        paused: bool = False,
        toggle_signal: str | None = None,
        collector: str = "auto",
        trials: bool = False,
        values: bool | str = False,
        overwrite: bool = False,
    ) -> None:
        self.path = Path(path)
        options = ProfileOptions(
            name=name,
            node_launches=node_launches,
            eager_operations=eager_operations,
            graph=graph,
            delay_s=delay_s,
            duration_s=duration_s,
            max_launches=max_launches,
            paused=paused,
            toggle_signal=toggle_signal,
            collector=collector,
            trials=trials,
            values="*" if values is True else values or None,
            overwrite=overwrite,
        )
        check_output(self.path, overwrite=overwrite)
        self._session = Session(self.path, options)
        self._used = False
        self._entered = False

    def __enter__(self) -> ProfiledBlock:
        global _active
        with _active_lock:
            if self._used:
                raise CollectorError("a profile is single-use; make a new gviz.profile(...)")
            if _active is not None:
                raise CollectorError(
                    f"a profile is active in this process already (it writes {_active.path}); "
                    "end it first"
                )
            self._used = self._entered = True
            outer = recording_path()
            if outer is not None:
                warn_of_outer_run(outer, self.path)
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
            say(f"gviz: nothing is recorded: {inner}")
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
        self._entered = False
        try:
            self._finish()
        except Exception as inner:  # never mask what the body raised, or break what it did
            say(f"gviz: {self.path} was not finished: {inner}")

    def start(self) -> None:
        """Begin to record, now; nothing happens where that is so already.

        What counts the first launches of an executable, the operations outside graphs, the
        duration and the launches starts anew. Under ``gviz run`` this is about its recording.

        Raises
        ------
        CollectorError
            Outside the ``with`` block.
        """
        self._current().resume()

    def stop(self) -> None:
        """End recording until :meth:`start` or the signal; graphs made meanwhile are still seen.

        Waits for the work whose nodes are being timed, for 2 s at most. Until then launches cost
        what they cost without gviz, and are not counted.

        Raises
        ------
        CollectorError
            Outside the ``with`` block.
        """
        self._current().pause()

    def _current(self) -> Session:
        if not self._entered:
            raise CollectorError(
                f"the profile of {self.path} is not active; call this inside its with block"
            )
        return running_session() or self._session

    def _finish(self) -> None:
        try:
            self._session.finish()
        finally:
            _release()


def start() -> None:
    """Begin to record in this process, under ``gviz run`` or inside a profile.

    Where neither records nothing happens, so the call can stay in a program.
    """
    session = _session()
    if session is not None:
        session.resume()


def stop() -> None:
    """End recording until :func:`start`; where gviz does not record nothing happens."""
    session = _session()
    if session is not None:
        session.pause()


@contextmanager
def paused_recording() -> Iterator[None]:
    """Pause what records this process, if it does at the moment."""
    session = _session()
    was_on = session is not None and native.is_on()
    if session is None or not was_on:
        yield
        return
    session.pause()
    try:
        yield
    finally:
        session.resume()


def _session() -> Session | None:
    active = _active
    return active._session if active is not None else running_session()


def active_recording() -> Path | None:
    """Return what this process is recorded into right now, by a profile or gviz run, or None."""
    return _active.path if _active is not None else recording_path()


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
