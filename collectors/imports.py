"""Acting when a module is imported, without importing it."""

from __future__ import annotations

import importlib.machinery
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

#: Loaders of which every module has its own: the ones that can be watched through the instance.
_OWN_LOADERS = (
    importlib.machinery.SourceFileLoader,
    importlib.machinery.SourcelessFileLoader,
    importlib.machinery.ExtensionFileLoader,
)

Act = Callable[[ModuleType], None]


class ImportWatch(MetaPathFinder):
    """Calls a function with a module once it is imported, or at once if it is already.

    It finds nothing itself and leaves the loaders in place: only the one method that executes a
    watched module is wrapped, on that module's loader, until it has run.

    Parameters
    ----------
    note
        Called with a sentence where a function failed.
    """

    def __init__(self, note: Callable[[str], None]) -> None:
        self._note = note
        self._acts: dict[str, Act] = {}
        self._asking: set[str] = set()

    def when_imported(self, name: str, act: Act) -> None:
        """Call ``act`` with the module ``name``, now or when it has been executed."""
        module = sys.modules.get(name)
        if module is not None and not _under_way(module):
            self._call(name, module, act)
            return
        self._acts[name] = act
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)

    def remove(self) -> None:
        """Stop watching."""
        self._acts.clear()
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return what the other finders find, its loader watched; None for other modules."""
        if fullname not in self._acts or fullname in self._asking:
            return None
        self._asking.add(fullname)
        try:
            spec = _find_elsewhere(self, fullname, path, target)
        finally:
            self._asking.discard(fullname)
        if spec is not None and type(spec.loader) in _OWN_LOADERS:
            self._watch(fullname, spec.loader)
        return spec

    def _watch(self, name: str, loader: Any) -> None:
        def exec_module(module: ModuleType) -> None:
            del loader.exec_module  # the class's own again
            loader.exec_module(module)
            act = self._acts.pop(name, None)
            if act is not None:
                self._call(name, module, act)

        loader.exec_module = exec_module

    def _call(self, name: str, module: ModuleType, act: Act) -> None:
        try:
            act(module)
        except Exception as error:  # of a library in a version unknown here; the import is fine
            self._note(f"{name} could not be hooked into: {error}")


def _under_way(module: ModuleType) -> bool:
    return bool(getattr(getattr(module, "__spec__", None), "_initializing", False))


def _find_elsewhere(
    self: MetaPathFinder, fullname: str, path: Sequence[str] | None, target: ModuleType | None
) -> ModuleSpec | None:
    for finder in sys.meta_path:
        if finder is not self and hasattr(finder, "find_spec"):
            spec = finder.find_spec(fullname, path, target)
            if spec is not None:
                return spec
    return None
