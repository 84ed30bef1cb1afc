"""Communicators: which ranks are in a collective together, found from when they leave it.

No recording says it. Ranks of one communicator leave a collective together, so that their ends stay
as far apart as their clocks are, launch after launch; those of others are apart by what each has to
do before. Two communicators that leave within the nearness are taken for one, which changes a wait
by no more than that.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gviz.fleet.tables import COMMUNICATORS
from gviz.stats import BoolArray, FloatArray, IntArray, known_quantiles

#: Ends of one communicator scatter by less: nanoseconds, and a share of the collective's time when
#: nobody is awaited. Measured: 50 to 145 ns on two H200 of one machine, of 7.5 µs.
_NEAR_NS, _NEAR_SHARE = 1_000.0, 0.1
#: Ends of others scatter by so many times as much, else nothing is split.
_CLEAR = 3.0
#: Executions that two ranks must have in common.
_LEAST = 3
#: Rows that are held at once.
_MOST_ROWS = 500_000


def find_communicators(connection: Any) -> dict[str, IntArray]:
    """Return the rows of table communicators, of collectives with more than one of them.

    Parameters
    ----------
    connection
        DuckDB's, with the tables of a data set.
    """
    (count,) = connection.execute("SELECT count(*) FROM collectives").fetchone()
    passes = -(-count // _MOST_ROWS)
    known: list[IntArray] = []
    found: list[dict[str, Any]] = []
    for number in range(passes):
        rows = connection.execute(_ENDS, [passes, number]).fetchnumpy()
        for part in _by_node(rows):
            found += _split_node({name: values[part] for name, values in rows.items()}, known)
    none = np.zeros(0, np.int64)
    return {
        name: np.concatenate([none, *(one[name] for one in found)])
        for name in COMMUNICATORS.columns
    }


def split_ranks(ends: FloatArray, least_ns: float, known: list[IntArray]) -> IntArray:
    """Return the communicator of each rank, numbered from 0 in the order of their first ranks.

    Parameters
    ----------
    ends
        float64 (execution, rank), ns after a common origin; NaN: the rank was not in it.
    least_ns
        What the collective takes when nobody is awaited.
    known
        Ways in which ranks were split for other collectives, which are tried first; a new one is
        added.
    """
    near_ns = max(_NEAR_NS, _NEAR_SHARE * least_ns)
    for way in known:
        if len(way) == ends.shape[1] and _is_right(ends, way, near_ns):
            return way
    found = _split(ends, near_ns)
    if found is None:
        return np.zeros(ends.shape[1], np.int64)
    known.append(found)
    return found


def _split(ends: FloatArray, near_ns: float) -> IntArray | None:
    """Return the communicator of each rank; None: ranks do not fall apart into clear ones."""
    found = np.full(ends.shape[1], -1)
    number = 0
    while (rest := np.flatnonzero(found < 0)).size:
        scatter = _scatter(ends[:, rest], ends[:, rest[:1]])
        scatter[0] = 0.0
        if ((scatter > near_ns) & (scatter < _CLEAR * near_ns)).any():
            return None
        found[rest[scatter <= near_ns]] = number
        number += 1
    # Nobody is in a collective alone: what leaves at any time says nothing.
    alone = np.bincount(found) == 1
    return None if alone.sum() > found.size / 2 else found


def _is_right(ends: FloatArray, way: IntArray, near_ns: float) -> bool:
    """Return whether ranks are split in this way in a collective too."""
    _, first = np.unique(way, return_index=True)
    if not (_scatter(ends, ends[:, first[way]]) <= near_ns).all():
        return False
    beside = _scatter(ends[:, first[1:]], ends[:, first[:-1]])
    from_first = _scatter(ends[:, first[1:]], ends[:, first[:1]])
    return not ((beside <= near_ns) | (from_first <= near_ns)).any()


def _scatter(ends: FloatArray, others: FloatArray) -> FloatArray:
    """Return by how much each rank's ends scatter beside another's, offset and drift taken out."""
    apart = ends - others
    middle = len(apart) // 2
    drift = (_medians(apart[middle:]) - _medians(apart[:middle])) / max(len(apart) - middle, 1)
    apart = apart - drift * np.arange(len(apart))[:, None]
    apart = apart - _medians(apart)
    scatter = 1.4826 * _medians(np.abs(apart))
    # Too few in common: nothing speaks against it.
    few: BoolArray = (~np.isnan(apart)).sum(axis=0) < _LEAST
    return np.where(few, 0.0, scatter)


def _medians(values: FloatArray) -> FloatArray:
    """Return the median of each column without NaN; 0 where there is nothing else."""
    return np.nan_to_num(known_quantiles(values))


def _by_node(rows: dict[str, Any]) -> Iterator[slice]:
    """Yield the part of each collective; rows of one follow each other.

    The last one first: the later in a launch, the farther communicators have moved apart.
    """
    keys = np.stack([rows[name].astype(np.int64) for name in ("graph_key", "nth", "node")])
    starts = np.flatnonzero(np.any(np.diff(keys, axis=1) != 0, axis=0)) + 1
    ends = [*starts.tolist(), keys.shape[1]]
    for first, end in zip([0, *starts.tolist()], ends, strict=True):
        if end > first:
            yield slice(first, end)


def _split_node(rows: dict[str, Any], known: list[IntArray]) -> Iterator[dict[str, Any]]:
    ranks = np.stack([rows["recording_id"], rows["run_id"]]).astype(np.int64)
    pairs, rank = np.unique(ranks, axis=1, return_inverse=True)
    rank = rank.ravel()
    ordinals, execution = np.unique(rows["ordinal"], return_inverse=True)
    ends = np.full((len(ordinals), pairs.shape[1]), np.nan)
    ends[execution, rank] = rows["end_ns"] - rows["end_ns"].min()
    least = np.full(len(ordinals), np.inf)
    np.minimum.at(least, execution, rows["duration_ns"].astype(float))
    way = split_ranks(ends, float(np.median(least)), known)
    if way.any():
        same = {name: np.full(len(way), rows[name][0]) for name in ("graph_key", "nth", "node")}
        yield {**same, "recording_id": pairs[0], "run_id": pairs[1], "communicator": way}


_ENDS = """
    SELECT graph_key, nth, node, ordinal, recording_id, run_id,
        start_ns + duration_ns AS end_ns, duration_ns
    FROM collectives
    WHERE iteration = 0 AND hash(graph_key, nth, node) % ? = ?
    ORDER BY graph_key, nth, node DESC
"""
