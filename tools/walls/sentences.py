"""Sentences for users: written once, not in two packages of gviz.

Compared are texts without docstrings: of all packages those longer than 30 characters; of those
that print for users also headings and phrases, which are shorter but begin with a capital letter
and have two words at least. What an f-string puts in is left out, and so are capitals and the stop
at the end: the same sentence around other names of variables, or in another place, is the same.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator

from walls.modules import Module, Product

_LEAST_LENGTH = 31
#: Packages that print for users, and the least length of their headings.
_PRINTING = ("gviz.cli", "gviz.report", "gviz.app", "gviz.api", "gviz.checks")
_LEAST_HEADING = 8
#: What a text may have more at its ends, and be the same.
_EDGES = " .:;,{}"


def find(product: Product) -> Iterator[str]:
    """Yield each text that stands in two packages."""
    places: dict[str, set[str]] = defaultdict(set)
    for module in product.modules.values():
        if "." in module.name:
            for text in texts(module):
                places[text].add(module.name)
    for text, modules in sorted(places.items()):
        if len({_package(name) for name in modules}) > 1:
            yield f"{text!r}: in {' and in '.join(sorted(modules))}"


def texts(module: Module) -> Iterator[str]:
    """Yield the texts of a module that are compared, each a line."""
    prints = f"{module.name}.".startswith(tuple(f"{package}." for package in _PRINTING))
    skipped = {id(node) for node in _docstrings(module.tree)}
    for node in ast.walk(module.tree):
        if isinstance(node, ast.JoinedStr):
            skipped |= {id(part) for part in ast.walk(node) if part is not node}
            parts = [p.value if isinstance(p, ast.Constant) else "{}" for p in node.values]
            text = "".join(str(part) for part in parts)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        else:
            continue
        text = " ".join(text.split()).strip(_EDGES)
        if id(node) not in skipped and (_is_long(text) or (prints and _is_heading(text))):
            yield text.casefold()


def _is_long(text: str) -> bool:
    # Class names of CSS, SQL and addresses have no spaces between words of a sentence.
    return len(text) >= _LEAST_LENGTH and " " in text


def _is_heading(text: str) -> bool:
    return len(text) >= _LEAST_HEADING and text[:1].isupper() and " " in text


def _docstrings(tree: ast.Module) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                yield first.value


def _package(name: str) -> str:
    return ".".join(name.split(".")[:2])
