"""Recordings that are to be in a data set: files, patterns, folders, and addresses of stores."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gviz.dataclass import dataclass
from gviz.errors import RecordingError, no_file
from gviz.fleet.extra import load
from gviz.recording import SUFFIX

_PATTERN = frozenset("*?[")


@dataclass(frozen=True, slots=True)
class RecordingSource:
    """A file that is taken for a recording.

    Attributes
    ----------
    url
        A path, or an address as fsspec has them, such as ``s3://bucket/rank0.gviz``.
    size_bytes
        Of the file.
    modified
        When it was written, or a tag of its content, as its store says it.
    """

    url: str
    size_bytes: int
    modified: str


def find_sources(names: Sequence[str]) -> list[RecordingSource]:
    """Return the recordings that some names mean, each once, in the order given.

    Parameters
    ----------
    names
        Files, patterns (``*``, ``?``) and folders, whose ``*.gviz`` they mean.

    Raises
    ------
    RecordingError
        If a name means no file, or its store cannot be read.
    """
    found: dict[str, RecordingSource] = {}
    for name in names:
        for source in _meant(name):
            found.setdefault(source.url, source)
    return list(found.values())


def open_store(url: str) -> tuple[Any, str]:
    """Return the fsspec file system of an address, and the path there.

    Raises
    ------
    RecordingError
        If there is no such store, or what reads it is not installed.
    """
    fsspec = load("fsspec")
    if not url:
        raise RecordingError("a name is empty; name a file, a folder, or an address")
    try:
        system, path = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise RecordingError(f"cannot read {url}: {error}") from error
    return system, path


def is_local(system: Any) -> bool:
    """Return whether a file system is this machine's."""
    return "file" in _protocols(system)


def find_local(url: str) -> Path:
    """Return the path of a file on this machine.

    Raises
    ------
    RecordingError
        If it is elsewhere, or not there any more.
    """
    system, path = open_store(url)
    if not is_local(system):
        raise RecordingError(
            f"{url} is in a store; copy it to this machine and open it: gviz view FILE"
        )
    if not Path(path).is_file():
        raise RecordingError(f"{url} is not there any more, though the data set has its times")
    return Path(path)


@contextmanager
def local_file(url: str) -> Iterator[Path]:
    """Have a file on this machine: itself, or a copy for as long as it is used."""
    system, path = open_store(url)
    if is_local(system):
        yield Path(path)
        return
    with tempfile.TemporaryDirectory(prefix="gviz-fleet-") as folder:
        target = Path(folder) / f"recording{SUFFIX}"
        system.get_file(path, str(target))
        try:
            yield target
        except RecordingError as error:
            # Nobody knows the copy, which is gone by then.
            raise RecordingError(str(error).replace(str(target), url)) from error


def _meant(name: str) -> Iterator[RecordingSource]:
    system, path = open_store(name)
    try:
        if _PATTERN & set(path):
            paths, none = sorted(system.glob(path)), f"no file matches {name}; check the pattern"
        elif system.isdir(path):
            paths = sorted(system.glob(f"{path.rstrip('/')}/*{SUFFIX}"))
            none = f"there is no recording in {name}; name another folder, or files"
        else:
            paths = [path] if system.exists(path) else []
            none = f"there is no file {name}; check the name"
            if is_local(system) and not paths:
                none = no_file(Path(path))
        if not paths:
            raise RecordingError(none)
        for one in paths:
            yield read_source(system, one)
    except OSError as error:
        raise RecordingError(f"cannot read {name}: {error}") from error


def read_source(system: Any, path: str) -> RecordingSource:
    """Return a file of a file system, with what changes when it is written."""
    about = system.info(path)
    # Stores name it differently: files by time, object stores by a tag of the content.
    modified = next((about[k] for k in ("mtime", "ETag", "etag", "LastModified", "created")
                     if about.get(k) is not None), "")  # fmt: skip
    url = path if is_local(system) else system.unstrip_protocol(path)
    return RecordingSource(url, int(about.get("size") or 0), str(modified))


def _protocols(system: Any) -> tuple[str, ...]:
    return (system.protocol,) if isinstance(system.protocol, str) else tuple(system.protocol)
