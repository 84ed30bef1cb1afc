"""Figures that something else has slowed: those above the figures of longer graphs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from gviz.analysis.launch_costs.figure import Figure
from gviz.text import duration

#: So much more than a longer graph's: beyond what the quartiles of undisturbed runs are apart.
_FACTOR = 1.5
#: Shorter calls, such as a graph's second launch, take about as long for any length.
_SHORT_NS = 20_000.0
#: Warnings name so many of them.
_NAMED = 6


def slowed_figures(figures: Iterable[Figure]) -> list[Figure]:
    """Return host times that are half as long again as those of a longer graph of the same shape.

    Longer graphs take longer: what does not hold to that was measured while something else had
    the host, as happens on virtual machines. Where all lengths were slowed nothing shows.
    """
    series: dict[tuple[object, ...], list[Figure]] = defaultdict(list)
    for figure in figures:
        if figure.quantity == "host" and figure.node_count and figure.parameter is None:
            key = (figure.experiment, figure.subject, figure.topology, figure.width)
            series[key].append(figure)
    return [figure for found in series.values() for figure in _above_longer(found)]


def _above_longer(figures: Sequence[Figure]) -> list[Figure]:
    found, least = [], float("inf")
    for figure in sorted(figures, key=lambda f: f.node_count or 0, reverse=True):
        if figure.median > max(_FACTOR * least, _SHORT_NS):
            found.append(figure)
        least = min(least, figure.median)
    return found[::-1]


def describe_slowed(figures: Iterable[Figure]) -> list[str]:
    """Return a warning with the evidence, or nothing."""
    found = slowed_figures(figures)
    if not found:
        return []
    named = "; ".join(f"{f.subject}, {f.node_count:,} kernels: {duration(f.median)}"
                      for f in found[:_NAMED])  # fmt: skip
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    return [
        f"something else slowed the host for a time: {len(found)} host times are above those of "
        f"longer graphs by half or more ({named}{more}); measure again on a quiet machine"
    ]
