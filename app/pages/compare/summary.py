"""The results of a comparison as a page has them: the verdict over it, and the summary."""

from __future__ import annotations

from dash import html
from dash.development.base_component import Component

from gviz.app.components import DocumentPage
from gviz.app.pages.compare.drawings import draw_launch
from gviz.comparison import RunDiff
from gviz.report import change_document


def change_verdicts(run: RunDiff) -> list[Component]:
    """Return what became of a run's graphs, in a few sentences each."""
    page = DocumentPage()
    return [page.verdict(verdict) for verdict in change_document(run).verdicts]


def change_summary(run: RunDiff) -> Component:
    """Return the waterfall with its numbers, what changed, times, and what else differs."""
    page = DocumentPage(draw=draw_launch)
    sections = [page.section(part) for part in change_document(run).sections]
    return html.Div(sections, className="gv-compare-summary")
