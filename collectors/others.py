"""Living with other profilers: who holds CUPTI, and giving way before one starts.

CUPTI serves one subscriber a process (CUDA 13.0). A profiler that finds gviz there reports no GPU
work, PyTorch's for the rest of the process; so gviz leaves CUPTI before a known one starts.
"""

from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from gviz.collectors.hooks import on_import
from gviz.cuda import TOOL_VARIABLES
from gviz.system import say

TORCH, JAX, JAX_SERVER = "torch.profiler", "jax.profiler", "jax.profiler's server"

#: Libraries that a tool loads into the programs it watches, by their file names or folders.
_TOOL_LIBRARIES = (
    (re.compile(r"/nsight-?systems|/libToolsInjection"), "Nsight Systems"),
    (re.compile(r"/nsight-?compute|/libInterceptorInjection|/libcuda-injection"), "Nsight Compute"),
    (re.compile(r"/cuda-gdb|/libcudadebugger"), "a debugger"),
)


def cupti_user(
    environment: Mapping[str, str] | None = None,
    libraries: str | None = None,
    modules: Mapping[str, Any] | None = None,
    own_library: str | None = None,
) -> str:
    """Return who probably uses CUPTI where gviz is refused, and what to do.

    Parameters
    ----------
    environment, libraries, modules
        Environment variables, text of /proc/self/maps, imported modules; by default this
        process's.
    own_library
        Path of gviz's own native library, which the environment may name.
    """
    environment = os.environ if environment is None else environment
    modules = sys.modules if modules is None else modules
    libraries = _own_maps() if libraries is None else libraries
    for pattern, tool in _TOOL_LIBRARIES:
        if pattern.search(libraries):
            return f"{tool} is loaded into it; run without it"
    for variable, tool in TOOL_VARIABLES.items():
        value = environment.get(variable)
        if value and value != own_library:
            return f"{variable} loads {tool} ({value}); run without it"
    if _jax_is_tracing(modules):
        return f"{JAX} is recording; end its trace before gviz starts, or do without it"
    if _torch_is_profiling(modules):
        return (
            f"{TORCH} is recording, and keeps CUPTI when it has ended; use a fresh process, with "
            "gviz started before it or without it"
        )
    if "torch" in modules:
        return (
            f"it is loaded with PyTorch, and {TORCH} keeps CUPTI for good once it has run; use a "
            "fresh process, with gviz started before it or without it"
        )
    return "run without it"


def _own_maps() -> str:
    try:
        return Path("/proc/self/maps").read_text(errors="replace")
    except OSError:
        return ""


def _torch_is_profiling(modules: Mapping[str, Any]) -> bool:
    profiler = modules.get("torch.autograd.profiler")
    return bool(getattr(profiler, "_is_profiler_enabled", False))


def _jax_is_tracing(modules: Mapping[str, Any]) -> bool:
    state = getattr(modules.get("jax._src.profiler"), "_profile_state", None)
    return getattr(state, "profile_session", None) is not None


def _safe(notify: Callable[[str], None]) -> Callable[[str], None]:
    """Return ``notify`` so that it cannot fail: it is called inside the program's calls."""

    def safely(profiler: str) -> None:
        try:
            notify(profiler)
        except Exception as error:
            say(f"gviz: giving way to {profiler} failed: {error}")

    return safely


class OtherProfilers:
    """Tells when torch.profiler or jax.profiler is about to start, while installed.

    It hooks what they call last before they take CUPTI, so that every way of starting them is
    seen: torch's context managers, schedules and the autograd profiler prepare and enable through
    two functions of ``torch.autograd.profiler``; JAX's traces are ``ProfilerSession`` objects.

    Parameters
    ----------
    leave
        Called with the profiler's name before it starts.
    ended
        Called with it when it has ended and may have let CUPTI go.
    """

    def __init__(self, leave: Callable[[str], None], ended: Callable[[str], None]) -> None:
        self._leave = _safe(leave)
        self._ended = _safe(ended)
        self._restore: list[Callable[[], object]] = []

    def install(self) -> None:
        """Hook the profilers that are imported, and those that will be."""
        self._restore.append(on_import("torch.autograd.profiler", self._hook_torch))
        self._restore.append(on_import("jax._src.profiler", self._hook_jax))

    def remove(self) -> None:
        """Undo everything, in reverse order."""
        while self._restore:
            self._restore.pop()()

    def _hook_torch(self, module: ModuleType) -> None:
        for name in ("_prepare_profiler", "_enable_profiler"):
            self._replace(module, name, self._before_torch(getattr(module, name)))

    def _before_torch(self, start: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(start)
        def started(config: Any, activities: Any, *rest: Any, **more: Any) -> Any:
            if activities:  # emit_nvtx and emit_itt request none, and use no CUPTI
                self._leave(TORCH)
            return start(config, activities, *rest, **more)

        return started

    def _hook_jax(self, module: ModuleType) -> None:
        inner = module._profiler
        self._replace(module, "_profiler", _JaxProfiler(inner, self._leave, self._ended))

    def _replace(self, module: ModuleType, name: str, value: Any) -> None:
        original = getattr(module, name)
        setattr(module, name, value)

        def restore() -> None:
            if getattr(module, name, None) is value:  # else somebody hooked it after us
                setattr(module, name, original)

        self._restore.append(restore)


class _JaxProfiler:
    """Stands before jaxlib's profiler module inside ``jax._src.profiler``."""

    def __init__(
        self, inner: Any, leave: Callable[[str], None], ended: Callable[[str], None]
    ) -> None:
        self._inner = inner
        self._leave = leave
        self._ended = ended

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def ProfilerSession(self, *arguments: Any, **more: Any) -> Any:
        self._leave(JAX)
        return _JaxSession(self._inner.ProfilerSession(*arguments, **more), self._ended)

    def start_server(self, *arguments: Any, **more: Any) -> Any:
        self._leave(JAX_SERVER)  # it records whenever its clients request it
        return self._inner.start_server(*arguments, **more)


class _JaxSession:
    """A trace of JAX's; notifies when it is over."""

    def __init__(self, inner: Any, ended: Callable[[str], None]) -> None:
        self._inner = inner
        self._ended = ended

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if name not in ("stop", "stop_and_export"):
            return found

        @functools.wraps(found)
        def stopped(*arguments: Any, **more: Any) -> Any:
            try:
                return found(*arguments, **more)
            finally:
                self._ended(JAX)

        return stopped
