"""Quantities on the pages that Dash makes: no line ends between a number and its unit.

What the browser makes elements of has it from assets/web/core/parts.js.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dash import html
from dash.development.base_component import Component

from gviz.text import at_quantities

#: The class of what stays in one line; its style is in assets/web/styles/page.css.
_UNBROKEN = "gv-nowrap"
#: Elements of which a browser shows a text alone.
_TEXT_ALONE = frozenset({"Option", "Textarea", "Title"})


def unbroken(content: Any) -> Any:
    """Return content of a page in which each number stays in one line with its unit.

    Components are changed in place.
    """
    # Before components, whose class is abstract: asking for that takes longer than all else.
    if isinstance(content, str):
        parts = [*_pieces(content)]
        return content if parts == [content] else parts
    if isinstance(content, (list, tuple)):
        return [piece for child in content for piece in _among_others(child)]
    if isinstance(content, Component):
        _keep(content)
    return content


def _among_others(child: Any) -> Iterator[Any]:
    if isinstance(child, str):
        yield from _pieces(child)
    else:
        yield unbroken(child)


def _pieces(text: str) -> Iterator[str | Component]:
    for at, part in enumerate(at_quantities(text)):
        if at % 2:
            yield html.Span(part, className=_UNBROKEN)
        elif part:
            yield part


def _keep(component: Component) -> None:
    """Keep the quantities of a component's content; what is one, and nothing else, by its class."""
    children = getattr(component, "children", None)
    if children is None:
        return
    if not isinstance(children, str):
        component.children = unbroken(children)
    elif _holds_elements(component):
        _, *parts = at_quantities(children)
        if parts and children == parts[0]:
            classes = (getattr(component, "className", None) or "").split()
            component.className = " ".join(dict.fromkeys([*classes, _UNBROKEN]))
        elif parts:
            component.children = unbroken(children)


def _holds_elements(component: Component) -> bool:
    """Return whether elements may stand in a component instead of a text."""
    if component._namespace == "dash_html_components":
        return component._type not in _TEXT_ALONE
    return (component._namespace, component._type) == ("dash_core_components", "Link")
