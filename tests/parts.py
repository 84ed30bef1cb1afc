"""One part of many tests, in bounded time: ``--part 2/8``, ``--minutes 9``.

A machine with a GPU may be lent for minutes only. The parts of a suite follow from its tests alone,
so each can run on another machine; the last line says what remains.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from itertools import groupby

import pytest


def split_files(counts: Sequence[int], parts: int) -> list[int]:
    """Return the part, from 1, of each file of so many tests; parts are of about equal counts."""
    filled = [0] * parts
    places = [0] * len(counts)
    # The largest files first, each into the part with the fewest tests.
    for file in sorted(range(len(counts)), key=lambda file: -counts[file]):
        part = filled.index(min(filled))
        filled[part] += counts[file]
        places[file] = part + 1
    return places


def add_options(parser: pytest.Parser) -> None:
    """Add the options to pytest's."""
    group = parser.getgroup("parts")
    group.addoption("--part", metavar="K/N", help="run part K of N of the selected tests, by files")
    group.addoption("--minutes", type=float, help="begin no test after so many minutes, and fail")


class Part:
    """The part of the tests that one run is of.

    Raises
    ------
    pytest.UsageError
        If ``part`` is not K/N with 1 <= K <= N.
    """

    def __init__(self, part: str | None, minutes: float | None) -> None:
        found = re.fullmatch(r"(\d+)/(\d+)", part or "1/1")
        self.part, self.parts = map(int, found.groups()) if found else (0, 0)
        if not 1 <= self.part <= self.parts:
            raise pytest.UsageError(f"--part {part}: give K/N with 1 <= K <= N, as --part 2/8")
        self.minutes = minutes
        self.end = time.monotonic() + 60 * (minutes or float("inf"))
        self.items: list[pytest.Item] = []
        self.done = 0

    @pytest.hookimpl(trylast=True)  # of what -m and -k have left
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Deselect the tests of other parts."""
        files = [list(tests) for _, tests in groupby(items, key=lambda item: item.path)]
        places = split_files([len(tests) for tests in files], self.parts)
        for place, tests in zip(places, files, strict=True):
            if place == self.part:
                self.items += tests
            else:
                config.hook.pytest_deselected(items=tests)
        items[:] = self.items

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        """Stop where the time is over and tests are left."""
        self.done += 1
        if self.remaining() and time.monotonic() > self.end:
            item.session.shouldstop = f"the {self.minutes:g} minutes are over"

    def remaining(self) -> list[str]:
        """Return the tests of this part that have not begun."""
        return [item.nodeid for item in self.items[self.done :]]

    @pytest.hookimpl(wrapper=True, tryfirst=True)  # after the closing line
    def pytest_sessionfinish(self, session: pytest.Session) -> object:
        """Say what remains."""
        result = yield
        others = [str(part) for part in range(self.part + 1, self.parts + 1)]
        text = f"part {self.part} of {self.parts}: "
        if left := self.remaining():
            text += f"{len(left)} tests of it have not run, from {left[0]} on; "
        text += f"parts {', '.join(others)} remain" if others else "no part remains after it"
        session.config.get_terminal_writer().line(text)
        return result
