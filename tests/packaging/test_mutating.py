"""Mutations that a module allows; one is found again after its module has changed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from mutating.campaign import single
from mutating.choice import choose, read_candidates
from mutating.kinds import candidates, is_other_program
from mutating.mutation import Candidate, find_again, mutated
from mutating.reach import MARKER, MARKER_SOURCE, Reach, marking, read_marks, sources

ROOT = Path(__file__).resolve().parent.parent.parent
#: A statement, and what becomes of it.
CHANGES = [
    ("f(a < b)", {"f(a <= b)"}),
    ("f(a is not b)", {"f(a is b)"}),
    ("f(a not in b)", {"f(a in b)"}),
    ("f((a) == (b))", {"f((a) != (b))"}),
    ("f(a < b < c)", {"f(a <= b < c)", "f(a < b <= c)"}),
    ("f(a and b and c)", {"f(a or b and c)", "f(a and b or c)"}),
    ("f(not a)", {"f(a)"}),
    ("f(a + b)", {"f(a - b)"}),
    ("f(a // b)", {"f(a * b)"}),
    ("f(a | b)", {"f(a & b)"}),
    ("a += b", {"a -= b"}),
    ("f(min(a))", {"f(max(a))"}),
    ("f(a.max())", {"f(a.min())"}),
    ("f(np.minimum(a, b))", {"f(np.maximum(a, b))"}),
    ("f(5)", {"f(4)", "f(6)"}),
    ("f(0)", {"f(1)"}),
    ("f(2.5)", {"f(5.0)"}),
    ("f(True)", {"f(False)"}),
    ("f(a[b:c])", {"f(a[b + 1:c])", "f(a[b:c - 1])"}),
    ("f(a[:b])", {"f(a[1:b])", "f(a[:b - 1])"}),
    ("f(a[b:])", {"f(a[b:-1])", "f(a[b + 1:])"}),
    ("f(a[:])", set()),
    ("f(b if a else c)", {"f(b if not (a) else c)"}),
    ("f(x for x in a if x)", {"f(x for x in a if not (x))"}),
    ("def f(): return a", {"def f(): return None"}),
    ("def f(a=5): pass", {"def f(a=4): pass", "def f(a=6): pass"}),
    # Bytes before it are not characters.
    ("f('µs', a < b)", {"f('µs', a <= b)"}),
]
LEFT_OUT = [
    '"""1 < 2"""',
    "raise ValueError(a + 1)",
    "assert a < b",
    "f(f'{a + 1}')",
    "f('a' + b)",
    "f('%d' % a)",
    "a: Literal[1] | None",
    "def f(a: Literal[1]) -> Literal[2]: pass",
    "Key = int | str",
    "import a.b",
    "zip(a, b, strict=True)",
    "field(compare=False)",
]


@pytest.mark.parametrize(("line", "expected"), CHANGES)
def test_each_operator_constant_and_bound_is_changed(line: str, expected: set[str]) -> None:
    assert programs(line) == expected


@pytest.mark.parametrize("line", LEFT_OUT)
def test_messages_types_and_texts_are_left_alone(line: str) -> None:
    assert programs(line) == set()


def test_statements_for_type_checkers_and_decorators_are_left_alone() -> None:
    source = b"if TYPE_CHECKING:\n    f(1)\n@g(1)\nclass A:\n    pass\n"
    assert candidates(Path("m.py"), source) == []


def test_operator_behind_a_line_break_is_changed_in_its_line() -> None:
    source = b"f(\n    a\n    and b\n    + c\n)\n"
    found = {mutated(source, [c]) for c in candidates(Path("m.py"), source)}
    assert found == {source.replace(b"and", b"or"), source.replace(b"+", b"-")}


def test_mutations_of_a_module_change_one_line_each() -> None:
    path = ROOT / "tests/mutating/mutation.py"
    source = path.read_bytes()
    lines = source.splitlines()
    found = candidates(path, source)
    assert len(found) > 20
    for candidate in found:
        other = mutated(source, [candidate]).splitlines()
        assert [n for n, line in enumerate(lines, 1) if line != other[n - 1]] == [
            candidate.place.line
        ]
        assert is_other_program(source, candidate)


def test_same_seed_chooses_the_same_mutations_of_different_lines() -> None:
    present = read_candidates(ROOT, ["gviz/stats"])
    chosen = choose(ROOT, present, 20, 3)
    assert chosen == choose(ROOT, present, 20, 3)
    assert chosen != choose(ROOT, present, 20, 4)
    assert len({(c.module, c.place.line) for c in chosen}) == 20
    with pytest.raises(ValueError, match="1000000 mutations asked for"):
        choose(ROOT, present, 1_000_000, 3)


SOURCE = """\
def first(a, b):
    return a < b or a < b

class Second:
    def third(self, a, b):
        return a < b or a < b
