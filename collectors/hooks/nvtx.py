"""NVTX ranges of Python libraries that NVTX itself does not bring to us.

NVTX looks for NVTX_INJECTION64_PATH once per library, at that library's first call. Where it
found ours, every range arrives in native code. A library that made its first call before has
settled on "no tool": its Python-level functions are wrapped instead, until the end.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from gviz.collectors import native
from gviz.spool import PROBE_TEXT

_VARIABLE = "NVTX_INJECTION64_PATH"

#: Gives the push and pop of a module.
Probe = Callable[[Any], tuple[Callable[[], Any], Callable[[], Any]]]


class NvtxHooks:
    """Brings NVTX ranges to the native library while installed.

    Parameters
    ----------
    note
        Called with a sentence for the recording where ranges can be missed.
    """

    def __init__(self, note: Callable[[str], None]) -> None:
        self._note = note
        self._restore: list[Callable[[], object]] = []

    def install(self) -> None:
        """Set the injection for libraries to come; wrap those that are past it."""
        path = native.library_path()
        if path is not None and _VARIABLE not in os.environ:
            os.environ[_VARIABLE] = str(path)
            self._restore.append(lambda: os.environ.pop(_VARIABLE, None))
        for name, probe, wrap in (
            ("nvtx.nvtx", _probe_nvtx, self._wrap_nvtx),
            ("torch.cuda.nvtx", _probe_torch, self._wrap_torch),
            ("cupy.cuda", _probe_cupy, self._wrap_cupy),
        ):
            module = sys.modules.get(name)
            if name == "cupy.cuda" and not getattr(getattr(module, "nvtx", None), "available", 0):
                continue  # CuPy without NVTX, or without CuPy
            if module is not None:
                self._hook(name.partition(".")[0], module, probe, wrap)

    def remove(self) -> None:
        """Undo everything, in reverse order."""
        while self._restore:
            self._restore.pop()()

    def _hook(self, library: str, module: Any, probe: Probe, wrap: Callable[[Any], None]) -> None:
        """Wrap a module whose ranges do not arrive; leave alone one that cannot be checked."""
        try:
            if _arrives(probe, module):
                return
            wrap(module)
        except Exception as error:  # of that library, in whatever version it is
            self._note(f"the NVTX ranges of {library} are missing: {error}")
            return
        self._note(
            f"{library} made NVTX calls before gviz attached: its ranges are taken from its "
            "Python functions; ranges from C++ code are missing (gviz run catches them all)"
        )

    def _replace(self, module: Any, name: str, value: Any) -> None:
        original = getattr(module, name)
        setattr(module, name, value)
        self._restore.append(lambda: setattr(module, name, original))

    def _wrap_nvtx(self, module: Any) -> None:
        push, pop = module.libnvtx_push_range, module.libnvtx_pop_range

        def pushed(attributes: Any, domain: Any) -> Any:
            depth = push(attributes, domain)  # first: where it raises, no range is open
            native.nvtx_push(_text(getattr(attributes, "message", "")))
            return depth

        def popped(domain: Any) -> Any:
            native.nvtx_pop()
            return pop(domain)

        self._replace(module, "libnvtx_push_range", pushed)
        self._replace(module, "libnvtx_pop_range", popped)

    def _wrap_cupy(self, module: Any) -> None:
        """Wrap what cupyx.profiler.time_range calls."""
        functions = module.nvtx
        pop = functions.RangePop

        def pushing(push: Callable[..., Any]) -> Callable[..., Any]:
            def pushed(message: Any, *color: Any, **colors: Any) -> Any:
                depth = push(message, *color, **colors)
                native.nvtx_push(str(message))
                return depth

            return pushed

        def popped() -> Any:
            native.nvtx_pop()
            return pop()

        for name in ("RangePush", "RangePushC"):
            self._replace(functions, name, pushing(getattr(functions, name)))
        self._replace(functions, "RangePop", popped)

    def _wrap_torch(self, module: Any) -> None:
        self._replace(module, "_nvtx", _TorchNvtx(module._nvtx))


class _TorchNvtx:
    """Stands before torch's NVTX functions; the module's own functions look them up here."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def rangePushA(self, text: str) -> Any:
        depth = self._inner.rangePushA(text)  # first: it refuses what is no text
        native.nvtx_push(text)
        return depth

    def rangePop(self) -> Any:
        native.nvtx_pop()
        return self._inner.rangePop()


def _text(message: Any) -> str:
    """Return the text of a message, which may be a registered string."""
    return str(getattr(message, "string", message) or "")


def _arrives(probe: Probe, module: Any) -> bool:
    before = native.nvtx_depth()
    push, pop = probe(module)
    push()
    arrived = native.nvtx_depth() > before
    pop()
    return arrived


def _probe_nvtx(module: Any) -> tuple[Callable[[], Any], Callable[[], Any]]:
    return lambda: module.push_range(PROBE_TEXT), module.pop_range


def _probe_cupy(module: Any) -> tuple[Callable[[], Any], Callable[[], Any]]:
    return lambda: module.nvtx.RangePush(PROBE_TEXT), module.nvtx.RangePop


def _probe_torch(module: Any) -> tuple[Callable[[], Any], Callable[[], Any]]:
    return lambda: module.range_push(PROBE_TEXT), module.range_pop
