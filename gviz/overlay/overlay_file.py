"""Files of overlays: CSV and JSON as they are, once they are checked, Parquet as CSV."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from pathlib import Path

from gviz.dataclass import dataclass
from gviz.errors import GvizError, UsageError
from gviz.overlay.csv_check import check_csv
from gviz.overlay.fault import OverlayFault
from gviz.overlay.json_check import check_json
from gviz.text import byte_size

#: Of a file; as assets/web/overlay/read/fault.js has it.
MOST_BYTES = 512 << 20
_JSON_BEGINS = re.compile(r"\s*[\[{]")
_PARQUET = b"PAR1"


@dataclass(frozen=True, slots=True)
class OverlayFile:
    """A table that a page lays on a graph.

    Attributes
    ----------
    name
        Of the file: addresses and choices call its columns by it.
    text
        CSV or JSON in UTF-8, which assets/web/overlay reads.
    file
        The recording it is about, as pages call that; None: any.
    graph_id
        The graph of that recording it is about, with the bodies in it; None: any.
    is_recorded
        Whether it is of a recording, not a reader's own.
    """

    name: str
    text: bytes
    file: str | None = None
    graph_id: int | None = None
    is_recorded: bool = False

    def may_meet(self, other: OverlayFile) -> bool:
        """Return whether a page may have both."""
        abouts = ((self.file, other.file), (self.graph_id, other.graph_id))
        return all(a == b or None in (a, b) for a, b in abouts)


def read_overlay(path: Path, file: str | None = None, graph_id: int | None = None) -> OverlayFile:
    """Return a file's table, checked; ``file``, ``graph_id``: the recording and graph it is about.

    Raises
    ------
    GvizError
        If it cannot be read, is no such table (the line, and what was wanted), is too large, or is
        Parquet and polars is not installed.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise GvizError(f"{path} has more than {byte_size(MOST_BYTES)}, the most that is taken")
        content = path.read_bytes()
    except OSError as error:
        raise GvizError(f"cannot read the overlay {path}: {error.strerror or error}") from error
    try:
        if content.startswith(_PARQUET):
            content = _from_parquet(path, content)
        text = content.decode("utf-8-sig")
        (check_json if _JSON_BEGINS.match(text) else check_csv)(text)
    except UnicodeDecodeError as error:
        raise GvizError(
            f"{path}: it is no text in UTF-8; save it as CSV or JSON in UTF-8, or as Parquet"
        ) from error
    except OverlayFault as error:
        raise GvizError(f"{path}: {error}") from error
    return OverlayFile(path.name, content, file, graph_id)


def read_overlays(requests: Sequence[Path]) -> tuple[OverlayFile, ...]:
    """Return the tables of some files, as :func:`read_overlay`.

    Parameters
    ----------
    requests
        ``TABLE``, or ``NAME=TABLE``: a table about the recording that pages call NAME, or
        ``NAME:GRAPH=TABLE``: about one graph of it.

    Raises
    ------
    UsageError
        If two that a page may have are called the same.
    """
    found = tuple(read_overlay(*_parted(request)) for request in requests)
    for at, one in enumerate(found):
        for other in found[:at]:
            if one.name == other.name and one.may_meet(other):
                raise UsageError(
                    f"two overlays are called {one.name}; rename one, pages call them so"
                )
    return found


def _parted(request: Path) -> tuple[Path, str | None, int | None]:
    """Return the table of a request, and the recording and graph that it names.

    A file may have = in its name.
    """
    about, sign, table = str(request).partition("=")
    if not sign or request.exists():
        return request, None, None
    name, _, graph = about.rpartition(":")
    if name and graph.isdecimal():
        return Path(table), name, int(graph)
    return Path(table), about, None


def _from_parquet(path: Path, content: bytes) -> bytes:
    """Return a table as CSV."""
    try:
        import polars
    except ImportError as error:
        raise GvizError(
            f"{path} is Parquet, which polars reads: pip install polars, or save it as CSV"
        ) from error
    try:
        text: str = polars.read_parquet(io.BytesIO(content)).write_csv()
    except polars.exceptions.PolarsError as error:
        raise GvizError(f"{path} cannot be read as Parquet: {error}") from error
    return text.encode()
