"""CuPy's graphs: the stream class patched, and a stand-in for the graph that it captures.

``Graph.launch`` belongs to an extension type and cannot be replaced; ``end_capture`` therefore
returns a thin stand-in that passes everything on to the graph.
"""

from __future__ import annotations

import functools
import time
import weakref
from collections.abc import Callable
from types import ModuleType
from typing import Any

from gviz.collectors.watching import watch_native
from gviz.collectors.watching.collection import Watching, guarded

#: Attributes that give the program a handle with which it could update the graph.
_HANDLES = ("graph", "graphExec")
_RELAXED = 2


class CupyPatch:
    """The patch of CuPy's stream class. IDLE -> INSTALLED -> REMOVED."""

    def __init__(self, watching: Watching) -> None:
        self._watching = watching
        self._class: Any = None
        self._cupy: Any = None
        self._originals: dict[str, Callable[..., Any]] = {}
        self._wrappers: dict[str, Callable[..., Any]] = {}

    def install(self, module: ModuleType) -> None:
        """Wrap begin_capture and end_capture."""
        streams = getattr(getattr(module, "cuda", None), "stream", None)
        found = getattr(streams, "_BaseStream", None)
        if found is None or self._wrappers:  # still being imported, or reloaded
            return
        self._class, self._cupy = found, module
        for name in ("begin_capture", "end_capture"):
            original = vars(found)[name]
            wrapper = functools.wraps(original)(self._wrapper(name, original))
            self._originals[name], self._wrappers[name] = original, wrapper
            setattr(found, name, wrapper)

    def remove(self) -> None:
        """Put the methods back, where nobody has wrapped them since."""
        for name, wrapper in self._wrappers.items():
            if vars(self._class).get(name) is wrapper:
                setattr(self._class, name, self._originals[name])
        self._wrappers.clear()

    def _wrapper(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        action = getattr(self, f"_{name}")

        def call(stream: Any, *arguments: Any, **keywords: Any) -> Any:
            if not self._watching.is_on():
                return original(stream, *arguments, **keywords)
            return action(original, stream, *arguments, **keywords)

        return call

    def _begin_capture(self, original: Callable[..., Any], stream: Any, *a: Any, **k: Any) -> Any:
        start = time.time_ns()
        result = original(stream, *a, **k)
        mode = k.get("mode", a[0] if a else None)
        guarded(self._began, int(stream.ptr), start, time.time_ns(), mode)
        return result

    def _began(self, stream: int, start: int, end: int, mode: Any) -> None:
        call = "cuStreamBeginCapture (cupy.cuda.Stream.begin_capture)"
        number = _RELAXED if mode is None else int(mode)
        self._watching.life(call, 0, start, end, stream=stream, mode=number)

    def _end_capture(self, original: Callable[..., Any], stream: Any, *a: Any, **k: Any) -> Any:
        watch = guarded(watch_native.watch_capture, int(stream.ptr)) or 0
        start = time.time_ns()
        try:
            graph = original(stream, *a, **k)
        except BaseException:
            self._watching.unwatch(watch)
            raise
        stand_in = guarded(self._ended, int(stream.ptr), graph, watch, start, time.time_ns())
        return graph if stand_in is None else stand_in

    def _ended(self, stream: int, graph: Any, watch: int, start: int, end: int) -> Any:
        call = "cuStreamEndCapture (cupy.cuda.Stream.end_capture)"
        self._watching.life(call, watch, start, end, stream=stream)
        if not watch:
            return None
        watch_native.watch_exec(watch, int(graph.graphExec))
        return WatchedCupyGraph(graph, watch, self._watching, self._cupy)


class WatchedCupyGraph:
    """Stands for a ``cupy.cuda.Graph``: the same attributes, methods and ``isinstance``."""

    __slots__ = ("__weakref__", "_gviz_cupy", "_gviz_graph", "_gviz_watch", "_gviz_watching")

    def __init__(self, graph: Any, watch: int, watching: Watching, cupy: Any) -> None:
        self._gviz_graph = graph
        self._gviz_watch = watch
        self._gviz_watching = watching
        self._gviz_cupy = cupy
        weakref.finalize(self, watching.unwatch, watch).atexit = False

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return type(self._gviz_graph)

    def launch(self, stream: Any = None) -> Any:
        """Launch the graph, as ``cupy.cuda.Graph.launch``."""
        if not self._gviz_watching.is_on():
            return self._gviz_graph.launch(stream)
        on = self._gviz_cupy.cuda.get_current_stream() if stream is None else stream
        if watch_native.launch_begin(self._gviz_watch, int(on.ptr)):
            return None
        code = watch_native.FAILED
        try:
            result = self._gviz_graph.launch(stream)
            code = 0
        finally:
            watch_native.launch_end(code)
        return result

    def upload(self, stream: Any = None) -> Any:
        """Upload the graph, as ``cupy.cuda.Graph.upload``."""
        start = time.time_ns()
        result = self._gviz_graph.upload(stream)
        if self._gviz_watching.is_on():
            call = "cuGraphUpload (cupy.cuda.Graph.upload)"
            guarded(self._gviz_watching.life, call, self._gviz_watch, start, time.time_ns())
        return result

    def __getattr__(self, name: str) -> Any:
        if name in _HANDLES and self._gviz_watching.is_on():
            why = "the program has its handle, with which it can be updated"
            guarded(watch_native.refuse, self._gviz_watch, why)
        return getattr(self._gviz_graph, name)

    def __repr__(self) -> str:
        return repr(self._gviz_graph)

    def __dir__(self) -> list[str]:
        return dir(self._gviz_graph)
