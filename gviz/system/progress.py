"""Progress of work that takes seconds: the share that is done, reported by whoever does it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import ParamSpec, TypeVar

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")
_Arguments = ParamSpec("_Arguments")

#: Is given the share of a file that was read, from 0 to 1.
ShareRead = Callable[[float], None]

_REPORT_EVERY = 4096


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
        self,
        items: Sequence[_Item],
        text: Callable[[_Item], str],
        weights: Sequence[float] | None = None,
    ) -> Iterator[tuple[_Item, Progress]]:
        """Yield items with a part of this stretch for each, by its weight; None: the same."""
        ends = _shares([1.0] * len(items) if weights is None else weights)
        for item, (begin, end) in zip(items, pairwise([0.0, *ends]), strict=True):
            part = self.part(begin, end)
            part.at(0.0, text(item))
            yield item, part

    def through(self, items: Iterable[_Item], count: int, text: str) -> Iterator[_Item]:
        """Yield items, so many that each takes next to no time, and tell of every 4,096th."""
        for place, item in enumerate(items):
            if place % _REPORT_EVERY == 0:
                self.at(place / count, text)
            yield item

    def steps(self, weights: Sequence[float], text: str) -> Steps:
        """Return this stretch as steps, of which each takes its weight of the time."""
        return Steps(self, weights, text)


class Steps:
    """A stretch of work in steps, each one call."""

    def __init__(self, progress: Progress, weights: Sequence[float], text: str) -> None:
        self._progress = progress
        self._shares = _shares(weights)
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


def _shares(weights: Sequence[float]) -> list[float]:
    """Return the share of the whole that is done after each of some weights."""
    whole = sum(weights)
    return [done / whole for done in accumulate(weights)]


#: Reported to nobody.
NO_PROGRESS = Progress()
