"""Answers to what-if for pages: computed in the background, kept with the version of the file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gviz.app.files import PATIENCE_S, Background, OpenRecording
from gviz.errors import UsageError
from gviz.report import plain, what_if_document
from gviz.whatif import Edit, ask_recording, parse_edits

#: What a page gets: see :meth:`Questions.ask`.
Answer = dict[str, Any]


class Questions:
    """Answers what a launch would take with edits to its graph."""

    def __init__(self) -> None:
        self._made: Background[Answer] = Background()

    def ask(
        self,
        opened: OpenRecording,
        graph_id: int,
        options: Mapping[str, str],
        patience_s: float = PATIENCE_S,
    ) -> Answer | None:
        """Return the answer to options of ``gviz what-if`` by name; None: it is being computed.

        Returns
        -------
        dict
            ``sentences``, the change first, or why edits change nothing, and ``caveats``.

        Raises
        ------
        RecordingError, UsageError
            If nothing can be computed of the graph, or there is no such option.
        """
        edits = tuple(parse_edits(options))
        key = ("what if", graph_id, edits)
        version = opened.version

        def make() -> Answer:
            with opened.at(version):
                return opened.derive(key, lambda: _answer(opened, graph_id, edits))

        return self._made.find((opened.key, version, *key), make, patience_s)


def _answer(opened: OpenRecording, graph_id: int, edits: tuple[Edit, ...]) -> Answer:
    try:
        document = what_if_document(ask_recording(opened.recording, graph_id, edits))
    except UsageError as error:  # what a reader selected, and no wrong request
        return {"sentences": [f"{error}."], "caveats": []}
    (verdict,) = document.verdicts
    return {
        "sentences": [plain(sentence.content) for sentence in verdict.sentences],
        "caveats": list(verdict.caveats),
    }
