"""Views of a data set that are named after the question they answer."""

from __future__ import annotations

from gviz.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class FleetView:
    """A view.

    Attributes
    ----------
    name
        As queries have it.
    meaning
        What a row is.
    columns
        In order.
    sql
        A SELECT on tables and views before it.
    """

    name: str
    meaning: str
    columns: tuple[str, ...]
    sql: str


_SLOWEST_RANKS = FleetView(
    "slowest_ranks",
    "the work of a rank in a graph, collectives left out, beside what it takes on the middle one "
    "of all ranks; the slowest first",
    (
        "rank", "host", "gpus", "graph", "own_ns", "excess_ns", "excess_fraction", "deviations",
        "worst_layer", "worst_layer_ns", "recording_id", "run_id", "graph_key", "nth",
    ),
    """
    WITH usual AS (
        SELECT graph_key, nth, layer, quantile_disc(total_ns, 0.5) AS usual_ns
        FROM layer_times GROUP BY graph_key, nth, layer
    ), apart AS (
        SELECT recording_id, run_id, graph_key, nth, sum(total_ns) AS own_ns,
            sum(total_ns - usual_ns) AS excess_ns,
            arg_max(layer, total_ns - usual_ns) AS layer,
            max(total_ns - usual_ns) AS worst_layer_ns
        FROM layer_times JOIN usual USING (graph_key, nth, layer)
        GROUP BY recording_id, run_id, graph_key, nth
    ), middle AS (
        SELECT graph_key, nth, median(excess_ns) AS middle_ns, 1.4826 * mad(excess_ns) AS scale_ns
        FROM apart GROUP BY graph_key, nth
    ), layers AS (
        SELECT DISTINCT graph_key, layer, layer_name FROM nodes
    )
    SELECT rank, host, gpus, graphs.name AS graph, own_ns, excess_ns,
        excess_ns / nullif(own_ns - excess_ns, 0) AS excess_fraction,
        (excess_ns - middle_ns) / nullif(scale_ns, 0) AS deviations,
        layer_name AS worst_layer, worst_layer_ns, recording_id, run_id, graph_key, nth
    FROM apart JOIN middle USING (graph_key, nth) JOIN ranks USING (recording_id, run_id)
        JOIN graphs USING (graph_key) LEFT JOIN layers USING (graph_key, layer)
    ORDER BY excess_fraction DESC
    """,
)  # fmt: skip

_EXECUTIONS = FleetView(
    "executions",
    "an execution of a collective by a rank, with the communicator that it is in; 0: of those with "
    "one only",
    (
        "graph_key", "nth", "node", "communicator", "ordinal", "iteration", "recording_id",
        "run_id", "start_ns", "duration_ns",
    ),
    """
    SELECT graph_key, nth, node, coalesce(communicator, 0) AS communicator, ordinal, iteration,
        recording_id, run_id, start_ns, duration_ns
    FROM collectives
        LEFT JOIN communicators USING (recording_id, run_id, graph_key, nth, node)
    """,
)  # fmt: skip

_WAITS_FOR = FleetView(
    "waits_for",
    "a rank that others wait for in a collective: it takes least of all in its communicator, "
    "because it comes last; that which costs the others most first",
    (
        "rank", "host", "graph", "collective", "layer", "last_count", "execution_count",
        "last_fraction", "mean_wait_ns", "longest_wait_ns", "longest_waiting_rank",
        "communicator", "rank_count", "recording_id", "run_id", "graph_key", "nth", "node",
    ),
    """
    WITH least AS (
        SELECT graph_key, nth, node, communicator, ordinal, iteration, count(*) AS rank_count,
            min(duration_ns) AS least_ns,
            arg_min(recording_id, duration_ns) AS recording_id,
            arg_min(run_id, duration_ns) AS run_id,
            avg(duration_ns) AS mean_ns, max(duration_ns) AS most_ns,
            arg_max(recording_id, duration_ns) AS waiting_recording_id,
            arg_max(run_id, duration_ns) AS waiting_run_id
        FROM executions GROUP BY graph_key, nth, node, communicator, ordinal, iteration
        HAVING count(*) > 1
    ), counted AS (
        SELECT graph_key, nth, node, communicator, count(*) AS execution_count,
            max(rank_count) AS rank_count
        FROM least GROUP BY graph_key, nth, node, communicator
    ), last AS (
        SELECT graph_key, nth, node, communicator, recording_id, run_id, count(*) AS last_count,
            avg(mean_ns - least_ns) AS mean_wait_ns, max(most_ns - least_ns) AS longest_wait_ns,
            arg_max(waiting_recording_id, most_ns - least_ns) AS waiting_recording_id,
            arg_max(waiting_run_id, most_ns - least_ns) AS waiting_run_id
        FROM least GROUP BY graph_key, nth, node, communicator, recording_id, run_id
    )
    SELECT r.rank, r.host, graphs.name AS graph, nodes.name AS collective,
        nodes.layer_name AS layer, last_count, execution_count,
        last_count / execution_count AS last_fraction, mean_wait_ns, longest_wait_ns,
        w.rank AS longest_waiting_rank, communicator, rank_count, last.recording_id, last.run_id,
        graph_key, nth, node
    FROM last JOIN counted USING (graph_key, nth, node, communicator) JOIN graphs USING (graph_key)
        JOIN nodes USING (graph_key, node)
        JOIN ranks r ON r.recording_id = last.recording_id AND r.run_id = last.run_id
        JOIN ranks w ON w.recording_id = waiting_recording_id AND w.run_id = waiting_run_id
    ORDER BY last_count * mean_wait_ns DESC
    """,
)  # fmt: skip

