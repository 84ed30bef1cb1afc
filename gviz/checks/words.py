"""A check in words, for every form that a report is written in."""

from __future__ import annotations

from gviz.checks.check_result import Check

_TIMES = (("s", 1e9), ("ms", 1e6), ("us", 1e3))
_SIZES = (("GB", 1e9), ("MB", 1e6), ("kB", 1e3))


def format_value(value: float | None, unit: str) -> str:
    """Return a value in its unit with three significant digits; ``-`` where it is not known.

    Limits and values need more than three digits where they nearly meet: counts and what is
    below a thousand of a unit are written in full.
    """
    if value is None:
        return "-"
    if unit == "fraction":
        return f"{value:.2%}"
    if unit in ("ns", "bytes"):
        for name, scale in _TIMES if unit == "ns" else _SIZES:
            if value >= scale:
                return f"{value / scale:,.4g} {name}"
        return f"{value:,.4g} {unit}"
    return f"{value:,.10g}"


def describe(check: Check) -> str:
    """Return what was found, against what, and why."""
    parts = []
    if check.value is not None or check.limit is not None:
        text = format_value(check.value, check.unit)
        if check.limit is not None:
            text += f", at most {format_value(check.limit, check.unit)}"
        if check.baseline is not None:
            text += f", baseline {format_value(check.baseline, check.unit)}"
            if check.baseline and check.value is not None:
                text += f" ({check.value / check.baseline - 1:+.1%})"
        parts.append(text)
    if check.reason:
        parts.append(check.reason)
    return "; ".join(parts)


def place(check: Check) -> str:
    """Return what was checked: the graph, or the run as a whole."""
    if check.graph_id is None:
        return f"run {check.run_id}: {check.graph}"
    return f"graph {check.graph_id}: {check.graph}"
