"""First words of docstrings: a noun or a verb, not a question's."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from walls.modules import Product

#: Folders with Python code, installed or not.
_FOLDERS = ("gviz", "app", "collectors", "assets", "bench", "tests", "tools")
_QUESTION = re.compile(r"(What|Which|Whose|Who|How|Where|Whether|When|Why)\b")
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def find(product: Product) -> Iterator[str]:
    """Yield each module, class and function whose docstring begins as a question does."""
    for folder in _FOLDERS:
        for path in sorted((product.root / folder).rglob("*.py")):
            if "node_modules" not in path.parts:
                yield from _questions(path, path.relative_to(product.root).as_posix())


def _questions(path: Path, name: str) -> Iterator[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if not isinstance(node, _DOCUMENTED):
            continue
        word = _QUESTION.match(ast.get_docstring(node) or "")
        if word is not None:
            what = "the module" if isinstance(node, ast.Module) else node.name
            yield f"{name}: the docstring of {what} begins with {word[0]}"
