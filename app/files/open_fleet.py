"""The data set of a fleet that is shown: its versions, and what was derived from one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from gviz.app.files.kept import Kept
from gviz.fleet import open_manifest, read_version

_T = TypeVar("_T")


class OpenFleet:
    """A data set.

    Parameters
    ----------
    url
        Its folder, or an address of a store.
    kept
        Where derived values are kept, shared with files.

    Raises
    ------
    RecordingError
        If there is no data set.
    GvizError
        If a library of the extra is not installed.
    """

    def __init__(self, url: str, kept: Kept) -> None:
        open_manifest(url)
        self.url = url
        self._kept = kept

    @property
    def name(self) -> str:
        """The last part of its address."""
        return self.url.rstrip("/").rpartition("/")[2] or self.url

    @property
    def version(self) -> str:
        """Changes with each build; RecordingError where it is gone."""
        return read_version(self.url)

    def derive(self, version: str, what: object, build: Callable[[], _T]) -> _T:
        """Return a value that belongs to a version, kept while there is room."""
        return self._kept.value(("fleet", self.url, version, what), build)
