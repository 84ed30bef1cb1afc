"""Graphs through any number of runs: a chart and a table each, with the commit of every run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dash import dcc, html
from dash.development.base_component import Component

from gviz.app.components import Addresses, Axis, Series, Sides, chart, moment
from gviz.app.pages.report import ColumnHead, Content, number, said, section, table
from gviz.comparison import Trend, TrendPoint, TrendRun, TrendSeries, remarks
from gviz.text import MISSING, counted, duration, integer, signed_duration, signed_percent

#: Graphs that are told; gviz trend --all has the others.
_TOLD = 12
#: Letters of a commit.
_COMMIT = 10


def trend_body(found: Trend, files: Mapping[str, str], addresses: Addresses) -> list[Component]:
    """Return everything below the head of the Trend page; ``files`` are keys by path."""
    if not found.series:
        return [said("None of these runs has a graph that was instantiated while gviz watched.")]
    order = "in the order in which they were recorded" if found.order == "recorded" else (
        "in the order given: one does not say when it was recorded"
    )  # fmt: skip
    told = [_series(at, one, found.runs, files, addresses)
            for at, one in enumerate(found.series[:_TOLD])]  # fmt: skip
    left = len(found.series) - len(told)
    more = (
        [said(f"And {counted(left, 'more graph')}: gviz trend --all tells them.")] if left else []
    )
    return [said(f"{counted(len(found.runs), 'run')}, {order}.", muted=True), *told, *more]


def _series(
    at: int,
    series: TrendSeries,
    runs: Sequence[TrendRun],
    files: Mapping[str, str],
    addresses: Addresses,
) -> Component:
    timed = [point for point in series.points if point.launch_ns is not None]
    drawn: list[Component] = []
    if len(timed) > 1:
        line = Series(
            "launch",
            [f"{p.run + 1}: {_commit(runs[p.run]) or _file(runs[p.run], files)}" for p in timed],
            [(p.launch_ns or 0.0) / 1e3 for p in timed],
        )
        drawn.append(chart(f"trend-{at}", [line], Axis("run"), Axis("launch, µs")))
    columns = [
        number("Run"), ColumnHead("Recording"), ColumnHead("Recorded"),
        ColumnHead("Commit", "+: with changes that were not committed"), ColumnHead("GPU"),
        number("Nodes"), number("Launch", "Median on the GPU, least disturbed launches"),
        number("Host call"), number("Change", "Since the run before that has the graph"),
        ColumnHead("Verdict"), ColumnHead("Compare"),
    ]  # fmt: skip
    before = (None, *series.points)
    rows = [
        _row(point, last, runs, files, addresses)
        for point, last in zip(series.points, before, strict=False)
    ]
    methods = "; ".join(dict.fromkeys(point.method for point in series.points))
    return section(
        f"trend-{at}",
        series.name,
        *drawn,
        table(columns, rows, f"{series.name} run by run"),
        said(f"Launch: {methods}.", muted=True),
    )


def _row(
    point: TrendPoint,
    last: TrendPoint | None,
    runs: Sequence[TrendRun],
    files: Mapping[str, str],
    addresses: Addresses,
) -> list[Content]:
    run = runs[point.run]
    file = _file(run, files)
    return [
        integer(point.run + 1),
        dcc.Link(file, href=addresses.graph(file, point.graph_id)),
        moment(run.run.started_ns),
        _commit(run) or MISSING,
        run.gpus or MISSING,
        integer(point.node_count),
        duration(point.launch_ns),
        duration(point.host_ns),
        _change(point),
        _verdict(point, last),
        "" if last is None else _link(last, point, runs, files, addresses),
    ]


def _link(
    last: TrendPoint,
    point: TrendPoint,
    runs: Sequence[TrendRun],
    files: Mapping[str, str],
    addresses: Addresses,
) -> Component:
    before, after = (_file(runs[p.run], files) for p in (last, point))
    sides = Sides(before, after, last.graph_id, point.graph_id)
    unseen = html.Span(f" runs {last.run + 1} and {point.run + 1}", className="gv-unseen")
    return dcc.Link(["Compare", unseen], href=addresses.compare(sides), className="gv-whole")


def _file(run: TrendRun, files: Mapping[str, str]) -> str:
    return files[run.run.path]


def _commit(run: TrendRun) -> str:
    revision = (run.run.git_revision or "")[:_COMMIT]
    return revision + ("+" if revision and run.run.git_dirty else "")


def _change(point: TrendPoint) -> str:
    if point.change_ns is None or point.launch_ns is None:
        return ""
    was = point.launch_ns - point.change_ns
    share = f" ({signed_percent(point.change_ns / was)})" if was else ""
    return signed_duration(point.change_ns) + share


def _verdict(point: TrendPoint, last: TrendPoint | None) -> str:
    words = remarks(point, last)
    if point.significant and point.change_ns:
        words.insert(0, "▲ slower" if point.change_ns > 0 else "▼ faster")
    return ", ".join(words)
