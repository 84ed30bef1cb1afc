"""The single-line mutations that a module allows, read from its syntax tree."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mutating.mutation import Candidate, Mutation, Place, mutated

#: Operators that take each other's place.
_COMPARISONS = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}
_ARITHMETIC = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "//"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "//"),
    ast.Pow: ("**", "*"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
}
_OPPOSITES = {
    "min": "max",
    "max": "min",
    "minimum": "maximum",
    "maximum": "minimum",
    "argmin": "argmax",
    "argmax": "argmin",
    "any": "all",
    "all": "any",
    "floor": "ceil",
    "ceil": "floor",
}
#: Their numbers and operators are texts for people, types, or what tests do not see by design.
_LEFT_OUT = (ast.Raise, ast.Assert, ast.JoinedStr, ast.Import, ast.ImportFrom)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
#: Keywords that refuse what does not happen, or say how a class is printed and compared.
_UNSEEN = {"strict", "compare", "repr", "frozen", "slots"}


def candidates(module: Path, source: bytes) -> list[Candidate]:
    """Return the mutations of a module by line; a few of them may be no other program."""
    lines = source.splitlines()
    found: list[Candidate] = []
    ordinals: Counter[tuple[str, ...]] = Counter()
    for change in _Reader(lines).read(ast.parse(source)):
        line = lines[change.place.line - 1].decode().strip()
        key = (change.function, line, change.kind, change.was, change.now)
        mutation = Mutation(str(module), *key, ordinal=ordinals[key])
        ordinals[key] += 1
        found.append(Candidate(mutation, change.place, change.imported))
    return sorted(found, key=lambda c: (c.place.line, c.place.begin, c.mutation.now))


def is_other_program(source: bytes, candidate: Candidate) -> bool:
    """Return whether a mutation makes another program of a module, and not a syntax error."""
    try:
        other = ast.parse(mutated(source, [candidate]))
    except SyntaxError:
        return False
    return ast.dump(ast.parse(source)) != ast.dump(other)


@dataclass(frozen=True, slots=True)
class _Change:
    function: str
    kind: str
    place: Place
    was: str
    now: str
    imported: bool


class _Reader:
    """Reads the changes that a syntax tree allows; texts are those of its lines."""

    def __init__(self, lines: list[bytes]) -> None:
        self._lines = lines
        self._names: list[str] = []
        self._depth = 0

    def read(self, node: ast.AST) -> Iterator[_Change]:
        """Yield the changes of a node and of those in it."""
        if isinstance(node, _LEFT_OUT) or _is_for_types(node):
            return
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            yield from self._definition(node)
            return
        yield from self._own(node)
        for name, child in ast.iter_fields(node):
            if name in ("annotation", "returns") or (
                isinstance(node, ast.keyword) and node.arg in _UNSEEN
            ):
                continue
            for inner in child if isinstance(child, list) else [child]:
                if isinstance(inner, ast.AST):
                    yield from self.read(inner)

    def _definition(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    ) -> Iterator[_Change]:
        self._names.append(node.name)
        if isinstance(node, _FUNCTIONS):
            # Computed where the function is defined; decorators are left out.
            defaults = [*node.args.defaults, *filter(None, node.args.kw_defaults)]
            for default in defaults:
                yield from self.read(default)
        self._depth += isinstance(node, _FUNCTIONS)
        for statement in node.body:
            yield from self.read(statement)
        self._depth -= isinstance(node, _FUNCTIONS)
        self._names.pop()

    def _own(self, node: ast.AST) -> Iterator[_Change]:
        match node:
            case ast.Compare():
                yield from self._comparison(node)
            case ast.BinOp() if not _is_text(node):
                span = self._between(node.left, node.right)
                yield from self._operator("arithmetic", span, *_ARITHMETIC.get(type(node.op), ()))
            case ast.AugAssign() if not _holds_text(node.value):
                was, now = _ARITHMETIC.get(type(node.op), ("", ""))
                span = self._between(node.target, node.value)
                yield from self._operator("arithmetic", span, f"{was}=", f"{now}=")
            case ast.BoolOp():
                words = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
                for left, right in zip(node.values, node.values[1:], strict=False):
                    yield from self._operator("boolean", self._between(left, right), *words)
            case ast.UnaryOp(op=ast.Not()):
                yield from self._dropped_not(node)
            case ast.If() | ast.IfExp() | ast.While():
                yield from self._negated(node.test)
            case ast.comprehension():
                for test in node.ifs:
                    yield from self._negated(test)
            case ast.Call():
                yield from self._opposite(node.func)
            case ast.Constant():
                yield from self._constant(node)
            case ast.Return(value=ast.expr() as value):
                # A constant is changed as such.
                if not isinstance(value, ast.Constant):
                    yield from self._replaced("return", value, "None")
            case ast.Slice():
                yield from self._slice(node)

    def _comparison(self, node: ast.Compare) -> Iterator[_Change]:
        sides = [node.left, *node.comparators]
        for left, operator, right in zip(sides, node.ops, sides[1:], strict=False):
            span = self._between(left, right)
            yield from self._operator("comparison", span, *_COMPARISONS[type(operator)])

    def _dropped_not(self, node: ast.UnaryOp) -> Iterator[_Change]:
        operand = node.operand
        if node.lineno == operand.lineno:
            place = Place(node.lineno, node.col_offset, node.col_offset + len("not "))
            if self._text(place) == "not ":
                yield self._change("dropped not", place, "")

    def _negated(self, test: ast.expr) -> Iterator[_Change]:
        # The others are changed as such.
        if not isinstance(test, (ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Constant)):
            yield from self._replaced("negation", test, "not ({})")

    def _opposite(self, function: ast.expr) -> Iterator[_Change]:
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if name in _OPPOSITES:
            end = function.end_col_offset or 0
            place = Place(function.end_lineno or 0, end - len(name), end)
            yield self._change("min/max", place, _OPPOSITES[name])

    def _constant(self, node: ast.Constant) -> Iterator[_Change]:
        value = node.value
        if isinstance(value, bool):
            yield from self._replaced("constant", node, str(not value))
        elif isinstance(value, int):
            for near in (value - 1, value + 1) if value > 0 else (value + 1,):
                yield from self._replaced("constant", node, str(near))
        elif isinstance(value, float):
            yield from self._replaced("constant", node, str(value * 2 if value else 1.0))

    def _slice(self, node: ast.Slice) -> Iterator[_Change]:
        for bound, now in ((node.lower, "{} + 1"), (node.upper, "{} - 1")):
            # Constants are changed as such.
            if bound is not None and not isinstance(bound, (ast.Constant, ast.UnaryOp)):
                yield from self._replaced("slice", bound, now)
        if node.lower is None and node.upper is not None:
            yield self._change("slice", Place(node.lineno, node.col_offset, node.col_offset), "1")
        if node.upper is None and node.lower is not None and node.step is None:
            end = node.end_col_offset or 0
            yield self._change("slice", Place(node.end_lineno or 0, end, end), "-1")

    def _between(self, left: ast.expr, right: ast.expr) -> Place | None:
        """Return the place of what stands between two nodes, if that is one line."""
        end = left.end_lineno or 0
        if end == right.lineno:
            return Place(end, left.end_col_offset or 0, right.col_offset)
        # An operator stands before or behind the end of the line.
        behind = Place(end, left.end_col_offset or 0, len(self._lines[end - 1]))
        before = Place(right.lineno, 0, right.col_offset)
        return behind if self._text(behind).strip(" )") else before

    def _operator(
        self, kind: str, span: Place | None, was: str = "", now: str = ""
    ) -> Iterator[_Change]:
        if span is None or not was:
            return
        word = r"\b" if was[0].isalpha() else ""
        found = re.search(f"{word}{re.escape(was)}{word}", self._text(span))
        if found is not None:
            begin = span.begin + found.start()
            yield self._change(kind, Place(span.line, begin, begin + len(was)), now)

    def _replaced(self, kind: str, node: ast.expr, now: str) -> Iterator[_Change]:
        """Yield the replacement of an expression of one line; ``{}`` stands for its text."""
        if node.lineno == node.end_lineno:
            place = Place(node.lineno, node.col_offset, node.end_col_offset or 0)
            yield self._change(kind, place, now.replace("{}", self._text(place)))

    def _change(self, kind: str, place: Place, now: str) -> _Change:
        function = ".".join(self._names)
        return _Change(function, kind, place, self._text(place), now, not self._depth)

    def _text(self, place: Place) -> str:
        return self._lines[place.line - 1][place.begin : place.end].decode()


def _is_text(node: ast.BinOp) -> bool:
    """Return whether texts are joined, formatted or repeated."""
    return _holds_text(node.left) or _holds_text(node.right)


def _holds_text(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return _is_text(node)
    constant = isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))
    return constant or isinstance(node, ast.JoinedStr)


def _is_for_types(node: ast.AST) -> bool:
    """Return whether a statement is for types: ``if TYPE_CHECKING``, ``Key = int | str``."""
    if isinstance(node, ast.If):
        return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    if not (isinstance(node, ast.Assign) and isinstance(node.value, (ast.BinOp, ast.Subscript))):
        return False
    target = node.targets[0]
    return isinstance(target, ast.Name) and bool(re.match(r"_?[A-Z]\w*[a-z]", target.id))