_SLOW_LINKS = FleetView(
    "slow_links",
    "what a collective takes in a communicator when nobody is awaited, beside the middle one of "
    "all communicators of as many ranks; the slowest first",
    (
        "graph", "collective", "layer", "communicator", "rank_count", "first_rank", "last_rank",
        "hosts", "transfer_ns", "usual_ns", "excess_fraction", "graph_key", "nth", "node",
    ),
    """
    WITH least AS (
        SELECT graph_key, nth, node, communicator, ordinal, iteration,
            min(duration_ns) AS least_ns
        FROM executions GROUP BY graph_key, nth, node, communicator, ordinal, iteration
        HAVING count(*) > 1
    ), transfers AS (
        SELECT graph_key, nth, node, communicator, median(least_ns) AS transfer_ns
        FROM least GROUP BY graph_key, nth, node, communicator
    ), members AS (
        SELECT graph_key, nth, node, communicator, count(DISTINCT (recording_id, run_id))
            AS rank_count, min(rank) AS first_rank, max(rank) AS last_rank,
            list_sort(list_distinct(list(host))) AS hosts
        FROM communicators JOIN ranks USING (recording_id, run_id)
        GROUP BY graph_key, nth, node, communicator
    ), usual AS (
        SELECT graph_key, nth, node, rank_count, median(transfer_ns) AS usual_ns
        FROM transfers JOIN members USING (graph_key, nth, node, communicator)
        GROUP BY graph_key, nth, node, rank_count
    )
    SELECT graphs.name AS graph, nodes.name AS collective, layer_name AS layer, communicator,
        rank_count, first_rank, last_rank, hosts, transfer_ns, usual_ns,
        transfer_ns / nullif(usual_ns, 0) - 1 AS excess_fraction, graph_key, nth, node
    FROM transfers JOIN members USING (graph_key, nth, node, communicator)
        JOIN usual USING (graph_key, nth, node, rank_count)
        JOIN graphs USING (graph_key) JOIN nodes USING (graph_key, node)
    ORDER BY excess_fraction DESC
    """,
)  # fmt: skip

_DIVERGENT_GRAPHS = FleetView(
    "divergent_graphs",
    "a rank that launches other graphs than most ranks do, or the same in another order; graphs by "
    "name and the beginning of their fingerprint",
    ("rank", "host", "differs", "missing", "added", "recording_id", "run_id"),
    """
    WITH launched AS (
        SELECT recording_id, run_id,
            string_agg(graph_key::VARCHAR, ' ' ORDER BY place) AS in_order,
            string_agg(graph_key::VARCHAR, ' ' ORDER BY graph_key) AS sorted,
            list(graph_key) AS keys
        FROM run_graphs GROUP BY recording_id, run_id
    ), usual AS (
        SELECT sorted, any_value(keys) AS keys FROM launched
        GROUP BY sorted ORDER BY count(*) DESC, sorted LIMIT 1
    ), usual_order AS (
        SELECT in_order FROM launched WHERE sorted = (SELECT sorted FROM usual)
        GROUP BY in_order ORDER BY count(*) DESC, in_order LIMIT 1
    ), named AS (
        SELECT map_from_entries(list((graph_key, name || ' ' || left(fingerprint, 8)))) AS names
        FROM graphs
    )
    SELECT rank, host, CASE WHEN l.sorted = u.sorted THEN 'order' ELSE 'graphs' END AS differs,
        [names[x] FOR x IN u.keys IF NOT list_contains(l.keys, x)] AS missing,
        [names[x] FOR x IN l.keys IF NOT list_contains(u.keys, x)] AS added,
        recording_id, run_id
    FROM launched l CROSS JOIN usual u CROSS JOIN named JOIN ranks USING (recording_id, run_id)
    WHERE l.in_order <> (SELECT in_order FROM usual_order)
    ORDER BY rank, host
    """,
)

