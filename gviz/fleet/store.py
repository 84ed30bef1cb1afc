"""The folder of a data set, on this machine or in a store: written so that a reader sees it whole.

A file is whole when it is at its place, and belongs to the data set from when the manifest names
it. The manifest is replaced after each part: what a kill leaves is a data set with fewer parts, and
perhaps files that are in none, which the next build removes.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from gviz.errors import RecordingError, cannot_write
from gviz.fleet.manifest import MANIFEST, Manifest, decode_manifest
from gviz.fleet.parquet import join_files
from gviz.fleet.part import FleetPart
from gviz.fleet.sources import is_local, open_store, read_source
from gviz.fleet.tables import TABLES
from gviz.system import UNFINISHED, create_folder, written_aside

_LOCK = ".lock"
_PARQUET = ".parquet"
#: Larger files stay as they are; so many bytes of smaller ones become one, where there are so many.
_SMALL_BYTES, _JOINED_BYTES, _LEAST_JOINED = 4_000_000, 32_000_000, 16


class Store:
    """A data set's folder.

    Parameters
    ----------
    url
        A path, or an address as fsspec has them.

    Raises
    ------
    RecordingError
        If there is no such store.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.system, self._root = open_store(url.rstrip("/") or url)
        self.is_local = is_local(self.system)

    def path(self, name: str) -> str:
        """Return the path of a file of it in its file system."""
        return f"{self._root}/{name}"

    def read_manifest(self) -> Manifest | None:
        """Return its manifest; None where there is none.

        Raises
        ------
        RecordingError
            If it cannot be read.
        """
        try:
            content: bytes = self.system.cat_file(self.path(MANIFEST))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise RecordingError(f"cannot read {self.url}: {error}") from error
        return decode_manifest(content, self.url)

    def read_version(self) -> str:
        """Return what changes with the manifest.

        Raises
        ------
        RecordingError
            If it cannot be read.
        """
        try:
            self.system.invalidate_cache(self._root)  # stores keep lists of files
            return read_source(self.system, self.path(MANIFEST)).modified
        except OSError as error:
            raise RecordingError(f"cannot read {self.url}: {error}") from error

    @contextmanager
    def begin(self) -> Iterator[None]:
        """Make the folder, and be the only one of this machine's builds that writes into it.

        Raises
        ------
        RecordingError
            If it is a file, holds something else, or is being written.
        """
        if self.system.isfile(self._root):
            raise RecordingError(f"{self.url} is a file; name a folder for the data set")
        try:
            names = [path.rpartition("/")[2] for path in self.system.ls(self._root, detail=False)]
        except FileNotFoundError:
            names = []
        others = set(names) - {MANIFEST, MANIFEST + UNFINISHED, _LOCK, *TABLES}
        if others:
            raise RecordingError(
                f"{self.url} holds something else ({sorted(others)[0]}); name an empty folder"
            )
        if not self.is_local:
            yield
            return
        try:
            Path(self._root).parent.mkdir(parents=True, exist_ok=True)
            create_folder(Path(self._root))
            lock = os.open(self.path(_LOCK), os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise RecordingError(cannot_write(self.url, error)) from error
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise RecordingError(
                    f"{self.url} is being built by another process; wait until it has ended"
                ) from None
            yield
        finally:
            os.close(lock)

    def remove_unknown(self, manifest: Manifest) -> None:
        """Remove the files of tables that are not in a manifest, which a killed build left."""
        known = {self.path(name) for names in manifest.files.values() for name in names}
        for table in TABLES:
            with suppress(FileNotFoundError):
                for path in self.system.ls(self.path(table), detail=False):
                    if path not in known:
                        self.system.rm_file(path)

    def write_manifest(self, manifest: Manifest) -> None:
        """Replace the manifest."""
        self._write(MANIFEST, manifest.encode())

    def write_part(self, name: str, part: FleetPart, manifest: Manifest) -> Manifest:
        """Write the files of a part; return the manifest that names them, which is not written.

        Parameters
        ----------
        name
            Of the files, which no other part has.
        """
        added: dict[str, list[str]] = {}
        for table, content in part.files.items():
            added.setdefault(table, []).append(self._write(f"{table}/{name}{_PARQUET}", content))
        fingerprints = set()
        for one in part.structures:
            if one.fingerprint not in manifest.structures:
                fingerprints.add(one.fingerprint)
                for table, content in one.files.items():
                    path = f"{table}/{one.fingerprint}{_PARQUET}"
                    added.setdefault(table, []).append(self._write(path, content))
        return manifest.with_files(added).with_structures(fingerprints)

    def replace_table(self, manifest: Manifest, table: str, name: str, content: bytes) -> Manifest:
        """Write a table anew as one file; return the manifest with it, which is not written."""
        written = self._write(f"{table}/{name}{_PARQUET}", content)
        return replace(manifest, files={**manifest.files, table: (written,)})

    def join_small(self, manifest: Manifest, name: str) -> Manifest:
        """Make one file of many small ones; return the manifest with it, which is not written.

        Parameters
        ----------
        name
            The beginning of what the files are called, which no other build has.
        """
        files = dict(manifest.files)
        for table, paths in manifest.files.items():
            kept: list[str] = []
            for number, some in enumerate(self._small(table, paths)):
                if len(some) < _LEAST_JOINED:
                    kept += some
                    continue
                whole = join_files([self.system.cat_file(self.path(path)) for path in some])
                kept.append(self._write(f"{table}/joined-{name}-{number:03}{_PARQUET}", whole))
            files[table] = tuple(kept)
        return replace(manifest, files=files)

    def _small(self, table: str, paths: Sequence[str]) -> Iterator[list[str]]:
        """Yield the files of a table, small ones that follow each other together."""
        sizes = {
            one["name"].rpartition("/")[2]: int(one["size"])
            for one in self.system.ls(self.path(table), detail=True)
        }
        together: list[str] = []
        total = 0
        for path in paths:
            size = sizes[path.rpartition("/")[2]]
            if together and (size > _SMALL_BYTES or total + size > _JOINED_BYTES):
                yield together
                together, total = [], 0
            together.append(path)
            total += size
        if together:
            yield together

    def _write(self, name: str, content: bytes) -> str:
        """Write a file whole or not at all; return its name."""
        path = self.path(name)
        try:
            if not self.is_local:
                self.system.pipe_file(path, content)
                return name
            target = Path(path)
            create_folder(target.parent)
            with written_aside(target, is_durable=True) as part:
                part.write_bytes(content)
        except OSError as error:
            raise RecordingError(cannot_write(path, error)) from error
        return name
