"""Signatures of kernels that a framework compiles: names and types of their parameters.

A kernel of Triton has a plain symbol: nothing but Triton's own object for it, ``CompiledKernel``,
knows what its parameters are called.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from gviz.collectors import native
from gviz.collectors.hooks.import_hook import on_import
from gviz.spool import RecordType

_MODULE = "triton.compiler.compiler"
#: In place of a type, of what is compiled in and no parameter.
_COMPILED_IN = "constexpr"


class KernelSignatureHook:
    """Records the parameters of kernels that Triton compiles or loads while it is installed.

    Nothing where Triton changed.
    """

    def __init__(self) -> None:
        self._forget: Callable[[], None] | None = None
        self._class: Any = None
        self._original: Any = None
        self._wrapper: Any = None

    def install(self) -> None:
        """Wrap the class, now or when it is imported."""
        self._forget = on_import(_MODULE, self._wrap)

    def remove(self) -> None:
        """Give the class its method back, where nobody has wrapped it since."""
        if self._forget is not None:
            self._forget()
        if self._original is not None and self._class.__init__ is self._wrapper:
            self._class.__init__ = self._original
        self._original = None

    def _wrap(self, module: ModuleType) -> None:
        kernel_class: Any = getattr(module, "CompiledKernel", None)
        if kernel_class is None or kernel_class is self._class:
            return  # another thread is importing the module; or it was loaded again
        init = kernel_class.__init__

        @functools.wraps(init)
        def __init__(self: Any, *arguments: Any, **named: Any) -> None:
            init(self, *arguments, **named)
            _record(self)

        self._class, self._original, self._wrapper = kernel_class, init, __init__
        kernel_class.__init__ = __init__


def _record(kernel: Any) -> None:
    """Append a kernel's parameters to the spool. Never raises: the program goes on without."""
    try:
        found = triton_parameters(kernel.src)
        if found:
            text = json.dumps([str(kernel.metadata.name), "Triton", found])
            native.append(RecordType.SIGNATURE, text.encode())
    except Exception:  # of a Triton whose classes differ: the parameters stay unnamed
        return


def triton_parameters(source: Any) -> list[tuple[str, str]]:
    """Return names and types of the parameters that a kernel is left with.

    Arguments whose values are compiled in are none. Scratch memory that Triton adds comes behind.

    Parameters
    ----------
    source
        ``triton.compiler.ASTSource``: its ``signature`` has a type for each name, or place.
    """
    names: list[str] = list(source.fn.arg_names)
    compiled_in = {_place(key, names) for key in getattr(source, "constants", None) or ()}
    signature: Mapping[Any, Any] = source.signature
    types = {_place(key, names): kind for key, kind in signature.items()}
    return [
        (names[at], str(kind))
        for at, kind in sorted(types.items())
        if kind != _COMPILED_IN and at not in compiled_in
    ]


def _place(key: Any, names: list[str]) -> int:
    """Return the place of an argument that Triton names, numbers, or leads to by a path."""
    if isinstance(key, tuple):
        key = key[0]
    return names.index(key) if isinstance(key, str) else int(key)
