"""The frame around every page."""

from __future__ import annotations

import json

from dash import html
from dash.development.base_component import Component

from gviz.app.components import Addresses, build_help, build_shell


def test_dash_has_few_components_on_every_page() -> None:
    shell = build_shell(Addresses("/"), "/assets", 1)
    every = [component for component in shell._traverse() if isinstance(component, Component)]
    (dialog,) = [component for component in every if isinstance(component, html.Dialog)]
    # Dash asks each at every change, and the help alone has 200.
    assert len(every) < 30
    assert dialog.id == "key-help"
    made = {part[2] for part in json.loads(getattr(dialog, "data-parts")) if part[0] == "kbd"}
    assert made == {one.children for one in build_help()._traverse() if isinstance(one, html.Kbd)}
