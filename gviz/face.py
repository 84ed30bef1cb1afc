"""The face of a package: names that others may use, loaded on first use.

A package lists them in ``__init__.pyi``, which is what type checkers read, one import a line::

    from gviz.dag.cycle import describe_cycle as describe_cycle

and its ``__init__.py`` says::

    __getattr__, __dir__ = attach(__name__, __file__)

so that importing one name loads the module that defines it and no other. The list itself is read
when the first name is used: a program that gviz attaches to pays for nothing it does not use.

References
----------
The form is that of SPEC 1, lazy loading of submodules: https://scientific-python.org/specs/spec-0001/
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any


def attach(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and ``__dir__`` of a package.

    Parameters
    ----------
    package
        Its ``__name__``.
    file
        Its ``__file__``; the face lies beside it.
    """
    path = os.path.splitext(file)[0] + ".pyi"

    def load(name: str) -> Any:
        if name == "__all__":
            return sorted(read_face(path))
        # What Python and debuggers look up in any module is in no face.
        module = None if name.startswith("__") else read_face(path).get(name)
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

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *read_face(path)})

    return load, names


@cache
def read_face(path: str) -> dict[str, str]:
    """Return the module that each name of a face is imported from, by name.

    Its lines are split, not parsed: watched programs wait for it.
    """
    with open(path, encoding="utf-8") as file:
        imports = [line.split() for line in file if line.startswith("from ")]
    return {words[-1]: words[1] for words in imports}
