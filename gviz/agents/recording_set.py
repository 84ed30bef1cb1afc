"""The recordings that a client may ask about: no path is opened that a request names."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar, cast

from gviz.errors import RecordingError, UsageError
from gviz.recording import Recording, check_no_directory

_R = TypeVar("_R")
#: Analyses that are kept: of graphs of 100,000 nodes one is 100 MB.
_MOST_KEPT = 8
#: Names that a refusal lists.
_LISTED = 20


class RecordingSet:
    """Recordings by name: given files, and the ``*.gviz`` that lie in given folders just then.

    Parameters
    ----------
    places
        Files and folders.

    Raises
    ------
    RecordingError
        If one of them does not exist.
    """

    def __init__(self, places: Sequence[Path]) -> None:
        for place in places:
            if not place.exists():
                raise RecordingError(f"there is no {place}; name files and folders that exist")
            if not place.is_dir():
                check_no_directory(place)
        self._places = tuple(place.resolve() for place in places)
        self._kept: OrderedDict[tuple[object, ...], object] = OrderedDict()

    @property
    def folder(self) -> Path | None:
        """The first folder, into which new recordings go; None: only files were given."""
        return next((place for place in self._places if place.is_dir()), None)

    def files(self) -> dict[str, Path]:
        """Return the recordings by name, in the order given; a name that is taken gets a number."""
        found: dict[str, Path] = {}
        for path in dict.fromkeys(self._paths()):
            name, number = path.name, 1
            while name in found:
                number += 1
                name = f"{path.stem}-{number}{path.suffix}"
            found[name] = path
        return found

    def _paths(self) -> Iterator[Path]:
        for place in self._places:
            if not place.is_dir():
                yield place
                continue
            for path in sorted(place.glob("*.gviz")):
                # A link may lead anywhere.
                if path.is_file() and path.resolve().parent == place:
                    yield path

    def find(self, name: str | None) -> tuple[str, Path]:
        """Return name and path of a recording; None: of the only one.

        Raises
        ------
        UsageError
            If there is none of that name, or several and none is named.
        """
        files = self.files()
        if name is None and len(files) == 1:
            return next(iter(files.items()))
        if name is not None and name in files:
            return name, files[name]
        listed = ", ".join(list(files)[:_LISTED]) or "none"
        if len(files) > _LISTED:
            listed += f" and {len(files) - _LISTED:,} more"
        if name is None:
            raise UsageError(f"name a recording; there are {listed}")
        raise UsageError(f"no recording here has that name; there are {listed}")

    @contextmanager
    def opened(self, path: Path) -> Iterator[Recording]:
        """Open a recording of the set for reading."""
        with Recording(path) as recording:
            yield recording

    def once(self, path: Path, what: tuple[object, ...], build: Callable[[Recording], _R]) -> _R:
        """Return what is derived of a file as it is now, built once and kept for a while."""
        stat = path.stat()
        key = (path, stat.st_mtime_ns, stat.st_size, *what)
        if key not in self._kept:
            with self.opened(path) as recording:
                self._kept[key] = build(recording)
            while len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return cast("_R", self._kept[key])
