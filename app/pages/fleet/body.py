"""The Fleet page below its head: verdict, maps and charts of one graph, and the tables."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from dash import dcc, html
from dash.development.base_component import Component

from gviz.app.components import Addresses, Axis, DocumentPage, Series, aria, chart
from gviz.app.pages.fleet.maps import draw_waits, draw_work
from gviz.fleet import FleetOverview, FleetRank, FleetReport
from gviz.report import Link, RunLink, fleet_document
from gviz.text import counted, percent

#: Bars of the distribution.
_BARS = 41


def fleet_body(found: FleetOverview, addresses: Addresses) -> list[Component]:
    """Return everything below the head of the Fleet page."""
    document = fleet_document(found.report)
    page = DocumentPage(_RankLinks(found.report, addresses))
    return [
        *(page.verdict(verdict) for verdict in document.verdicts),
        *_charts(found, addresses),
        *(page.section(part) for part in document.sections),
    ]


class _RankLinks:
    """Links to the graphs of ranks that a report names."""

    def __init__(self, report: FleetReport, addresses: Addresses) -> None:
        named: list[FleetRank] = [
            one.rank for part in (report.slow, report.awaited, report.divergent) for one in part
        ]
        self._ranks = {(rank.url, rank.run_id): rank for rank in named}
        self._addresses = addresses

    def component(self, link: Link) -> Component | str:
        """Return a link to a rank's graph; else the text."""
        match link:
            case RunLink(path=str() as path, run_id=run_id) if (path, run_id) in self._ranks:
                rank = self._ranks[path, run_id]
                href = self._addresses.fleet_rank(rank.recording_id, rank.run_id)
                # The server leads on to the graph: with a target the browser follows it itself.
                return html.A(link.text, href=href, target="_self")
            case _:
                return link.text


def _graph_choice(found: FleetOverview, addresses: Addresses) -> Iterator[Component]:
    if len(found.graphs) < 2:
        return
    links = [
        dcc.Link(
            f"{graph.name} ({counted(graph.rank_count, 'rank')})",
            href=addresses.fleet(at),
            className="gv-choice gv-choice-on" if graph == found.graph else "gv-choice",
        )
        for at, graph in enumerate(found.graphs)
    ]
    yield html.Nav(links, className="gv-choices", **aria(label="Graph of the maps"))


def _charts(found: FleetOverview, addresses: Addresses) -> Iterator[Component]:
    if found.graph is None:
        yield html.P("No rank has node times: there is nothing to compare.", className="gv-muted")
        return
    if found.work is not None:
        drawn = draw_work(found.work, found.graph, found.ranks, addresses)
        yield from _part("Work by layer", *_graph_choice(found, addresses), drawn)
    if found.waits is not None:
        drawn = draw_waits(found.waits, found.graph, found.ranks, addresses)
        yield from _part("Waits by collective", drawn)
    if len(found.excess) > 1:
        yield from _part("Ranks by their own work", _distribution(found))
    if found.slow:
        yield from _part("Slow ranks over time", _over_time(found))


def _part(heading: str, *parts: Component) -> Iterator[Component]:
    yield html.Section([html.H2(heading), *parts], className="gv-report-section")


def _distribution(found: FleetOverview) -> Component:
    count, edges = np.histogram(100 * found.excess, _BARS)
    middle = (edges[1:] + edges[:-1]) / 2
    series = Series("ranks", middle.tolist(), count.tolist())
    return chart(
        "fleet-spread",
        [series],
        Axis("own work beside the middle rank, %"),
        Axis("ranks"),
        bars=True,
    )


def _over_time(found: FleetOverview) -> Component:
    series = [
        Series(
            f"rank {one.rank.name}",
            list(one.launches),
            [100 * excess for excess in one.excess],
            hover=[f"{percent(excess)} more than usual" for excess in one.excess],
        )
        for one in found.slow
    ]
    return chart("fleet-time", series, Axis("launch"), Axis("more than the middle rank, %"))
