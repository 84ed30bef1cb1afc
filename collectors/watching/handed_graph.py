"""``gviz.watch``: hand a graph over that gviz cannot see by itself where CUPTI is not used."""

from __future__ import annotations

import threading
import weakref
from typing import Any

from gviz.collectors.watching import collection as watching
from gviz.collectors.watching import watch_native
from gviz.errors import CollectorError, UsageError

_MAY_CHANGE = (
    "it may have been updated since it was instantiated; if it never is, say so: "
    "gviz.watch(graph, unchanged=True)"
)


class Watched:
    """A graph handed over, and the way to launch it so that gviz sees the launch.

    Attributes
    ----------
    graph
        The object that was given to :func:`watch`.
    """

    def __init__(self, graph: Any, graph_exec: Any, *, unchanged: bool) -> None:
        self.graph = graph
        self._unchanged = unchanged
        self._template, self._exec = graph, graph_exec
        self._why_not = None if unchanged else _MAY_CHANGE
        self._launcher: Any = None  # an object whose own launch() is called
        # What watches it, and the id there. One tuple: threads read it without the lock.
        self._registered: tuple[watching.Watching | None, int] = (None, 0)
        # Held while it is handed over: another thread's launch must not go by unseen meanwhile.
        # A signal handler may launch it too, hence reentrant.
        self._lock = threading.RLock()
        self._resolve()

    def launch(self, stream: Any = None) -> None:
        """Launch the graph once.

        Parameters
        ----------
        stream
            A stream of CuPy, PyTorch, cuda.core or cuda.bindings, or a handle. None: the
            framework's current stream; for handles the legacy default stream.

        Raises
        ------
        CollectorError
            If the driver refuses the launch of a graph that was given by its handle.
        """
        if _seen_by_patch(self.graph):
            _launch(self._launcher, stream)
            return
        if self._exec is None:
            self._instantiate()
        watch = self._register()
        handle = _stream_handle(self._launcher, stream)
        if self._launcher is None:
            result = watch_native.launch(watch, self._exec, handle)
            if result != 0:
                raise CollectorError(
                    f"cuGraphLaunch returned {result} for executable {self._exec:#x}; see "
                    "CUresult in cuda.h for the number"
                )
            return
        if watch_native.launch_begin(watch, handle):
            return
        code = watch_native.FAILED
        try:
            _launch(self._launcher, stream)
            code = 0
        finally:
            watch_native.launch_end(code)

    # -- which handles -----------------------------------------------------------------------

    def _resolve(self) -> None:
        """Find out what was given: handles, or an object that launches itself."""
        graph, framework = self.graph, _framework(self.graph)
        if framework in ("torch", "cupy") or (framework == "cuda.core" and not _makes(graph)):
            self._launcher = graph
        if framework == "torch":
            self._template, self._exec = None, 0  # the patch of the class needs them
        elif framework == "cupy":
            # The stand-in of a capture seen by the patch launches, and is watched, by itself.
            self._template, self._exec = _plain(graph).graph, _plain(graph).graphExec
            self._why_not = None  # CuPy has no way to update a graph
        elif self._launcher is not None:
            self._template, self._exec = None, int(graph.handle)
        elif _makes(graph):
            self._template = None  # read when it is instantiated: until then it may grow
        elif _is_exec(graph) and self._exec is None:
            self._template, self._exec = None, int(graph)
        else:
            self._template = None if graph is None else _handle(graph)
            self._exec = None if self._exec is None else _handle(self._exec)
        if self._template is None and self._exec is None and not _makes(graph):
            raise UsageError("there is nothing to watch: give a graph, or graph_exec=")

    def _instantiate(self) -> None:
        """Make the executable of a graph that is given as a description, once."""
        if not _makes(self.graph):
            raise UsageError("a graph given by its handle needs graph_exec= to be launched")
        make = getattr(self.graph, "complete", None) or self.graph.instantiate
        definition = getattr(self.graph, "graph_definition", self.graph)
        with self._lock:
            if self._exec is not None:  # another thread was first
                return
            self._template = int(definition.handle)
            self._launcher = make()
            self._why_not = None  # nobody else has this executable
            self._exec = int(self._launcher.handle)  # last: threads look at it without the lock

    def _register(self) -> int:
        """Hand the graph over to the recording in progress, if it watches; return its id there.

        Threads that launch it meanwhile wait until it has its id, else their launches would be
        nobody's.
        """
        now = watching.current()
        if now is not None and not now.is_on():
            now = None  # CUPTI sees the graph, or the driver has not started yet
        if now is None:
            return 0
        watcher, watch = self._registered
        if watcher is now:
            return watch
        with self._lock:
            if self._registered[0] is not now:
                self._registered = now, self._hand_over(now)
            return self._registered[1]

    def _hand_over(self, now: watching.Watching) -> int:
        if self._template is None:
            watch = watch_native.watch_late(self._exec)
        else:
            watch = watch_native.watch_graph(self._template, self._why_not)
            watch_native.watch_exec(watch, self._exec)
        weakref.finalize(self, now.unwatch, watch).atexit = False
        return watch


