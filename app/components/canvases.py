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
        theme: str = "light",
        group: str = "graph",
        style: dict[str, Any] | None = None,
        layout: str | None = None,
        open: list[str] | None = None,
        buffer: str | None = None,
        first: bool | None = None,
        long: bool | None = None,
    ) -> None:
        values = {
            "id": id,
            "source": source,
            "selected": selected,
            "focus": focus,
            "colour": colour,
            "theme": theme,
            "group": group,
            "style": style,
            "layout": layout,
            "open": open,
            "buffer": buffer,
            "first": first,
            "long": long,
        }
        names = list(values)
        self._prop_names = names
        self._valid_wildcard_attributes: list[str] = []
        self.available_properties = names
        self.available_wildcard_properties: list[str] = []
        super().__init__(**{k: v for k, v in values.items() if v is not None})


class Dag(_View):
    """The DAG of one graph level on a canvas.

    Parameters
    ----------
    id
        Of the component.
    source
        URL path of the payload (:func:`gviz.app.views.payload.dag_payload`).
    selected
        Node ids to begin with; what is selected later assets/web/core/bus.js knows.
    focus
        ``{"node": node id, "token": number}``: bring that node into view. A new token repeats it.
    colour
        One of :data:`gviz.app.views.dag.overlays.NAMES`.
    theme
        'light' or 'dark'.
    group
        Views of one group on a page share selection and hover without a server.
    style
        CSS of the outer box; it needs a height.
    layout
        Set by the view: the layout it drew.
    open
        Ids of the open folds; set by clicks.
    buffer
        The address that is followed, as :func:`gviz.app.components.addresses.parse_buffer` reads
        it; also set by keys.
    long
        True: its data take long to make. Dash, which would keep a processor busy, waits for them.
    """

    _type = "Dag"


class Timeline(_View):
    """One graph launch over one eager iteration, on one axis, on a canvas.

    Parameters
    ----------
    id
        Of the component.
    source
        URL path of the payload (:func:`gviz.app.views.payload.timeline_payload`).
    selected, focus, theme, group, style, long
        As of :class:`Dag`.
    colour
        'kind'; by duration with every other overlay of the DAG.
    first
        True: its data are made before the DAG's.
    """

    _type = "Timeline"


class Memory(_View):
    """A graph's memory along a launch, on the axis of the timeline, on a canvas.

    Parameters
    ----------
    id
        Of the component.
    source
        URL path of the payload (:func:`gviz.app.views.memory_payload.memory_payload`).
    selected, focus, theme, group, style
        As of :class:`Dag`.
    """

    _type = "Memory"


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
