"""docs/waits.md names each module with a wait that has no deadline, and no other."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: Methods that wait until they are given a time.
_BOUNDED_BY_ARGUMENT = frozenset({"wait", "join", "communicate", "result", "acquire"})
#: Those of sockets that may have been given one before.
_BOUNDED_BEFORE = frozenset({"recv", "recvmsg", "recvfrom", "recv_into", "connect"})
#: Their connect opens a file, or memory.
_DATABASES = ("sqlite3.", "duckdb.")
_NEVER_BOUNDED = frozenset({"accept", "waitpid"})
_C_WAIT = re.compile(r"\b(?:pthread_cond_wait|pthread_join|waitpid|sem_wait|\w+Synchronize)\(")
#: A table of the driver's functions, by name.
_NO_CODE = frozenset({"collectors/csrc/gate/names.c"})


def _method(node: ast.AST) -> str:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr
    return ""


def _waits(node: ast.AST) -> bool:
    """Return whether a call may wait for ever, if nothing before it set a time."""
    name = _method(node)
    if not name:
        return False
    assert isinstance(node, ast.Call)
    if ast.unparse(node.func) == "select.select":  # reading, writing, failing, time
        return len(node.args) < 4
    if name in _BOUNDED_BY_ARGUMENT:
        return not node.args and not node.keywords
    return name in _NEVER_BOUNDED or (
        name in _BOUNDED_BEFORE and not ast.unparse(node.func).startswith(_DATABASES)
    )


def _has_waits(path: Path) -> bool:
    """Return whether a function of a module waits and has no deadline."""
    for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(function, ast.FunctionDef):
            waits = {_method(node) for node in ast.walk(function) if _waits(node)}
            if any(_method(node) == "settimeout" for node in ast.walk(function)):
                waits -= _BOUNDED_BEFORE
            if waits:
                return True
    return False


def test_every_wait_without_a_deadline_has_its_reason() -> None:
    found = set()
    for folder in ("gviz", "app", "collectors"):
        for path in (ROOT / folder).rglob("*.py"):
            if _has_waits(path):
                found.add(path.relative_to(ROOT).as_posix())
    for path in (ROOT / "collectors" / "csrc").rglob("*.c"):
        name = path.relative_to(ROOT).as_posix()
        if name not in _NO_CODE and _C_WAIT.search(path.read_text(encoding="utf-8")):
            found.add(name)
    text = (ROOT / "docs" / "waits.md").read_text(encoding="utf-8")
    table = text.partition("## Without a deadline")[2]
    named = re.findall(r"^\| ([\w./]+\.(?:py|c)) \|", table, re.MULTILINE)
    assert sorted(named) == sorted(found)
