"""Collecting without CUPTI, Python's part: which graphs are handed over, and their lives.

PyTorch's class and CuPy's stream class are patched while a recording is active, so that their
graphs are seen; others come through ``gviz.watch``. Under CUPTI nothing of this is needed: the
patches take themselves away.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, Protocol

from gviz.collectors import native
from gviz.collectors.hooks import on_import
from gviz.collectors.watching import watch_native
from gviz.spool import NO_STREAM, RecordType
from gviz.system import say

#: Ids of driver calls that a framework made for us to see from outside: above CUPTI's.
_FIRST_CALL = 1 << 16


class Patch(Protocol):
    """Changes to one framework that show its graphs."""

    def install(self, module: ModuleType) -> None:
        """Change the framework."""

    def remove(self) -> None:
        """Change it back."""


class Watching:
    """The watching side of one recording. IDLE -> INSTALLED -> REMOVED.

    Parameters
    ----------
    make_patches
        Makes the patch of each framework, by the name of its module.
    """

    def __init__(self, make_patches: Callable[[Watching], Mapping[str, Patch]]) -> None:
        self._make_patches = make_patches
        self._patches: list[Patch] = []
        self._waiting: list[Callable[[], None]] = []
        self._decided: bool | None = None
        self._process_id = os.getpid()
        self._calls: dict[str, int] = {}
        self._lock = threading.Lock()

    def install(self) -> None:
        """Patch the frameworks, those imported later too; become the current one."""
        global _current
        if self._patches:
            return
        _current = self
        for name, patch in self._make_patches(self).items():
            self._patches.append(patch)
            self._waiting.append(on_import(name, patch.install))

    def remove(self) -> None:
        """Take every patch away."""
        global _current
        if _current is self:
            _current = None
        self._decided = False
        for end in self._waiting:
            end()
        for patch in self._patches:
            patch.remove()
        self._patches.clear()
        self._waiting.clear()

    def is_on(self) -> bool:
        """Return whether graphs are to be handed over. Once CUPTI measures, the patches go away."""
        if self._decided is None:
            if os.getpid() != self._process_id:
                return False
            found = watch_native.collector()
            if found is None:  # the driver has not been initialised yet
                return False
            self._decided = found != "cupti"
            if not self._decided:
                self.remove()
        return self._decided and os.getpid() == self._process_id

    def go_on_without_cupti(self) -> None:
        """Take over in the middle of a recording."""
        self._decided = None
        self.install()

    def unwatch(self, watch: int) -> None:
        """Forget a graph; a forked child's are its parent's."""
        if watch and os.getpid() == self._process_id:
            watch_native.unwatch(watch)

    def life(
        self,
        call: str,
        watch: int,
        start_ns: int,
        end_ns: int,
        *,
        stream: int | None = None,
        mode: int = 0,
    ) -> None:
        """Record a call of a graph's life, made by a framework: ``call`` names both.

        The driver's name comes first, as folding wants it; the times are those of the
        framework's method, which does more than the driver call.
        """
        # Under CUPTI no framework is watched, and no program waits for the tables of records.
        from gviz.spool import table

        graph_id, exec_id = watch_native.ids_of(watch) if watch else (0, 0)
        with self._lock:
            number = self._calls.get(call)
            if number is None:
                number = self._calls[call] = _FIRST_CALL + len(self._calls)
                native.append(RecordType.CALL_NAME, table.CALL_NAME.pack(number, call))
        payload = table.LIFE.pack(
            call=number,
            correlation=0,
            start_ns=start_ns,
            end_ns=end_ns,
            thread_id=threading.get_native_id(),
            result=0,
            graph_id=graph_id,
            exec_id=exec_id,
            flags=0,
            stream_id=NO_STREAM if stream is None else stream & 0x7FFFFFFF,
            mode=mode,
        )
        native.append(RecordType.LIFE, payload)

    def note(self, text: str) -> None:
        """Tell the reader of the recording something."""
        native.append(RecordType.NOTE, f"limit\n{text}".encode())


_current: Watching | None = None


def current() -> Watching | None:
    """Return the watching side of the recording in progress, or None."""
    return _current


def guarded(action: Callable[..., Any], *arguments: Any) -> Any:
    """Return what ``action`` returns, or None: trouble of ours is not the program's."""
    try:
        return action(*arguments)
    except Exception as error:
        say(f"gviz: a graph is not recorded: {error}")
        return None
