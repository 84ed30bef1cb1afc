"""Colours of values and of categories: those of the pages (assets/web/core/colour.js).

tests/pictures.json has what both must give.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Literal

import numpy as np

from gviz.dataclass import dataclass
from gviz.stats import FloatArray

Theme = Literal["light", "dark"]
Rgb = tuple[int, int, int]

#: From this ratio of greatest to least on, values are coloured on a logarithmic scale.
LOG_RATIO = 20.0
_STEPS = 256
#: Of a ramp: the first and the last lightness, and (position, chroma, hue) on the way: in OKLCH
#: equal steps look equal, and the order survives every kind of colour blindness.
_RAMPS = {
    "light": (
        (0.915, 0.33),
        ((0, 0.045, 205), (0.3, 0.1, 225), (0.55, 0.15, 275), (0.8, 0.19, 320), (1, 0.15, 345)),
    ),
    "dark": (
        (0.36, 0.93),
        ((0, 0.07, 262), (0.28, 0.14, 292), (0.52, 0.18, 340), (0.76, 0.15, 45), (1, 0.13, 98)),
    ),
}
#: Of kernel families by their place (:mod:`gviz.app.views.family_colours`), in every theme.
_FAMILIES = (
    *("#5f95e0", "#7db4f2", "#a6cbf7", "#6f86d6", "#9aa9ea"),
    *("#f2a154", "#7cc79b", "#ee9183", "#b79be0", "#f0c869", "#6cc4c9", "#d79ac8", "#b8c97f"),
    *("#d8b48f", "#9bd18f", "#e3a6b8", "#a9b6c9"),
    "#c3cad4",
)
#: Relative luminance where black and white text have the same contrast.
#: References: WCAG 2.2, contrast ratio: sqrt(1.05 * 0.05) - 0.05.
_EVEN_LUMINANCE = math.sqrt(1.05 * 0.05) - 0.05


@dataclass(frozen=True, slots=True)
class ColourScale:
    """Values to steps of a ramp: logarithmic where they spread over orders of magnitude.

    Attributes
    ----------
    least, most
        Of the values above zero; None: there are none.
    log
        Whether equal steps are equal ratios; else the scale begins at zero.
    """

    least: float | None
    most: float | None
    log: bool

    @classmethod
    def of(cls, values: FloatArray) -> ColourScale:
        """Return the scale of values; those that are not above zero do not count."""
        known = values[np.isfinite(values) & (values > 0)]
        if not len(known):
            return cls(None, None, False)
        least, most = float(known.min()), float(known.max())
        return cls(least, most, most / least >= LOG_RATIO)

    def step(self, value: float) -> int:
        """Return the step of a value, 0 to 255."""
        if self.least is None or self.most is None or not value > 0:
            return 0
        if self.most <= self.least:
            return _STEPS // 2
        share = value / self.most
        if self.log:
            share = math.log(value / self.least) / math.log(self.most / self.least)
        # Halves are rounded up, as JavaScript rounds them.
        return max(0, min(_STEPS - 1, math.floor(share * (_STEPS - 1) + 0.5)))


@dataclass(frozen=True, slots=True)
class ValueColours:
    """Values as colours of a theme."""

    scale: ColourScale
    theme: Theme = "light"

    def fill(self, value: float) -> str:
        """Return the colour of a value."""
        return hex_of(ramp(self.theme)[self.scale.step(value)])

    def text(self, value: float) -> str:
        """Return black or white: what is read better on :meth:`fill`."""
        return text_on(ramp(self.theme)[self.scale.step(value)])

    def steps(self, count: int) -> list[str]:
        """Return so many colours from the least to the greatest value, in equal steps."""
        places = (round(i * (_STEPS - 1) / (count - 1)) for i in range(count))
        return [hex_of(ramp(self.theme)[place]) for place in places]


def family_colour(place: int) -> str:
    """Return the colour of a kernel family by its place; of those beyond the table the last."""
    return _FAMILIES[min(place, len(_FAMILIES) - 1)]


@lru_cache(maxsize=2)
def ramp(theme: Theme) -> list[Rgb]:
    """Return the colours of values from the least to the greatest."""
    (first, last), path = _RAMPS[theme]
    shares = (step / (_STEPS - 1) for step in range(_STEPS))
    return [_oklch(first + t * (last - first), *_along(path, t)) for t in shares]


def hex_of(colour: Rgb) -> str:
    """Return a colour as CSS and SVG write it."""
    return "#{:02x}{:02x}{:02x}".format(*colour)


def text_on(colour: Rgb) -> str:
    """Return black or white: what is read better on a colour."""
    return "black" if luminance(colour) > _EVEN_LUMINANCE else "white"


def luminance(colour: Rgb) -> float:
    """Return the relative luminance of an sRGB colour, 0..1.

    References
    ----------
    WCAG 2.2, relative luminance.
    """
    shares = [value / 255 for value in colour]
    linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _along(path: tuple[tuple[float, float, float], ...], t: float) -> tuple[float, float]:
    """Return chroma and hue on a path; hues rotation the shorter way."""
    i = max(1, next(n for n, (at, _, _) in enumerate(path) if at >= t))
    (t0, c0, h0), (t1, c1, h1) = path[i - 1 : i + 1]
    f = (t - t0) / (t1 - t0)
    rotation = (h1 - h0) % 360
    return c0 + f * (c1 - c0), h0 + f * (rotation - 360 if rotation >= 180 else rotation)


def _oklch(lightness: float, chroma: float, hue: float) -> Rgb:
    """Return a colour of OKLCH in sRGB, its chroma reduced until it fits.

    References
    ----------
    Ottosson (2020), A perceptual color space for image processing (OKLab).
    """
    angle = math.radians(hue)
    while True:
        shares = _oklab(lightness, chroma * math.cos(angle), chroma * math.sin(angle))
        if chroma <= 0 or all(-0.0005 <= share <= 1.0005 for share in shares):
            red, green, blue = (_byte(min(1.0, max(0.0, share))) for share in shares)
            return red, green, blue
        chroma -= 0.005


def _oklab(lightness: float, a: float, b: float) -> tuple[float, float, float]:
    """Return a colour of OKLab in linear sRGB."""
    l_ = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3
    return (
        4.0767416621 * l_ - 3.3077115913 * m + 0.2309699292 * s,
        -1.2684380046 * l_ + 2.6097574011 * m - 0.3413193965 * s,
        -0.0041960863 * l_ - 0.7034186147 * m + 1.707614701 * s,
    )


def _byte(linear: float) -> int:
    curved = 12.92 * linear if linear <= 0.0031308 else 1.055 * linear ** (1 / 2.4) - 0.055
    return math.floor(255 * curved + 0.5)
