"""Findings: the largest gain first, each with what it rests on."""

from __future__ import annotations

from collections.abc import Sequence

from dash import html
from dash.development.base_component import Component

from gviz.analysis import RULES, Advice, Evidence, Finding
from gviz.app.components import sentence
from gviz.app.pages.report.node_links import NodeLinks
from gviz.app.pages.report.parts import how, said
from gviz.text import counted, duration, with_unit

#: Nodes of a finding that are named one by one.
_NAMED = 4


def advice(found: Advice, links: NodeLinks, *, empty: str) -> list[Component]:
    """Return all findings; ``empty`` is said where there are none."""
    parts: list[Component] = []
    if found.findings:
        parts.append(html.Ol([_finding(x, links) for x in found.findings], className="gv-findings"))
    else:
        parts.append(said(empty))
    if found.ignored_count:
        parts.append(
            said(
                f"{counted(found.ignored_count, 'finding')} left out by the configuration.",
                muted=True,
            )
        )
    parts += [said(f"Not checked: {reason}.", muted=True) for reason in found.not_checked]
    return parts


def gain_of(found: Finding) -> str:
    """Return what mending gives back, in words."""
    bound = "" if found.gain_bound == "about" else f"{found.gain_bound} "
    return f"{bound}{duration(found.gain_ns)} a {found.gain_per}"


def _finding(found: Finding, links: NodeLinks) -> Component:
    rule = RULES.get(found.rule)
    over_run = (
        f"{duration(found.run_gain_ns)} over the run's launches"
        if found.gain_per == "launch"
        else ""
    )
    facts = [
        ("Fix", [found.fix]),
        ("Evidence", _evidence(found.evidence)),
        ("Takes for granted", [sentence(rule.assumes)] if rule else []),
        ("Source", [found.source]),
    ]
    return html.Li(
        [
            html.Div(
                [
                    html.Strong(sentence(gain_of(found)), className="gv-gain"),
                    how("estimated"),
                    html.Span(over_run, className="gv-muted"),
                    html.Code(found.rule, className="gv-rule", title=rule.title if rule else None),
                ],
                className="gv-finding-head",
            ),
            html.P([f"{sentence(found.reason)}. ", *_nodes(found, links)]),
            html.Dl(
                [html.Div([html.Dt(name), html.Dd(content)]) for name, content in facts if content],
                className="gv-finding-facts",
            ),
        ],
        className="gv-finding",
    )


def _nodes(found: Finding, links: NodeLinks) -> list[str | Component]:
    if not found.nodes:
        return []
    if found.node_count <= _NAMED:
        named: list[str | Component] = ["Nodes: " if found.node_count > 1 else "Node: "]
        for at, ref in enumerate(found.nodes):
            named += [", " if at else "", links.node(ref)]
        return named
    return ["Select ", links.nodes(found.nodes, found.node_count), " in the graph."]


def _evidence(found: Sequence[Evidence]) -> list[str | Component]:
    parts: list[str | Component] = []
    for at, one in enumerate(found):
        parts += [
            "; " if at else "",
            f"{one.name}: {with_unit(one.value, one.unit)} ",
            how(one.how),
        ]
    return parts
