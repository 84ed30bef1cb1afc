"""Components as plain HTML: what a page shows until Dash has built it in the browser."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Mapping

from dash.development.base_component import Component

_VOID = frozenset({"br", "col", "hr", "img", "input", "wbr"})
#: Dash's names of attributes that HTML calls otherwise.
_RENAMED = {"className": "class", "htmlFor": "for", "tabIndex": "tabindex"}
#: Ids would be there twice once Dash's page is; the others are Dash's own.
_LEFT_OUT = frozenset({"id", "children", "key", "n_clicks", "n_clicks_timestamp", "style"})


def to_html(part: object) -> str:
    """Return a component, or what may stand among a component's children, as HTML.

    Elements become themselves without their ids, links become links, choices and inputs boxes of
    their size that show their value, views of :mod:`gviz.app.components` the boxes that
    assets/web/dash/first_page.js draws in; components of other kinds are left out.
    """
    if part is None or isinstance(part, bool):
        return ""
    if isinstance(part, (list, tuple)):
        return "".join(map(to_html, part))
    if not isinstance(part, Component):
        return html.escape(str(part))
    if part._namespace == "dash_html_components":
        return _element(part._type.lower(), part)
    if part._type == "Link":
        return _element("a", part)
    if part._namespace == "gviz_canvas":
        return _view(part)
    stand_in = _STAND_INS.get(part._type)
    return "" if stand_in is None else stand_in(part)


def _element(tag: str, part: Component) -> str:
    own = {k: v for k, v in part.to_plotly_json()["props"].items() if k not in _LEFT_OUT}
    style = _style(getattr(part, "style", None) or {})
    opened = f"<{tag}{_attributes({**own, **({'style': style} if style else {})})}>"
    inside = to_html(getattr(part, "children", None))
    return opened if tag in _VOID else f"{opened}{inside}</{tag}>"


def _attributes(values: Mapping[str, object]) -> str:
    found = []
    for name, value in values.items():
        if value is None or value is False:
            continue
        text = "" if value is True else f'="{html.escape(str(value))}"'
        found.append(f" {_RENAMED.get(name, name)}{text}")
    return "".join(found)


def _style(values: Mapping[str, object]) -> str:
    parts = (f"{_css_name(name)}:{value}" for name, value in values.items())
    return ";".join(parts)


def _css_name(name: str) -> str:
    hyphened = re.sub("[A-Z]", lambda found: "-" + found[0].lower(), name)
    return name if name.startswith("--") else hyphened


def _view(part: Component) -> str:
    props = part.to_plotly_json()["props"]
    attributes = {
        "class": "gviz-canvas-box",
        "style": _style(props.get("style", {})),
        "data-view": part._type,
        "data-props": json.dumps(props),
    }
    return f"<div{_attributes(attributes)}></div>"


def _select(part: Component) -> str:
    label = next((o["label"] for o in part.data if o["value"] == getattr(part, "value", None)), "")
    return _box(label or getattr(part, "placeholder", ""), width=part.w)


def _segments(part: Component) -> str:
    return _box("  ".join(option["label"] for option in part.data))


def _text_input(part: Component) -> str:
    return _box(getattr(part, "placeholder", ""), kind=getattr(part, "className", ""))


def _box(text: str, *, width: int | None = None, kind: str = "") -> str:
    style = None if width is None else f"width:{width}px"
    attributes = _attributes({"class": f"gv-stand-in {kind}".strip(), "style": style})
    return f"<div{attributes}>{html.escape(text)}</div>"


_STAND_INS: dict[str, Callable[[Component], str]] = {
    "ColorSchemeToggle": lambda part: '<div style="width:28px"></div>',
    "Select": _select,
    "SegmentedControl": _segments,
    "TextInput": _text_input,
}
