"""Notice of modules that the program imports, so that gviz imports none of its own accord."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from gviz.system import say

Callback = Callable[[ModuleType], None]

#: Appended to and removed from in single steps: no lock that a fork could leave held.
_watched: dict[str, list[Callback]] = {}


def on_import(name: str, callback: Callback) -> Callable[[], None]:
    """Call ``callback`` with a module once its code has run; at once if it is there already.

    It is called again when the module is reloaded. An exception of the callback is reported in one
    line on stderr and never reaches the import.

    Parameters
    ----------
    name
        Full name of the module, such as ``"torch.profiler"``.
    callback
        Takes the module. Another thread may be importing the module while this is called: then it
        is handed over as far as it has come.

    Returns
    -------
    Callable
        Ends the watching; calling it twice does nothing.
    """
    callbacks = _watched.setdefault(name, [])
    callbacks.append(callback)
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)

    def remove() -> None:
        with suppress(ValueError):
            callbacks.remove(callback)
        if not any(_watched.values()):
            with suppress(ValueError):
                sys.meta_path.remove(_FINDER)

    module = sys.modules.get(name)
    if module is not None:
        _notify(callback, module)
    return remove


def _notify(callback: Callback, module: ModuleType) -> None:
    try:
        callback(module)
    except Exception as error:  # the program's import must not fail for our sake
        say(f"gviz: a hook on {module.__name__} failed: {error}")


class _Finder:
    """Uses the finders after it, and has a watched module's loader notify when it is done."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not _watched.get(name):
            return None
        for finder in tuple(sys.meta_path):
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = _Loader(spec, spec.loader)  # type: ignore[assignment]
                return spec
        return None


class _Loader:
    """Stands in for a module's loader until the module's code starts to run."""

    def __init__(self, spec: ModuleSpec, loader: Any) -> None:
        self._spec = spec
        self._loader = loader

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return type(self._loader)  # for those who only look for a module, and at its loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        create = getattr(self._loader, "create_module", None)
        found: ModuleType | None = create(spec) if create is not None else None
        return found

    def exec_module(self, module: ModuleType) -> None:
        self._spec.loader = self._loader  # the module sees its own loader, as without us
        module.__loader__ = self._loader
        if hasattr(self._loader, "exec_module"):
            self._loader.exec_module(module)
        else:
            self._loader.load_module(module.__name__)
        for callback in tuple(_watched.get(module.__name__, ())):
            _notify(callback, sys.modules.get(module.__name__, module))


_FINDER = _Finder()
