"""The results of a comparison as a page has them: the verdict over it, and the summary."""

from __future__ import annotations

from dataclasses import replace

from dash import html
from dash.development.base_component import Component

from gviz.app.components import DocumentPage
from gviz.app.pages.compare.comparison import Comparison
from gviz.app.pages.compare.drawings import draw_launch
from gviz.app.pages.compare.layer_block import layer_block
from gviz.comparison import RunDiff
from gviz.report import Drawing, change_document


def change_verdicts(run: RunDiff) -> list[Component]:
    """Return what became of a run's graphs, in a few sentences each."""
    page = DocumentPage()
    return [page.verdict(verdict) for verdict in change_document(run).verdicts]


def change_summary(found: Comparison) -> Component:
    """Return the waterfall, a layer of both, what changed, times, and what else differs."""
    page = DocumentPage(draw=draw_launch)
    where, *others = change_document(found.run).sections
    drawn = [isinstance(block, Drawing) for block in where.blocks]
    end = drawn.index(True) + 1 if any(drawn) else len(drawn)
    parts = [replace(where, key="parts", heading="Part by part", blocks=where.blocks[end:])]
    return html.Div(
        [
            page.section(replace(where, blocks=where.blocks[:end])),
            layer_block(found),
            *(page.section(part) for part in [*(parts if parts[0].blocks else []), *others]),
        ],
        className="gv-compare-summary",
    )
