"""The one gate to the native library, through ctypes."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gviz.errors import CollectorError

POLICY_FIRST, POLICY_EVERY, POLICY_ALL = 0, 1, 2
_STACK_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int32)


class _Options(ctypes.Structure):
    _fields_ = [
        ("policy", ctypes.c_uint32),
        ("policy_count", ctypes.c_uint32),
        ("eager_operations", ctypes.c_uint32),
        ("dot_nodes", ctypes.c_uint32),
        ("eager_ns", ctypes.c_uint64),
        ("event_cost_fraction", ctypes.c_double),
    ]


@dataclass(frozen=True, slots=True)
class NativeOptions:
    """What the native library records.

    Attributes
    ----------
    policy, policy_count
        POLICY_FIRST: node times for the first ``policy_count`` launches of each executable;
        POLICY_EVERY: for every ``policy_count``-th; POLICY_ALL: for all.
    eager_operations, eager_ns
        Budget of the eager side: driver calls, and nanoseconds of activity.
    dot_nodes
        The driver's DOT text is kept for graphs up to this many nodes.
    event_cost_fraction
        Share of wall time (0..1) that recording the events around launches may take on the host.
    """

    policy: int = POLICY_FIRST
    policy_count: int = 20
    eager_operations: int = 20_000
    eager_ns: int = 5_000_000_000
    # Printing DOT takes about 10 us a node in the instantiating call.
    dot_nodes: int = 512
    # Host share. On the GPU a pair of events costs a 13 us launch about twice its host time
    # (H100, launches back to back), so this keeps both together below 1%.
    event_cost_fraction: float = 0.003


def library_path() -> Path | None:
    """Return the path of the native library, or None where it was not built."""
    found = sorted(Path(__file__).parent.glob("_native*.so"))
    return found[0] if found else None


@functools.cache
def _library() -> ctypes.CDLL:
    path = library_path()
    if path is None:
        raise CollectorError(
            "the native library was not built (no C compiler at install time); install gcc, "
            "then: pip install --force-reinstall --no-cache-dir gviz"
        )
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise CollectorError(f"cannot load the native library: {error}") from error
    library.gviz_error.restype = ctypes.c_char_p
    library.gviz_start.argtypes = [
        ctypes.c_char_p,
        ctypes.c_char_p,
        ctypes.POINTER(_Options),
        ctypes.c_int,
    ]
    library.gviz_stop.argtypes = [ctypes.c_double]
    library.gviz_append.argtypes = [ctypes.c_uint32, ctypes.c_char_p, ctypes.c_uint64]
    library.gviz_set_stack_callback.argtypes = [ctypes.c_void_p]
    library.gviz_set_stack_callback.restype = None
    library.gviz_nvtx_push.argtypes = [ctypes.c_char_p]
    library.gviz_nvtx_push.restype = None
    library.gviz_nvtx_pop.restype = None
    library.gviz_nvtx_depth.restype = ctypes.c_uint32
    return library


def load() -> None:
    """Load the library; CollectorError if it is missing or cannot be loaded."""
    _library()


def library() -> ctypes.CDLL:
    """Return the library, for the other modules here that call parts of it."""
    return _library()


def error() -> str:
    """Return the library's last error."""
    return str(_library().gviz_error().decode(errors="replace"))


def start(spool: Path, cupti: Path | None, options: NativeOptions, *, at_init: bool) -> str | None:
    """Open the spool and attach, now or when the driver initialises.

    Returns
    -------
    str or None
        None when recording (or waiting for the driver); else why nothing is recorded.
        The spool is open either way if it could be created.
    """
    native = _Options(
        options.policy,
        options.policy_count,
        options.eager_operations,
        options.dot_nodes,
        options.eager_ns,
        options.event_cost_fraction,
    )
    path = str(cupti).encode() if cupti else b""
    if _library().gviz_start(str(spool).encode(), path, ctypes.byref(native), int(at_init)) == 0:
        return None
    return error()


def stop(seconds: float) -> None:
    """Stop recording, waiting up to ``seconds`` for outstanding GPU work; close the spool."""
    _library().gviz_stop(seconds)


def append(record_type: int, payload: bytes) -> None:
    """Append one record to the spool."""
    _library().gviz_append(record_type, payload, len(payload))


def set_stack_callback(take: Callable[[], int] | None) -> object:
    """Install the taker of Python stacks; keep the returned object alive while installed."""
    if take is None:
        _library().gviz_set_stack_callback(None)
        return None
    callback = _STACK_CALLBACK(take)
    _library().gviz_set_stack_callback(ctypes.cast(callback, ctypes.c_void_p))
    return callback


def nvtx_push(text: str) -> None:
    """Open an NVTX range on the calling thread."""
    _library().gviz_nvtx_push(text.encode(errors="replace"))


def nvtx_pop() -> None:
    """Close the innermost range of the calling thread."""
    _library().gviz_nvtx_pop()


def nvtx_depth() -> int:
    """Return how many NVTX ranges are open on the calling thread, as the library sees it."""
    return int(_library().gviz_nvtx_depth())
