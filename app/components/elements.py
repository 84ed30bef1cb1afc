"""HTML elements of Dash's own classes, made without its checks of every attribute's name.

An inspector consists of two hundred, a saved file of hundreds of thousands. Dash takes 8 µs for
each, most of it for checks and for words about what they might find. That names are right is
tested.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dash import html
from dash.development.base_component import Component

#: Makes an element of its children and attributes.
Make = Callable[..., Component]


def _maker(made: type[Component]) -> Make:
    #: What Dash keeps in every element of the class.
    shared = {name: value for name, value in vars(made()).items() if name != "children"}

    def make(children: Any = None, **attributes: Any) -> Component:
        element: Component = object.__new__(made)
        vars(element).update(shared, children=children, **attributes)
        return element

    return make


Button = _maker(html.Button)
Code = _maker(html.Code)
Dd = _maker(html.Dd)
Details = _maker(html.Details)
Div = _maker(html.Div)
Dl = _maker(html.Dl)
Dt = _maker(html.Dt)
H2 = _maker(html.H2)
H3 = _maker(html.H3)
Li = _maker(html.Li)
Ol = _maker(html.Ol)
P = _maker(html.P)
Section = _maker(html.Section)
Span = _maker(html.Span)
Strong = _maker(html.Strong)
Summary = _maker(html.Summary)
Table = _maker(html.Table)
Tbody = _maker(html.Tbody)
Td = _maker(html.Td)
Th = _maker(html.Th)
Thead = _maker(html.Thead)
Tr = _maker(html.Tr)
Ul = _maker(html.Ul)
