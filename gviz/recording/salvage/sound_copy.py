"""Sound copies of damaged files: each made once in a process, when the file is opened."""

from __future__ import annotations

import itertools
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from gviz.errors import RecordingError
from gviz.recording.integrity import file_version
from gviz.recording.salvage.salvage import recover_recording
from gviz.recording.salvage.soundness import is_sound_file
from gviz.system import NO_PROGRESS, Progress

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

#: The path of a file, and what :func:`gviz.recording.integrity.file_version` says of it.
_Version = tuple[str | int, ...]
#: Versions of files that were looked at, 0.3 KB each: the viewer opens a file in each thread.
_MOST_KNOWN = 10_000
#: Of what is said below of all files.
_lock = threading.Lock()
#: Held while a version is looked at, or copied: that may take minutes.
_making: dict[_Version, threading.Lock] = {}
#: By version, the file to read: None is the file itself.
_known: dict[_Version, Path | None] = {}
#: The folder of the copies, removed when the process ends.
_folders: list[TemporaryDirectory[str]] = []
_numbers = itertools.count()
#: Files that showed damage only when they were read, until somebody says so.
_found_late: list[Path] = []


def sound_file(path: Path, progress: Progress = NO_PROGRESS) -> Path:
    """Return the file to read for a recording: itself, or a copy of what is sound of it.

    Parameters
    ----------
    progress
        Told the share of the look at it, then of the copy.

    Raises
    ------
    RecordingError
        If nothing of it can be read, or there is no room for the copy.
    """
    version = _version(path)
    with _lock:
        if version in _known:
            return _known[version] or path
        # Others of the same file wait; what is said of other files does not.
        making = _making.setdefault(version, threading.Lock())
    with making:
        with _lock:
            if version in _known:
                return _known[version] or path
        try:
            copy = None if is_sound_file(path, progress) else _copy(path, progress)
            with _lock:
                _remember(version, copy)
        finally:
            _making.pop(version, None)
    return copy or path


def mark_damaged(path: Path) -> None:
    """Take a file that was opened as sound for damaged."""
    version = _version(path)
    with _lock:
        making = _making.setdefault(version, threading.Lock())
    with making:
        try:
            with _lock:
                if _known.get(version) is not None:
                    return
            copy = _copy(path)
            with _lock:
                _known.pop(version, None)
                _remember(version, copy)
                _found_late.append(path)
        finally:
            _making.pop(version, None)


def take_found_late() -> list[Path]:
    """Return the files that showed damage only when they were read; each once."""
    with _lock:
        found = _found_late.copy()
        _found_late.clear()
    return found


def _version(path: Path) -> _Version:
    # A file that is deleted leaves its inode to the next, at times within one tick of the clock.
    return (str(path.absolute()), *file_version(path))


def _remember(version: _Version, copy: Path | None) -> None:
    while len(_known) >= _MOST_KNOWN:
        _known.pop(next(iter(_known)))
    _known[version] = copy


def _copy(path: Path, progress: Progress = NO_PROGRESS) -> Path:
    from tempfile import TemporaryDirectory  # few files are damaged

    with _lock:
        if not _folders:
            try:
                _folders.append(TemporaryDirectory(prefix="gviz-"))
            except OSError as error:
                raise RecordingError(
                    f"{path} is damaged, and there is no room for what can be read of it "
                    f"({error}); set TMPDIR to a folder with room"
                ) from error
    copy = Path(_folders[0].name) / f"{next(_numbers)}-{path.name}"
    recover_recording(path, copy, overwrite=True, progress=progress)
    return copy
