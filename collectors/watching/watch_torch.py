"""PyTorch's graphs: ``torch.cuda.CUDAGraph`` patched on its class.

That catches ``torch.cuda.graph``, ``make_graphed_callables`` and ``torch.compile``'s graph trees,
which all go through the class's methods.
"""

from __future__ import annotations

import functools
import threading
import time
import weakref
from collections.abc import Callable
from types import ModuleType
from typing import Any

from gviz.collectors.watching import watch_native
from gviz.collectors.watching.collection import Watching, guarded
from gviz.dataclass import dataclass

_METHODS = (
    "capture_begin",
    "capture_end",
    "instantiate",
    "replay",
    "reset",
    "raw_cuda_graph",
    "raw_cuda_graph_exec",
    "register_generator_state",
)
#: Versions whose ``replay`` is known to do nothing but prepare the random generators and launch.
#: 2.13 registers generators out of sight and runs hooks around replays.
_KNOWN_VERSIONS = ((2, 9), (2, 11))
_MODES = {"global": 0, "thread_local": 1, "relaxed": 2}
_LATE = "it was captured before gviz watched, and may have changed since"


@dataclass(slots=True)
class _State:
    """State of one CUDAGraph object.

    Attributes
    ----------
    watch
        The native watch, 0: none.
    device
        The device of its capture, on whose current stream it is replayed.
    instantiated
        The native side knows its executable.
    template_out
        The program has the handle of the template, and may change the graph before the next
        instantiation.
    random_known
        A replay has shown whether it uses random numbers.
    """

    watch: int
    device: int
    instantiated: bool = False
    template_out: bool = False
    random_known: bool = False


