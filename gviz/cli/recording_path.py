"""The recording that a command's argument means, left-over spools included."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from gviz.cli.progress import shown_progress
from gviz.errors import RecordingError
from gviz.recording import check_no_directory
from gviz.spool import SPOOL_SUFFIX, spool_of
from gviz.system import NO_PROGRESS, say

#: Files that commands of this process have looked through.
_looked_at: list[Path] = []


def file_path(text: str) -> Path:
    """Return the path that an argument names, as argparse's ``type``.

    Raises
    ------
    argparse.ArgumentTypeError
        If no file can have that name. An empty one pathlib would take for the directory that gviz
        was started in.
    """
    if not text:
        raise argparse.ArgumentTypeError("the name is empty; name a file")
    path = Path(text)
    try:
        path.exists()
    except OSError as error:
        raise argparse.ArgumentTypeError(f"cannot look at {text}: {error.strerror}") from error
    return path


def find_source(path: Path) -> Path:
    """Return what ``gviz view`` opens for ``path``: a recording, or a spool that still grows.

    Raises
    ------
    SpoolError
        If a spool cannot be read.
    RecordingError
        If a left-over spool cannot be made a recording.
    """
    from gviz.spool import StillRunningError

    try:
        return _folded(path)
    except StillRunningError as error:
        return error.spool


def find_sources(paths: Sequence[Path]) -> list[Path]:
    """Return what ``gviz view`` opens for several paths, see :func:`find_source`.

    A folder means the recordings in it. Raises as :func:`find_source`, and RecordingError for a
    folder without any, or a file that cannot be read.
    """
    found = [find_source(path) for path in _recordings_of(paths)]
    _looked_through([path for path in found if not path.is_dir()])
    return found


def newest_recording(folder: Path) -> Path | None:
    """Return the recording of a folder that was written last, or is being recorded; None: none."""
    found = [path for path in folder.glob("*.gviz") if path.is_file()]
    found += [path for path in folder.glob(f"*{SPOOL_SUFFIX}") if path.is_dir()]
    return max(found, key=lambda path: path.stat().st_mtime_ns, default=None)


def find_recordings(paths: Sequence[Path]) -> list[Path]:
    """Return the recordings to open for several paths, see :func:`find_recording`.

    A folder means the recordings in it. Raises as :func:`find_recording`, and RecordingError for
    a folder without any.
    """
    return _looked_through([_folded(path) for path in _recordings_of(paths)])


def _looked_through(paths: Sequence[Path]) -> list[Path]:
    """Return the paths of files that can be read; say what of them cannot."""
    from gviz.recording import look_through  # all tables, of which gviz run needs none

    damage: list[str] = []
    _looked_at.extend(paths)
    with shown_progress("opening") as progress:
        for path, part in progress.each(paths, lambda path: path.name):
            damage += [f"{path}: {sentence}" for sentence in look_through(path, part)]
    for sentence in damage:  # also with --quiet: it went wrong
        say(f"gviz: {sentence}")
    return list(paths)


def say_late_damage() -> None:
    """Say what could not be read of files that this command opened as sound."""
    if not _looked_at:
        return
    from gviz.recording import look_through, take_found_late

    opened = set(_looked_at)
    _looked_at.clear()
    for path in take_found_late():
        for sentence in look_through(path, NO_PROGRESS) if path in opened else ():
            say(f"gviz: {path}: {sentence}")


def _recordings_of(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if path.name.endswith(SPOOL_SUFFIX) or not path.is_dir():
            yield path
            continue
        found = sorted(path.glob("*.gviz"))
        if not found:
            raise RecordingError(f"{path} has no *.gviz in it; name another folder, or a file")
        yield from found


def find_recording(path: Path) -> Path:
    """Return the recording to open for ``path``.

    The spool that a killed process left behind, named itself or by the name of the
    recording it never became, is folded into a recording first. Processes that outlived the
    program of a recording are added to it once they have ended. The recording is looked through
    with progress: after that it is opened at once.

    Raises
    ------
    SpoolError
        If the spool cannot be read, or its program is still running.
    RecordingError
        If the recording cannot be read or written, or the path is that of another directory.
    """
    (found,) = _looked_through([_folded(path)])
    return found


def _folded(path: Path) -> Path:
    """Return the recording, made of its spool where there is only that."""
    names_spool = path.name.endswith(SPOOL_SUFFIX) and path.is_dir()
    if not names_spool:
        check_no_directory(path)
    spool = spool_of(path)
    if names_spool or (not path.exists() and spool.is_dir()):
        from gviz.spool import fold_left_over

        with shown_progress("folding") as progress:
            return fold_left_over(path, progress)
    if spool.is_dir():
        from gviz.spool import add_left_over

        add_left_over(path)
    return path
