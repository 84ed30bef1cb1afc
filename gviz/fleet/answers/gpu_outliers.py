"""GPUs of a data set that are hotter or clocked lower than others of their kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gviz.fleet.answers.results import FleetRank, GpuOutlier
from gviz.fleet.answers.stragglers import find_slow
from gviz.stats import BoolArray, FloatArray

#: Places in a rack differ by so much.
_LEAST_HOTTER_CELSIUS = 5.0
#: Cycles in a period, so that clocks are compared as times are: by how long work takes at them.
_CYCLES = 1e12


def find_gpu_outliers(
    connection: Any, ranks: Mapping[tuple[int, int], FleetRank]
) -> tuple[GpuOutlier, ...]:
    """Return GPUs whose clock is lower, or whose temperature is higher, than others vary by.

    Parameters
    ----------
    connection
        DuckDB's, with the tables and views of a data set.
    ranks
        By recording and run.
    """
    rows = connection.execute(
        "SELECT recording_id, run_id, kind, sm_clock_mhz, usual_mhz, temperature_celsius, "
        "usual_celsius, slowed_by FROM gpu_clocks ORDER BY recording_id, run_id"
    ).fetchall()
    kinds = np.array([row[2] for row in rows])
    found: list[GpuOutlier] = []
    for kind in np.unique(kinds):
        alike = [row for row in rows if row[2] == kind]
        clock, heat, usual = (np.array([_number(row[at]) for row in alike]) for at in (3, 5, 6))
        is_low = _beyond(_CYCLES / clock)
        is_hot = _beyond(heat * 1e6) & (heat - usual >= _LEAST_HOTTER_CELSIUS)
        found += [
            GpuOutlier(
                rank=ranks[row[0], row[1]],
                sm_clock_mhz=row[3],
                usual_mhz=row[4],
                temperature_celsius=row[5],
                usual_celsius=row[6],
                slowed_by=row[7] or "",
                is_lower=bool(low),
                is_hotter=bool(hot),
            )
            for row, low, hot in zip(alike, is_low, is_hot, strict=True)
            if low or hot
        ]
    return tuple(sorted(found, key=lambda one: (not one.is_lower, one.sm_clock_mhz or 0.0)))


def _beyond(values: FloatArray) -> BoolArray:
    """Return which values are above those of the others, by the rule for slow ranks."""
    known = ~np.isnan(values)
    found = np.zeros(len(values), bool)
    chosen = values[known]
    if len(chosen):
        usual = chosen.min() if len(chosen) == 2 else np.median(chosen)
        found[known] = find_slow(chosen, chosen - usual)
    return found


def _number(value: float | None) -> float:
    return np.nan if not value else float(value)
