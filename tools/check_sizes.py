"""check_sizes.py [ROOT]: warn of long modules and functions, fail where they are longer still."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDERS = ("gviz", "app", "collectors", "assets/web", "bench", "tools")
SUFFIXES = {".py", ".c", ".h", ".js", ".css"}


@dataclass(frozen=True, slots=True)
class Limits:
    """The most lines of a module and of a function, and the message for more."""

    module: int
    function: int
    word: str


#: A generated file says so in its first characters.
_HEAD = 300
WARN = Limits(500, 60, "long")
FAIL = Limits(800, 80, "split it")


def find_long(root: Path, path: Path) -> Iterator[tuple[bool, str]]:
    """Yield of the module, and of each function, that is long: whether that fails, and a line."""
    text = path.read_text(encoding="utf-8")
    name = path.relative_to(root)
    lines = text.count("\n")
    is_written = ".min." not in path.name and "Generated from" not in text[:_HEAD]
    if lines > WARN.module and is_written:
        limits = FAIL if lines > FAIL.module else WARN
        yield limits is FAIL, f"{name}: {lines} lines, above {limits.module}: {limits.word}"
    if path.suffix != ".py":
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > WARN.function:
                limits = FAIL if length > FAIL.function else WARN
                text = f"{node.name} has {length} lines, above {limits.function}: {limits.word}"
                yield limits is FAIL, f"{name}:{node.lineno}: {text}"


def main(root: Path) -> int:
    """Check every source file; return 1 if one fails, after naming all that are long."""
    sources = [p for f in FOLDERS for p in sorted((root / f).rglob("*")) if p.suffix in SUFFIXES]
    files = [path for path in sources if "node_modules" not in path.parts]
    found = [complaint for path in files for complaint in find_long(root, path)]
    for fails, text in found:
        print(text if fails else f"warning: {text}")
    failed = sum(fails for fails, _ in found)
    print(f"sizes: {len(files)} source files, {failed} above the limits, {len(found)} long")
    return 1 if failed or not files else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent))
