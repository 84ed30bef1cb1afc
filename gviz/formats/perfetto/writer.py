"""The file of trace events: written as they come, moved to its place when it is whole."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Protocol

from gviz.errors import GvizError, cannot_write
from gviz.formats.perfetto.event_text import json_text
from gviz.recording import check_output
from gviz.system import FileAside

#: Events that are joined before they go to the file.
_AT_ONCE = 8_192
#: Of 1 to 9: at 4 a trace of 2,000,000 spans is compressed twice as fast as at 6, 8% larger.
_GZIP_LEVEL = 4


class _Sink(Protocol):
    """A target of bytes: a file, or its compressor."""

    def write(self, data: bytes, /) -> int:
        """Take some."""

    def close(self) -> None:
        """End."""


class TraceWriter:
    """A file in the Trace Event Format, JSON object form.

    NEW -> OPEN -> WRITTEN | REMOVED (when the block raises). Nothing is kept in memory but the
    last few thousand events.

    Parameters
    ----------
    path
        Compressed where it ends with ``.gz``.
    head
        What stands beside the events: keys of the JSON object.
    overwrite
        Replace an existing file.

    Raises
    ------
    RecordingError
        If there is a file already, or it cannot stand there.

    References
    ----------
    Trace Event Format (Duffy, 2016), "JSON Object Format".
    """

    def __init__(self, path: Path, head: Mapping[str, Any], *, overwrite: bool = False) -> None:
        check_output(path, overwrite=overwrite)
        self.path = path
        self._aside = FileAside(path)
        self._head = head
        self._pending: list[str] = []
        self._file: _Sink | None = None
        self.event_count = 0

    def __enter__(self) -> TraceWriter:
        try:
            raw = open(self._aside.make(), "wb")
        except OSError as error:
            raise self._refusal(error) from error
        if self.path.name.endswith(".gz"):
            # Without name and time: equal recordings give equal files.
            self._file = gzip.GzipFile("", "wb", _GZIP_LEVEL, raw, mtime=0)
            self._raw: BinaryIO | None = raw
        else:
            self._file, self._raw = raw, None
        text = json_text(dict(self._head), indent=0)
        self._put(f'{text[:-2]},\n"traceEvents": [\n')
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if error is None:
                self._flush()
                self._put("\n]}\n")
            self._close()
            if error is None:
                self._aside.place()
        except OSError as inner:
            raise self._refusal(inner) from inner
        finally:
            self._aside.remove()

    def write(self, events: Iterable[str]) -> None:
        """Write events, each the text of a JSON object."""
        for event in events:
            self._pending.append(event)
            if len(self._pending) >= _AT_ONCE:
                self._flush()

    def _flush(self) -> None:
        if not self._pending:
            return
        before = ",\n" if self.event_count else ""
        self._put(before + ",\n".join(self._pending))
        self.event_count += len(self._pending)
        self._pending = []

    def _put(self, text: str) -> None:
        assert self._file is not None
        try:
            # A surrogate alone has no UTF-8; its escape is JSON's own.
            self._file.write(text.encode("utf-8", "backslashreplace"))
        except OSError as error:
            raise self._refusal(error) from error

    def _close(self) -> None:
        assert self._file is not None
        self._file.close()
        if self._raw is not None:
            self._raw.close()

    def _refusal(self, error: OSError) -> GvizError:
        return GvizError(cannot_write(self.path, error))
