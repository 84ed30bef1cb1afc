"""One recording of the library: its versions, a connection a thread, what was derived from it."""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from gviz.app.files.kept import Kept, Key
from gviz.errors import RecordingError
from gviz.recording import Recording

_T = TypeVar("_T")


class ChangedError(RecordingError):
    """The file is not the one any more that a page, or a value, was made of."""


class GoneError(RecordingError):
    """The file of an open recording is not there any more."""


class OpenRecording:
    """One file of the library, as it is now: it may be replaced, written to or deleted meanwhile.

    A ``Recording`` belongs to one thread and one version of the file. Each thread opens its own
    on first use, and opens it anew when the file is another one, so that no connection mixes
    the pages of two versions.

    Parameters
    ----------
    key
        Short unique name, used in addresses of pages.
    path
        The ``.gviz`` file.
    kept
        Where derived values are kept, shared by all files.
    name
        The file name to show, where it is not the path's: that of an uploaded file.

    Raises
    ------
    RecordingError
        If the file cannot be opened as a recording.
    """

    def __init__(self, key: str, path: Path, kept: Kept, name: str | None = None) -> None:
        self.key = key
        self.path = path
        self.name = path.name if name is None else name
        self._is_uploaded = name is not None
        self._kept = kept
        self._local = threading.local()
        self._alive: set[str] = set()
        self._check()

    def _check(self) -> None:
        """Fail now for a bad file, not in a page."""
        Recording(self.path).close()

    @property
    def place(self) -> str:
        """Return the place of the file, for people."""
        if self._is_uploaded:
            return f"{self.name}, a copy that gviz removes when it ends"
        return str(self.path)

    @property
    def is_live(self) -> bool:
        """Return whether it is still being recorded."""
        return False

    @property
    def is_followed(self) -> bool:
        """Return whether changes are expected, which open pages then take in by themselves."""
        return False

    @property
    def waiting(self) -> str:
        """Return the reason why there is nothing to show yet; "" when there is."""
        return ""

    def poll(self) -> None:
        """Look whether there is more of it; called every few seconds while a page is open."""

    @property
    def version(self) -> str:
        """Changes when the file does; GoneError when it is not there."""
        return self._version_of(self._here)

    @property
    def versioned_key(self) -> str:
        """Key and version, ``key@version``, as payloads are requested (:func:`split_version`)."""
        return f"{self.key}@{self.version}"

    @property
    def recording(self) -> Recording:
        """The recording as it is now, opened for the calling thread."""
        if self.waiting:
            raise RecordingError(self.waiting)
        path, version = self._here, self.version
        held: tuple[str, Recording] | None = getattr(self._local, "held", None)
        if held is None or held[0] != version:
            held = self._local.held = (version, Recording(path))
        return held[1]

    @contextlib.contextmanager
    def at(self, version: str | None = None) -> Iterator[OpenRecording]:
        """Keep to one version throughout: the one requested, else the latest.

        Raises
        ------
        ChangedError
            If that is not to be had any more, or the file changes meanwhile.
        """
        outer, outer_version = getattr(self._local, "path", None), self._kept_to
        self._local.path = self._find(version)
        before = self._local.version = self.version
        try:
            yield self
        except Exception as error:
            if self.version != before:  # what was read was neither the one nor the other
                raise self._changed() from error
            raise
        else:
            if self.version != before:
                raise self._changed()
        finally:
            self._local.path, self._local.version = outer, outer_version

    def derive(self, key: Key, build: Callable[[], _T]) -> _T:
        """Return the value of a key for the file as it is now, built once and then kept."""
        version = self.version
        if self._kept_to not in (None, version):
            # What builds it may have been read before: the value would be kept as of now.
            raise self._changed()
        if version not in self._alive:
            self._alive = self._versions() | {version}
            self._kept.forget(lambda known: known[0] == self.key and known[1] not in self._alive)

        def build_at() -> _T:
            with self.at(version):
                return build()

        return self._kept.value((self.key, version, *key), build_at)

    def keep(self, key: Key, build: Callable[[], _T]) -> _T:
        """Return what was read for views of the file: a :class:`gviz.model.tree.keep.Keep`."""
        return self.derive(("read", *key), build)

    # -- one version of several -----------------------------------------------------------

    @property
    def _here(self) -> Path:
        """The file that the calling thread keeps to."""
        return getattr(self._local, "path", None) or self.path

    @property
    def _kept_to(self) -> str | None:
        """The version that the calling thread keeps to; None: none."""
        version: str | None = getattr(self._local, "version", None)
        return version

    def _version_of(self, path: Path) -> str:
        try:
            stat = os.stat(path)
        except OSError as error:
            raise GoneError(
                f"{self.name} is not at {path} any more ({error.strerror}); put it back, "
                "or open another recording from the Runs page"
            ) from error
        # The time of the last change (ctime) cannot be set by who writes the file.
        seen = (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)
        return hashlib.blake2b(repr(seen).encode(), digest_size=6).hexdigest()

    def _versions(self) -> set[str]:
        """Return the versions that can be had, beside the one requested last."""
        return set()

    def _find(self, version: str | None) -> Path:
        """Return the file of a version; None: the one kept to, or the latest."""
        here = self._here
        if version is not None and version != self._version_of(here):
            raise self._changed()
        return here

    def _changed(self) -> ChangedError:
        return ChangedError(f"{self.name} changed since this page was opened; reload the page")

    def close(self) -> None:
        """Release what belongs to the file beside its connections."""


def split_version(text: str) -> tuple[str, str | None]:
    """Return key and version of ``key@version``; no version: the file as it is now."""
    key, _, version = text.partition("@")
    return key, version or None
