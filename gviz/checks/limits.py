"""Limits that a recording is held against: the table ``[check]`` of a configuration.

Times are texts with a unit (``"1.2 ms"``), sizes too (``"64 MB"``), shares a text with ``%`` or a
number from 0 to 1. ``false`` takes back a limit that is set for all graphs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import field
from fnmatch import fnmatchcase

from gviz.analysis import RULES
from gviz.dataclass import dataclass
from gviz.errors import UsageError

Values = Mapping[str, float]

#: Stands for all rules together in ``[check.findings]``.
ANY_RULE = "any"
#: Taken where a baseline is given and the configuration has no ``[check.regression]``.
DEFAULT_REGRESSION = {"launch": 0.05, "critical_path": 0.05}

_TIMES = {"ns": 1.0, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9}
_SIZES = {
    "bytes": 1.0, "B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9,
    "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30,
}  # fmt: skip
_NUMBER = re.compile(r"(\d+(?:\.\d+)?)\s*(\S*)")


@dataclass(frozen=True, slots=True)
class GraphLimits:
    """Limits of one graph.

    Attributes
    ----------
    most
        The most that each measure may be: launch, host, critical_path (ns), idle (fraction), nodes,
        lanes, exec_memory (bytes).
    findings
        The most findings of each rule; of all rules about graphs together under ``any``.
    regression
        By how much each may be above the baseline: launch, host, critical_path, node (fractions),
        nodes (count).
    """

    most: Values = field(default_factory=dict)
    findings: Values = field(default_factory=dict)
    regression: Values = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a recording.

    Attributes
    ----------
    every
        For every graph.
    named
        Patterns of names of graphs (``*`` and ``?``) with what holds for these instead; later ones
        count more.
    run
        The most of a whole run: graph_memory (bytes).
    run_regression
        By how much a run may be above the baseline: graph_memory (fraction).
    unjudged_passes
        Whether what cannot be judged is let through.
    """

    every: GraphLimits = field(default_factory=GraphLimits)
    named: tuple[tuple[str, GraphLimits], ...] = ()
    run: Values = field(default_factory=dict)
    run_regression: Values = field(default_factory=dict)
    unjudged_passes: bool = False

    def of_graph(self, name: str) -> GraphLimits:
        """Return what a graph of a name is held against."""
        found = self.every
        for pattern, limits in self.named:
            if fnmatchcase(name, pattern):
                found = GraphLimits(
                    {**found.most, **limits.most},
                    {**found.findings, **limits.findings},
                    {**found.regression, **limits.regression},
                )
        return GraphLimits(
            _limited(found.most), _limited(found.findings), _limited(found.regression)
        )

    @property
    def has_limits(self) -> bool:
        """Return whether there is anything to hold a recording against without a baseline."""
        tables = [self.every, *(limits for _, limits in self.named)]
        return bool(self.run) or any(t.most or t.findings for t in tables)

    @property
    def has_regression(self) -> bool:
        """Return whether there is anything to hold it against a baseline by."""
        tables = [self.every, *(limits for _, limits in self.named)]
        return bool(self.run_regression) or any(t.regression for t in tables)


def _limited(values: Values) -> Values:
    return {key: value for key, value in values.items() if not math.isinf(value)}


def parse_limits(table: object) -> Limits:
    """Return the limits that a table ``[check]`` sets.

    Raises
    ------
    UsageError
        If it says something else than it may.
    """
    top = _table("[check]", table)
    graphs = top.pop("graph", [])
    run, unjudged = _table("[check.run]", top.pop("run", {})), top.pop("unjudged", "fail")
    regression = _table("[check.regression]", top.pop("regression", {}))
    memory = {k: regression.pop(k) for k in RUN_REGRESSION_KEYS if k in regression}
    if unjudged not in ("fail", "pass"):
        raise UsageError(f'[check]: unjudged is "fail" or "pass", not {unjudged!r}; mend it')
    if not isinstance(graphs, list):
        raise UsageError("[check]: graph must be [[check.graph]] tables; docs/check.md has one")
    return Limits(
        every=_graph_limits("[check", {**top, "regression": regression}),
        named=tuple(_named(entry) for entry in graphs),
        run=_values("[check.run]", run, RUN_KEYS),
        run_regression=_values("[check.regression]", memory, RUN_REGRESSION_KEYS),
        unjudged_passes=unjudged == "pass",
    )


def _named(entry: object) -> tuple[str, GraphLimits]:
    table = _table("[[check.graph]]", entry)
    name = table.pop("name", None)
    if not isinstance(name, str) or not name:
        raise UsageError(
            '[[check.graph]] needs the name of a graph or a pattern, such as name = "decode*"'
        )
    return name, _graph_limits("[[check.graph", table)


def _graph_limits(where: str, table: dict[str, object]) -> GraphLimits:
    end = "]" * where.count("[")
    findings = _table(f"{where}.findings{end}", table.pop("findings", {}))
    regression = _table(f"{where}.regression{end}", table.pop("regression", {}))
    # Rules about runs say nothing of a single graph.
    rules = [i for i, rule in RULES.items() if rule.find is not None or "[[" not in where]
    known = dict.fromkeys((*rules, ANY_RULE), _count)
    return GraphLimits(
        most=_values(where + end, table, MOST_KEYS),
        findings=_values(f"{where}.findings{end}", findings, known),
        regression=_values(f"{where}.regression{end}", regression, REGRESSION_KEYS),
    )


def _table(where: str, value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise UsageError(f"{where} must be a table, not {value!r}; docs/check.md has one")
    return dict(value)


def _values(
    where: str, table: Mapping[str, object], known: Mapping[str, Callable[[object], float]]
) -> dict[str, float]:
    found = {}
    for key, value in table.items():
        if key not in known:
            raise UsageError(f"{where}: there is no {key!r}; there are {', '.join(known)}")
        try:
            # Infinity marks what is taken back: of_graph leaves it out.
            found[key] = math.inf if value is False else known[key](value)
        except ValueError as error:
            raise UsageError(f"{where}: {key} = {value!r}: {error}") from None
    return found


def _time(value: object) -> float:
    return _quantity(value, _TIMES, '"1.2 ms"')


def _size(value: object) -> float:
    return _quantity(value, _SIZES, '"64 MB"')


def _quantity(value: object, units: Mapping[str, float], example: str) -> float:
    found = _NUMBER.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None or found[2] not in units:
        raise ValueError(f"must be a text with a unit such as {example} ({', '.join(units)})")
    return float(found[1]) * units[found[2]]


def _fraction(value: object) -> float:
    if isinstance(value, str) and (found := _NUMBER.fullmatch(value.strip())) and found[2] == "%":
        return float(found[1]) / 100
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1:
        return float(value)
    raise ValueError('must be a share such as "5%" or 0.05')


def _count(value: object) -> float:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise ValueError("must be a whole number from 0 on")


#: Keys of each table, and what reads their values.
MOST_KEYS: Mapping[str, Callable[[object], float]] = {
    "launch": _time,
    "host": _time,
    "critical_path": _time,
    "idle": _fraction,
    "nodes": _count,
    "lanes": _count,
    "exec_memory": _size,
}
REGRESSION_KEYS: Mapping[str, Callable[[object], float]] = {
    "launch": _fraction,
    "host": _fraction,
    "critical_path": _fraction,
    "node": _fraction,
    "nodes": _count,
}
RUN_KEYS: Mapping[str, Callable[[object], float]] = {"graph_memory": _size}
RUN_REGRESSION_KEYS: Mapping[str, Callable[[object], float]] = {"graph_memory": _fraction}
