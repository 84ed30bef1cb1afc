"""The face of a package: names that others may use, loaded when they are first asked for.

A package lists them in ``__init__.pyi``, which is what type checkers read, one import a line::

    from gviz.dag.cycle import describe_cycle as describe_cycle

and its ``__init__.py`` says::

    __getattr__, __dir__, __all__ = attach(__name__, __file__)

so that importing one name loads the module that defines it and no other.

References
----------
The form is that of SPEC 1, lazy loading of submodules: https://scientific-python.org/specs/spec-0001/
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def attach(
    package: str, file: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return the ``__getattr__``, ``__dir__`` and ``__all__`` of a package.

    Parameters
    ----------
    package
        Its ``__name__``.
    file
        Its ``__file__``; the face lies beside it.
    """
    modules = read_face(Path(file).with_suffix(".pyi"))

    def load(name: str) -> Any:
        module = modules.get(name)
        if module is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if module == package:  # a module that is used as a namespace
            return import_module(f"{package}.{name}")
        try:
            value = getattr(import_module(module), name)
        except AttributeError as error:  # Python would say no more than that the name is missing
            raise ImportError(f"{package}.{name} cannot be loaded: {error}") from error
        setattr(sys.modules[package], name, value)
        return value

    return load, lambda: sorted(modules), sorted(modules)


def read_face(path: Path) -> dict[str, str]:
    """Return, by name, the module that each name of a face is imported from."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {
        alias.name: str(node.module)
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
