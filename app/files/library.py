"""The recordings the application serves, found by a short key."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path

from gviz.app.files.kept import Kept
from gviz.app.files.live_recording import LiveRecording
from gviz.app.files.open_fleet import OpenFleet
from gviz.app.files.open_recording import OpenRecording
from gviz.app.files.scratch import Scratch
from gviz.app.files.values_table import values_table
from gviz.errors import RecordingError
from gviz.overlay import OverlayFile
from gviz.recording import Recording
from gviz.spool import SPOOL_SUFFIX

#: What a key cannot hold: separators of addresses, and '@' before a version.
_NOT_IN_KEYS = re.compile(r"[^\w.,+=()~ -]")
_LONGEST_KEY = 80


class Library:
    """The open recordings, by key.

    Parameters
    ----------
    sources
        Paths of recordings, or of spools that still grow; or recordings (their file is opened
        again a thread).

    overlays
        Tables that pages of graphs lay on them.
    fleet
        The data set of a fleet to show, whose recordings are opened when they are looked at.
    values
        Whether pages show what the memory of nodes held.

    Attributes
    ----------
    shows_values
        That.
    fleet
        That data set; None: there is none.
    scratch
        The folder of files of its own; removed by :meth:`close`.

    Raises
    ------
    RecordingError
        If there is neither source nor data set, one cannot be opened, or an overlay is about
        another.
    """

    def __init__(
        self,
        sources: Iterable[Recording | Path | str],
        overlays: Sequence[OverlayFile] = (),
        fleet: str | None = None,
        *,
        values: bool = True,
    ) -> None:
        self.overlays = list(overlays)
        self.shows_values = values
        self._with_values: dict[tuple[str, int], str] = {}
        self._files: dict[str, OpenRecording] = {}
        self._kept = Kept()
        self.fleet = None if fleet is None else OpenFleet(fleet, self._kept)
        self.scratch = Scratch()
        self._lock = threading.Lock()
        self._adding = threading.Lock()
        for source in sources:
            self.add(source.path if isinstance(source, Recording) else Path(source))
        if not self._files and self.fleet is None:
            raise RecordingError("there is no recording to show; name a .gviz file")
        for overlay in overlays:
            self._check(overlay)

    def _check(self, overlay: OverlayFile) -> None:
        """Raise RecordingError where a table is about what is not open."""
        if overlay.file is None:
            return
        if overlay.file not in self._files:
            raise RecordingError(
                f"overlay {overlay.name} is about {overlay.file}, which is not open; open are "
                f"{', '.join(self._files)}"
            )
        opened = self._files[overlay.file]
        if overlay.graph_id is None or opened.waiting:
            return
        with opened.at():
            graphs = [graph.graph_id for graph in opened.recording.fetch_graphs()]
        if overlay.graph_id not in graphs:
            raise RecordingError(
                f"overlay {overlay.name} is about graph {overlay.graph_id} of {overlay.file}, "
                f"which has {', '.join(map(str, graphs)) or 'none'}"
            )

    def lay_values(self, key: str, graph_id: int) -> None:
        """Lay the values that were read of a graph on it as a table, unless that was done."""
        opened = self.file(key)
        if not self.shows_values:
            return
        if opened.waiting or self._with_values.get((key, graph_id)) == opened.version:
            return
        with opened.at():
            table, version = values_table(opened.recording, key, graph_id), opened.version
        with self._lock:
            if self._with_values.get((key, graph_id)) == version:
                return
            self._with_values[key, graph_id] = version
            if table is None:
                return
            for number, overlay in enumerate(self.overlays):
                if (overlay.name, overlay.file, overlay.graph_id) == (table.name, key, graph_id):
                    self.overlays[number] = table
                    return
            self.overlays.append(table)

    def files(self) -> Sequence[OpenRecording]:
        """Return the open recordings in the order given."""
        return tuple(self._files.values())

    @property
    def kept_bytes(self) -> int:
        """About how much is kept of what was derived from the files."""
        return self._kept.bytes

    def file(self, key: str) -> OpenRecording:
        """Return the recording of a key; RecordingError if there is none."""
        try:
            return self._files[key]
        except KeyError:
            raise RecordingError(
                f"no open recording is called {key!r}; the Runs page lists them"
            ) from None

    def add(self, path: Path, name: str | None = None) -> OpenRecording:
        """Open one more recording; ``name``: the file name to show in place of the path's.

        Raises
        ------
        RecordingError
            If it cannot be opened.
        """
        shown = (name or path.name).removesuffix(SPOOL_SUFFIX)
        with self._lock:
            key = self._free_key(Path(shown).stem)
            opened = (
                LiveRecording(key, path, self._kept, self.scratch)
                if path.is_dir() and path.name.endswith(SPOOL_SUFFIX)
                else OpenRecording(key, path, self._kept, name)
            )
            self._files[key] = opened
        return opened

    def add_once(self, path: Path) -> OpenRecording:
        """Return the open recording of a path; it is opened where it is not.

        Raises
        ------
        RecordingError
            If it cannot be opened.
        """
        with self._adding:
            there = (one for one in self.files() if one.path == path)
            return next(there, None) or self.add(path)

    def close(self) -> None:
        """Release every file and remove what was stored for this library."""
        for opened in self.files():
            opened.close()
        self.scratch.close()

    def _free_key(self, stem: str) -> str:
        stem = key_of(stem)
        key, number = stem, 1
        while key in self._files:
            number += 1
            key = f"{stem}-{number}"
        return key


def key_of(stem: str) -> str:
    """Return the key of the first file of a name without its ending."""
    return _NOT_IN_KEYS.sub("-", stem)[:_LONGEST_KEY].strip(". ") or "recording"
