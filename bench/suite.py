"""Times of the suites of tests, and their longest tests.

Each suite runs as its make target does, by as many workers as that takes (one a core for test, one
more for test-all); what its target installs must be there. With --rounds the best of several is
kept: a machine that does something else makes a suite slower, never faster.
Run: python -P bench/suite.py [--suite NAME]... [--rounds N] [--slowest N]
Needs pytest: make .venv/.gviz-test
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
#: The make target of each suite and the most it may take (s), of tests alone and 2 quiet cores.
LIMITS_S = {"test": 240.0, "test-all": 720.0}
_SHOWN = 6


@dataclass(frozen=True, slots=True)
class Timed:
    """One run of a suite.

    Attributes
    ----------
    suite
        The make target.
    wall_s, cpu_s
        Time from start to end, and of its processes on all cores; some of Chromium's end without
        being waited for, and are not in it.
    tests, failed
        Tests that ran, and those of them that failed.
    limit_s
        The most it may take.
    """

    suite: str
    wall_s: float
    cpu_s: float
    tests: int
    failed: int
    limit_s: float


def time_suite(suite: str, report: Path) -> Timed:
    """Run a make target; its tests are written to a JUnit file."""
    flags = f"-q --no-header -p no:cacheprovider --junitxml={report}"
    before, start = os.times(), time.perf_counter()
    subprocess.run(
        ["make", "--no-print-directory", "-C", str(ROOT), suite, f"PYTEST_FLAGS={flags}"],
        stdout=subprocess.DEVNULL,
        check=False,
    )
    wall, after = time.perf_counter() - start, os.times()
    if not report.exists():
        sys.exit(f"make {suite} ran no test; run it by itself to see why")
    children = after.children_user - before.children_user
    children += after.children_system - before.children_system
    counts = ElementTree.parse(report).getroot().find("testsuite")
    assert counts is not None
    failed = int(counts.get("failures", 0)) + int(counts.get("errors", 0))
    tests = int(counts.get("tests", 0)) - int(counts.get("skipped", 0))
    return Timed(suite, wall, children, tests, failed, LIMITS_S[suite])


def times_by_module(report: Path) -> tuple[Counter[str], Counter[str]]:
    """Return the seconds of each module of tests, and of each test, from a JUnit file."""
    modules: Counter[str] = Counter()
    tests: Counter[str] = Counter()
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        seconds = float(case.get("time", 0))
        module = re.sub(r"\.Test\w*$", "", case.get("classname", ""))
        modules[module] += seconds
        tests[f"{module}::{case.get('name')}"] += seconds
    return modules, tests


def main() -> int:
    """Time the suites, print a table and a JSON line each; return 1 if a test failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--suite", action="append", choices=LIMITS_S, help="default: all")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--slowest", type=int, default=_SHOWN, help="modules and tests to name")
    arguments = parser.parse_args()
    print(f"{'suite':10}{'tests':>7}{'failed':>8}{'wall s':>9}{'cpu s':>9}{'limit s':>9}")
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for suite in arguments.suite or LIMITS_S:
            report = Path(folder) / f"{suite}.xml"
            runs = [time_suite(suite, report) for _ in range(arguments.rounds)]
            best = min(runs, key=lambda run: run.wall_s)
            failed += sum(run.failed for run in runs)
            print(
                f"{suite:10}{best.tests:7}{best.failed:8}{best.wall_s:9.1f}{best.cpu_s:9.1f}"
                f"{best.limit_s:9.0f}"
            )
            modules, tests = times_by_module(report)
            for name, seconds in (modules + tests).most_common(arguments.slowest):
                print(f"  {seconds:7.1f} s  {name}")
            facts = {"bench": "suite", "cores": os.cpu_count(), "rounds": arguments.rounds}
            print(json.dumps(facts | asdict(best)))
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
