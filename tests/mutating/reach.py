"""Tests that run a mutated line: a copy of its module marks the line in a file.

A test's name is in the environment (:mod:`mutating.plugin`), so that processes that it starts
mark their lines as that test's. What a fixture of a module or session did counts for all tests
that ask for it. A line that runs when its module is imported counts for all tests that enter a
function of the module.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mutating.mutation import Candidate

#: Copied into the environment of the copy as this module; it needs nothing but Python.
MARKER = "gviz_mutation_mark"
MARKER_SOURCE = """
import os

_seen = set()


def mark(number):
    by = os.environ.get("GVIZ_MUTATION_TEST", "")
    if (number, by) not in _seen:
        _seen.add((number, by))
        path = os.environ.get("GVIZ_MUTATION_MARKS")
        if path:
            with open(path, "a") as file:
                file.write(f"{number}\\t{by}\\n")
"""


def marking(source: bytes, lines: Sequence[tuple[int, int]], entered: int | None) -> str:
    """Return the source of a module that marks statements before they run.

    Parameters
    ----------
    lines
        Pairs of line and number: the innermost statement that holds the line is marked.
    entered
        Number that every function marks when it is entered; None: none.
    """
    tree = ast.parse(source)
    for line, number in lines:
        _mark_line(tree, line, number)
    if entered is not None:
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                node.body.insert(_first(node), _mark(entered))
    return ast.unparse(ast.fix_missing_locations(tree))


def _first(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return the index of the first statement behind the docstring."""
    return int(ast.get_docstring(function) is not None)


def _mark(number: int) -> ast.stmt:
    return ast.parse(f"__import__({MARKER!r}).mark({number})").body[0]


def _mark_line(tree: ast.Module, line: int, number: int) -> None:
    """Insert a mark before the innermost statement that holds a line."""
    block, at = tree.body, 0
    inner: list[ast.stmt] | None = tree.body
    while inner is not None:
        block = inner
        at = next(i for i, s in enumerate(block) if _holds(s, line))
        inner = next((b for b in _blocks(block[at]) if any(_holds(s, line) for s in b)), None)
    block.insert(at, _mark(number))


def _holds(statement: ast.stmt, line: int) -> bool:
    # A mark inserted before has no place.
    begin = getattr(statement, "lineno", 0)
    return begin <= line <= (getattr(statement, "end_lineno", 0) or 0)


def _blocks(statement: ast.stmt) -> list[list[ast.stmt]]:
    parts = [statement, *getattr(statement, "handlers", []), *getattr(statement, "cases", [])]
    names = ("body", "orelse", "finalbody")
    return [
        getattr(p, name) for p in parts for name in names if isinstance(getattr(p, name, 0), list)
    ]


@dataclass(frozen=True, slots=True)
class Reach:
    """The tests that run each mutated line, and how long tests take.

    Attributes
    ----------
    tests
        Names of tests, by number of the mutation.
    seconds
        How long a test that passed takes with its fixtures; those that failed are left out.
    """

    tests: dict[int, frozenset[str]]
    seconds: dict[str, float]

    def by_cost(self, number: int) -> list[str]:
        """Return the tests that run a line, in files: those of the cheapest file first."""
        cost: dict[str, float] = {}
        found = [t for t in self.tests.get(number, ()) if t in self.seconds]
        for test in found:
            name = test.partition("::")[0]
            cost[name] = cost.get(name, 0) + self.seconds[test]
        return sorted(
            found, key=lambda t: (cost[(n := t.partition("::")[0])], n, self.seconds[t], t)
        )

    def write(self, path: Path) -> None:
        """Write it as JSON."""
        tests = {number: sorted(names) for number, names in self.tests.items()}
        path.write_text(json.dumps({"tests": tests, "seconds": self.seconds}))

    @classmethod
    def read(cls, path: Path) -> Reach:
        """Read what was written."""
        found = json.loads(path.read_text())
        return cls({int(k): frozenset(v) for k, v in found["tests"].items()}, found["seconds"])


def sources(source: Callable[[str], bytes], chosen: Sequence[Candidate]) -> dict[str, bytes]:
    """Return the marking source of each module with a mutation; marks are indices of chosen.

    Entered functions of a module have the number of its first mutation that runs on import,
    negative and less one.
    """
    found = {}
    for module in {c.module for c in chosen}:
        mine = [(n, c) for n, c in enumerate(chosen) if c.module == module]
        imported = [n for n, c in mine if c.imported]
        lines = [(c.place.line, n) for n, c in mine if not c.imported]
        entered = -1 - imported[0] if imported else None
        found[module] = marking(source(module), lines, entered).encode()
    return found


def read_marks(
    marks: Path, chosen: Sequence[Candidate], fixtures: dict[str, list[str]]
) -> dict[int, frozenset[str]]:
    """Return the tests of each mutation.

    Parameters
    ----------
    marks
        The file that marked lines wrote.
    fixtures
        Of each test the fixtures that several tests share, as they are named in marks.
    """
    by_number: dict[int, set[str]] = {}
    for row in marks.read_text().splitlines():
        number, *by = row.split("\t")
        by_number.setdefault(int(number), set()).update(by)
    users: dict[str, set[str]] = {}
    for test, names in fixtures.items():
        for name in names:
            users.setdefault(name, set()).add(test)
    found: dict[int, frozenset[str]] = {}
    firsts: dict[str, int] = {}
    for at, candidate in enumerate(chosen):
        if candidate.imported:
            firsts.setdefault(candidate.module, -1 - at)
        key = firsts[candidate.module] if candidate.imported else at
        marked = by_number.get(key, set())
        tests = marked & fixtures.keys()
        found[at] = frozenset(tests.union(*(users.get(by, ()) for by in marked)))
    return found
