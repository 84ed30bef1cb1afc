"""Evidence of a figure: what it rests on, and how far that can be trusted.

A figure that is computed from others has the worst of their evidence, field by field.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Any

from gviz.dataclass import dataclass
from gviz.stats.figure_fields import How, figure


class CuptiState(StrEnum):
    """The presence of CUPTI while something was timed, from the least to the most disturbing."""

    PLAIN = "plain"
    ATTACHED = "attached"
    RECORDED = "recorded"


#: From the most to the least certain. What is stated is no measurement, and takes nothing away.
_HOWS: tuple[How, ...] = ("stated", "measured", "derived", "estimated")
_STATES = tuple(CuptiState)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence of a figure: of all that it rests on the worst, field by field."""

    how: How = figure("stated", "measured, derived or estimated: the least certain of them")
    n: int = figure("measured", "launches or eager iterations behind it: the fewest")
    coverage_fraction: float = figure(
        "derived",
        "of the nodes that should have a time the share that has one, 0 to 1, in the launch or "
        "iteration that has fewest",
        default=1.0,
    )
    contradiction_count: int = figure(
        "derived",
        "times of these launches that contradict each other: dependents that start before a "
        "dependency has ended, and launches whose nodes take longer than the events around them",
        default=0,
    )
    worst_contradiction_ns: float = figure(
        "derived", "by how much the worst of them does; 0 without any", default=0.0
    )
    exchangeable_count: int = figure(
        "derived",
        "nodes whose times may be those of another of their class: imported, and matched by "
        "dependencies alone",
        default=0,
    )
    state: CuptiState | None = figure(
        "stated",
        "plain (no CUPTI in the process), attached (CUPTI subscribed to, no records of nodes), or "
        "recorded (node times were taken); null: nothing in it was timed",
        default=None,
    )
    is_cold: bool = figure(
        "stated", "it has first launches or iterations only, which load and upload", default=False
    )
    is_at_most: bool = figure(
        "stated",
        "times and savings are at most so much: they are of eager iterations whose node times were "
        "recorded, which lengthens every call of them, and but one call of a graph's",
        default=False,
    )


def worst_of(found: Iterable[Evidence]) -> Evidence:
    """Return the evidence of what is computed from figures; at least one."""
    parts = list(found)
    states = [part.state for part in parts if part.state is not None]
    return Evidence(
        how=_latest(_HOWS, [part.how for part in parts]),
        n=min(part.n for part in parts),
        coverage_fraction=min(part.coverage_fraction for part in parts),
        contradiction_count=max(part.contradiction_count for part in parts),
        worst_contradiction_ns=max(part.worst_contradiction_ns for part in parts),
        exchangeable_count=max(part.exchangeable_count for part in parts),
        state=_latest(_STATES, states) if states else None,
        is_cold=any(part.is_cold for part in parts),
        is_at_most=any(part.is_at_most for part in parts),
    )


def _latest(order: tuple[Any, ...], found: list[Any]) -> Any:
    return order[max(order.index(one) for one in found)]
