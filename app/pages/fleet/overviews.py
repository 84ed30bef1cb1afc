"""Overviews for pages: made in the background, kept with the version of the data set."""

from __future__ import annotations

from contextlib import suppress

from gviz.app.files import PATIENCE_S, Background, OpenFleet
from gviz.errors import RecordingError
from gviz.fleet import FleetOverview, read_overview


class Overviews:
    """Makes overviews in the background."""

    def __init__(self) -> None:
        self._made: Background[FleetOverview] = Background()

    def begin(self, opened: OpenFleet) -> None:
        """Have the first page's overview made before a browser asks for it."""
        with suppress(RecordingError):  # the page says it
            self.find(opened, 0, 0.0)

    def find(
        self, opened: OpenFleet, graph: int, patience_s: float = PATIENCE_S
    ) -> FleetOverview | None:
        """Return the overview of a data set as it is now; None: it is still being made.

        Parameters
        ----------
        graph
            Place of the graph among those with node times.

        Raises
        ------
        RecordingError
            If the data set is gone or damaged, or has no such graph.
        """
        version = opened.version

        def make() -> FleetOverview:
            return opened.derive(version, graph, lambda: read_overview(opened.url, graph))

        return self._made.find((opened.url, version, graph), make, patience_s)
