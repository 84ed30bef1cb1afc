"""The overview of a data set that a page shows: its report, and maps of one graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gviz.dataclass import dataclass
from gviz.errors import RecordingError
from gviz.fleet.answers.fleet_report import report_of
from gviz.fleet.answers.heat_map import HeatMap, draw_map
from gviz.fleet.answers.questions import open_questions
from gviz.fleet.answers.results import FleetRank, FleetReport
from gviz.fleet.answers.slow_ranks import read_work
from gviz.stats import FloatArray

#: Slow ranks whose work is shown over time.
MOST_SERIES = 6


@dataclass(frozen=True, slots=True)
class FleetGraph:
    """A graph that ranks launch, as its times are known by.

    Attributes
    ----------
    graph_key, nth
        As in tables.
    name
        Of the structure.
    rank_count
        Runs with node times of it.
    """

    graph_key: int
    nth: int
    name: str
    rank_count: int


@dataclass(frozen=True, slots=True)
class SampledRank:
    """A rank and the state of its GPU.

    Attributes
    ----------
    rank
        Which.
    sm_clock_mhz, temperature_celsius
        The clock while busy, the median, and the highest temperature; None: not sampled.
    slowed_by
        Why the clock was lowered; empty: no reason was seen.
    """

    rank: FleetRank
    sm_clock_mhz: float | None
    temperature_celsius: float | None
    slowed_by: str


@dataclass(frozen=True, slots=True)
class WorkSeries:
    """The work of a slow rank over time: launches, and how much longer than usual each takes."""

    rank: FleetRank
    launches: tuple[int, ...]
    excess: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class FleetOverview:
    """The overview of a data set.

    Attributes
    ----------
    report
        Of all of it.
    graphs
        Those with node times, that of most ranks first.
    graph
        The one that the rest is about; None: there is none.
    ranks
        Those with node times of it, as maps count them.
    work
        By rank and layer: how much longer than on the middle rank, as a share. None: no graph.
    waits
        By rank and collective: how long it waits for the last one, on average (ns). None: no graph,
        or no collectives.
    excess
        Of each rank: how much longer its own work takes than on the middle one, as a share.
    slow
        The work of the slowest ranks over time.
    """

    report: FleetReport
    graphs: tuple[FleetGraph, ...]
    graph: FleetGraph | None
    ranks: tuple[SampledRank, ...]
    work: HeatMap | None
    waits: HeatMap | None
    excess: FloatArray
    slow: tuple[WorkSeries, ...]


@dataclass(frozen=True, slots=True)
class RankPlace:
    """The place of a rank's graph: its recording as it was given, and the graph in it."""

    url: str
    graph_id: int


def read_overview(url: str, place: int = 0) -> FleetOverview:
    """Return the overview of a data set.

    Parameters
    ----------
    place
        Of the graph, among those with node times.

    Raises
    ------
    RecordingError
        If there is no data set, or no such graph.
    """
    with open_questions(url) as (connection, manifest):
        report = report_of(connection, manifest)
        graphs = tuple(FleetGraph(*row) for row in connection.execute(_GRAPHS).fetchall())
        if not graphs:
            return FleetOverview(report, (), None, (), None, None, np.zeros(0), ())
        if place >= len(graphs):
            raise RecordingError(f"{url} has {len(graphs)} graphs with node times, none more")
        graph = graphs[place]
        ranks = _read_ranks(connection, graph)
        return FleetOverview(
            report=report,
            graphs=graphs,
            graph=graph,
            ranks=ranks,
            work=_read_map(connection, _WORK_BY_LAYER, graph, ranks),
            waits=_read_map(connection, _WAITS_BY_COLLECTIVE, graph, ranks),
            excess=_read_excess(connection, graph),
            slow=_read_series(connection, graph, report),
        )


def find_rank(url: str, recording_id: int, run_id: int, graph: tuple[int, int] | None) -> RankPlace:
    """Return where a rank's graph is.

    Parameters
    ----------
    graph
        Its key and which of the run's it is; None: the one that it launched first.

    Raises
    ------
    RecordingError
        If the data set has no such rank, or the rank no such graph.
    """
    key, nth = (None, None) if graph is None else graph
    with open_questions(url) as (connection, _):
        found = connection.execute(_PLACE, [recording_id, run_id, key, nth, key]).fetchone()
    if found is None:
        raise RecordingError(f"{url} has no such rank with such a graph; look at its page again")
    return RankPlace(*found)


def _read_ranks(connection: Any, graph: FleetGraph) -> tuple[SampledRank, ...]:
    rows = connection.execute(_RANKS_OF_GRAPH, [graph.graph_key, graph.nth]).fetchall()
    return tuple(SampledRank(FleetRank(*rank), *gpu) for *rank, gpu in rows)


