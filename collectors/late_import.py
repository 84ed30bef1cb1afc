"""Doing something to a module when it is there: now, or once the program imports it."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


class LateImport(MetaPathFinder):
    """Calls ``action`` with a top-level module, once, after it was imported.

    The import itself is the ordinary one: the module's own loader is put back before the
    module's code can look at it.
    """

    def __init__(self, name: str, action: Callable[[ModuleType], None]) -> None:
        self._name = name
        self._action = action
        self._searching = False

    def install(self) -> None:
        """Act now if the module is there, else when it comes."""
        module = sys.modules.get(self._name)
        spec = getattr(module, "__spec__", None)
        if module is not None and not getattr(spec, "_initializing", False):
            self.act(module)
        else:
            sys.meta_path.insert(0, self)

    def remove(self) -> None:
        """Wait no longer."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def act(self, module: ModuleType) -> None:
        """Call the action; it must not break the import."""
        self.remove()
        try:
            self._action(module)
        except Exception as error:
            print(f"gviz: graphs of {self._name} are not seen: {error}", file=sys.stderr)

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """Return the ordinary spec with a loader that tells us; None for other modules."""
        if fullname != self._name or self._searching:
            return None
        self._searching = True
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self._searching = False
        if spec is not None and spec.loader is not None:
            spec.loader = _TellingLoader(spec.loader, self)
        return spec


class _TellingLoader(Loader):
    """Stands before a module's loader for the one import."""

    def __init__(self, loader: Loader, waiting: LateImport) -> None:
        self._loader = loader
        self._waiting = waiting

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        spec.loader = self._loader
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        self._waiting.act(module)