"""


class TestFindAgain:
    """A mutation of SOURCE in a changed tree."""

    @pytest.fixture
    def wanted(self) -> Candidate:
        """The second comparison in the method."""
        same = [c for c in read(SOURCE) if c.mutation.kind == "comparison"]
        return same[3]

    def test_in_a_moved_module_whose_lines_have_shifted(self, wanted: Candidate) -> None:
        present = read("\n\nX = 1\n" + SOURCE, "gviz/dag/a.py")
        found = find_again(wanted.mutation, present)
        assert found is not None
        assert (found.module, found.place.line) == ("gviz/dag/a.py", 9)
        assert found.place.begin == wanted.place.begin

    def test_in_a_module_with_another_name(self, wanted: Candidate) -> None:
        found = find_again(wanted.mutation, read(SOURCE, "gviz/dag/b.py"))
        assert found is not None
        assert (found.module, found.place) == ("gviz/dag/b.py", wanted.place)

    def test_among_equal_ones_the_module_of_the_same_name_counts(self, wanted: Candidate) -> None:
        present = read(SOURCE, "gviz/dag/b.py") + read(SOURCE, "gviz/dag/a.py")
        found = find_again(wanted.mutation, present)
        assert found is not None
        assert found.module == "gviz/dag/a.py"

    def test_among_equal_ones_elsewhere_none_counts(self, wanted: Candidate) -> None:
        present = read(SOURCE, "gviz/dag/b.py") + read(SOURCE, "gviz/dag/c.py")
        assert find_again(wanted.mutation, present) is None

    def test_in_a_renamed_class_where_the_line_is_the_only_one(self) -> None:
        text = "class A:\n    def f(self):\n        return a < b\n"
        wanted = next(c for c in read(text) if c.mutation.kind == "comparison")
        found = find_again(wanted.mutation, read(text.replace("A", "Other")))
        assert found is not None
        assert found.mutation.function == "Other.f"

    def test_in_a_function_whose_line_reads_otherwise(self) -> None:
        present = read("def f(a, b):\n    return a < b\n")
        wanted = next(c for c in present if c.mutation.kind == "comparison")
        found = find_again(wanted.mutation, read("def f(a, b):\n    return g(a) < b\n"))
        assert found is not None
        assert found.place.begin == len("    return g(a) ")

    def test_not_where_the_comparison_is_gone(self, wanted: Candidate) -> None:
        assert find_again(wanted.mutation, read(SOURCE.replace("<", ">"))) is None


MARKED = """\
import sys

LIMIT = 3

def f(a):
    '''Docstring.'''
    if a > 1:
        b = 1
    elif a > 0:
        b = 2
    else:
        b = 3
    try:
        return [b][a]
    except IndexError:
        return b
"""


@pytest.mark.parametrize(
    ("argument", "expected"),
    [(2, {7, 8, 14, 16}), (1, {7, 9, 10, 14, 16}), (0, {7, 9, 12, 14})],
)
def test_marks_are_of_the_lines_that_run(tmp_path: Path, argument: int, expected: set[int]) -> None:
    lines = [(n, n) for n in (7, 8, 9, 10, 12, 14, 16)]
    assert run_marked(tmp_path, marking(MARKED.encode(), lines, None), argument) == expected


def test_functions_of_a_module_are_marked_when_they_are_entered(tmp_path: Path) -> None:
    assert run_marked(tmp_path, marking(MARKED.encode(), [], -1), 0) == {-1}


def test_line_of_a_module_counts_for_tests_that_enter_its_functions(tmp_path: Path) -> None:
    present = read(MARKED)
    chosen = [next(c for c in present if c.mutation.line == t) for t in ("LIMIT = 3", "if a > 1:")]
    text = sources(lambda _: MARKED.encode(), chosen)[chosen[0].module].decode()
    assert text.count(MARKER) == 2
    marks = tmp_path / "marks"
    marks.write_text("-1\tone\n1\tfixture a\tfixture b\n1\t\n")
    fixtures = {"one": [], "two": ["fixture b"], "three": ["fixture c"]}
    assert read_marks(marks, chosen, fixtures) == {0: {"one"}, 1: {"two"}}


def test_tests_of_the_cheapest_module_come_first() -> None:
    seconds = {"a::1": 1.0, "a::2": 0.1, "b::1": 0.5, "b::2": 0.2, "c::1": 0.1}
    reached = Reach({0: frozenset({"a::1", "a::2", "b::1", "b::2", "failed::1"})}, seconds)
    assert reached.by_cost(0) == ["b::2", "b::1", "a::2", "a::1"]
    assert reached.by_cost(1) == []


@pytest.mark.parametrize("culprit", range(7))
def test_single_one_that_fails_is_found_by_halves(culprit: int) -> None:
    assert single(range(7), lambda some: culprit in some) == culprit


def test_several_that_fail_only_together_are_not_blamed() -> None:
    assert single(range(7), lambda some: {1, 5} <= {*some}) is None


def read(source: str, module: str = "gviz/analysis/a.py") -> list[Candidate]:
    return candidates(Path(module), source.encode())


def programs(line: str) -> set[str]:
    """Return a line with each of its mutations, without those that leave its program alone."""
    source = line.encode()
    found = [c for c in candidates(Path("m.py"), source) if is_other_program(source, c)]
    return {mutated(source, [c]).decode() for c in found}


def run_marked(folder: Path, source: str, argument: int) -> set[int]:
    """Call f of a module that marks its lines, in a process of its own."""
    (folder / "marked.py").write_text(source)
    (folder / f"{MARKER}.py").write_text(MARKER_SOURCE)
    own = {"GVIZ_MUTATION_MARKS": str(folder / "marks"), "GVIZ_MUTATION_TEST": "test"}
    environment = {**os.environ, **own, "PYTHONPATH": str(folder)}
    code = f"import marked; marked.f({argument})"
    subprocess.run([sys.executable, "-c", code], check=True, env=environment, cwd=folder)
    rows = [line.split("\t") for line in (folder / "marks").read_text().splitlines()]
    assert {by for _, by in rows} == {"test"}
    return {int(number) for number, _ in rows}
