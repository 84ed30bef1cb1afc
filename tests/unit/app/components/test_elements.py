"""Elements made without Dash's checks are those that Dash makes, with names that Dash knows."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest
from app_tree import walk
from dash import html
from dash.development.base_component import Component

from gviz.app.components import elements
from gviz.app.files.library import Library
from gviz.app.inspector.inspector import render_sums
from gviz.app.views.graph_data import graph_view

RECORDINGS = Path(str(files("gviz.assets") / "recordings"))
MAKERS = sorted(name for name in vars(elements) if name[0].isupper() and hasattr(html, name))


@pytest.mark.parametrize("name", MAKERS)
def test_element_is_that_of_dash(name: str) -> None:
    given = {"className": "a", "title": "b", "data-c": "d", "aria-label": "e"}
    mine, theirs = (getattr(of, name)(["x", None], **given) for of in (elements, html))
    assert type(mine) is type(theirs)
    assert mine.to_plotly_json() == theirs.to_plotly_json()
    assert getattr(elements, name)().to_plotly_json() == getattr(html, name)().to_plotly_json()


def test_elements_share_no_children() -> None:
    one, other = elements.Div(["a"]), elements.Div(["b"], className="c")
    assert one.children == ["a"]
    assert not hasattr(one, "className")
    assert other.children == ["b"]


@pytest.mark.parametrize("name", ["decode_step", "cupy_pipeline"])
def test_attributes_of_inspectors_are_known(name: str) -> None:
    library = Library([RECORDINGS / f"{name}.gviz"])
    view = graph_view(library, name, 1)
    seen = set()
    for nodes in ((), range(10)):
        for element in walk(render_sums(view, nodes)):
            if isinstance(element, Component):
                seen.add(element._type)
                shown = element.to_plotly_json()["props"].keys()
                assert vars(element).keys() - _OF_DASH == set(shown)
    assert {"Div", "Dd", "Td", "Button"} <= seen


#: What Dash keeps in an element beside its properties.
_OF_DASH = vars(html.Div()).keys() - {"children"}
