"""Progress of work that takes seconds: the share that is done, reported by whoever does it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import ParamSpec, TypeVar

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")
_Arguments = ParamSpec("_Arguments")


def _nobody(share: float, text: str) -> None:
    """Take no notice."""


class Progress:
    """A stretch of work whose listener is told which share of it is done.

    Parameters
    ----------
    report
        Called with the share of all work that is done, from 0 to 1, and what is being done.
    begin, end
        The shares at which this stretch begins and ends.
    """

    def __init__(
        self, report: Callable[[float, str], None] = _nobody, begin: float = 0.0, end: float = 1.0
    ) -> None:
        self._report = report
        self._begin = begin
        self._length = end - begin

    def at(self, share: float, text: str) -> None:
        """Tell the share of this stretch that is done, from 0 to 1, and what comes next."""
        self._report(self._begin + self._length * share, text)

    def part(self, begin: float, end: float) -> Progress:
        """Return a part of this stretch, by the shares of it at which the part begins and ends."""
        begin_all, end_all = (self._begin + self._length * share for share in (begin, end))
        return Progress(self._report, begin_all, end_all)

    def each(
        self, items: Sequence[_Item], text: Callable[[_Item], str]
    ) -> Iterator[tuple[_Item, Progress]]:
        """Yield items with a part of this stretch for each: all take the same time."""
        for place, item in enumerate(items):
            part = self.part(place / len(items), (place + 1) / len(items))
            part.at(0.0, text(item))
            yield item, part

    def steps(self, weights: Sequence[float], text: str) -> Steps:
        """Return this stretch as steps, of which each takes its weight of the time."""
        return Steps(self, weights, text)


class Steps:
    """A stretch of work in steps, each one call."""

    def __init__(self, progress: Progress, weights: Sequence[float], text: str) -> None:
        self._progress = progress
        self._shares = [done / sum(weights) for done in accumulate(weights)]
        self._text = text
        self._done = 0

    def run(
        self,
        step: Callable[_Arguments, _Result],
        *arguments: _Arguments.args,
        **named: _Arguments.kwargs,
    ) -> _Result:
        """Call the next step and return what it returns."""
        result = step(*arguments, **named)
        self._progress.at(self._shares[min(self._done, len(self._shares) - 1)], self._text)
        self._done += 1
        return result


#: Reported to nobody.
NO_PROGRESS = Progress()
