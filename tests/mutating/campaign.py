"""Mutations tried one by one on the tests that run their line, then together on all tests."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from mutating import reach
from mutating.mutation import Candidate
from mutating.reach import Reach
from mutating.suite import SLOW_TEST_LIMIT_S, TEST_LIMIT_S, Run, Suite
from mutating.tree import Tree

#: Tests of a mutation alone: as many as take so long (s), then as many more. What is left runs
#: with all mutations that are left together.
STEPS_S = (3.0, 12.0)
_WITHOUT_BROWSER = "not gpu and not browser"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Outcomes of a mutation.

    Attributes
    ----------
    number
        Index of the mutation.
    by
        The test, or module of tests, that fails with it alone and not without it; empty: none.
    error
        First line of how it fails.
    reached
        Tests without a browser that run its line.
    stage
        ``alone`` or ``together``: when it was caught; ``whole``: no test of the suite catches
        it; ``left``: not all tests were run.
    """

    number: int
    by: str
    error: str
    reached: int
    stage: str

    @property
    def caught(self) -> bool:
        """Return whether a test catches it."""
        return bool(self.by)


class Campaign:
    """Tries mutations; what is known is kept in a folder, and a stopped campaign goes on there.

    Parameters
    ----------
    tree
        The copy.
    chosen
        The mutations, with their places in the tree.
    folder
        Where results are kept; those of another tree or choice are removed.
    known
        The test that caught a mutation before, by number; it is tried first.
    """

    def __init__(
        self, tree: Tree, chosen: Sequence[Candidate], folder: Path, known: dict[int, str]
    ) -> None:
        self._tree, self._chosen, self._folder, self._known = tree, chosen, folder, known
        self._suite = Suite(tree)
        self._verdicts: dict[int, Verdict] = {}
        self._whole: set[str] = set()
        self._apart: set[str] = set()
        folder.mkdir(parents=True, exist_ok=True)
        self._resume()

    def run(self, *, whole: bool) -> list[Verdict]:
        """Return what became of each mutation; ``whole``: after the whole suite."""
        try:
            reached = self._measure_reach()
            for number in range(len(self._chosen)):
                if number not in self._verdicts:
                    self._keep(self._try_alone(number, reached))
            left = {n for n, v in self._verdicts.items() if v.stage == "left"}
            if whole and left:
                self._try_together(left, reached)
        finally:
            self._tree.replace({})
        return [self._verdicts[n] for n in range(len(self._chosen))]

    # -- what is kept ------------------------------------------------------------------

    def _resume(self) -> None:
        names = [json.dumps(c.mutation.to_dict(), sort_keys=True) for c in self._chosen]
        head = "\n".join([self._tree.state, *names])
        if not self._path("head").exists() or self._path("head").read_text() != head:
            for name in ("reach", "results"):
                self._path(name).unlink(missing_ok=True)
            self._path("head").write_text(head)
        if self._path("results").exists():
            for line in self._path("results").read_text().splitlines():
                row = json.loads(line)
                if "file" in row:
                    self._whole.add(row["file"])
                elif "apart" in row:
                    self._apart.add(row["apart"])
                else:
                    self._verdicts[row["number"]] = Verdict(**row)

    def _path(self, name: str) -> Path:
        return self._folder / name

    def _write(self, row: dict[str, object]) -> None:
        with self._path("results").open("a") as file:
            file.write(json.dumps(row) + "\n")

    def _keep(self, verdict: Verdict) -> None:
        self._verdicts[verdict.number] = verdict
        self._write(asdict(verdict))
        reported = f"caught by {verdict.by}: {verdict.error}" if verdict.caught else "not caught"
        _report(f"{verdict.number + 1} of {len(self._chosen)}, {verdict.stage}, {reported[:150]}")

    def _leave_out(self, test: str, why: str) -> None:
        """Note a test whose failure says nothing of a mutation."""
        self._apart.add(test)
        self._write({"apart": test, "why": why})
        _report(f"left out, {why}: {test}")

    # -- tests that run a line -----------------------------------------------------------

    def _measure_reach(self) -> Reach:
        if self._path("reach").exists():
            return Reach.read(self._path("reach"))
        _report(f"tests that run the {len(self._chosen)} lines, without browser ...")
        marks = self._path("marks")
        marks.write_text("")
        self._tree.replace(reach.sources(self._tree.source, self._chosen))
        run = self._suite.run(["tests"], marks=_WITHOUT_BROWSER, marked=marks)
        self._tree.replace({})
        if not run.seconds or not run.complete:
            raise SystemExit(f"the tests do not run: {run.failed}")
        found = Reach(reach.read_marks(marks, self._chosen, run.fixtures), run.seconds)
        found.write(self._path("reach"))
        _report(f"{len(run.seconds)} tests pass, {len(run.failed)} fail: {[*run.failed]}")
        return found

    # -- one mutation ----------------------------------------------------------------------

    def _try_alone(self, number: int, reached: Reach) -> Verdict:
        self._tree.apply([self._chosen[number]])
        tests = self._first_known(number, reached.by_cost(number), reached)
        left = tests
        for step in STEPS_S:
            some = _worth(left, step, reached)
            left = left[len(some) :]
            while some and (failure := self._first_failure(some, reached)):
                test, error = failure
                # Once more: a test that fails by chance now and then catches nothing.
                if self._fails(test):
                    return Verdict(number, test, error, len(tests), "alone")
                self._leave_out(test, "passes when repeated")
        return Verdict(number, "", "", len(tests), "left")

    def _first_known(self, number: int, tests: list[str], reached: Reach) -> list[str]:
        """Put the test first that caught the mutation before, also from another folder."""
        known = self._known.get(number, "")
        ends = "/" + known.rpartition("/")[2]
        same = [t for t in reached.seconds if known and f"/{t}".endswith(ends)]
        return same + [t for t in tests if t not in same]

    def _first_failure(self, tests: Sequence[str], reached: Reach) -> tuple[str, str] | None:
        """Return the first test that fails, and its error."""
        expected = sum(reached.seconds[t] for t in tests)
        run = self._suite.run(
            _files(tests),
            only=tests,
            without=sorted(self._apart),
            most_failures=1,
            limit_s=1.5 * TEST_LIMIT_S + 10 * expected,
            test_limit_s=TEST_LIMIT_S,
        )
        return self._first_of(run)

    def _fails(self, target: str) -> bool:
        """Return whether a test, or a module of tests, fails in the copy as it is."""
        return bool(self._run_target(target).failed)

    def _run_target(self, target: str) -> Run:
        only = [target] if "::" in target else None
        # A test that hangs may do so in what repeats it, where pytest's limit does not reach.
        limits = (600.0, SLOW_TEST_LIMIT_S) if only is None else (2.0 * TEST_LIMIT_S, TEST_LIMIT_S)
        return self._suite.run(
            target.split() if only is None else _files(only),
            only=only,
            most_failures=1,
            without=sorted(self._apart),
            limit_s=limits[0],
            test_limit_s=limits[1],
        )

    # -- all that are left -----------------------------------------------------------------

    def _try_together(self, left: set[int], reached: Reach) -> None:
        """Run all tests with all mutations that are left, and find who is behind a failure."""
        for file in self._files_by_cost(reached):
            if not left:
                return
            if file in self._whole:
                continue
            self._apply(left)
            while failure := self._next_failure(file):
                self._explain(*failure, left, reached)
                self._apply(left)
            self._whole.add(file)
            self._write({"file": file})
            _report(f"{len(self._whole)} modules of tests, {len(left)} mutations left: {file}")
        for number in sorted(left):
            before = self._verdicts[number]
            self._keep(Verdict(number, "", "", before.reached, "whole"))

    def _next_failure(self, file: str) -> tuple[str, str] | None:
        if file in self._apart:
            return None
        run = self._suite.run([file], without=sorted(self._apart), most_failures=1)
        return self._first_of(run)

    def _first_of(self, run: Run) -> tuple[str, str] | None:
        return next(((t, e) for t, e in run.failed.items() if t not in self._apart), None)

    def _explain(self, test: str, error: str, left: set[int], reached: Reach) -> None:
        """Find the mutation that lets a test fail, or leave the test out."""
        if not self._fails(test):
            self._leave_out(test, "passes when repeated")
            return
        self._tree.replace({})
        if self._fails(test):
            self._leave_out(test, "fails without a mutation")
            return
        # Those whose line it runs first.
        order = sorted(left, key=lambda n: (test not in reached.tests.get(n, ()), n))
        number = single(order, lambda some: self._fails_with(some, test))
        if number is None:
            self._leave_out(test, "fails with several mutations only")
            return
        left.remove(number)
        self._keep(Verdict(number, test, error, self._verdicts[number].reached, "together"))

    def _fails_with(self, numbers: Sequence[int], test: str) -> bool:
        self._apply(numbers)
        return self._fails(test)

    def _apply(self, numbers: Sequence[int] | set[int]) -> None:
        self._tree.apply([self._chosen[n] for n in sorted(numbers)])

    def _files_by_cost(self, reached: Reach) -> list[str]:
        """Return the modules of tests, the fastest first; those of the browser last."""
        cost: dict[str, float] = {}
        for test, seconds in reached.seconds.items():
            name = test.partition("::")[0]
            cost[name] = cost.get(name, 0) + seconds
        known = {self._known[n].partition("::")[0].rpartition("/")[2] for n in self._known}
        files = self._suite.files()
        return sorted(files, key=lambda f: (Path(f).name not in known, cost.get(f, 1e9), f))


def single(numbers: Sequence[int], fails: Callable[[Sequence[int]], bool]) -> int | None:
    """Return the one of several that fails alone, by halves; None: only several fail together."""
    while len(numbers) > 1:
        half = len(numbers) // 2
        first, second = numbers[:half], numbers[half:]
        numbers = first if fails(first) else second
    return numbers[0] if numbers and fails(numbers) else None


def _worth(tests: Sequence[str], seconds: float, reached: Reach) -> list[str]:
    """Return the first tests that take so long together, at least one."""
    total = 0.0
    for i, test in enumerate(tests):
        total += reached.seconds[test]
        if total > seconds:
            return list(tests[: max(i, 1)])
    return list(tests)


def _files(tests: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(test.partition("::")[0] for test in tests))


def _report(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
