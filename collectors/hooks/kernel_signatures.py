"""Signatures of kernels that a framework compiles: names and types of their parameters.

A kernel of Triton or CuPy has a plain symbol: nothing but Triton's own object for it,
``CompiledKernel``, and the source that CuPy compiles tell what its parameters are called.
"""

from __future__ import annotations

import contextlib
import functools
import json
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from gviz.collectors import native
from gviz.collectors.hooks.import_hook import on_import
from gviz.spool import RecordType

#: In place of a type, of what is compiled in and no parameter.
_COMPILED_IN = "constexpr"
#: Longer sources are not read: they are libraries.
_MOST_SOURCE = 1 << 20


class KernelSignatureHook:
    """Records the parameters of kernels that Triton and CuPy compile or load while it is installed.

    Nothing where a framework changed.
    """

    def __init__(self) -> None:
        self._wraps = (
            _Wrap("triton.compiler.compiler", "CompiledKernel", "__init__", _record_triton),
            _Wrap("cupy.cuda.compiler", None, "_compile_module_with_cache", _record_cupy),
        )

    def install(self) -> None:
        """Wrap what compiles, now or when it is imported."""
        for wrap in self._wraps:
            wrap.install()

    def remove(self) -> None:
        """Put back what was wrapped, where nobody has wrapped it since."""
        for wrap in self._wraps:
            wrap.remove()


class _Wrap:
    """A function of a module, or of a class of it, whose arguments are recorded after it ran."""

    def __init__(
        self, module: str, owner: str | None, name: str, record: Callable[..., None]
    ) -> None:
        self._module, self._owner_name, self._name, self._record = module, owner, name, record
        self._forget: Callable[[], None] | None = None
        self._owner: Any = None
        self._original: Any = None
        self._wrapper: Any = None

    def install(self) -> None:
        self._forget = on_import(self._module, self._wrap)

    def remove(self) -> None:
        if self._forget is not None:
            self._forget()
        if self._original is not None and getattr(self._owner, self._name) is self._wrapper:
            setattr(self._owner, self._name, self._original)
        self._original = None

    def _wrap(self, module: ModuleType) -> None:
        owner: Any = module
        if self._owner_name is not None:
            owner = getattr(module, self._owner_name, None)
        original = getattr(owner, self._name, None)
        if original is None or original is self._wrapper:
            return  # another thread is importing the module; or it was loaded again
        record = self._record

        @functools.wraps(original)
        def wrapper(*arguments: Any, **named: Any) -> Any:
            result = original(*arguments, **named)
            # Never raises: the program goes on without.
            with contextlib.suppress(Exception):  # of a framework that differs
                record(*arguments, **named)
            return result

        self._owner, self._original, self._wrapper = owner, original, wrapper
        setattr(owner, self._name, wrapper)


def _record_triton(kernel: Any, *_: Any, **__: Any) -> None:
    _append(str(kernel.metadata.name), "Triton", triton_parameters(kernel.src))


def _record_cupy(source: str, *_: Any, **__: Any) -> None:
    # Not needed where CuPy is not.
    from gviz.cuda import declared_kernels

    if len(source) <= _MOST_SOURCE:
        for name, parameters in declared_kernels(source).items():
            _append(name, "CuPy", parameters)


def _append(symbol: str, framework: str, parameters: list[tuple[str, str]]) -> None:
    """Append a kernel's parameters to the spool."""
    if parameters:
        text = json.dumps([symbol, framework, parameters])
        native.append(RecordType.SIGNATURE, text.encode())


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