_NODE_SPREAD = FleetView(
    "node_spread",
    "a node over the ranks: its medians on the fastest, on average, and on the slowest; that "
    "which is slowest by most first",
    (
        "graph", "node", "name", "family", "layer", "rank_count", "low_ns", "mean_ns", "high_ns",
        "high_fraction", "slowest_rank", "slowest_host", "graph_key", "nth",
    ),
    """
    WITH spread AS (
        SELECT graph_key, nth, node, count(*) AS rank_count, min(median_ns) AS low_ns,
            avg(median_ns) AS mean_ns, max(median_ns) AS high_ns,
            arg_max(recording_id, median_ns) AS recording_id, arg_max(run_id, median_ns) AS run_id
        FROM node_times GROUP BY graph_key, nth, node
    )
    SELECT graphs.name AS graph, node, nodes.name, family, layer_name AS layer, rank_count, low_ns,
        mean_ns, high_ns, high_ns / mean_ns - 1 AS high_fraction, rank AS slowest_rank,
        host AS slowest_host, graph_key, nth
    FROM spread JOIN nodes USING (graph_key, node) JOIN graphs USING (graph_key)
        JOIN ranks USING (recording_id, run_id)
    WHERE NOT is_collective
    ORDER BY high_ns - mean_ns DESC
    """,
)  # fmt: skip

_BUILD_CHANGES = FleetView(
    "build_changes",
    "the work of a layer on the middle rank of a build, beside that of the build before that has "
    "the graph; the most changed first",
    (
        "graph", "layer", "build", "before_build", "rank_count", "before_rank_count", "median_ns",
        "before_ns", "change_fraction", "deviations", "graph_key", "nth",
    ),
    """
    WITH of_build AS (
        SELECT build, graph_key, nth, layer, count(*) AS rank_count, median(total_ns) AS median_ns,
            1.4826 * mad(total_ns) AS scale_ns
        FROM layer_times JOIN ranks USING (recording_id, run_id)
        GROUP BY build, graph_key, nth, layer
    ), pairs AS (
        SELECT *, lag(build) OVER w AS before_build, lag(rank_count) OVER w AS before_rank_count,
            lag(median_ns) OVER w AS before_ns, lag(scale_ns) OVER w AS before_scale_ns
        FROM of_build WINDOW w AS (PARTITION BY graph_key, nth, layer ORDER BY build)
    ), layers AS (
        SELECT DISTINCT graph_key, layer, layer_name FROM nodes
    )
    SELECT graphs.name AS graph, layer_name AS layer, build, before_build, rank_count,
        before_rank_count, median_ns, before_ns, median_ns / nullif(before_ns, 0) - 1
            AS change_fraction,
        (median_ns - before_ns) / nullif(1.2533 * sqrt(
            scale_ns * scale_ns / rank_count
            + before_scale_ns * before_scale_ns / before_rank_count
        ), 0) AS deviations, graph_key, nth
    FROM pairs JOIN graphs USING (graph_key) LEFT JOIN layers USING (graph_key, layer)
    WHERE before_build IS NOT NULL
    ORDER BY abs(change_fraction) DESC
    """,
)  # fmt: skip

_GPU_CLOCKS = FleetView(
    "gpu_clocks",
    "the GPU of a rank while busy, beside the middle one of its kind; the lowest clock first",
    (
        "rank", "host", "kind", "sm_clock_mhz", "usual_mhz", "temperature_celsius",
        "usual_celsius", "power_watts", "slowed_by", "recording_id", "run_id",
    ),
    """
    WITH sampled AS (
        SELECT *, regexp_replace(gpus, '[0-9]+: ', '', 'g') AS kind FROM ranks
        WHERE sm_clock_mhz IS NOT NULL OR temperature_celsius IS NOT NULL
    ), usual AS (
        SELECT kind, median(sm_clock_mhz) AS usual_mhz,
            median(temperature_celsius) AS usual_celsius
        FROM sampled GROUP BY kind
    )
    SELECT rank, host, kind, sm_clock_mhz, usual_mhz, temperature_celsius, usual_celsius,
        power_watts, slowed_by, recording_id, run_id
    FROM sampled JOIN usual USING (kind)
    ORDER BY sm_clock_mhz / usual_mhz, rank
    """,
)  # fmt: skip

VIEWS = (
    _SLOWEST_RANKS,
    _EXECUTIONS,
    _WAITS_FOR,
    _SLOW_LINKS,
    _DIVERGENT_GRAPHS,
    _NODE_SPREAD,
    _BUILD_CHANGES,
    _GPU_CLOCKS,
)
