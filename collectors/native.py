"""The one gate to the native library, through ctypes."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gviz.dataclass import dataclass
from gviz.errors import REINSTALL, CollectorError

#: What the calls from now on are: none of an iteration that is read; its first time; its second.
CALLS_END, CALLS_LIST, CALLS_READ = range(3)
RANGE_NONE, RANGE_PROFILER, RANGE_NVTX = range(3)
POLICY_FIRST, POLICY_EVERY, POLICY_ALL, POLICY_PERIOD = range(4)
#: Pairs of launches of a trial (collectors/csrc/trial/parts.h).
MOST_PAIRS = 40
#: The taker installed last, and those that a thread would not leave: C holds no reference.
_takers: list[object] = []
#: Listers of blocks, all of them: a thread may still be in one, and C holds no reference.
_listers: list[object] = []
_LIST_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int32, ctypes.c_void_p, ctypes.c_uint64)
_DECIDE_CALLBACK = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.c_uint32, ctypes.c_char_p, ctypes.c_char_p
)


class _Options(ctypes.Structure):
    _fields_ = [
        ("policy", ctypes.c_uint32),
        ("policy_count", ctypes.c_uint32),
        ("eager_operations", ctypes.c_uint32),
        ("dot_nodes", ctypes.c_uint32),
        ("eager_ns", ctypes.c_uint64),
        ("event_cost_fraction", ctypes.c_double),
        ("delay_ns", ctypes.c_uint64),
        ("duration_ns", ctypes.c_uint64),
        ("max_launches", ctypes.c_uint32),
        ("toggle_signal", ctypes.c_int32),
        ("paused", ctypes.c_uint32),
        ("capture_range", ctypes.c_uint32),
        ("cupti_windows", ctypes.c_uint32),
        ("trial_ns", ctypes.c_uint64),
        ("stall_ns", ctypes.c_uint64),
        ("black_box", ctypes.c_uint32),
        ("values_ns", ctypes.c_uint64),
        ("values_pattern", ctypes.c_char * 128),
        ("dump_bytes", ctypes.c_uint64),
        ("dump_pattern", ctypes.c_char * 128),
    ]


@dataclass(frozen=True, slots=True)
class NativeOptions:
    """Options of the native library: what it records.

    Attributes
    ----------
    policy, policy_count
        POLICY_FIRST: node times for the first ``policy_count`` launches of each executable;
        POLICY_EVERY: for every ``policy_count``-th; POLICY_ALL: for all; POLICY_PERIOD: for one in
        ``policy_count`` milliseconds.
    eager_operations, eager_ns
        Budget of the eager side: driver calls, and nanoseconds of activity.
    dot_nodes
        The driver's DOT text is kept for graphs up to this many nodes.
    event_cost_fraction
        Share of wall time (0..1) that recording the events around launches may take on the host.
    delay_ns
        From attaching to the first period.
    duration_ns, max_launches
        What ends a period; 0: nothing.
    toggle_signal
        Number of the signal that begins and ends periods; 0: none.
    paused
        The first period waits for :func:`resume` or the signal.
    capture_range
        RANGE_PROFILER: periods last from cudaProfilerStart to cudaProfilerStop; RANGE_NVTX: as long
        as ranges of the name that :func:`set_range` gave.
    cupti_windows
        CUPTI comes for moments, behind the gate, and is not there otherwise.
    trial_ns
        Host time that the trials of a graph may take; 0: there are none.
    stall_ns
        A launch that leaves crumbs and makes no progress for so long is reported; 0: none is.
    black_box
        One of BLACK_BOXES, by its place.
    values_ns, values_pattern
        The same of what reads the values of its nodes, those whose kernel has a name like the
        pattern; b"": all.
    dump_bytes, dump_pattern
        Bytes of contents that are kept of a graph, 0: none are; of which of these nodes, b"": all.
    """

    policy: int = POLICY_FIRST
    policy_count: int = 20
    eager_operations: int = 20_000
    eager_ns: int = 5_000_000_000
    # Printing DOT takes about 10 µs a node in the instantiating call.
    dot_nodes: int = 512
    # Host share. On the GPU a pair of events costs a 13 µs launch about twice its host time
    # (H100, launches back to back), so this keeps both together below 1%.
    event_cost_fraction: float = 0.003
    delay_ns: int = 0
    duration_ns: int = 0
    max_launches: int = 0
    toggle_signal: int = 0
    paused: bool = False
    capture_range: int = 0
    cupti_windows: bool = False
    trial_ns: int = 0
    stall_ns: int = 0
    black_box: int = 0
    values_ns: int = 0
    values_pattern: bytes = b""
    dump_bytes: int = 0
    dump_pattern: bytes = b""


def library_path() -> Path | None:
    """Return the path of the native library, or None where it was not built."""
    return _find_built(Path(__file__).with_name("_native"))


def gate_path() -> Path | None:
    """Return the path of the gate, which is preloaded, or None where it was not built."""
    return _find_built(Path(__file__).with_name("_gate"))


def _find_built(stem: Path) -> Path | None:
    built = sorted(stem.parent.glob(f"{stem.name}*.so"))
    return built[0] if built else None


def open_library(stem: Path, noun: str) -> ctypes.CDLL:
    """Load one of gviz's own libraries.

    Parameters
    ----------
    stem
        Its file without the suffix, which names the platform.
    noun
        Its name in sentences.

    Raises
    ------
    CollectorError
        If it was not built, or cannot be loaded.
    """
    path = _find_built(stem)
    if path is None:
        raise CollectorError(
            f"the {noun} was not built (no C compiler at install time); "
            f"install gcc, then {REINSTALL}"
        )
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        raise CollectorError(f"cannot load the {noun}: {error}") from error


@functools.cache
def _library() -> ctypes.CDLL:
    library = open_library(Path(__file__).with_name("_native"), "native library")
    library.gviz_error.restype = ctypes.c_char_p
    library.gviz_start.argtypes = [
        ctypes.c_char_p,
        ctypes.c_char_p,
        ctypes.POINTER(_Options),
        ctypes.c_int,
    ]
    library.gviz_prepare.argtypes = [
        ctypes.c_char_p,
        ctypes.c_char_p,
        ctypes.POINTER(_Options),
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_int,
    ]
    library.gviz_parse_options.argtypes = [ctypes.c_char_p, ctypes.POINTER(_Options)]
    library.gviz_parse_options.restype = None
    library.gviz_stop.argtypes = [ctypes.c_double]
    library.gviz_leave.argtypes = [ctypes.c_char_p, ctypes.c_double]
    library.gviz_set_cupti_user.argtypes = [ctypes.c_char_p]
    library.gviz_set_cupti_user.restype = None
    library.gviz_append.argtypes = [ctypes.c_uint32, ctypes.c_char_p, ctypes.c_uint64]
    library.gviz_set_stack_taker.argtypes = [ctypes.c_void_p]
    library.gviz_set_graph_pattern.argtypes = [ctypes.c_char_p]
    library.gviz_set_graph_pattern.restype = None
    library.gviz_set_block_lister.argtypes = [ctypes.c_void_p]
    library.gviz_set_block_lister.restype = None
    library.gviz_set_range.argtypes = [ctypes.c_char_p]
    library.gviz_set_range.restype = None
    library.gviz_set_decide_callback.argtypes = [ctypes.c_void_p]
    library.gviz_set_decide_callback.restype = None
    library.gviz_name_graphs.argtypes = [ctypes.c_uint32, ctypes.c_char_p]
    library.gviz_name_graphs.restype = None
    library.gviz_nvtx_push.argtypes = [ctypes.c_char_p]
    library.gviz_nvtx_push.restype = None
    library.gviz_nvtx_pop.restype = None
    library.gviz_nvtx_depth.restype = ctypes.c_uint32
    library.gviz_read_calls.restype = ctypes.c_char_p
    library.gviz_read_calls.argtypes = [ctypes.c_uint32]
    library.gviz_try.restype = ctypes.c_char_p
    number = ctypes.POINTER(ctypes.c_uint32)
    library.gviz_try.argtypes = [
        ctypes.c_void_p,
        ctypes.c_uint32,
        ctypes.c_char_p,
        ctypes.POINTER(ctypes.c_uint64),
        number,
        number,
    ]
    return library


def load() -> None:
    """Load the library; CollectorError if it is missing or cannot be loaded."""
    _library()


def _structure(options: NativeOptions) -> _Options:
    return _Options(*(getattr(options, name) for name, *_ in _Options._fields_))


def options_text(options: NativeOptions) -> str:
    """Return the options as text, for a process without Python (gviz_parse_options)."""
    whole = bytes(_structure(options))
    parts = []
    for name, *_ in _Options._fields_:
        field = getattr(_Options, name)
        end = field.offset + field.size
        for offset in range(field.offset, end, 8):
            word = whole[offset : min(offset + 8, end)]
            parts.append(f"{name}:{offset}:{len(word)}={int.from_bytes(word, 'little')}")
    return ";".join(parts)


def parse_options(text: str) -> dict[str, int | float | bytes]:
    """Return what the native library understands of :func:`options_text`, by field."""
    found = _Options()
    _library().gviz_parse_options(text.encode(), ctypes.byref(found))
    return {name: getattr(found, name) for name, *_ in _Options._fields_}


def prepare(
    spool: Path,
    cupti: Path | None,
    options: NativeOptions,
    *,
    parent: int,
    follow: bool,
    is_first: bool,
) -> str | None:
    """Have this process of ``gviz run`` write a spool of its own once the driver initialises.

    The first process makes it at once. Returns as :func:`start` does.

    Parameters
    ----------
    spool
        Directory of the job.
    cupti
        CUPTI's library; None: there is none.
    parent
        Process id of ``gviz run``.
    follow
        Whether children of the program are recorded too.
    is_first
        Whether this is the program that ``gviz run`` started.
    """
    status = _library().gviz_prepare(
        str(spool).encode(),
        str(cupti).encode() if cupti else b"",
        ctypes.byref(_structure(options)),
        parent,
        int(follow),
        int(is_first),
    )
    return str(_library().gviz_error().decode(errors="replace")) if status < 0 else None


def is_awaiting() -> bool:
    """Return whether this process is prepared and the driver has not initialised."""
    return bool(_library().gviz_is_awaiting())


def is_open() -> bool:
    """Return whether this process has a spool."""
    return bool(_library().gviz_is_open())


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
    native = _structure(options)
    path = str(cupti).encode() if cupti else b""
    if _library().gviz_start(str(spool).encode(), path, ctypes.byref(native), int(at_init)) == 0:
        return None
    return error()


def stop(seconds: float) -> None:
    """Stop recording, waiting up to ``seconds`` for outstanding GPU work; close the spool."""
    _library().gviz_stop(seconds)


def resume() -> None:
    """Begin a period of recording, unless one is going on."""
    _library().gviz_resume()


def pause() -> None:
    """End the period of recording; waits for the work of an open window, 2 s at most."""
    _library().gviz_pause()


def try_edit(
    graph_exec: int, kind: int, family: str = ""
) -> tuple[list[tuple[int, int]], int, str | None]:
    """Launch a copy of an executable with an edit (TrialKind) against one without, now.

    Parameters
    ----------
    family
        Of an edit of a kernel family, part of its kernels' name.

    Returns
    -------
    tuple
        Pairs of times (ns, without the edit and with it), TrialResults, and why there are none.
    """
    pairs = (ctypes.c_uint64 * (2 * MOST_PAIRS))()
    count, results = ctypes.c_uint32(), ctypes.c_uint32()
    why = _library().gviz_try(
        graph_exec, kind, family.encode(), pairs, ctypes.byref(count), ctypes.byref(results)
    )
    times = list(pairs)[: 2 * count.value]
    found = list(zip(times[::2], times[1::2], strict=True))
    return found, results.value, None if why is None else why.decode(errors="replace")


def read_calls(stage: int) -> str | None:
    """Have memory read that the stream calls from now on are given; return why it is not.

    Parameters
    ----------
    stage
        CALLS_LIST before an iteration, CALLS_READ before the same again, CALLS_END after it.
    """
    why = _library().gviz_read_calls(stage)
    return None if why is None else str(why.decode(errors="replace"))


def is_on() -> bool:
    """Return whether a period of recording is going on."""
    return bool(_library().gviz_is_on())


def was_subscribed() -> bool:
    """Return whether gviz has ever subscribed to CUPTI in this process."""
    return bool(_library().gviz_was_subscribed())


def leave(profiler: str, seconds: float) -> bool:
    """Leave CUPTI to another profiler, waiting up to ``seconds`` for work in flight.

    Returns
    -------
    bool
        Whether CUPTI was gviz's, or would have been when the driver initialises.
    """
    return bool(_library().gviz_leave(profiler.encode(), seconds))


def take_back() -> str | None:
    """Take CUPTI again after :func:`leave`; return None, or why it cannot be had."""
    if _library().gviz_return() == 0:
        return None
    return str(_library().gviz_error().decode(errors="replace"))


def set_cupti_user(text: str) -> None:
    """Say who holds CUPTI and what to do, for the case that another profiler does."""
    _library().gviz_set_cupti_user(text.encode())


def append(record_type: int, payload: bytes) -> None:
    """Append one record to the spool."""
    _library().gviz_append(record_type, payload, len(payload))


def set_stack_callback(take: Callable[[], int] | None) -> None:
    """Install the taker of Python stacks, or with None take it away.

    It is called on the program's threads, inside driver calls. What it raises is raised in the
    main thread after the driver call: it must be the program's own.
    """
    left = _library().gviz_set_stack_taker(None)
    if left:
        _takers.clear()
    if take is not None:
        _takers.append(take)
        _library().gviz_set_stack_taker(id(take))


def set_graph_choice(
    pattern: str | None, decide: Callable[[int, bytes, bytes], int] | None
) -> object:
    """Choose the graphs whose nodes are timed; keep the returned object alive while installed.

    Parameters
    ----------
    pattern
        A shell pattern of graph names; None: all graphs.
    decide
        Called on the thread that captures or instantiates a graph, with the kind of its given
        name (a :class:`gviz.cuda.graph_name.NameKind`), that name and the open NVTX ranges: 1
        wanted, 0 not, -1 cannot say. It must not raise.
    """
    library = _library()
    library.gviz_set_graph_pattern(pattern.encode(errors="replace") if pattern else None)
    if decide is None:
        library.gviz_set_decide_callback(None)
        return None
    callback = _DECIDE_CALLBACK(decide)
    library.gviz_set_decide_callback(ctypes.cast(callback, ctypes.c_void_p))
    return callback


def set_block_lister(list_blocks: Callable[[int], list[tuple[int, int]]] | None) -> None:
    """Install who lists the blocks of a device that allocators handed out, or None: nobody.

    Parameters
    ----------
    list_blocks
        Called with a device on a thread of gviz's own; returns addresses and bytes. What it raises
        means that they are not known.
    """
    library = _library()
    if list_blocks is None:
        library.gviz_set_block_lister(None)
        return

    def fill(device: int, places: Any, room: int) -> int:
        try:
            blocks = list_blocks(device)
        except Exception:  # of a framework that differs, or that is just being imported
            return -1
        if len(blocks) > room:
            return -1
        flat = [number for block in blocks for number in block]
        ctypes.memmove(places, (ctypes.c_uint64 * len(flat))(*flat), 8 * len(flat))
        return len(blocks)

    callback = _LIST_CALLBACK(fill)
    _listers.append(callback)
    library.gviz_set_block_lister(ctypes.cast(callback, ctypes.c_void_p))


def set_range(name: str | None) -> None:
    """Have NVTX ranges of a name be periods, where RANGE_NVTX is requested; None: none."""
    _library().gviz_set_range(name.encode(errors="replace") if name else None)


def name_graphs(kind: int, name: str) -> None:
    """Name the graphs that the calling thread makes from now on; an empty name ends that."""
    _library().gviz_name_graphs(kind, name.encode(errors="replace"))


def nvtx_push(text: str) -> None:
    """Open an NVTX range on the calling thread."""
    _library().gviz_nvtx_push(text.encode(errors="replace"))


def nvtx_pop() -> None:
    """Close the innermost range of the calling thread."""
    _library().gviz_nvtx_pop()


def nvtx_depth() -> int:
    """Return how many NVTX ranges are open on the calling thread, as the library sees it."""
    return int(_library().gviz_nvtx_depth())