def _read_map(
    connection: Any, sql: str, graph: FleetGraph, ranks: Sequence[SampledRank]
) -> HeatMap | None:
    found = connection.execute(sql, {"key": graph.graph_key, "nth": graph.nth}).fetchnumpy()
    if not len(found["value"]):
        return None
    place = {(one.rank.recording_id, one.rank.run_id): at for at, one in enumerate(ranks)}
    keys = zip(found["recording_id"].tolist(), found["run_id"].tolist(), strict=True)
    row = np.array([place[key] for key in keys])
    columns, first, column = np.unique(found["place"], return_index=True, return_inverse=True)
    values = np.full((len(ranks), len(columns)), np.nan)
    values[row, column] = np.ma.filled(found["value"].astype(float), np.nan)
    names = [str(name) for name in found["name"][first]]
    return draw_map([one.rank.name for one in ranks], names, values)


def _read_excess(connection: Any, graph: FleetGraph) -> FloatArray:
    sql = "SELECT excess_fraction FROM slowest_ranks WHERE graph_key = ? AND nth = ?"
    found = connection.execute(sql, [graph.graph_key, graph.nth]).fetchnumpy()
    excess: FloatArray = np.ma.filled(found["excess_fraction"].astype(float), 0.0)
    return excess


def _read_series(connection: Any, graph: FleetGraph, report: FleetReport) -> tuple[WorkSeries, ...]:
    here = [one.rank for one in report.slow if one.graph == graph.name][:MOST_SERIES]
    keys = [(r.recording_id, r.run_id, graph.graph_key, graph.nth) for r in here]
    work = read_work(connection, keys)
    return tuple(
        WorkSeries(rank, tuple(x[0] for x in work[key]), tuple(x[2] for x in work[key]))
        for rank, key in zip(here, keys, strict=True)
        if work[key]
    )


_GRAPHS = """
    SELECT graph_key, nth, name, count(DISTINCT (recording_id, run_id)) AS rank_count
    FROM layer_times JOIN graphs USING (graph_key)
    GROUP BY graph_key, nth, name ORDER BY rank_count DESC, sum(total_ns) DESC, graph_key, nth
"""
_RANKS_OF_GRAPH = """
    SELECT recording_id, run_id, rank, host, gpus, url,
        (sm_clock_mhz, temperature_celsius, coalesce(slowed_by, ''))
    FROM ranks SEMI JOIN (SELECT * FROM layer_times WHERE graph_key = ? AND nth = ?)
        USING (recording_id, run_id)
    ORDER BY rank, recording_id, run_id
"""
#: Nodes of no layer stand last.
_WORK_BY_LAYER = """
    WITH here AS (
        SELECT recording_id, run_id, layer, total_ns FROM layer_times
        WHERE graph_key = $key AND nth = $nth
    ), usual AS (
        SELECT layer, median(total_ns) AS usual_ns FROM here GROUP BY layer
    ), names AS (
        SELECT layer, any_value(layer_name) AS layer_name FROM nodes
        WHERE graph_key = $key GROUP BY layer
    )
    SELECT recording_id, run_id, total_ns / nullif(usual_ns, 0) - 1 AS value,
        CASE WHEN layer < 0 THEN 1000000 ELSE layer END AS place,
        CASE WHEN layer < 0 THEN 'no layer' ELSE layer_name END AS name
    FROM here JOIN usual USING (layer) JOIN names USING (layer)
"""
_WAITS_BY_COLLECTIVE = """
    WITH here AS (
        SELECT * FROM executions
        WHERE graph_key = $key AND nth = $nth
    ), least AS (
        SELECT node, communicator, ordinal, iteration, min(duration_ns) AS least_ns
        FROM here GROUP BY node, communicator, ordinal, iteration
    )
    SELECT recording_id, run_id, avg(duration_ns - least_ns) AS value, node AS place,
        any_value(CASE WHEN layer < 0 THEN name ELSE layer_name END) AS name
    FROM here JOIN least USING (node, communicator, ordinal, iteration)
        JOIN (SELECT node, name, layer, layer_name FROM nodes WHERE graph_key = $key) USING (node)
    SEMI JOIN (SELECT * FROM layer_times WHERE graph_key = $key AND nth = $nth)
        USING (recording_id, run_id)
    GROUP BY recording_id, run_id, node
"""
_PLACE = """
    SELECT url, graph_id FROM run_graphs JOIN ranks USING (recording_id, run_id)
    WHERE recording_id = ? AND run_id = ?
        AND ((graph_key = ? AND nth = ?) OR ?::BIGINT IS NULL)
    ORDER BY place LIMIT 1
"""
