"""The keys of the viewer, as its help shows them; dag/dag.js and page/keys.js act on them."""

from __future__ import annotations

from dash import html
from dash.development.base_component import Component

from gviz.app.components.aria_attributes import aria

#: What is in a group, and its keys with what they do.
Keys = tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
KEYS: Keys = (
    (
        "Everywhere",
        (
            ("/", "search the nodes: words, kind:memcpy, nvtx:forward, src:train.py:44, id:12-480"),
            ("Enter", "in the search: to the next hit; with Shift: to the one before"),
            ("Ctrl K", "commands: all that the page can do, and launches and layers to go to"),
            ("?", "this help"),
            ("b", "all rows of the breakdown, or the panes again"),
            ("w", "what 10% off each part would bring, or the panes again"),
            ("W", "ask what if the selected nodes were free, half as long, or waited for nothing"),
            ("k", "select the critical path, or nothing again"),
            ("g", "all the room for the graph, and back"),
            ("t", "all the room for the timeline, and back"),
            ("i", "all the room for the inspector, and back"),
            ("l", "all the room for the list of nodes, and back"),
            ("Esc", "leave the search, close what is open, select nothing"),
        ),
    ),
    (
        "Graph and timeline, when focused",
        (
            ("f", "show everything"),
            ("z", "zoom to the selection"),
            ("+  -", "zoom in and out"),
            ("s  S", "save what is in view as PNG or SVG"),
            ("click", "select; with Ctrl or Shift: one more or one less"),
            (
                "double click",
                "open or close a fold or parent node; zoom to a node; else show everything",
            ),
        ),
    ),
    (
        "Breakdown, when focused",
        (
            ("arrows", "from block to block, into a block and out of it"),
            ("Enter", "select its nodes, or nothing again; with Shift: besides others"),
            ("z", "the whole width for a block, and back"),
        ),
    ),
    (
        "Memory, when focused",
        (("up  down", "to the next allocation, which selects its nodes"),),
    ),
    (
        "Graph, when focused",
        (
            ("arrows", "to a dependency, a dependent or a neighbour"),
            ("n  N", "next and previous node"),
            ("h", "fold repeats, or draw every node"),
            ("c  C", "along the critical path and back"),
            ("o  x", "open selected folds and bodies; close what is around"),
            ("u", "select all that the selection waits for"),
            ("d", "select all that waits for the selection"),
            ("a  A", "with Data: follow the addresses of the selection one by one"),
            ("p", "select what lies on paths between two selected nodes"),
        ),
    ),
    (
        "Timeline, when focused",
        (
            ("arrows", "to the next span, call or gap; to the row above or below"),
            ("n  N", "next and previous span by start, in whatever lane"),
            ("Home  End", "first and last of the row"),
            ("Shift arrows", "move the view"),
            ("e", "open or close eager work"),
            ("m  b", "measure from here to the next m; only the nodes between"),
        ),
    ),
    (
        "Table, when focused",
        (
            ("up  down", "to the next row, which is selected: a node, or all of a family"),
            ("right  left", "open a family and go into it; out of it, and close it"),
            ("Page up, down", "a screen up or down"),
            ("Home  End", "first and last row"),
            ("Enter", "open or close a family"),
            ("Space", "select the row besides others, or no more"),
        ),
    ),
)


def help_button() -> Component:
    """Return the button that opens the help."""
    return html.Button(
        "?",
        type="button",
        id="key-help-open",
        className="gv-button gv-round",
        title="Keys (?)",
        **aria(label="Show the keys"),
    )


def build_help(shown: Keys = KEYS) -> Component:
    """Return the help on keys: a dialog that is closed at first."""
    groups = [
        html.Section(
            [
                html.H3(title),
                html.Dl(
                    [html.Div([html.Dt(html.Kbd(key)), html.Dd(text)]) for key, text in keys],
                    className="gv-keys",
                ),
            ]
        )
        for title, keys in shown
    ]
    dialog: Component = html.Dialog(
        id="key-help",
        className="gv-dialog",
        children=[
            html.Div(
                [
                    html.H2("Keys", id="key-help-title"),
                    html.Button("Close", type="button", className="gv-button gv-close"),
                ],
                className="gv-dialog-head",
            ),
            *groups,
        ],
        **aria(labelledby="key-help-title"),
    )
    return dialog
