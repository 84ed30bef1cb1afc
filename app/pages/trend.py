"""The Trend page: graphs through the open runs, with the commit that each was made at."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

from dash import dcc, html, no_update
from dash.development.base_component import Component

from gviz.app.components import Addresses, Query, aria, message
from gviz.app.files import (
    PATIENCE_S,
    Background,
    Library,
    OpenRecording,
    sentence_of,
    split_version,
)
from gviz.app.pages.compare import trend_body
from gviz.app.pages.ranks import ranks_of
from gviz.comparison import Trend, build_trend
from gviz.errors import RecordingError

#: Milliseconds between two polls for a trend.
_EVERY_MS = 500
_NOT_IN_TIME = (
    "What is open are ranks of a job: they ran beside each other, not one after the other. Open "
    "recordings of the program from several days to see what became of its launches."
)


class Trends:
    """Makes trends in the background, each kept with the first of its files."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._made: Background[Trend] = Background()

    def find(self, versioned: Sequence[str], patience_s: float = PATIENCE_S) -> Trend | None:
        """Return the trend over files (``key@version``); None: it is still being made.

        Raises
        ------
        RecordingError
            If a file is damaged or changed.
        """
        files = tuple(versioned)
        return self._made.find(files, lambda: self._build(files), patience_s)

    def _build(self, versioned: tuple[str, ...]) -> Trend:
        with contextlib.ExitStack() as stack:
            opened = []
            for key, version in map(split_version, versioned):
                opened.append(stack.enter_context(self._library.file(key).at(version)))
            recordings = [file.recording for file in opened]
            return opened[0].derive(("trend", *versioned), lambda: build_trend(recordings))


def render_trend(library: Library, query: Query, addresses: Addresses) -> Component:
    """Return the page; the trend comes when it is made (:func:`show_trend`).

    Raises
    ------
    RecordingError
        If a file that the address names is not open.
    """
    there = [file for file in library.files() if not file.waiting]
    wanted = query.files or tuple(file.key for file in there if not _has_ranks(file))
    versioned = [library.file(key).versioned_key for key in wanted]
    if not versioned and not there:
        return message("Trend", "Nothing is recorded yet: there is no run to show.")
    if not versioned:
        links = [dcc.Link(f"Ranks of {f.key}", href=addresses.ranks(f.key)) for f in there]
        ways = [part for link in links for part in (" · ", link)][1:]
        return message("Trend", _NOT_IN_TIME, html.Span(ways))
    waiting = html.P(
        "Reading the launches of all runs…",
        role="status",
        className="gv-muted gv-report-waiting",
    )
    return html.Div(
        className="gv-sheet gv-report",
        children=[
            html.Div([html.H1("Trend"), _file_choice(library, wanted, addresses)],
                     className="gv-title"),
            dcc.Store(id="trend-view", data={"files": versioned}),
            dcc.Interval(id="trend-wait", interval=_EVERY_MS, max_intervals=0),
            html.Div(waiting, id="trend-body"),
        ],
    )  # fmt: skip


def _has_ranks(file: OpenRecording) -> bool:
    """Return whether a file holds several ranks of a job, which do not follow each other."""
    with file.at():
        return len(ranks_of(file)) > 1


def _file_choice(library: Library, wanted: Sequence[str], addresses: Addresses) -> Component:
    """Return a link a file, which leaves it out or takes it in."""
    links = []
    for file in library.files():
        is_on = file.key in wanted
        others = [f.key for f in library.files() if (f.key in wanted) != (f is file)]
        if not others:
            continue
        links.append(
            dcc.Link(
                file.key,
                href=addresses.trend(others),
                className="gv-choice gv-choice-on" if is_on else "gv-choice",
                title="Leave it out" if is_on else "Take it in",
            )
        )
    return html.Nav(
        links, className="gv-choices gv-choices-apart", **aria(label="Recordings in the trend")
    )


def show_trend(
    trends: Trends, library: Library, view: Mapping[str, Any], polls: int, addresses: Addresses
) -> tuple[Any, Any]:
    """Return the body and how many polls its page may make, for the callback of the page."""
    try:
        found = trends.find(view["files"])
        if found is None:
            return no_update, polls + 1
        return trend_body(found, _keys(library, view["files"]), addresses), no_update
    except Exception as error:  # the page shows it
        sentence = sentence_of(error).strip()
        return html.P(["There is no trend. ", sentence], role="alert"), no_update


def _keys(library: Library, versioned: Sequence[str]) -> dict[str, str]:
    """Return the keys of files by their paths, as results name them."""
    found = {}
    for key, version in map(split_version, versioned):
        with library.file(key).at(version) as opened:
            found[str(opened.recording.path)] = key
    if len(found) < len(versioned):
        raise RecordingError("one file is open twice: leave one of them out")
    return found
