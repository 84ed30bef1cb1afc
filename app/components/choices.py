"""A labelled choice of one among several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import dash_mantine_components as dmc
from dash import html
from dash.development.base_component import Component

from gviz.app.components.aria_attributes import aria

#: Lists open inside the page's landmark, where screen readers look for them.
INSIDE = {"portalProps": {"target": "#page"}}


def select(
    name: str,
    label: str,
    options: Sequence[Mapping[str, object]],
    value: str | None,
    *,
    width: int,
    placeholder: str = "",
    named: bool = True,
) -> Component:
    """Return a choice; ``named=False``: its label is for screen readers only."""
    return html.Label(
        className="gv-select",
        children=[
            html.Span(label) if named else None,
            dmc.Select(
                id=name,
                data=list(options),
                value=value,
                size="xs",
                w=width,
                allowDeselect=False,
                searchable=len(options) > 8,
                placeholder=placeholder,
                disabled=not options,
                comboboxProps={
                    "width": "max-content",
                    "position": "bottom-end",
                    **INSIDE,
                },
                maxDropdownHeight=360,
                **aria(label=label),
            ),
        ],
    )
