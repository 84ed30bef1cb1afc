"""Sentences for users: written once, not in two of gviz.cli, gviz.report and gviz.app.

Compared are texts longer than 30 characters, without docstrings; what an f-string puts in is left
out, so that the same sentence around other names of variables is the same.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator

from walls.modules import Module, Product

_PACKAGES = ("gviz.cli", "gviz.report", "gviz.app")
_LEAST_LENGTH = 31


def find(product: Product) -> Iterator[str]:
    """Yield each text that stands in two of the packages."""
    places: dict[str, set[str]] = defaultdict(set)
    for module in product.modules.values():
        if f"{module.name}.".startswith(tuple(f"{package}." for package in _PACKAGES)):
            for text in texts(module):
                places[text].add(module.name)
    for text, modules in sorted(places.items()):
        if len({_package(name) for name in modules}) > 1:
            yield f"{text!r}: in {' and in '.join(sorted(modules))}"


def texts(module: Module) -> Iterator[str]:
    """Yield the long texts of a module, each a line."""
    skipped = {id(node) for node in _docstrings(module.tree)}
    for node in ast.walk(module.tree):
        if isinstance(node, ast.JoinedStr):
            skipped |= {id(part) for part in ast.walk(node) if part is not node}
            parts = [p.value for p in node.values if isinstance(p, ast.Constant)]
            text = "{}".join(str(part) for part in parts)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        else:
            continue
        text = " ".join(text.split())
        # Class names of CSS, SQL and addresses have no spaces between words of a sentence.
        if id(node) not in skipped and len(text) >= _LEAST_LENGTH and " " in text:
            yield text


def _docstrings(tree: ast.Module) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                yield first.value


def _package(name: str) -> str:
    return ".".join(name.split(".")[:2])
