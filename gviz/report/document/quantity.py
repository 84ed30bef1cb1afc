"""Numbers of a document, with their unit and how each came about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from gviz.dataclass import dataclass
from gviz.stats import CLOCK_STEP_NS, How, Interval
from gviz.text import multiple, rounded, signed_duration, signed_percent, with_unit

#: How the truth lies to a number.
Bound = Literal["", "at most", "at least"]
#: Units of how many times as much something is, and of what is no count.
TIMES, AVERAGE = "times", "average"
#: Significant digits of a number, and of one that nearly meets another.
LEAST_DIGITS, MOST_DIGITS = 3, 6
#: Units of what is no count.
_MEASURES = frozenset({"ns", "fraction", TIMES, AVERAGE})


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number and what is known of it.

    Attributes
    ----------
    value
        None: there is none; the reason stands beside it.
    unit
        ``ns``, ``bytes``, ``fraction`` (1: all), ``times`` (a ratio), ``average`` (a number that
        is no count), ``number``, or a noun in plural.
    how
        How it came about.
    n
        How many values it rests on; None: one, or not recorded.
    caveat
        What may make it wrong; None: nothing known.
    interval
        Ends of its 95% confidence interval, in the same unit; None: not computed.
    is_change
        Whether it is a difference to something before, and shows its sign.
    digits
        Significant digits: more than three distinguish what nearly meets.
    bound
        ``at most`` or ``at least``: how the truth lies to the number; empty: about there.
    wording
        Text in place of the number, with how it came about: a range, say; empty: the number.
    """

    value: float | None
    unit: str = "number"
    how: How = "stated"
    n: int | None = None
    caveat: str | None = None
    interval: tuple[float, float] | None = None
    is_change: bool = False
    digits: int = 3
    bound: Bound = ""
    wording: str = ""

    @property
    def is_count(self) -> bool:
        """True of what was counted in the recording, and is exact."""
        return self.how in ("measured", "derived") and self.unit not in _MEASURES

    @property
    def own_how(self) -> How | None:
        """The word for how it came about that has to stand beside it; None: none has to."""
        unsaid = self.how != "stated" and self.value is not None and not self.wording
        return self.how if unsaid else None

    @property
    def text(self) -> str:
        """Return the number with its unit, and after what bounds it."""
        if self.wording:
            return self.wording
        found = self._text_of(self.value)
        return f"{self.bound} {found}" if self.bound and self.value is not None else found

    @property
    def is_within_clock(self) -> bool:
        """True of a time whose interval is narrower than clocks can tell."""
        if self.unit != "ns" or self.interval is None:
            return False
        return self.interval[1] - self.interval[0] < CLOCK_STEP_NS

    @property
    def interval_text(self) -> str:
        """Return both ends of the interval; empty where there is none."""
        if self.interval is None:
            return ""
        if self.is_within_clock:
            return f"within the clock's resolution, {with_unit(CLOCK_STEP_NS, 'ns')}"
        return " to ".join(self.interval_ends)

    @property
    def interval_ends(self) -> tuple[str, str]:
        """Return the ends of the interval, which there is."""
        return self._ends_text(self._interval_digits())

    @property
    def beside_interval(self) -> Quantity:
        """Return it with as many digits as its interval needs; as it is: there is none."""
        if self.interval is None or self.is_within_clock:
            return self
        return replace(self, digits=max(self.digits, self._interval_digits()))

    def _interval_digits(self) -> int:
        return digits_apart(self._ends_text)

    def _ends_text(self, digits: int) -> tuple[str, str]:
        low, high = self.interval or (None, None)
        return self._text_of(low, digits), self._text_of(high, digits)

    @property
    def width_text(self) -> str:
        """Return the width of the interval; empty where there is none."""
        if self.interval is None:
            return ""
        return self._text_of(self.interval[1] - self.interval[0])

    def _text_of(self, value: float | None, least: int = LEAST_DIGITS) -> str:
        digits = max(least, self.digits)
        if self.unit == TIMES:
            return multiple(value, digits)
        if self.unit == AVERAGE:
            return rounded(value, digits)
        if self.is_change and self.unit == "ns":
            return signed_duration(value, digits)
        if self.is_change and self.unit == "fraction":
            return signed_percent(value)
        return with_unit(value, self.unit, digits)


def give_or_take(found: Quantity, reach: float | None) -> Quantity:
    """Return a number with an interval of so much to either side; None: without one."""
    if found.value is None or reach is None:
        return found
    return replace(found, interval=(found.value - reach, found.value + reach))


def digits_apart(ends: Callable[[int], tuple[str, str]]) -> int:
    """Return how many significant digits tell two ends apart, six at most.

    Parameters
    ----------
    ends
        The texts of both by their digits.
    """
    for digits in range(LEAST_DIGITS, MOST_DIGITS):
        low, high = ends(digits)
        if low != high:
            return digits
    return MOST_DIGITS


def range_text(low: str, high: str) -> str:
    """Return the texts of two ends as one; of one unit it stands once."""
    first, _, unit = low.rpartition(" ")
    return f"{first if first and high.endswith(f' {unit}') else low} to {high}"


def ns(
    value: float | None,
    how: How = "derived",
    *,
    n: int | None = None,
    interval: Interval | None = None,
    caveat: str | None = None,
) -> Quantity:
    """Return a duration."""
    return Quantity(value, "ns", how, n, caveat, _ends(interval))


def share(
    fraction: float | None, how: How = "derived", *, interval: Interval | None = None
) -> Quantity:
    """Return a share of a whole, 0 to 1."""
    return Quantity(fraction, "fraction", how, interval=_ends(interval))


def times(value: float | None, how: How = "derived") -> Quantity:
    """Return how many times as much something is."""
    return Quantity(value, TIMES, how)


def average(value: float | None, how: How = "derived") -> Quantity:
    """Return a number that is no count, with all its digits."""
    return Quantity(value, AVERAGE, how)


def number(value: float | None, how: How = "stated", unit: str = "number") -> Quantity:
    """Return a number, or a count of ``unit`` (a noun in plural)."""
    return Quantity(value, unit, how)


def change(value: float | None, unit: str = "ns", how: How = "derived") -> Quantity:
    """Return a difference to something before, which shows its sign."""
    return Quantity(value, unit, how, is_change=True)


def _ends(interval: Interval | None) -> tuple[float, float] | None:
    if interval is None or interval.low is None or interval.high is None:
        return None
    return interval.low, interval.high