def watch(graph: Any = None, *, graph_exec: Any = None, unchanged: bool = False) -> Watched:
    """Hand a graph over to the active profile; launch it through what this returns.

    Under CUPTI gviz sees every graph, and this changes nothing. Without CUPTI (another profiler
    holds it, or ``collector="events"``) graphs captured by PyTorch and CuPy inside the profile
    are seen too; others only through this.

    Parameters
    ----------
    graph
        A CuPy Graph, a torch CUDAGraph, a cuda.core Graph, GraphBuilder (finished building) or
        GraphDefinition, a CUgraph of cuda.bindings, or a CUgraph handle as an integer. What is
        given as a builder or definition is instantiated by the first launch.
    graph_exec
        The CUgraphExec that belongs to a handle.
    unchanged
        You vouch that the executable is as it was instantiated from this graph, is not updated
        while it is profiled, and is launched through the returned object only: then its nodes
        are timed by an instrumented copy in the place of some launches. Not needed for CuPy
        graphs, builders and definitions. A wrong promise gives wrong results.

    Returns
    -------
    Watched
        Its ``launch(stream=None)`` launches the graph.

    Raises
    ------
    UsageError
        If there is nothing to watch.
    """
    return Watched(graph, graph_exec, unchanged=unchanged)


def executable_of(graph: Any) -> int:
    """Return the handle of the executable of a graph that was instantiated.

    Raises
    ------
    UsageError
        If it has none, or is no graph that gviz knows.
    """
    framework, plain = _framework(graph), _plain(graph)
    if framework == "torch":
        read = getattr(type(plain), "raw_cuda_graph_exec", None)
        if read is None:
            raise UsageError("this PyTorch does not say which executable a CUDAGraph has; use 2.9")
        # The patch takes a call for the program's, which may update it.
        return int(getattr(read, "__wrapped__", read)(plain))
    if framework == "cupy":
        return int(plain.graphExec)
    if framework == "cuda.core":
        if _makes(plain):
            raise UsageError("a description of a graph has no executable; give what it completes")
        return int(plain.handle)
    return _handle(plain)


# -- frameworks, known by their modules: none is imported here ------------------------------


def _framework(graph: Any) -> str | None:
    for base in type(_plain(graph)).__mro__:
        module = base.__module__
        if module.startswith("torch.cuda"):
            return "torch"
        if module.startswith("cupy.cuda"):
            return "cupy"
        if module.startswith("cuda.core"):
            return "cuda.core"
    return None


def _plain(graph: Any) -> Any:
    """Return the graph itself where a stand-in was given."""
    from gviz.collectors.watching.watch_cupy import WatchedCupyGraph

    return graph._gviz_graph if type(graph) is WatchedCupyGraph else graph


def _seen_by_patch(graph: Any) -> bool:
    from gviz.collectors.watching.watch_cupy import WatchedCupyGraph

    return type(graph) is WatchedCupyGraph or _framework(graph) == "torch"


def _makes(graph: Any) -> bool:
    """Return whether a cuda.core object describes a graph that is still to be instantiated."""
    made = hasattr(graph, "complete") or hasattr(graph, "instantiate")
    return made and _framework(graph) == "cuda.core"


def _is_exec(graph: Any) -> bool:
    return type(graph).__name__ in ("CUgraphExec", "cudaGraphExec_t")


def _handle(value: Any) -> int:
    try:
        return int(value)
    except (TypeError, ValueError):
        raise UsageError(
            f"{type(value).__name__} is no graph that gviz knows; give a graph of CuPy, PyTorch "
            "or cuda.core, or a CUgraph handle as an integer"
        ) from None


def _launch(launcher: Any, stream: Any) -> None:
    if _framework(launcher) != "torch":
        launcher.launch(stream)
        return
    import torch

    with torch.cuda.stream(stream):  # None: the current one
        launcher.replay()


def _stream_handle(launcher: Any, stream: Any) -> int:
    """Return a stream's handle, whatever object it is."""
    if stream is None:
        if launcher is not None and _framework(launcher) == "cupy":
            import cupy

            return int(cupy.cuda.get_current_stream().ptr)
        return 0
    for name in ("ptr", "cuda_stream", "handle"):
        found = getattr(stream, name, None)
        if found is not None:
            return int(found)
    return int(stream)
