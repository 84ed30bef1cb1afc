"""The product's Python modules, and what each imports, read from their syntax."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

#: Folders of the repository and the import name of each.
TREES = {"gviz": "gviz", "app": "gviz.app", "collectors": "gviz.collectors"}
#: Programs of their own, that no module imports.
_PROGRAMS = ("collectors/startup",)


@dataclass(frozen=True, slots=True)
class Import:
    """One imported name.

    Attributes
    ----------
    importer
        The module that imports.
    target
        The module or package that is imported, or from which a name is.
    name
        The name; empty where the module itself is imported.
    line
        Line of the import.
    """

    importer: str
    target: str
    name: str
    line: int


@dataclass(frozen=True)
class Module:
    """A module: where it is, what stands in it.

    Attributes
    ----------
    name
        Import name; a package has its own.
    path
        File, below the root.
    is_package
        Whether it is a package's ``__init__``.
    """

    name: str
    path: Path
    is_package: bool
    source: str = field(repr=False)

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree."""
        return ast.parse(self.source)


class Product:
    """All Python modules of a repository that are installed.

    Parameters
    ----------
    root
        The repository.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.modules = {module.name: module for module in _read_modules(root)}
        self.faces = {
            name: face
            for name, module in self.modules.items()
            if module.is_package and (face := _read_face(root / module.path)) is not None
        }

    @cached_property
    def imports(self) -> list[Import]:
        """Imports of each other, also those in functions and under TYPE_CHECKING."""
        return [i for module in self.modules.values() for i in self._imports_of(module)]

    def define(self, target: str, name: str) -> str:
        """Return the module that defines a name which a package's face may lead to."""
        while target in self.faces and name in self.faces[target]:
            source = self.faces[target][name]
            if source == target:
                return f"{target}.{name}"
            target = source
        return target

    def _imports_of(self, module: Module) -> Iterator[Import]:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name in self.modules:
                        yield Import(module.name, alias.name, "", node.lineno)
            elif isinstance(node, ast.ImportFrom) and node.module in self.modules:
                for alias in node.names:
                    full = f"{node.module}.{alias.name}"
                    listed = alias.name in self.faces.get(node.module, {})
                    if full in self.modules and not listed:
                        yield Import(module.name, full, "", node.lineno)
                    else:
                        yield Import(module.name, node.module, alias.name, node.lineno)


def parent(name: str) -> str:
    """Return the package that a module stands in."""
    return name.rpartition(".")[0]


def _read_modules(root: Path) -> Iterator[Module]:
    for folder, package in TREES.items():
        for path in sorted((root / folder).rglob("*.py")):
            inside = path.relative_to(root)
            if str(inside).startswith(_PROGRAMS):
                continue
            parts = [package, *path.relative_to(root / folder).with_suffix("").parts]
            is_package = parts[-1] == "__init__"
            name = ".".join(parts[:-1] if is_package else parts)
            yield Module(name, inside, is_package, path.read_text(encoding="utf-8"))


def _read_face(init: Path) -> dict[str, str] | None:
    """Return the module that each name of a package's face is imported from; None: no face."""
    stub = init.with_suffix(".pyi")
    if not stub.exists():
        return None
    return {
        alias.asname or alias.name: str(node.module)
        for node in ast.parse(stub.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
