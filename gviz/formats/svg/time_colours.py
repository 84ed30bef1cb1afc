"""Durations as colours of a picture, and in words."""

from __future__ import annotations

import math
from dataclasses import dataclass

#: The viridis colour map at nine equal steps: perceptually uniform, readable in grey and
#: with colour vision deficiencies.
#: References: S. van der Walt, N. Smith, mpl colormaps (CC0), bids.github.io/colormap.
_VIRIDIS = (
    (68, 1, 84),
    (71, 44, 122),
    (59, 81, 139),
    (44, 113, 142),
    (33, 144, 141),
    (39, 173, 129),
    (92, 200, 99),
    (170, 220, 50),
    (253, 231, 37),
)
#: Relative luminance where black and white text have the same contrast.
#: References: WCAG 2.1, contrast ratio: sqrt(1.05 * 0.05) - 0.05.
_LUMINANCE_LIMIT = 0.179


@dataclass(frozen=True, slots=True)
class TimeColours:
    """Durations to colours, logarithmically: they spread over orders of magnitude."""

    low_ns: float
    high_ns: float

    def color(self, median_ns: float) -> tuple[int, int, int]:
        """Return red, green and blue (0..255)."""
        if self.high_ns <= self.low_ns:
            return _VIRIDIS[-1]
        share = math.log(max(median_ns, 1) / self.low_ns) / math.log(self.high_ns / self.low_ns)
        place = min(max(share, 0.0), 1.0) * (len(_VIRIDIS) - 1)
        i = min(int(place), len(_VIRIDIS) - 2)
        pairs = zip(_VIRIDIS[i], _VIRIDIS[i + 1], strict=True)
        red, green, blue = (round(a + (b - a) * (place - i)) for a, b in pairs)
        return red, green, blue

    def fill(self, ns: float) -> str:
        """Return the colour of a duration."""
        return "#{:02x}{:02x}{:02x}".format(*self.color(ns))

    def text(self, ns: float) -> str:
        """Return black or white: what is read better on :meth:`fill`."""
        return "black" if _luminance(self.color(ns)) > _LUMINANCE_LIMIT else "white"

    def steps(self) -> list[str]:
        """Return the colours from the shortest to the longest, in equal steps."""
        return ["#{:02x}{:02x}{:02x}".format(*color) for color in _VIRIDIS]


def _luminance(color: tuple[int, int, int]) -> float:
    """Return the relative luminance of an sRGB colour, 0..1.

    References
    ----------
    WCAG 2.1, relative luminance.
    """
    shares = [value / 255 for value in color]
    linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
