"""A report, part by part."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from dash import html
from dash.development.base_component import Component

from gviz.analysis import DeviceLaunch
from gviz.app.components import Addresses, aria, facts, sentence
from gviz.app.pages.report.advice import advice
from gviz.app.pages.report.break_even import break_even, expected_cost
from gviz.app.pages.report.dominance import dominance
from gviz.app.pages.report.forecast import forecast, share
from gviz.app.pages.report.ledger import ledger
from gviz.app.pages.report.node_links import NodeLinks
from gviz.app.pages.report.parallelism import parallelism
from gviz.app.pages.report.parts import how, missing, said, section
from gviz.app.pages.report.path import critical_path
from gviz.app.pages.report.reports import Report
from gviz.app.pages.report.stream import comparison
from gviz.stats import NotComputed
from gviz.text import MISSING, duration, integer

_R = TypeVar("_R")


def report_body(report: Report, file: str, addresses: Addresses) -> list[Component]:
    """Return everything below the head of a report."""
    links = NodeLinks(file, report.tree, report.ranges, addresses)
    sections = _sections(report, links)
    return [_facts(report), _doubts(report), _contents(sections), *sections]


def _sections(report: Report, links: NodeLinks) -> list[Component]:
    graph = report.graph
    path = graph.critical_path
    observed = () if isinstance(path, NotComputed) else path.observed
    compared = graph.stream_comparison
    return [
        section(
            "advice",
            "What to change",
            *advice(
                graph.findings, links, empty="No rule found anything whose gain is above noise."
            ),
        ),
        _or_why("ledger", "Where a launch's time goes", graph.ledger,
                lambda x: ledger(x, observed, links)),
        _or_why("path", "What bounds it", path, lambda x: critical_path(x, links)),
        _or_why("dominance", "What dominates", graph.dominance, lambda x: dominance(x, links)),
        _or_why("parallelism", "What could run side by side", graph.parallelism,
                lambda x: parallelism(x, links)),
        _or_why("stream", "Against the same work by stream calls", compared,
                lambda x: comparison(x, links)),
        _or_why("break-even", "When it pays back", graph.break_even, break_even),
        _or_why("costs", "What its calls cost", graph.expected_cost, expected_cost),
        _or_why("forecast", "Will a graph help", report.run.forecast, forecast),
        section("run", "The run as a whole", share(report.run.graph_share),
                *advice(report.run.findings, links, empty="No rule about whole runs found "
                        "anything.")),
        section("device", "Could the device launch it", _device(graph.device_launch)),
    ]  # fmt: skip


def _device(found: DeviceLaunch | NotComputed) -> Component:
    if isinstance(found, NotComputed):
        return said(f"Not computed: {found.not_computed}.")
    if not found.is_possible:
        return said(f"No: {'; '.join(found.broken)} ", how("derived"), ".")
    unknown = f" Not known: {', '.join(found.unknown)}." if found.unknown else ""
    return said("Yes, as far as its nodes tell ", how("derived"), f".{unknown}")


def _or_why(
    key: str, title: str, found: _R | NotComputed, render: Callable[[_R], list[Component]]
) -> Component:
    if isinstance(found, NotComputed):
        return missing(key, title, found)
    return section(key, title, *render(found))


def _facts(report: Report) -> Component:
    graph, costs = report.graph, report.run.launch_costs
    noise = "Half of the 95% interval of the median launch's length, at least 160 ns and 0.1% of it"
    used = costs.not_computed if isinstance(costs, NotComputed) else costs.description
    return facts(
        [
            ("Nodes", integer(graph.node_count), "Those of bodies included"),
            ("Launches", integer(graph.launch_count), "Seen while gviz recorded"),
            ("With node times", integer(graph.timed_launch_count), "Launches that are looked at"),
            ("Noise", duration(graph.noise_ns) if graph.noise_ns else MISSING,
             f"Gains below it are no findings. {noise}"),
            ("Launch costs", sentence(used), "What gviz bench measured; used for estimates"),
        ]
    )  # fmt: skip


def _doubts(report: Report) -> Component | None:
    if not report.graph.doubts:
        return None
    return html.Ul(
        [
            html.Li(
                [html.Span("doubt", className="gv-note gv-note-warning"), f"{sentence(doubt)}."]
            )
            for doubt in report.graph.doubts
        ],
        className="gv-notes gv-report-doubts",
    )


def _contents(sections: list[Component]) -> Component:
    links = [html.Li(html.A(found.children[0].children, href=f"#{found.id}")) for found in sections]
    return html.Nav(html.Ul(links), className="gv-contents", **aria(label="Parts of this report"))
