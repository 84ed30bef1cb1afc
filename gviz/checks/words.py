"""A check in words, for every form that a report is written in."""

from __future__ import annotations

from gviz.checks.check_result import Check
from gviz.text import signed_percent, with_unit

#: Limits and values need more than three digits where they nearly meet.
_DIGITS = 4


def in_unit(value: float | None, unit: str) -> str:
    """Return a value or limit of a check with its unit."""
    return with_unit(value, unit, _DIGITS)


def describe(check: Check) -> str:
    """Return what was found, against what, and why."""
    parts = []
    if check.value is not None or check.limit is not None:
        text = in_unit(check.value, check.unit)
        if check.limit is not None:
            text += f", at most {in_unit(check.limit, check.unit)}"
        if check.baseline is not None:
            text += f", baseline {in_unit(check.baseline, check.unit)}"
            if check.baseline and check.value is not None:
                text += f" ({signed_percent(check.value / check.baseline - 1)})"
        parts.append(text)
    if check.reason:
        parts.append(check.reason)
    return "; ".join(parts)


def place(check: Check) -> str:
    """Return what was checked: the graph, or the run as a whole."""
    if check.graph_id is None:
        return f"run {check.run_id}: {check.graph}"
    return f"graph {check.graph_id}: {check.graph}"
