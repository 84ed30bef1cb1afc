"""The recordings the application serves: opened once a thread, found by a short key."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from gviz.errors import RecordingError
from gviz.recording.reader import Recording

_T = TypeVar("_T")

#: A timeline of 5,000 nodes takes about 0.1 MB compressed, a graph's rows a few MB.
_KEPT_VALUES = 200


class OpenRecording:
    """One file of the library.

    Waitress answers from several threads and a ``Recording`` belongs to one, so each
    thread opens its own connection on first use.

    Parameters
    ----------
    key
        Short unique name, used in addresses of pages.
    path
        The ``.gviz`` file.

    Raises
    ------
    RecordingError
        If the file cannot be opened as a recording.
    """

    def __init__(self, key: str, path: Path) -> None:
        self.key = key
        self.path = path
        self._local = threading.local()
        stat = path.stat() if path.exists() else None
        #: Changes when the file does; part of the ETag of everything derived from it.
        self.version = f"{stat.st_mtime_ns:x}-{stat.st_size:x}" if stat else "0"
        assert self.recording is not None  # a bad file must fail here, not in a page

    @property
    def recording(self) -> Recording:
        """The recording, opened for the calling thread."""
        found: Recording | None = getattr(self._local, "recording", None)
        if found is None:
            found = self._local.recording = Recording(self.path)
        return found


class Library:
    """The open recordings, by key, and what was computed from them.

    Parameters
    ----------
    sources
        Paths of recordings, or recordings (their file is opened again a thread).

    Raises
    ------
    RecordingError
        If there is no source, or one cannot be opened.
    """

    def __init__(self, sources: Iterable[Recording | Path | str]) -> None:
        self._files: dict[str, OpenRecording] = {}
        self._derived: OrderedDict[tuple[object, ...], object] = OrderedDict()
        self._building: dict[tuple[object, ...], threading.RLock] = {}
        self._lock = threading.Lock()
        for source in sources:
            path = source.path if isinstance(source, Recording) else Path(source)
            key = self._free_key(path.stem)
            self._files[key] = OpenRecording(key, path)
        if not self._files:
            raise RecordingError("there is no recording to show; name a .gviz file")

    def files(self) -> Sequence[OpenRecording]:
        """Return the open recordings in the order given."""
        return tuple(self._files.values())

    def file(self, key: str) -> OpenRecording:
        """Return the recording of a key; RecordingError if there is none."""
        try:
            return self._files[key]
        except KeyError:
            raise RecordingError(
                f"no open recording is called {key!r}; the Runs page lists them"
            ) from None

    def derive(self, key: tuple[object, ...], build: Callable[[], _T]) -> _T:
        """Return the value of a key, built on first demand by one thread and then kept.

        Recordings do not change while open, so nothing is ever invalidated; the values not
        used for longest make room for new ones.
        """
        with self._lock:
            own = self._building.setdefault(key, threading.RLock())
        with own:
            with self._lock:
                if key in self._derived:
                    self._derived.move_to_end(key)
                    return self._derived[key]  # type: ignore[return-value]
            value = build()
            with self._lock:
                self._derived[key] = value
                if len(self._derived) > _KEPT_VALUES:
                    self._derived.popitem(last=False)
            return value

    def _free_key(self, stem: str) -> str:
        key, number = stem, 1
        while key in self._files:
            number += 1
            key = f"{stem}-{number}"
        return key
