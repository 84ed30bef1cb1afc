"""The Trend page below its head: the document of a trend, with a chart and links for each graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from dash import dcc, html
from dash.development.base_component import Component

from gviz.app.components import Addresses, Axis, DocumentPage, Series, Sides, chart
from gviz.comparison import Trend, TrendRun, TrendSeries
from gviz.report import Drawing, Link, RunLink, Section, trend_document

#: Graphs that are shown; gviz trend --all has the others.
_SHOWN = 12


def trend_body(found: Trend, files: Mapping[str, str], addresses: Addresses) -> list[Component]:
    """Return everything below the head of the Trend page; ``files`` are keys by path."""
    document = trend_document(found, _SHOWN)
    page = DocumentPage(_TrendLinks(files, addresses), _draw)
    ways = {
        f"trend-{at}": _ways(series, found.runs, files, addresses)
        for at, series in enumerate(found.series[:_SHOWN])
    }
    named = len(document.verdicts) > 1
    return [
        *(page.verdict(verdict, named=named) for verdict in document.verdicts),
        *(_section(page, part, ways.get(part.key, [])) for part in document.sections),
    ]


def _section(page: DocumentPage, part: Section, ways: Sequence[Component]) -> Component:
    made = page.section(part)
    if ways:
        made.children.append(html.P(ways))
    return made


class _TrendLinks:
    """Links to graphs of the files of a trend."""

    def __init__(self, files: Mapping[str, str], addresses: Addresses) -> None:
        self._files, self._addresses = files, addresses

    def component(self, link: Link) -> Component | str:
        """Return a link to what a document refers to."""
        match link:
            case RunLink(path=str() as path, graph_id=int() as graph_id):
                return dcc.Link(link.text, href=self._addresses.graph(self._files[path], graph_id))
            case _:
                return link.text


def _draw(found: Drawing) -> Component:
    names = [bar.name for bar in found.bars]
    line = Series("launch", names, [(bar.value.value or 0.0) / 1e3 for bar in found.bars])
    return chart(found.name, [line], Axis("run"), Axis("launch, µs"))


def _ways(
    series: TrendSeries,
    runs: Sequence[TrendRun],
    files: Mapping[str, str],
    addresses: Addresses,
) -> list[Component]:
    """Return links to the comparisons of each run with the one before."""
    found: list[Component] = []
    for last, point in pairwise(series.points):
        before, after = (files[runs[p.run].run.path] for p in (last, point))
        sides = Sides(before, after, last.graph_id, point.graph_id)
        text = f"Compare runs {last.run + 1} and {point.run + 1}"
        found.append(dcc.Link(text, href=addresses.compare(sides), className="gv-choice"))
    return found
