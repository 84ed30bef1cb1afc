"""Words of identifiers: those of docs/glossary.md, not slang for them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from walls.modules import Product

#: Words that no module, class, function or variable is named with, and what they are called.
REFUSED = {
    "told": "recorded, reported", "tell": "show, report", "tells": "shows, reports",
    "said": "reported", "asked": "requested", "asks": "requests",
    "doubt": "caveat", "doubts": "caveats", "edition": "version", "editions": "versions",
    "holder": "parent node", "holders": "parent nodes",
    "turn": "iteration", "turns": "iterations", "pass": "iteration", "passes": "iterations",
}  # fmt: skip
#: Keys of JSON results, which are fields of classes.
ALLOWED = {"doubts", "holder", "turns", "passes", "pass_count", "unjudged_passes"}
#: Nodes take turns that could run side by side: no loop is meant.
_IDIOM = re.compile(r"turn_?taking|took_turns", re.IGNORECASE)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def find(product: Product) -> Iterator[str]:
    """Yield each name that has a refused word, once a module."""
    for module in product.modules.values():
        names = {module.name.rpartition(".")[2], *_names(module.tree)} - ALLOWED
        for name in sorted(names):
            for word in sorted(
                {part.lower() for part in _WORD.findall(_IDIOM.sub("", name))} & REFUSED.keys()
            ):
                yield f"{module.name}: {name}: say {REFUSED[word]} instead of {word}"


def _names(tree: ast.Module) -> Iterator[str]:
    """Yield the names that a module gives; those that it only uses are others'."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name.strip("_")
            case ast.arg():
                yield node.arg.strip("_")
            case ast.Name(ctx=ast.Store()):
                yield node.id.strip("_")
            case ast.Attribute(ctx=ast.Store()):
                yield node.attr.strip("_")
