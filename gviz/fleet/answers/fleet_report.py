"""The report of a data set: who is slow, who waits for whom, who launches something else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gviz.fleet.answers.build_changes import find_layer_changes, find_version_changes
from gviz.fleet.answers.clocks import FittedClocks, fit_clocks
from gviz.fleet.answers.gpu_outliers import find_gpu_outliers
from gviz.fleet.answers.questions import open_questions
from gviz.fleet.answers.results import (
    AwaitedRank,
    DivergentRank,
    FleetRank,
    FleetReport,
    HostClock,
    SlowLink,
)
from gviz.fleet.answers.slow_ranks import find_slow_ranks
from gviz.fleet.answers.stragglers import find_slow
from gviz.fleet.manifest import Manifest
from gviz.stats import IntArray, to_document
from gviz.system import NO_PROGRESS, Progress

#: Raised when a key of the JSON goes away or changes its meaning; new keys do not raise it.
REPORT_VERSION = 1
#: Shares of the time, of 4,096 ranks: ranks, other graphs, slow ranks, waits, links, clocks.
_STEPS = (0.15, 0.13, 0.39, 0.8, 0.24, 1.8)
#: Places of executions by hosts: 80 MB.
_MOST_ENDS = 10_000_000


def report_to_json(report: FleetReport) -> dict[str, Any]:
    """Return a report as JSON values, with how each number came about under ``how``."""
    return to_document(report)


def read_report(url: str, progress: Progress = NO_PROGRESS) -> FleetReport:
    """Return the report of a data set.

    Parameters
    ----------
    progress
        Told the share of the questions that are answered.

    Raises
    ------
    RecordingError
        If there is no data set.
    GvizError
        If a library of the extra is not installed.
    """
    progress.at(0.0, "ranks")
    with open_questions(url) as (connection, manifest):
        return report_of(connection, manifest, progress)


def report_of(connection: Any, manifest: Manifest, progress: Progress = NO_PROGRESS) -> FleetReport:
    """Return the report of a data set that is open."""
    steps = progress.steps(_STEPS, "ranks")
    answers = steps.run(_Answers, connection)
    divergent = steps.run(answers.divergent)
    ranks, hosts, graphs, compared, clocked = connection.execute(
        "SELECT count(*), count(DISTINCT host), (SELECT count(*) FROM graphs), "
        "(SELECT count(DISTINCT (recording_id, run_id)) FROM layer_times), "
        "count(sm_clock_mhz) FROM ranks"
    ).fetchone()
    return FleetReport(
        report_version=REPORT_VERSION,
        rank_count=ranks,
        host_count=hosts,
        build_count=len(manifest.builds),
        failure_count=len(manifest.failures),
        graph_count=graphs,
        compared_count=compared,
        slow=steps.run(find_slow_ranks, connection, answers.ranks),
        awaited=steps.run(answers.awaited, divergent),
        slow_links=steps.run(answers.slow_links),
        divergent=divergent,
        gpu_outliers=find_gpu_outliers(connection, answers.ranks),
        clocked_count=clocked,
        layer_changes=find_layer_changes(connection),
        version_changes=find_version_changes(connection),
        clocks=steps.run(answers.clocks) if hosts > 1 else (),
    )


class _Answers:
    """Answers to the questions of a report."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self.ranks = {
            (row[0], row[1]): FleetRank(*row)
            for row in connection.execute(
                "SELECT recording_id, run_id, rank, host, gpus, url FROM ranks"
            ).fetchall()
        }

    def awaited(self, divergent: Sequence[DivergentRank]) -> tuple[AwaitedRank, ...]:
        """Return the ranks that come last in most executions of a collective.

        Those with a graph of their own are left out: collectives are matched by graph, and the
        others have theirs in another one.
        """
        rows = self._connection.execute(_AWAITED).fetchall()
        apart = {one.rank for one in divergent if one.differs == "graphs"}
        found = [
            AwaitedRank(self.ranks[recording, run], graph, fraction, wait)
            for recording, run, graph, fraction, wait in rows
        ]
        return tuple(one for one in found if one.rank not in apart)

    def slow_links(self) -> tuple[SlowLink, ...]:
        """Return the communicators that are slow beside others of as many ranks."""
        found = self._connection.execute(_LINKS).fetchnumpy()
        alike = np.stack([found[x].astype(np.int64) for x in ("graph_key", "nth", "rank_count")])
        slow: list[int] = []
        for kind in np.unique(alike, axis=1).T:
            rows = np.flatnonzero((kind == alike.T).all(axis=1))
            excess = (found["transfer_ns"] - found["usual_ns"])[rows]
            slow += rows[find_slow(found["transfer_ns"][rows], excess)].tolist()
        links = [_slow_link({name: values[row] for name, values in found.items()}) for row in slow]
        return tuple(sorted(links, key=lambda one: -one.excess_fraction))

    def divergent(self) -> tuple[DivergentRank, ...]:
        """Return the ranks that launch something else."""
        rows = self._connection.execute(
            "SELECT recording_id, run_id, differs, missing, added FROM divergent_graphs"
        ).fetchall()
        return tuple(
            DivergentRank(self.ranks[recording, run], differs, tuple(missing), tuple(added))
            for recording, run, differs, missing, added in rows
        )

    def clocks(self) -> tuple[HostClock, ...]:
        """Return the clocks of all machines."""
        found = self._connection.execute(_ENDS).fetchnumpy()
        if not len(found["end_ns"]):
            return ()
        hosts, host = np.unique(found["host"].astype(str), return_inverse=True)
        execution = found["execution"].astype(np.int64)
        chosen = _some_executions(int(execution.max()) + 1, len(hosts))
        kept = np.isin(execution, chosen)
        execution = np.searchsorted(chosen, execution[kept])
        host, found = host[kept], {name: values[kept] for name, values in found.items()}
        ends = np.full((len(chosen), len(hosts)), np.nan)
        ends[execution, host] = found["end_ns"] - found["end_ns"].min()
        return _host_clocks(hosts.tolist(), fit_clocks(ends))


