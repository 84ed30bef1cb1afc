"""A temporary folder for this user only, made when it is first needed and removed at the end."""

from __future__ import annotations

import shutil
import tempfile
import threading
from pathlib import Path


class Scratch:
    """State: UNUSED -> (path) MADE -> (close) CLOSED; a closed one is made no more."""

    def __init__(self) -> None:
        self._made: Path | None = None
        self._closed = False
        self._count = 0
        self._lock = threading.Lock()

    def new_path(self, suffix: str) -> Path:
        """Return a path in the folder at which nothing is yet.

        Raises
        ------
        OSError
            If the folder cannot be made.
        RuntimeError
            If it was closed.
        """
        with self._lock:
            if self._closed:
                raise RuntimeError("the temporary folder was removed")
            if self._made is None:
                # For this user only: mkdtemp's mode is 0700.
                self._made = Path(tempfile.mkdtemp(prefix="gviz-"))
            self._count += 1
            return self._made / f"{self._count}{suffix}"

    def close(self) -> None:
        """Remove the folder with all that is in it."""
        with self._lock:
            self._closed = True
            made, self._made = self._made, None
        if made is not None:
            shutil.rmtree(made, ignore_errors=True)
