"""Numbers and their units on Dash's pages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from dash import dcc, html
from dash.development.base_component import Component

from gviz.app.pages import unbroken

CASES = json.loads((Path(__file__).parents[3] / "quantities_in_text.json").read_text())


def kept(content: Any) -> list[str]:
    """Return the texts that stay in one line."""
    if isinstance(content, list):
        return [text for child in content for text in kept(child)]
    if not isinstance(content, Component):
        return []
    children = getattr(content, "children", None)
    if "gv-nowrap" in (getattr(content, "className", None) or "").split():
        return [str(children)]
    return kept(children)


def text_of(content: Any) -> str:
    """Return the text of content."""
    if isinstance(content, list):
        return "".join(map(text_of, content))
    return text_of(content.children) if isinstance(content, Component) else content or ""


@pytest.mark.parametrize(("whole", "parts"), CASES)
def test_quantities_of_a_text_stay_in_one_line(whole: str, parts: list[str]) -> None:
    page = unbroken(html.Div([html.P(["so: ", whole]), html.P(whole), dcc.Link(whole, href="/")]))
    assert kept(page) == 3 * parts[1::2]
    assert text_of(page) == "so: " + 3 * whole


def test_what_is_a_quantity_alone_keeps_its_class_and_its_text() -> None:
    cell = html.Td("7.07 ms", className="gv-number")
    for _ in range(2):
        assert unbroken(cell) is cell
        assert (cell.className, cell.children) == ("gv-number gv-nowrap", "7.07 ms")


def test_an_option_has_its_text_alone() -> None:
    choice = unbroken(html.Select([html.Option("launch 3, 7.07 ms"), html.Option("7.07 ms")]))
    assert [option.children for option in choice.children] == ["launch 3, 7.07 ms", "7.07 ms"]
    assert kept(choice) == []


def test_data_of_components_is_left() -> None:
    store = dcc.Store(id="view", data={"text": "7.07 ms"})
    assert unbroken([store, None, 3]) == [store, None, 3]
    assert store.data == {"text": "7.07 ms"}
