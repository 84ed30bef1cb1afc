"""Skew between the ranks of a job: launches and nodes; numpy in, numpy out.

What belongs together (the k-th launch of each rank, or an execution of a body's node in it) is one
execution. Axes are (rank, execution, node); NaN: not measured.
"""

from __future__ import annotations

import numpy as np

from gviz.dataclass import dataclass
from gviz.stats import (
    FloatArray,
    IntArray,
    growth_probability,
    known_quantiles,
    least_change_ns,
)


@dataclass(frozen=True, slots=True)
class RankSpread:
    """Durations of some things (nodes, or one launch) over ranks; one value each.

    Attributes
    ----------
    medians
        float64 (rank, thing): median over executions.
    slowest
        int64: the rank with the largest; -1 where fewer than two ranks have a time.
    slowest_fraction
        Share of the executions, 0..1, in which that rank took longest.
    probability
        p value of "the slowest rank takes no longer than the others", times the number of ranks
        (it was chosen among them); NaN: too few launches.
    """

    medians: FloatArray
    slowest: IntArray
    slowest_fraction: FloatArray
    probability: FloatArray


def spread_of(durations: FloatArray, by_launch: FloatArray | None = None) -> RankSpread:
    """Return how durations are spread over the ranks.

    Parameters
    ----------
    durations
        float64 (rank, execution, thing).
    by_launch
        float64 (rank, launch, thing), which is tested against noise: executions of one launch are
        alike, and would count as more than they show. None: there is one a launch.
    """
    things = durations.shape[2]
    medians = median(durations, 1)
    known = ~np.isnan(medians)
    enough = known.sum(axis=0) >= 2
    slowest = np.where(enough, np.argmax(np.where(known, medians, -np.inf), axis=0), -1)
    column = np.arange(things)
    mine = durations[slowest, :, column].T
    others = durations.copy()
    others[slowest, :, column] = np.nan
    with np.errstate(invalid="ignore"):
        longest = mine > np.nanmax(np.where(np.isnan(others), -np.inf, others), axis=0)
    counted = ~np.isnan(mine)
    fraction = (longest & counted).sum(axis=0) / np.maximum(counted.sum(axis=0), 1)
    probability = _probability(durations if by_launch is None else by_launch, slowest)
    probability[~enough] = np.nan
    return RankSpread(medians, slowest.astype(np.int64), fraction, probability)


def _probability(by_launch: FloatArray, slowest: IntArray) -> FloatArray:
    """Return the p value of each thing, as :class:`RankSpread` has it; (rank, launch, thing)."""
    column = np.arange(by_launch.shape[2])
    mine = by_launch[slowest, :, column].T
    others = by_launch.copy()
    others[slowest, :, column] = np.nan
    usual = median(others, 0)  # of the other ranks, launch by launch
    least = least_change_ns(np.nan_to_num(median(usual, 0)))
    found: FloatArray = np.minimum(1.0, growth_probability(usual, mine, least) * len(by_launch))
    return found


def range_of(values: FloatArray) -> FloatArray:
    """Return the largest less the smallest along the first axis; NaN with fewer than two."""
    known = ~np.isnan(values)
    most = np.where(known, values, -np.inf).max(axis=0)
    least = np.where(known, values, np.inf).min(axis=0)
    with np.errstate(invalid="ignore"):
        return np.where(known.sum(axis=0) >= 2, most - least, np.nan)


def waits_of(durations: FloatArray) -> tuple[FloatArray, IntArray, FloatArray]:
    """Return how long each rank waits in collectives, who comes last, and in what share of them.

    A collective ends on all ranks at about the same time: the rank that arrives last takes least.

    Parameters
    ----------
    durations
        float64 (rank, execution, collective).

    Returns
    -------
    tuple
        Waits (rank, collective), median over executions; the rank that most often took least
        (collective); the share of executions in which it did.
    """
    known = ~np.isnan(durations)
    filled = np.where(known, durations, np.inf)
    least = filled.min(axis=0)
    with np.errstate(invalid="ignore"):
        waits = np.where(known, durations - least, np.nan)
    first = np.where(known.sum(axis=0) >= 2, filled.argmin(axis=0), -1)
    counts = np.stack([(first == rank).sum(axis=0) for rank in range(len(durations))])
    last = counts.argmax(axis=0)
    total = np.maximum((first >= 0).sum(axis=0), 1)
    return median(waits, 1), last.astype(np.int64), counts.max(axis=0) / total


def median(values: FloatArray, axis: int) -> FloatArray:
    """Return medians without NaN; NaN where there is nothing else."""
    columns = np.moveaxis(values, axis, 0)
    return known_quantiles(columns.reshape(len(columns), -1)).reshape(columns.shape[1:])
