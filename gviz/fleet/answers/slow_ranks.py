"""Slow ranks of a data set: in which layer and nodes, and since when."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, TypeAlias

import numpy as np

from gviz.dataclass import dataclass
from gviz.fleet.answers.results import FleetRank, SlowerNode, SlowRank
from gviz.fleet.answers.shifts import find_onset
from gviz.fleet.answers.stragglers import find_slow
from gviz.fleet.extra import load

#: Nodes of a slow rank that are named.
_MOST_NODES = 3
_KEYS = ("recording_id", "run_id", "graph_key", "nth")
#: A graph of a run, by these keys.
Key: TypeAlias = tuple[int, ...]
#: Launches: the first one, when it was called, how much longer than usual they take, as a share.
Work: TypeAlias = tuple[int, int | None, float]


@dataclass(slots=True)
class _Details:
    """Knowledge of a slow rank in a graph."""

    layer_count: int = 0
    layer_median: float = 0.0
    nodes: list[SlowerNode] = field(default_factory=list)
    work: list[Work] = field(default_factory=list)


def find_slow_ranks(
    connection: Any, ranks: Mapping[tuple[int, int], FleetRank]
) -> tuple[SlowRank, ...]:
    """Return the slow ranks of each graph, the slowest first.

    Parameters
    ----------
    connection
        DuckDB's, with the tables and views of a data set.
    ranks
        By recording and run.
    """
    found = connection.execute("SELECT * FROM slowest_ranks").fetchnumpy()
    graphs = np.stack([found["graph_key"], found["nth"].astype(np.int64)], axis=1)
    chosen: list[int] = []
    for graph in np.unique(graphs, axis=0):
        rows = np.flatnonzero((graphs == graph).all(axis=1))
        chosen += rows[find_slow(found["own_ns"][rows], found["excess_ns"][rows])].tolist()
    slow = [{name: values[row] for name, values in found.items()} for row in chosen]
    details = _read_details(connection, slow)
    made = [_slow_rank(ranks, row, details[_key_of(row)]) for row in slow]
    return tuple(sorted(made, key=lambda one: -one.excess_fraction))


def _slow_rank(
    ranks: Mapping[tuple[int, int], FleetRank], row: Mapping[str, Any], details: _Details
) -> SlowRank:
    fraction, deviations = float(row["excess_fraction"]), row["deviations"]
    onset = find_onset(np.array([excess for _, _, excess in details.work]))
    launch, start_ns = (None, None) if onset is None else details.work[onset][:2]
    return SlowRank(
        rank=ranks[int(row["recording_id"]), int(row["run_id"])],
        graph=str(row["graph"]),
        own_ns=float(row["own_ns"]),
        excess_ns=float(row["excess_ns"]),
        excess_fraction=fraction,
        deviations=float(deviations) if np.isfinite(deviations) else None,
        layer=str(row["worst_layer"] or ""),
        layer_fraction=float(row["worst_layer_ns"]) / float(row["excess_ns"]),
        is_even=details.layer_count > 2 and details.layer_median > 0.5 * fraction,
        nodes=tuple(details.nodes),
        since_launch=launch,
        since_ns=start_ns,
    )


def _read_details(connection: Any, slow: Sequence[Mapping[str, Any]]) -> Mapping[Key, _Details]:
    """Read the details of all slow ranks: a scan a question, however many they are."""
    found: defaultdict[Key, _Details] = defaultdict(_Details)
    if not slow:
        return found
    _choose(connection, [_key_of(row) for row in slow])
    for *key, count, middle in connection.execute(_LAYERS).fetchall():
        details = found[tuple(key)]
        details.layer_count, details.layer_median = count, middle
    for *key, name, layer, median, usual in connection.execute(_NODES).fetchall():
        found[tuple(key)].nodes.append(SlowerNode(name, layer, median, usual))
    for key, work in _read_work(connection).items():
        found[key].work = work
    connection.unregister("chosen")
    return found


def read_work(connection: Any, keys: Sequence[Key]) -> Mapping[Key, list[Work]]:
    """Return the work over time of graphs of runs, in order of time.

    Parameters
    ----------
    keys
        Recording, run, structure, and which of the run's graphs of that structure, of each.
    """
    if not keys:
        return {}
    _choose(connection, keys)
    found = _read_work(connection)
    connection.unregister("chosen")
    return found


def _choose(connection: Any, keys: Sequence[Key]) -> None:
    columns = zip(_KEYS, np.array(keys, np.int64).T, strict=True)
    connection.register("chosen", load("pyarrow").table(dict(columns)))


def _read_work(connection: Any) -> dict[Key, list[Work]]:
    found: defaultdict[Key, list[Work]] = defaultdict(list)
    for *key, ordinal, start_ns, excess in connection.execute(_WORK).fetchall():
        found[tuple(key)].append((ordinal, start_ns, excess))
    return found


def _key_of(row: Mapping[str, Any]) -> Key:
    return tuple(int(row[name]) for name in _KEYS)


_LAYERS = """
    WITH usual AS (
        SELECT graph_key, nth, layer, median(total_ns) AS usual_ns
        FROM layer_times SEMI JOIN chosen USING (graph_key, nth) GROUP BY graph_key, nth, layer
    )
    SELECT recording_id, run_id, graph_key, nth, count(*), median(total_ns / usual_ns - 1)
    FROM layer_times JOIN chosen USING (recording_id, run_id, graph_key, nth)
        JOIN usual USING (graph_key, nth, layer)
    WHERE usual_ns > 0 GROUP BY recording_id, run_id, graph_key, nth
"""
_NODES = f"""
    WITH usual AS (
        SELECT graph_key, nth, node, median(median_ns) AS usual_ns
        FROM node_times SEMI JOIN chosen USING (graph_key, nth) GROUP BY graph_key, nth, node
    )
    SELECT recording_id, run_id, graph_key, nth, name, layer_name, median_ns, usual_ns
    FROM node_times JOIN chosen USING (recording_id, run_id, graph_key, nth)
        JOIN usual USING (graph_key, nth, node) JOIN nodes USING (graph_key, node)
    WHERE NOT is_collective AND median_ns > usual_ns
    QUALIFY row_number() OVER (
        PARTITION BY recording_id, run_id, graph_key, nth ORDER BY median_ns - usual_ns DESC
    ) <= {_MOST_NODES}
    ORDER BY median_ns - usual_ns DESC
"""
#: Beside the middle rank in the launch of that number: what makes all ranks slower is not theirs.
_WORK = """
    WITH usual AS (
        SELECT graph_key, nth, ordinal, median(median_ns) AS usual_ns
        FROM own_work SEMI JOIN chosen USING (graph_key, nth) GROUP BY graph_key, nth, ordinal
    )
    SELECT recording_id, run_id, graph_key, nth, ordinal, start_ns, median_ns / usual_ns - 1
    FROM own_work JOIN chosen USING (recording_id, run_id, graph_key, nth)
        JOIN usual USING (graph_key, nth, ordinal)
    WHERE usual_ns > 0 ORDER BY ordinal
"""
