"""The profiler that a file is of, by its first bytes."""

from __future__ import annotations

import gzip
import zlib
from enum import Enum
from pathlib import Path

from gviz.errors import ImportingError, no_file
from gviz.formats.rocprof import is_rocprof
from gviz.recording import is_recording

_SQLITE = b"SQLite format 3\0"
#: What comes in a wrapper that gviz does not unwrap, and what to do about it.
_WRAPPED = {
    b"PK\x03\x04": "a zip archive; unpack it and give the file inside",
    b"\xfd7zXZ": "packed with xz; unpack it first",
    b"BZh": "packed with bzip2; unpack it first",
    b"\x28\xb5\x2f\xfd": "packed with zstd; unpack it first",
}
_LOOKED_AT = 4096


class Format(Enum):
    """Formats that are read, each with what people call it."""

    KINETO = "Chrome trace"
    NSYS = "Nsight Systems export"
    ROCPROF = "JSON of rocprofv3"
    DOT = "DOT dump"


def find_format(path: Path) -> Format:
    """Return the format of a file.

    Raises
    ------
    ImportingError
        If it cannot be read, or is in no format that gviz reads.
    """
    head = _head(path)
    for magic, advice in _WRAPPED.items():
        if head.startswith(magic):
            raise ImportingError(f"{path.name} is {advice}")
    if head.startswith(_SQLITE):
        if is_recording(path):
            raise ImportingError(
                f"{path} is a recording of gviz already; 'gviz view {path}' shows it"
            )
        return Format.NSYS
    if path.suffix == ".nsys-rep":
        raise ImportingError(
            f"{path.name} is a report that only Nsight Systems reads; export it with "
            f"'nsys export --type sqlite {path.name}' and give the .sqlite file"
        )
    if path.suffix.lower() in (".dot", ".gv"):
        return Format.DOT
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not text:
        raise ImportingError(f"{path.name} is empty; have it written again")
    if is_rocprof(text):
        return Format.ROCPROF
    is_json = text[:1] in b"{[" or path.name.lower().endswith((".json", ".json.gz"))
    return Format.KINETO if is_json else Format.DOT


def _head(path: Path) -> bytes:
    """Return the first bytes of a file, unpacked where it is packed with gzip."""
    if not path.exists():
        raise ImportingError(no_file(path))
    if not path.is_file():
        raise ImportingError(f"{path} is no file; give what a profiler wrote")
    try:
        with path.open("rb") as file:
            head = file.read(_LOOKED_AT)
            if not head.startswith(b"\x1f\x8b"):
                return head
            file.seek(0)
            with gzip.open(file) as unpacked:
                return unpacked.read(_LOOKED_AT)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ImportingError(
            f"{path.name} cannot be unpacked: {error}; it was cut off or changed, copy it again"
        ) from None
    except OSError as error:
        raise ImportingError(f"{path} cannot be read: {error.strerror or error}") from None
