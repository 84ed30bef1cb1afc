"""Places to write a recording to. Apart from the writer: the watched process needs no SQLite."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from gviz.errors import RecordingError

#: Of the folder of contents, behind the name of the recording.
_CONTENTS_SUFFIX = "-contents"


def check_output(path: Path, *, overwrite: bool) -> None:
    """Raise RecordingError unless a recording can be written at ``path``."""
    if path.is_dir():
        raise RecordingError(f"cannot write {path}: it is a directory; name a file in it")
    if path.exists() and not overwrite:
        raise RecordingError(f"{path} exists; choose another name or give --overwrite")
    parent = Path(os.path.realpath(path)).parent
    if not parent.is_dir():
        raise RecordingError(f"cannot write {path}: there is no directory {parent}; create it")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise RecordingError(f"cannot write {path}: no permission to write in {parent}")


def contents_folder(recording: Path) -> Path:
    """Return the folder of the contents that belong to a recording."""
    return recording.with_name(recording.name + _CONTENTS_SUFFIX)


def forget_contents(recording: Path) -> None:
    """Remove the contents that were kept of a recording that is written anew."""
    folder = contents_folder(recording)
    with contextlib.suppress(OSError):  # there is none, or somebody put something there
        for kept in folder.glob("*.npy"):
            kept.unlink()
        folder.rmdir()


def written_sentence(path: Path) -> str:
    """Return what is said once a recording is at its place."""
    return f"gviz: wrote {path}; look at it with: gviz view {path}"
