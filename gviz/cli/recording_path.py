"""The recording that a command's argument means, left-over spools included."""

from __future__ import annotations

import argparse
from pathlib import Path

from gviz.recording import check_no_directory
from gviz.spool import SPOOL_SUFFIX, spool_of


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
        return find_recording(path)
    except StillRunningError as error:
        return error.spool


def find_recording(path: Path) -> Path:
    """Return the recording to open for ``path``.

    The spool that a killed process left behind, named itself or by the name of the
    recording it never became, is folded into a recording first. Processes that outlived the
    program of a recording are added to it once they have ended. Anything else is returned
    as it is: opening it says what is wrong with it.

    Raises
    ------
    SpoolError
        If the spool cannot be read, or its program is still running.
    RecordingError
        If the recording cannot be written, or the path is that of another directory.
    """
    names_spool = path.name.endswith(SPOOL_SUFFIX) and path.is_dir()
    if not names_spool:
        check_no_directory(path)
    spool = spool_of(path)
    if names_spool or (not path.exists() and spool.is_dir()):
        from gviz.spool import fold_left_over

        return fold_left_over(path)
    if spool.is_dir():
        from gviz.spool import add_left_over

        add_left_over(path)
    return path
