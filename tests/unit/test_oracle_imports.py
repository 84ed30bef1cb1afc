"""tests/oracle shares nothing with what it judges."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest
from places import TESTS

MODULES = sorted((TESTS / "oracle").glob("*.py"))
#: Python's own library, and the folder's own modules.
ALLOWED = sys.stdlib_module_names | {"oracle"}


def imported(path: Path) -> set[str]:
    """Return the outermost packages that a module imports, at any place in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "." * node.level)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            found.add(ast.unparse(node))
    return {name.split(".")[0] for name in found}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_the_oracle_imports_python_alone(path: Path) -> None:
    assert imported(path) <= ALLOWED


def test_what_imports_gviz_is_seen(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text("def f():\n    from gviz.stats import union\n    return union\n")
    assert imported(module) == {"gviz"}