class TorchPatch:
    """The patch of ``torch.cuda.CUDAGraph``. IDLE -> INSTALLED -> REMOVED."""

    def __init__(self, watching: Watching) -> None:
        self._watching = watching
        self._torch: Any = None
        self._class: Any = None
        self._originals: dict[str, Callable[..., Any]] = {}
        self._wrappers: dict[str, Callable[..., Any]] = {}
        self._inherited: set[str] = set()
        self._states: dict[int, _State] = {}
        self._why_not: str | None = None
        self._adopting = threading.RLock()

    # -- on and off --------------------------------------------------------------------------

    def install(self, module: ModuleType) -> None:
        """Wrap the methods."""
        found = getattr(getattr(module, "cuda", None), "CUDAGraph", None)
        if found is None or self._wrappers:  # still being imported, or reloaded
            return
        self._torch, self._class = module, found
        self._why_not = self._check_version()
        for name in _METHODS:
            original = getattr(found, name, None)
            if original is None:
                continue
            if name not in vars(found):
                self._inherited.add(name)
            self._originals[name] = original
            wrapper = functools.wraps(original)(self._wrapper(name, original))
            self._wrappers[name] = wrapper
            setattr(found, name, wrapper)

    def remove(self) -> None:
        """Put the methods back, where nobody has wrapped them since."""
        for name, wrapper in self._wrappers.items():
            if vars(self._class).get(name) is not wrapper:
                continue
            if name in self._inherited:
                delattr(self._class, name)
            else:
                setattr(self._class, name, self._originals[name])
        self._wrappers.clear()
        self._states.clear()

    def _check_version(self) -> str | None:
        text = str(getattr(self._torch, "__version__", ""))
        try:
            version = tuple(int(part) for part in text.split(".")[:2])
        except ValueError:
            version = (0, 0)
        first, last = _KNOWN_VERSIONS
        if first <= version <= last:
            return None
        return f"what a replay does in PyTorch {text} is unknown to gviz, except in 2.9 to 2.11"

    def _wrapper(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        action = getattr(self, f"_{name}")

        def call(graph: Any, *arguments: Any, **keywords: Any) -> Any:
            if not self._watching.is_on():
                return original(graph, *arguments, **keywords)
            return action(original, graph, *arguments, **keywords)

        return call

    # -- a graph's life ----------------------------------------------------------------------

    def _capture_begin(self, original: Callable[..., Any], graph: Any, *a: Any, **k: Any) -> Any:
        start = time.time_ns()
        result = original(graph, *a, **k)
        end = time.time_ns()
        mode = _MODES.get(str(k.get("capture_error_mode", a[1] if len(a) > 1 else "global")), 0)
        guarded(self._began, start, end, mode)
        return result

    def _began(self, start: int, end: int, mode: int) -> None:
        stream = self._torch.cuda.current_stream().cuda_stream
        call = "cuStreamBeginCapture (torch.cuda.CUDAGraph.capture_begin)"
        self._watching.life(call, 0, start, end, stream=stream, mode=mode)

    def _capture_end(self, original: Callable[..., Any], graph: Any, *a: Any, **k: Any) -> Any:
        stream = guarded(lambda: self._torch.cuda.current_stream().cuda_stream)
        watch = guarded(watch_native.watch_capture, stream) or 0
        start = time.time_ns()
        try:
            result = original(graph, *a, **k)
        except BaseException:
            self._watching.unwatch(watch)
            raise
        guarded(self._ended, graph, watch, stream, start, time.time_ns())
        return result

    def _ended(self, graph: Any, watch: int, stream: int, start: int, end: int) -> None:
        call = "cuStreamEndCapture (torch.cuda.CUDAGraph.capture_end)"
        self._watching.life(call, watch, start, end, stream=stream)
        if not watch:
            return
        state = _State(watch, self._torch.cuda.current_device())
        self._keep(graph, state)
        if self._why_not is not None:
            watch_native.refuse(watch, self._why_not)
        self._report_executable(graph, state)

    def _report_executable(self, graph: Any, state: _State) -> None:
        handle = self._handle(graph, "raw_cuda_graph_exec")
        if handle is not None:
            watch_native.watch_exec(state.watch, handle)
            state.instantiated = True

    def _handle(self, graph: Any, method: str) -> int | None:
        """Return a handle; None: not instantiated, not kept, or an older PyTorch."""
        if method not in self._originals:
            return None
        try:
            return int(self._originals[method](graph))
        except RuntimeError:
            return None

    def _keep(self, graph: Any, state: _State) -> None:
        key = id(graph)
        self._states[key] = state
        weakref.finalize(graph, self._gone, key, state).atexit = False

    def _gone(self, key: int, state: _State) -> None:
        if self._states.get(key) is state:
            del self._states[key]
        self._watching.unwatch(state.watch)

    def _instantiate(self, original: Callable[..., Any], graph: Any, *a: Any, **k: Any) -> Any:
        """Only for ``keep_graph=True``: without, ``capture_end`` does it in C++."""
        start = time.time_ns()
        result = original(graph, *a, **k)
        guarded(self._instantiated, graph, start, time.time_ns())
        return result

    def _instantiated(self, graph: Any, start: int, end: int) -> None:
        state = self._states.get(id(graph))
        template = self._handle(graph, "raw_cuda_graph")
        if template is None:
            return
        if state is not None and (state.instantiated or state.template_out):
            self._watching.unwatch(state.watch)  # another executable, perhaps of a changed graph
            device, out = state.device, state.template_out
            state = _State(watch_native.watch_graph(template, self._why_not), device)
            state.template_out = out
            self._keep(graph, state)
        if state is None:
            return
        self._report_executable(graph, state)
        call = "cuGraphInstantiate (torch.cuda.CUDAGraph.instantiate)"
        self._watching.life(call, state.watch, start, end)

    def _reset(self, original: Callable[..., Any], graph: Any, *a: Any, **k: Any) -> Any:
        state = self._states.pop(id(graph), None)
        start = time.time_ns()
        if state is not None:
            guarded(self._watching.unwatch, state.watch)
        result = original(graph, *a, **k)
        if state is not None:
            call = "cuGraphExecDestroy (torch.cuda.CUDAGraph.reset)"
            guarded(self._watching.life, call, state.watch, start, time.time_ns())
        return result

    # -- what lets a graph change behind our back --------------------------------------------

    def _raw_cuda_graph(self, original: Callable[..., Any], graph: Any, *a: Any, **k: Any) -> Any:
        state = self._states.get(id(graph))
        if state is not None:
            state.template_out = True
        return original(graph, *a, **k)

    def _raw_cuda_graph_exec(
        self, original: Callable[..., Any], graph: Any, *a: Any, **k: Any
    ) -> Any:
        state = self._states.get(id(graph))
        if state is not None:
            why = "the program has its raw_cuda_graph_exec(), with which it can be updated"
            guarded(watch_native.refuse, state.watch, why)
        return original(graph, *a, **k)

    def _register_generator_state(
        self, original: Callable[..., Any], graph: Any, *a: Any, **k: Any
    ) -> Any:
        result = original(graph, *a, **k)
        state = self._states.get(id(graph))
        if state is not None:
            guarded(watch_native.refuse, state.watch, "it was given a random generator")
        return result

    # -- replaying ---------------------------------------------------------------------------

    def _replay(self, original: Callable[..., Any], graph: Any, *a: Any, **k: Any) -> Any:
        state = self._states.get(id(graph)) or guarded(self._adopt_once, graph)
        stream = None if state is None else guarded(self._stream, state.device)
        if state is None or not state.watch or stream is None:
            return original(graph, *a, **k)
        random = None if state.random_known else self._random_state(state)
        if watch_native.launch_begin(state.watch, stream):
            return None
        code = watch_native.FAILED
        try:
            result = original(graph, *a, **k)
            code = 0
        finally:
            watch_native.launch_end(code)
        if not state.random_known:
            guarded(self._learn, graph, state, random)
        return result

    def _stream(self, device: int) -> int:
        try:
            return int(self._torch._C._cuda_getCurrentRawStream(device))
        except AttributeError:
            return int(self._torch.cuda.current_stream(device).cuda_stream)

    def _random_state(self, state: _State) -> list[int] | None:
        """Return seed and offset of the device's generator; None where they cannot be read."""
        try:
            generator = self._torch.cuda.default_generators[state.device]
            return list(generator.get_state().tolist())
        except (AttributeError, IndexError, RuntimeError):
            return None

    def _learn(self, graph: Any, state: _State, before: list[int] | None) -> None:
        """After the first replay: a replay that uses random numbers advances the generator.

        PyTorch prepares the generator's offset for the launch: a copy launched without that
        would draw the same numbers again.
        """
        if not state.instantiated:  # keep_graph=True, instantiated by this replay
            self._report_executable(graph, state)
        if before is None or self._random_state(state) != before:
            why = "it uses random numbers, which only PyTorch's own replay advances"
            watch_native.refuse(state.watch, why)
        state.random_known = True

    def _adopt_once(self, graph: Any) -> _State | None:
        """Adopt a graph that several threads may be replaying for the first time."""
        with self._adopting:
            return self._states.get(id(graph)) or self._adopt(graph)

    def _adopt(self, graph: Any) -> _State | None:
        """Watch a graph that was captured before the recording began."""
        graph_exec = self._handle(graph, "raw_cuda_graph_exec")
        # Which device it belongs to is not recorded: with several, its stream is not known.
        if graph_exec is None or self._torch.cuda.device_count() != 1:
            return None
        template = self._handle(graph, "raw_cuda_graph")
        if template is None:
            watch = watch_native.watch_late(graph_exec)
        else:
            watch = watch_native.watch_graph(template, _LATE)
            watch_native.watch_exec(watch, graph_exec)
        state = _State(watch, 0, instantiated=True, random_known=True)
        self._keep(graph, state)
        return state
