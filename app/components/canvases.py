"""The canvas views as Dash components, written by hand: JavaScript is in assets/web."""

from __future__ import annotations

from typing import Any, ClassVar

from dash.development.base_component import Component


class _View(Component):  # type: ignore[misc]
    """Properties that all views share, which Dash checks and passes on."""

    _children_props: ClassVar[list[str]] = []
    _base_nodes: ClassVar[list[str]] = ["children"]
    _namespace = "gviz_canvas"

    def __init__(
        self,
        id: str | dict[str, Any] | None = None,
        source: str | None = None,
        selected: list[int] | None = None,
        focus: dict[str, int] | None = None,
        colour: str = "duration",
        group: str = "graph",
        style: dict[str, Any] | None = None,
        layout: str | None = None,
        open: list[str] | None = None,
        buffer: str | None = None,
        brush: dict[str, Any] | None = None,
    ) -> None:
        values = {
            "id": id,
            "source": source,
            "selected": selected,
            "focus": focus,
            "colour": colour,
            "group": group,
            "style": style,
            "layout": layout,
            "open": open,
            "buffer": buffer,
            "brush": brush,
        }
        names = list(values)
        self._prop_names = names
        self._valid_wildcard_attributes: list[str] = []
        self.available_properties = names
        self.available_wildcard_properties: list[str] = []
        super().__init__(**{k: v for k, v in values.items() if v is not None})


class Timeline(_View):
    """One graph launch over one eager iteration, on one axis, on a canvas.

    Parameters
    ----------
    id
        Of the component.
    source
        URL path of the payload (:func:`gviz.app.views.payload.timeline_payload`).
    selected
        Node ids to begin with; what is selected later assets/web/core/bus.js knows.
    focus
        ``{"node": node id, "token": number}``: bring that node into view. A new token repeats it.
    group
        Views of one group on a page share selection and hover without a server.
    style
        CSS of the outer box; it needs a height.
    colour
        'family' or 'kind'; by duration with every other overlay of the DAG.
    brush
        ``{"from": ns, "to": ns, "side": name}``: the part of the time whose nodes alone are wanted.
    """

    _type = "Timeline"


class GraphPage(Component):  # type: ignore[misc]
    """The page of a graph (assets/web/page), which owns its state and its data.

    Parameters
    ----------
    id
        Of the component.
    source
        URL path of what it is made of (:func:`gviz.app.pages.graph.graph_payload`).
    state
        ``{"query": ..., "steps": ...}``: what it begins with, as an address has it, and how many
        choices led to it; set by the page.
    serial
        Another number for each page that the server makes: then it begins anew.
    """

    _children_props: ClassVar[list[str]] = []
    _base_nodes: ClassVar[list[str]] = ["children"]
    _namespace = "gviz_canvas"
    _type = "GraphPage"

    def __init__(
        self, id: str, source: str, state: dict[str, Any], serial: int | None = None
    ) -> None:
        values = {"id": id, "source": source, "state": state, "serial": serial}
        self._prop_names = list(values)
        self._valid_wildcard_attributes: list[str] = []
        self.available_properties = list(values)
        self.available_wildcard_properties: list[str] = []
        super().__init__(**{k: v for k, v in values.items() if v is not None})


class Miniature(Component):  # type: ignore[misc]
    """The small picture of a graph: a launch in lanes over the graph's width.

    Parameters
    ----------
    source
        URL path of its SVG (:mod:`gviz.app.views.miniature_picture`), fetched once it is in sight.
    """

    _children_props: ClassVar[list[str]] = []
    _base_nodes: ClassVar[list[str]] = ["children"]
    _namespace = "gviz_canvas"
    _type = "Miniature"

    def __init__(self, source: str) -> None:
        self._prop_names = ["source"]
        self._valid_wildcard_attributes: list[str] = []
        self.available_properties = ["source"]
        self.available_wildcard_properties: list[str] = []
        super().__init__(source=source)


class Chart(Component):  # type: ignore[misc]
    """A chart that plotly.js draws, in the colours of the page.

    Parameters
    ----------
    id
        Of the component.
    figure
        plotly's traces and layout, with its height.
    open
        The address that what is clicked leads to, completed by its customdata.
    """

    _children_props: ClassVar[list[str]] = []
    _base_nodes: ClassVar[list[str]] = ["children"]
    _namespace = "gviz_canvas"
    _type = "Chart"

    def __init__(self, id: str, figure: dict[str, Any], open: str | None = None) -> None:
        values = {"id": id, "figure": figure, "open": open}
        self._prop_names = list(values)
        self._valid_wildcard_attributes: list[str] = []
        self.available_properties = list(values)
        self.available_wildcard_properties: list[str] = []
        super().__init__(**{k: v for k, v in values.items() if v is not None})
