"""``torch.profiler.record_function`` as ranges: torch emits them only while its profiler runs."""

from __future__ import annotations

import functools
import importlib.util
import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any

from gviz.collectors import native
from gviz.collectors.hooks.import_hook import on_import
from gviz.errors import CollectorError

_MODULE = "torch.autograd.profiler"


class RecordFunctionHook:
    """Opens a range for every ``record_function`` entered, while installed.

    The class keeps its identity, and its methods their names and sources: torch.compile knows the
    class by identity, TorchScript reads the methods' sources. Code that torch.compile traces opens
    no range.
    """

    def __init__(self) -> None:
        self._forget: Callable[[], None] | None = None
        self._open = threading.local()
        self._class: Any = None
        self._originals: tuple[Any, Any] | None = None

    def install(self) -> None:
        """Wrap the class, now or when torch is imported."""
        self._forget = on_import(_MODULE, self._wrap)

    def remove(self) -> None:
        """Give the class its methods back."""
        if self._forget is not None:
            self._forget()
        if self._originals is not None:
            self._class.__enter__, self._class.__exit__ = self._originals
            self._originals = None

    def _wrap(self, module: ModuleType) -> None:
        torch_class: Any = getattr(module, "record_function", None)
        if torch_class is None:
            raise CollectorError(
                "this PyTorch has no record_function there; its ranges are missing"
            )
        if torch_class is self._class:
            return  # the module was loaded again
        enter, leave = torch_class.__enter__, torch_class.__exit__
        torch: Any = module.torch
        if importlib.util.find_spec("torch.compiler") is None:
            raise CollectorError("this PyTorch is too old; ranges need 2.1 or newer")
        pushed, popped = self._pushed, self._popped

        @functools.wraps(enter)
        def __enter__(self: Any) -> Any:
            entered = enter(self)  # first: where it raises, no range is open
            # torch.compile takes this call as true while tracing, and leaves the branch out.
            if not torch.compiler.is_compiling():
                pushed(self)
            return entered

        @functools.wraps(leave)
        def __exit__(self: Any, *error: Any) -> Any:
            if not torch.compiler.is_compiling():
                popped(self)
            return leave(self, *error)

        self._class, self._originals = torch_class, (enter, leave)
        torch_class.__enter__, torch_class.__exit__ = __enter__, __exit__

    def _pushed(self, entered: Any) -> None:
        self._stack().append(id(entered))
        native.nvtx_push(str(entered.name))

    def _popped(self, left: Any) -> None:
        """Close the range, unless it was entered before the hook or on another thread."""
        stack = self._stack()
        if id(left) in stack:
            del stack[len(stack) - 1 - stack[::-1].index(id(left))]
            native.nvtx_pop()

    def _stack(self) -> list[int]:
        try:
            return self._open.stack  # type: ignore[no-any-return]
        except AttributeError:
            self._open.stack = []
            return self._open.stack  # type: ignore[no-any-return]
