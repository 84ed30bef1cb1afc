"""The native library's part for graphs that Python hands over (``csrc/events/watch.c``)."""

from __future__ import annotations

import ctypes
import functools

from gviz.collectors import native
from gviz.collectors.options import COLLECTORS

#: CUDA_ERROR_UNKNOWN: a launch failed, and the framework's exception does not say how.
FAILED = 999


@functools.cache
def _library() -> ctypes.CDLL:
    library = native.library()
    library.gviz_watch_graph.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    for function in (library.gviz_watch_capture, library.gviz_watch_late):
        function.argtypes = [ctypes.c_void_p]
    library.gviz_watch_exec.argtypes = [ctypes.c_int, ctypes.c_void_p]
    library.gviz_watch_exec.restype = None
    library.gviz_watch_refuse.argtypes = [ctypes.c_int, ctypes.c_char_p]
    library.gviz_watch_refuse.restype = None
    number = ctypes.POINTER(ctypes.c_uint32)
    library.gviz_watch_ids.argtypes = [ctypes.c_int, number, number]
    library.gviz_launch_begin.argtypes = [ctypes.c_int, ctypes.c_void_p]
    library.gviz_launch_end.argtypes = [ctypes.c_int]
    library.gviz_launch_end.restype = None
    library.gviz_launch.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
    library.gviz_unwatch.argtypes = [ctypes.c_int]
    library.gviz_unwatch.restype = None
    library.gviz_want_collector.restype = None
    library.gviz_limit_slice.argtypes = [ctypes.c_uint32]
    library.gviz_limit_slice.restype = None
    library.gviz_await_copies.argtypes = [ctypes.c_double]
    library.gviz_start_events.argtypes = [ctypes.c_char_p]
    library.gviz_end_events.restype = None
    return library


def want_collector(name: str) -> None:
    """Say what the next recording is to measure with, one of COLLECTORS."""
    _library().gviz_want_collector(COLLECTORS.index(name))


def collector() -> str | None:
    """Return what measures now, or None: nothing yet, or nothing any more."""
    number: int = _library().gviz_collector()
    return COLLECTORS[number] if number else None


def start_events(why: str) -> str | None:
    """Go on without CUPTI in the recording in hand; return why that is impossible, or None."""
    if _library().gviz_start_events(why.encode(errors="replace")) == 0:
        return None
    return native.error()


def end_events() -> None:
    """Stop measuring without CUPTI; the recording stays open."""
    _library().gviz_end_events()


def watch_graph(graph: int, why_not: str | None = None) -> int:
    """Watch a graph by its handle; return the watch's id, 0 when nothing is recorded.

    ``why_not``: why no instrumented copy may take its launches' place; None: it may.
    """
    reason = None if why_not is None else why_not.encode(errors="replace")
    return int(_library().gviz_watch_graph(graph, reason))


def watch_capture(stream: int) -> int:
    """Watch the graph that a stream is capturing, just before the capture ends; 0: none."""
    return int(_library().gviz_watch_capture(stream))


def watch_late(graph_exec: int) -> int:
    """Watch an executable whose graph is not known any more; 0 when nothing is recorded."""
    return int(_library().gviz_watch_late(graph_exec))


def watch_exec(watch: int, graph_exec: int) -> None:
    """Say which executable the watched graph was instantiated as."""
    _library().gviz_watch_exec(watch, graph_exec)


def refuse(watch: int, why: str) -> None:
    """Let no instrumented copy take the place of this graph's launches any more."""
    _library().gviz_watch_refuse(watch, why.encode(errors="replace"))


def ids_of(watch: int) -> tuple[int, int]:
    """Return the graph id and executable id that the spool knows a watch by; 0, 0: none."""
    graph, graph_exec = ctypes.c_uint32(), ctypes.c_uint32()
    _library().gviz_watch_ids(watch, ctypes.byref(graph), ctypes.byref(graph_exec))
    return graph.value, graph_exec.value


def launch_begin(watch: int, stream: int) -> bool:
    """Call it just before a launch; True: a copy was launched, the caller must not launch."""
    return bool(_library().gviz_launch_begin(watch, stream))


def launch_end(result: int) -> None:
    """Call it after the caller's own launch, with its CUresult."""
    _library().gviz_launch_end(result)


def launch(watch: int, graph_exec: int, stream: int) -> int:
    """Launch an executable, watched (or not: 0); return the CUresult."""
    return int(_library().gviz_launch(watch, graph_exec, stream))


def unwatch(watch: int) -> None:
    """Forget a graph whose executable is destroyed."""
    _library().gviz_unwatch(watch)


def limit_slice(nodes: int) -> None:
    """Time graphs of more nodes slice by slice (for tests)."""
    _library().gviz_limit_slice(nodes)


def await_copies(seconds: float) -> bool:
    """Wait until the copies that are wanted are made and read (for tests); return whether so."""
    return bool(_library().gviz_await_copies(seconds))
