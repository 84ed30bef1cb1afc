"""The rows of ``gviz bench`` and ``gviz.compare_stream``: what graphs cost on a GPU."""

from __future__ import annotations

from gviz.recording.rows.tables import column, table


@table("cost_figure", primary_key=("cost_figure_id",), indexes=(("run_id", "experiment"),))
class CostFigure:
    """One measured quantity: median and spread over repeated readings."""

    cost_figure_id: int = column("ours, from 1, unique in the file", key="cost_figure")
    run_id: int = column("the run", key="run")
    experiment: str = column(
        "what it belongs to, such as launch, life, kernel_time, or compare_stream: and the name of "
        "a graph"
    )
    subject: str = column(
        "what was timed, such as stream, first, relaunch, instantiate; in compare_stream graph, "
        "eager, and saved: what each launch took less than the eager iteration next to it"
    )
    quantity: str = column(
        "host (in the calls), device (events around work that waited in the queue), finish (from "
        "before the first call until synchronised), elapsed (events around work on an idle "
        "GPU), or what the experiment says"
    )
    topology: str | None = column("shape of the work; NULL: none", default=None)
    width: int | None = column("branches side by side", default=None)
    node_count: int | None = column("operations, or nodes of the graph", default=None)
    parameter: str | None = column(
        "what else was varied; in compare_stream the state of CUPTI: plain or attached",
        default=None,
    )
    parameter_value: float | None = column("its value", default=None)
    unit: str = column("ns, bytes or fraction")
    median: float = column("median of the readings")
    low: float = column("25th percentile")
    high: float = column("75th percentile")
    minimum: float = column("smallest reading")
    maximum: float = column("largest reading")
    p99: float = column("99th percentile")
    mean: float = column("mean of the readings")
    deviation: float = column("their standard deviation")
    reading_count: int = column("readings, without those that warm up")
    outlier_count: int = column(
        "readings further from the quartiles than three times their distance; they are counted in"
    )
    warm_up_count: int = column("readings discarded at the start")


@table("cost_model", primary_key=("cost_model_id",), indexes=(("run_id",),))
class CostModel:
    """A straight line through figures of one shape: cost = fixed + per_node * nodes."""

    cost_model_id: int = column("ours, from 1, unique in the file", key="cost_model")
    run_id: int = column("the run", key="run")
    subject: str = column("as in cost_figure")
    quantity: str = column("as in cost_figure")
    topology: str = column("shape of the graphs")
    width: int = column("branches side by side")
    fixed_ns: float = column("cost of a graph without nodes, extrapolated")
    per_node_ns: float = column("cost of one more node")
    residual_fraction: float = column("root mean square of (measured - fitted) / measured")
    worst_fraction: float = column("the largest of them, signed")
    smallest_node_count: int = column("of the graphs fitted")
    largest_node_count: int = column("of the graphs fitted")
    figure_count: int = column("graphs fitted")


@table("cost_gap", primary_key=("run_id", "experiment"), without_rowid=True)
class CostGap:
    """An experiment, or part of one, that was not made, and why."""

    run_id: int = column("the run", key="run")
    experiment: str = column("as in cost_figure, with what of it after a colon")
    reason: str = column("why, in words")
