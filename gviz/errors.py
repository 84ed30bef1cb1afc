"""The errors gviz raises.

Every message says what happened, names the value, and gives the next step.
The command line prints the message on stderr without a traceback and exits 1
(2 for :class:`UsageError`).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

#: What to do where this installation lacks a part. Without --no-cache-dir pip would take a wheel
#: that it built without the libraries before.
REINSTALL = (
    "install gviz again: pip install --force-reinstall --no-deps --no-cache-dir WHEEL (or the "
    "folder of its source)"
)
#: Ends of what Python says of C code that failed and named no error.
_WITHOUT_REASON = ("error return without exception set", "without setting an exception")
#: Of a recording in which nothing can be shown, on every surface.
NO_GRAPH = "there is no graph in what was recorded"


class GvizError(Exception):
    """Base of every error that gviz raises on purpose."""

    exit_code = 1


class UsageError(GvizError):
    """The command line or an argument cannot be understood."""

    exit_code = 2


class RecordingError(GvizError):
    """A recording cannot be opened, read or written."""


class CycleError(RecordingError):
    """Dependencies form a cycle, which no CUDA graph can hold.

    Parameters
    ----------
    nodes
        Indices of the nodes of one cycle, in the order of its edges.
    """

    def __init__(self, nodes: Sequence[int], message: str) -> None:
        super().__init__(message)
        self.nodes = tuple(nodes)


class SpoolError(GvizError):
    """A spool of raw records is damaged or not a spool."""


class DotError(GvizError):
    """A DOT text is not what CUDA's driver prints."""


class ImportingError(GvizError):
    """A file of another profiler cannot be read as one."""


class CollectorError(GvizError):
    """Collecting cannot start or had to stop."""


# -- messages that several packages raise ------------------------------------------------


def no_file(path: Path) -> str:
    """Return the message about a file that is not there, with the one that was probably meant."""
    from difflib import get_close_matches

    with suppress(OSError):  # it is no link
        return f"{path} is a link to {os.readlink(path)}, which is not there; name another file"
    names: dict[str, str] = {}
    with suppress(OSError):
        # Suffixes are alike in every name; of names that differ in theirs the one given is meant.
        for name in sorted(os.listdir(path.parent), key=lambda name: name.endswith(path.suffix)):
            names[Path(name).stem] = name
    found = get_close_matches(path.stem, names, n=1)
    meant = f"did you mean {path.with_name(names[found[0]])}?" if found else "check the name"
    return f"there is no file {path}; {meant}"


def cannot_write(path: object, error: OSError) -> str:
    """Return the message about a file that the system does not let be written."""
    return f"cannot write {path}: {error.strerror}; choose another place"


def no_such_graph(path: object, graph_id: int) -> str:
    """Return the message about an id that no instantiated graph of a recording has."""
    return f"{path} has no graph {graph_id} that was instantiated; 'gviz info' lists the graphs"


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an error says that there is no memory, in words of a library's too."""
    if isinstance(error, RuntimeError):  # for a lock: "can't allocate lock", or "read lock"
        return str(error).startswith("can't allocate ")
    return isinstance(error, MemoryError)


def is_without_reason(error: BaseException) -> bool:
    """Return whether C code failed and named no error, as NumPy's (2.4) does without memory.

    Its indexing and reductions do; so does a fault of any other C code.
    """
    return isinstance(error, SystemError) and str(error).endswith(_WITHOUT_REASON)