def _slow_link(row: dict[str, Any]) -> SlowLink:
    first, last = (
        None if np.ma.is_masked(row[name]) else int(row[name])
        for name in ("first_rank", "last_rank")
    )
    transfer, usual = float(row["transfer_ns"]), float(row["usual_ns"])
    return SlowLink(
        graph=str(row["graph"]),
        rank_count=int(row["rank_count"]),
        first_rank=first,
        last_rank=last,
        hosts=tuple(row["hosts"]),
        transfer_ns=transfer,
        excess_ns=transfer - usual,
        excess_fraction=transfer / usual - 1,
    )


def _some_executions(count: int, hosts: int) -> IntArray:
    """Return executions by which clocks are fitted: all, or as many by chance as memory holds."""
    most = max(_MOST_ENDS // hosts, 1)
    if count <= most:
        return np.arange(count)
    return np.sort(np.random.default_rng(0).choice(count, most, replace=False))


def _host_clocks(hosts: list[str], found: FittedClocks) -> tuple[HostClock, ...]:
    values = zip(hosts, found.offset_ns, found.drift * 1e6, found.residual_ns, strict=True)
    return tuple(
        HostClock(host, *(None if np.isnan(x) else float(x) for x in numbers))
        for host, *numbers in values
    )


#: Those that come last in most executions of a collective. Of two ranks each does in half of them.
_AWAITED = """
    WITH launched AS (
        SELECT graph_key, nth, count(DISTINCT ordinal) AS launch_count
        FROM collectives GROUP BY graph_key, nth
    )
    SELECT recording_id, run_id, any_value(graph), max(last_fraction),
        sum(last_count * mean_wait_ns) / any_value(launch_count) AS wait_ns
    FROM waits_for JOIN launched USING (graph_key, nth)
    GROUP BY recording_id, run_id, graph_key, nth
    HAVING max(last_fraction) > greatest(0.5, 1.5 / any_value(rank_count))
    ORDER BY wait_ns DESC
"""
#: All collectives of a launch together, by communicators that have the same ranks.
_LINKS = """
    SELECT any_value(graph) AS graph, rank_count, first_rank, last_rank,
        any_value(hosts) AS hosts, sum(transfer_ns) AS transfer_ns, sum(usual_ns) AS usual_ns,
        graph_key, nth
    FROM slow_links WHERE usual_ns > 0
    GROUP BY graph_key, nth, communicator, rank_count, first_rank, last_rank
"""
#: Of each execution the middle end on each host.
_ENDS = """
    WITH ends AS (
        SELECT graph_key, nth, node, communicator, ordinal, iteration, host,
            median(start_ns + duration_ns)::BIGINT AS end_ns
        FROM executions JOIN ranks USING (recording_id, run_id) WHERE host IS NOT NULL
        GROUP BY graph_key, nth, node, communicator, ordinal, iteration, host
        QUALIFY count(*) OVER (
            PARTITION BY graph_key, nth, node, communicator, ordinal, iteration
        ) > 1
    )
    SELECT dense_rank() OVER (
            ORDER BY graph_key, nth, node, communicator, ordinal, iteration
        ) - 1 AS execution, host, end_ns
    FROM ends
"""
