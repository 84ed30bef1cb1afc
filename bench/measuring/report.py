"""Measurements beside their goals: a table for people and a JSON line."""

from __future__ import annotations

import json
import os
import platform
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Figure:
    """A number and what it should be.

    Attributes
    ----------
    values
        What was measured, one a repetition; their median counts.
    goal
        The most it should be; None: it is only reported.
    """

    values: Sequence[float]
    goal: float | None = None

    @property
    def value(self) -> float:
        """Return the median."""
        return statistics.median(self.values)

    @property
    def reached(self) -> bool | None:
        """Return whether the goal is reached; None: there is none."""
        return None if self.goal is None else self.value <= self.goal

    def to_text(self) -> str:
        """Return the number, and the goal where there is one; '!' marks a miss."""
        text = _number(self.value)
        if self.goal is None:
            return text
        return f"{text}{'' if self.reached else '!'} ({_number(self.goal)})"


def _number(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"


@dataclass(frozen=True, slots=True)
class Report:
    """Rows of figures under the same names.

    Attributes
    ----------
    bench
        Name of the benchmark.
    facts
        What the figures were taken with.
    rows
        Figures by name, by name of the row; a row need not have every figure.
    """

    bench: str
    facts: Mapping[str, object]
    rows: dict[str, dict[str, Figure]] = field(default_factory=dict)

    def print(self) -> None:
        """Print the table and the JSON line."""
        names = list(dict.fromkeys(name for row in self.rows.values() for name in row))
        first = max(len(row) for row in self.rows)
        widths = {name: self._width(name) for name in names}
        print(" " * first + "".join(f"{name:>{widths[name]}}" for name in names))
        for row, figures in self.rows.items():
            cells = [figures[n].to_text() if n in figures else "-" for n in names]
            texts = (f"{cell:>{widths[n]}}" for n, cell in zip(names, cells, strict=True))
            print(f"{row:<{first}}" + "".join(texts))
        found = self._to_json()
        print(f"median (goal); ! marks a miss; a step of a Python loop: {found['loop_ns']} ns")
        print(json.dumps(found))

    def _width(self, name: str) -> int:
        cells = [row[name].to_text() for row in self.rows.values() if name in row]
        return 2 + max(len(text) for text in (name, *cells))

    def _to_json(self) -> dict[str, object]:
        rows = {
            row: {
                name: {"value": figure.value, "values": list(figure.values), "goal": figure.goal}
                for name, figure in figures.items()
            }
            for row, figures in self.rows.items()
        }
        return {"bench": self.bench, **machine(), **self.facts, "rows": rows}


def machine() -> dict[str, object]:
    """Return what the machine is, how fast, and how busy.

    ``loop_ns`` is what a step of a plain Python loop takes, ``load_...`` the processes that waited
    to run in the last 1 and 15 minutes: beside them figures of two machines, or hours, compare.
    """
    load = os.getloadavg()
    return {
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "loop_ns": round(_loop_ns()),
        "load_1_min": round(load[0], 1),
        "load_15_min": round(load[2], 1),
    }


def _loop_ns() -> float:
    steps = 200_000
    taken = []
    for _ in range(5):
        begin = time.perf_counter_ns()
        for _ in range(steps):
            pass
        taken.append(time.perf_counter_ns() - begin)
    return statistics.median(taken) / steps
