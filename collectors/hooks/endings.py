"""Ends that run no exit handlers: ``os._exit``, and ``terminate`` of multiprocessing."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from gviz.collectors import native
from gviz.collectors.hooks.import_hook import on_import
from gviz.spool import LEFT_WITH, RecordType, mark_terminated

_MODULE = "multiprocessing.popen_fork"


class EndingHooks:
    """Note ends that are meant, while installed; the calls themselves are as before.

    Parameters
    ----------
    job
        Directory of the job, in which children have their spools; None: children are not
        recorded.
    """

    def __init__(self, job: Path | None) -> None:
        self._job = job
        self._forget: Callable[[], None] | None = None
        self._left: Callable[..., NoReturn] | None = None
        self._popen: Any = None
        self._terminate: Callable[..., Any] | None = None

    def install(self) -> None:
        """Wrap ``os._exit`` now, and ``terminate`` once multiprocessing is imported."""
        original = self._left = os._exit

        @functools.wraps(original)
        def _exit(*given: Any, **named: Any) -> NoReturn:
            with suppress(Exception):
                _note_left(given[0] if given else named["status"])
            original(*given, **named)

        _exit.__module__ = "os"  # by which it is pickled, for a pool's workers
        os._exit = _exit
        if self._job is not None:
            # Processes that are forked, spawned and forked by a server have this class in common.
            self._forget = on_import(_MODULE, self._wrap)

    def remove(self) -> None:
        """Give both back."""
        if self._forget is not None:
            self._forget()
        if self._left is not None:
            os._exit, self._left = self._left, None
        if self._terminate is not None:
            self._popen.terminate, self._terminate = self._terminate, None

    def _wrap(self, module: ModuleType) -> None:
        popen: Any = getattr(module, "Popen", None)
        if popen is None or popen is self._popen:
            return  # imported half, or once more
        job, original = self._job, popen.terminate
        assert job is not None

        @functools.wraps(original)
        def terminate(process: Any) -> Any:
            with suppress(Exception):
                if process.returncode is None:
                    mark_terminated(job, process.pid)
            return original(process)

        self._popen, self._terminate = popen, original
        popen.terminate = terminate


def _note_left(status: Any) -> None:
    if native.is_open():
        native.append(RecordType.META, json.dumps({LEFT_WITH: int(status)}).encode())
