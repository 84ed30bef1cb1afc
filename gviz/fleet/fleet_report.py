"""The report of a data set: who is slow, who waits for whom, who launches something else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gviz.fleet.clocks import FittedClocks, fit_clocks
from gviz.fleet.questions import open_questions
from gviz.fleet.stragglers import find_slow
from gviz.stats import figure, to_document

#: Raised when a key of the JSON goes away or changes its meaning; new keys do not raise it.
REPORT_VERSION = 1
#: Nodes of a slow rank that are named.
_MOST_NODES = 3


@dataclass(frozen=True, slots=True)
class FleetRank:
    """A rank of a data set."""

    recording_id: int = figure("stated", "its recording")
    run_id: int = figure("stated", "the run in it")
    rank: int | None = figure("measured", "of a distributed job; null: not recorded")
    host: str | None = figure("measured", "its machine")
    gpus: str = figure("measured", "its GPUs")


@dataclass(frozen=True, slots=True)
class SlowerNode:
    """A node that takes longer on a slow rank."""

    name: str = figure("stated", "its name")
    layer: str = figure("stated", "its layer of the model; empty: none")
    median_ns: float = figure("derived", "median duration on that rank")
    usual_ns: float = figure("derived", "median of the ranks' medians")


@dataclass(frozen=True, slots=True)
class SlowRank:
    """A rank whose own work takes longer than on the others, beyond what they vary by."""

    rank: FleetRank = figure("stated", "which")
    graph: str = figure("stated", "the graph")
    own_ns: float = figure("derived", "what its nodes take in a launch, collectives left out")
    excess_ns: float = figure("derived", "by how much that is more than on the middle rank")
    excess_fraction: float = figure("derived", "that, as a share of the middle rank's")
    deviations: float | None = figure("derived", "that, in deviations of all ranks")
    layer: str = figure("stated", "the layer in which most of it is; empty: in none")
    layer_fraction: float = figure("derived", "share of the excess that is in that layer")
    is_even: bool = figure(
        "estimated",
        "most of its layers take longer by about the same share: such as a GPU that is clocked "
        "lower than others",
    )
    nodes: tuple[SlowerNode, ...] = figure("derived", "its nodes that take longer, most first")


@dataclass(frozen=True, slots=True)
class AwaitedRank:
    """A rank that others wait for in collectives."""

    rank: FleetRank = figure("stated", "which")
    graph: str = figure("stated", "the graph")
    last_fraction: float = figure(
        "estimated", "share of the executions in which it came last, of the collective with most"
    )
    wait_ns: float = figure(
        "estimated", "what the others waited for it in a launch, summed over collectives: the mean"
    )


@dataclass(frozen=True, slots=True)
class DivergentRank:
    """A rank that launches other graphs than most, or in another order."""

    rank: FleetRank = figure("stated", "which")
    differs: str = figure("derived", "graphs, or order")
    missing: tuple[str, ...] = figure("derived", "graphs that most ranks launch and it does not")
    added: tuple[str, ...] = figure("derived", "graphs that it launches and most do not")


@dataclass(frozen=True, slots=True)
class HostClock:
    """The clock of a machine beside that of the first one."""

    host: str = figure("stated", "the machine")
    offset_ns: float | None = figure("estimated", "how far it is ahead; null: too few collectives")
    drift_ppm: float | None = figure("estimated", "how much faster it runs, parts per million")
    residual_ns: float | None = figure(
        "estimated", "error of times put on the first clock: 95% of ends are nearer to the others'"
    )


@dataclass(frozen=True, slots=True)
class FleetReport:
    """A data set reported on."""

    report_version: int = figure("stated", "version of these keys")
    rank_count: int = figure("measured", "runs in it")
    host_count: int = figure("measured", "their machines")
    build_count: int = figure("stated", "builds that made it")
    failure_count: int = figure("stated", "recordings that were given and are not in it")
    graph_count: int = figure("derived", "structures of graphs")
    compared_count: int = figure("derived", "runs that are compared in a graph")
    slow: tuple[SlowRank, ...] = figure("derived", "slow ranks, the slowest first")
    awaited: tuple[AwaitedRank, ...] = figure("derived", "awaited ranks, the costliest first")
    divergent: tuple[DivergentRank, ...] = figure("derived", "those that launch something else")
    clocks: tuple[HostClock, ...] = figure("derived", "clocks of machines; empty: one machine")


def report_to_json(report: FleetReport) -> dict[str, Any]:
    """Return a report as JSON values, with how each number came about under ``how``."""
    return to_document(report)


def read_report(url: str) -> FleetReport:
    """Return the report of a data set.

    Raises
    ------
    RecordingError
        If there is no data set.
    GvizError
        If a library of the extra is not installed.
    """
    with open_questions(url) as (connection, manifest):
        answers = _Answers(connection)
        ranks, hosts, graphs, compared = connection.execute(
            "SELECT count(*), count(DISTINCT host), (SELECT count(*) FROM graphs), "
            "(SELECT count(DISTINCT (recording_id, run_id)) FROM layer_times) FROM ranks"
        ).fetchone()
        return FleetReport(
            report_version=REPORT_VERSION,
            rank_count=ranks,
            host_count=hosts,
            build_count=len(manifest.builds),
            failure_count=len(manifest.failures),
            graph_count=graphs,
            compared_count=compared,
            slow=answers.slow(),
            awaited=answers.awaited(),
            divergent=answers.divergent(),
            clocks=answers.clocks() if hosts > 1 else (),
        )


class _Answers:
    """Answers to the questions of a report."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._ranks = {
            (row[0], row[1]): FleetRank(*row)
            for row in connection.execute(
                "SELECT recording_id, run_id, rank, host, gpus FROM ranks"
            ).fetchall()
        }

    def slow(self) -> tuple[SlowRank, ...]:
        """Return the slow ranks of each graph."""
        found = self._connection.execute("SELECT * FROM slowest_ranks").fetchnumpy()
        graphs = np.stack([found["graph_key"], found["nth"].astype(np.int64)], axis=1)
        slow: list[SlowRank] = []
        for graph in np.unique(graphs, axis=0):
            rows = np.flatnonzero((graphs == graph).all(axis=1))
            own, excess = found["own_ns"][rows], found["excess_ns"][rows]
            for row in rows[find_slow(own, excess)].tolist():
                slow.append(self._slow_rank({name: found[name][row] for name in found}))
        return tuple(sorted(slow, key=lambda one: -one.excess_fraction))

    def _slow_rank(self, row: dict[str, Any]) -> SlowRank:
        keys = [int(row[name]) for name in ("recording_id", "run_id", "graph_key", "nth")]
        layers = self._connection.execute(_LAYERS_OF_RANK, [*keys[2:], *keys]).fetchall()
        shares = np.array([share for share, _ in layers])
        even = len(shares) > 2 and float(np.median(shares)) > 0.5 * float(row["excess_fraction"])
        nodes = self._connection.execute(_NODES_OF_RANK, [*keys[2:], *keys]).fetchall()
        deviations = row["deviations"]
        return SlowRank(
            rank=self._ranks[keys[0], keys[1]],
            graph=str(row["graph"]),
            own_ns=float(row["own_ns"]),
            excess_ns=float(row["excess_ns"]),
            excess_fraction=float(row["excess_fraction"]),
            deviations=float(deviations) if np.isfinite(deviations) else None,
            layer=str(row["worst_layer"] or ""),
            layer_fraction=float(row["worst_layer_ns"]) / float(row["excess_ns"]),
            is_even=even,
            nodes=tuple(SlowerNode(*node) for node in nodes),
        )

    def awaited(self) -> tuple[AwaitedRank, ...]:
        """Return the ranks that come last in most executions of a collective."""
        rows = self._connection.execute(_AWAITED).fetchall()
        return tuple(
            AwaitedRank(self._ranks[recording, run], graph, fraction, wait)
            for recording, run, graph, fraction, wait in rows
        )

    def divergent(self) -> tuple[DivergentRank, ...]:
        """Return the ranks that launch something else."""
        rows = self._connection.execute(
            "SELECT recording_id, run_id, differs, missing, added FROM divergent_graphs"
        ).fetchall()
        return tuple(
            DivergentRank(self._ranks[recording, run], differs, tuple(missing), tuple(added))
            for recording, run, differs, missing, added in rows
        )

    def clocks(self) -> tuple[HostClock, ...]:
        """Return the clocks of all machines."""
        found = self._connection.execute(_ENDS).fetchnumpy()
        if not len(found["end_ns"]):
            return ()
        hosts, host = np.unique(found["host"].astype(str), return_inverse=True)
        execution = found["execution"].astype(np.int64)
        ends = np.full((int(execution.max()) + 1, len(hosts)), np.nan)
        ends[execution, host] = found["end_ns"] - found["end_ns"].min()
        return _host_clocks(hosts.tolist(), fit_clocks(ends))


