"""Components as parts that the browser makes elements of: what two of them share is stored once.

A part is ``[tag, attributes, child, ...]``; attributes are 0 where there are none, a child is a
text or a number: how far back in the list its part stands. Tags in lower case are HTML's. Those
that assets/web/core/parts.js makes something of: Select, SegmentedControl, Checkbox, TextInput,
Link.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from dash.development.base_component import Component

Part = list[Any]

#: Properties of components, as HTML calls them.
_HTML_NAMES = {"className": "class", "htmlFor": "for", "tabIndex": "tabindex"}
#: What Dash keeps in a component beside its properties, and what is no attribute.
_NO_ATTRIBUTES = {
    "_prop_names",
    "_valid_wildcard_attributes",
    "available_properties",
    "available_wildcard_properties",
    "children",
}
#: What of a control of the application its counterpart in a saved file needs.
_CONTROL = ("id", "data", "value", "disabled", "placeholder", "label", "aria-label")
_NOT_HERE = "Not in this file: gviz view shows it."


class Parts:
    """A growing list of parts.

    Attributes
    ----------
    list
        The parts; children stand before their parents.
    unknown
        Types of components that have no counterpart: a sentence stands in their place.
    """

    def __init__(self) -> None:
        self.list: list[Part] = []
        self.unknown: set[str] = set()
        self._index: dict[tuple[Any, ...], int] = {}

    def add(self, component: Component) -> int:
        """Add a component with all that is in it; return the place of its part."""
        made = _CONVERTED.get(component._type)
        if made is not None:
            tag, attributes, children = made(component)
        elif component._namespace == "dash_html_components":
            tag, children = component._type.lower(), getattr(component, "children", None)
            attributes = self._attributes(component)
        else:
            self.unknown.add(component._type)
            tag, attributes, children = "p", {"class": "gv-muted"}, _NOT_HERE
        return self._put(tag, attributes, self._children(children))

    def _children(self, children: Any) -> list[int | str]:
        """Return texts, and places of parts."""
        if children is None:
            return []
        # Before components, whose class is abstract: asking for that takes longer than all else.
        if isinstance(children, str):
            return [children]
        if isinstance(children, (list, tuple)):
            return [found for child in children for found in self._children(child)]
        if isinstance(children, Component):
            return [self.add(children)]
        return [str(children)]

    def _attributes(self, component: Component) -> dict[str, Any]:
        # A third of the time of to_plotly_json, of hundreds of thousands of components. Sorted:
        # Dash has them in an order that differs from run to run, and equal files stay equal.
        given = [
            x for x in vars(component).items() if x[1] is not None and x[0] not in _NO_ATTRIBUTES
        ]
        if not given:
            return {}
        return {_HTML_NAMES.get(name, name): value for name, value in sorted(given)}

    def _put(self, tag: str, attributes: dict[str, Any], children: list[int | str]) -> int:
        key = (tag, repr(attributes), *children)
        place = self._index.get(key)
        if place is None:
            place = self._index[key] = len(self.list)
            near = [c if isinstance(c, str) else place - c for c in children]
            self.list.append([tag, attributes or 0, *near])
        return place


def made_by_browser(content: Any) -> Any:
    """Return components whose content the browser makes, all but what only Dash can.

    Dash's renderer asks each of its components at every change of any: a page of 1,500 takes it
    seconds. A component without such content stays, and its parts stand in ``data-parts`` until
    assets/web/dash/links.js has made elements of them.
    """
    if isinstance(content, (list, tuple)):
        return [made_by_browser(child) for child in content]
    if not isinstance(content, Component) or content._namespace != "dash_html_components":
        return content
    children = getattr(content, "children", None)
    if not isinstance(children, (Component, list, tuple)):
        return content  # empty, or a text
    parts = Parts()
    parts.add(content)
    if parts.unknown:
        content.children = made_by_browser(children)
    else:
        content.children = None
        setattr(content, "data-parts", json.dumps(parts.list, ensure_ascii=False))
    return content


def _control(component: Component) -> tuple[str, dict[str, Any], Any]:
    props = component.to_plotly_json()["props"]
    return component._type, {k: props[k] for k in _CONTROL if k in props}, None


def _link(component: Component) -> tuple[str, dict[str, Any], Any]:
    more = {
        _HTML_NAMES.get(name, name): value
        for name in ("title", "className")
        if (value := getattr(component, name, None))
    }
    return "Link", {"href": component.href, **more}, component.children


_CONVERTED: dict[str, Callable[[Component], tuple[str, dict[str, Any], Any]]] = {
    "Select": _control,
    "SegmentedControl": _control,
    "Checkbox": _control,
    "TextInput": _control,
    "Link": _link,
}
