"""Fail when a module or a function is longer than the house style allows (CONTRIBUTING.md)."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("gviz", "app", "collectors", "assets/web", "bench", "tools")
SUFFIXES = {".py", ".c", ".h", ".js", ".css"}
MODULE_LINES = 500
FUNCTION_LINES = 60


def find_long(path: Path) -> Iterator[str]:
    """Yield one complaint for the module, if it is too long, and one for each such function."""
    text = path.read_text(encoding="utf-8")
    name = path.relative_to(ROOT)
    lines = text.count("\n")
    if lines > MODULE_LINES and ".min." not in path.name:
        yield f"{name}: {lines} lines, at most {MODULE_LINES}; split it"
    if path.suffix != ".py":
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > FUNCTION_LINES:
                yield f"{name}:{node.lineno}: {node.name} has {length} lines, at most 60; split it"


def main() -> int:
    """Check every source file; return 1 after naming those that are too long."""
    files = [p for f in FOLDERS for p in sorted((ROOT / f).rglob("*")) if p.suffix in SUFFIXES]
    complaints = [c for path in files for c in find_long(path)]
    print("\n".join(complaints) or f"sizes: {len(files)} source files within the limits")
    return 1 if complaints or not files else 0


if __name__ == "__main__":
    sys.exit(main())