def _host_clocks(hosts: list[str], found: FittedClocks) -> tuple[HostClock, ...]:
    values = zip(hosts, found.offset_ns, found.drift * 1e6, found.residual_ns, strict=True)
    return tuple(
        HostClock(host, *(None if np.isnan(x) else float(x) for x in numbers))
        for host, *numbers in values
    )


_LAYERS_OF_RANK = """
    WITH usual AS (
        SELECT layer, median(total_ns) AS usual_ns FROM layer_times
        WHERE graph_key = ? AND nth = ? GROUP BY layer
    )
    SELECT total_ns / usual_ns - 1, layer FROM layer_times JOIN usual USING (layer)
    WHERE recording_id = ? AND run_id = ? AND graph_key = ? AND nth = ? AND usual_ns > 0
"""
_NODES_OF_RANK = f"""
    WITH usual AS (
        SELECT node, median(median_ns) AS usual_ns FROM node_times
        WHERE graph_key = ? AND nth = ? GROUP BY node
    )
    SELECT name, layer_name, median_ns, usual_ns
    FROM node_times JOIN usual USING (node) JOIN nodes USING (graph_key, node)
    WHERE recording_id = ? AND run_id = ? AND graph_key = ? AND nth = ? AND NOT is_collective
        AND median_ns > usual_ns
    ORDER BY median_ns - usual_ns DESC LIMIT {_MOST_NODES}
"""
#: Those that come last in most executions of a collective. Of two ranks each does in half of them.
_AWAITED = """
    WITH launched AS (
        SELECT graph_key, nth, count(DISTINCT ordinal) AS launch_count,
            count(DISTINCT (recording_id, run_id)) AS rank_count
        FROM collectives GROUP BY graph_key, nth
    )
    SELECT recording_id, run_id, any_value(graph), max(last_fraction),
        sum(last_count * mean_wait_ns) / any_value(launch_count) AS wait_ns
    FROM waits_for JOIN launched USING (graph_key, nth)
    GROUP BY recording_id, run_id, graph_key, nth
    HAVING max(last_fraction) > greatest(0.5, 1.5 / any_value(rank_count))
    ORDER BY wait_ns DESC
"""
#: Of each execution the middle end on each host.
_ENDS = """
    SELECT dense_rank() OVER (ORDER BY graph_key, nth, node, ordinal, iteration) - 1 AS execution,
        host, median(start_ns + duration_ns)::BIGINT AS end_ns
    FROM collectives JOIN ranks USING (recording_id, run_id) WHERE host IS NOT NULL
    GROUP BY graph_key, nth, node, ordinal, iteration, host
"""
