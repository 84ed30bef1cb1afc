"""Answers: what a verb found, the verbs that lead on, and the text that a client is given."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import field

from gviz.dataclass import dataclass
from gviz.report import Document, render_data

#: Characters of an answer unless its verb has a limit of its own.
MOST_CHARACTERS = 8_000
#: Rows of a table, tried from the first until an answer fits with its caveats, which come last.
_MOST_ROWS = (12, 6, 3, 1)
_CUT = "[cut here: ask for less at once]"
#: How instructions of the server name the lines around recorded text.
FENCE = "recorded"


@dataclass(frozen=True, slots=True)
class NextStep:
    """A verb that leads on from an answer, with its arguments, and why."""

    verb: str
    why: str
    arguments: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture: its media type and its bytes."""

    media_type: str
    content: bytes


@dataclass(frozen=True, slots=True)
class VerbAnswer:
    """The answer of a verb.

    Attributes
    ----------
    documents
        What was found, as reports have it.
    rows
        Lines below them, such as those of a query.
    steps
        The verbs that lead on, the best first.
    pages
        Addresses of pages on which a person sees the same.
    picture
        A picture that belongs to it; None: none.
    """

    documents: Sequence[Document] = ()
    rows: Sequence[str] = ()
    steps: Sequence[NextStep] = ()
    pages: Sequence[str] = ()
    picture: Picture | None = None


def answer_text(answer: VerbAnswer, most: int = MOST_CHARACTERS) -> str:
    """Return an answer as a client reads it, no longer than ``most``.

    All that a recording says stands between two lines that bear a word nobody can know before, so
    that no name in it can end them. What stands outside is gviz's own.
    """
    for most_rows in _MOST_ROWS:
        text = _text(answer, most, most_rows)
        if _CUT not in text:
            break
    return text


def _text(answer: VerbAnswer, most: int, most_rows: int) -> str:
    """Return an answer with so many rows of a table at most."""
    word = secrets.token_hex(4)
    begin, end = f"<{FENCE} {word}>", f"</{FENCE} {word}>"
    tail = [
        *(f"page: {page}" for page in answer.pages),
        *(step_text(step) for step in answer.steps),
    ]
    inside = [render_data(document, most_rows) for document in answer.documents]
    lines = [line for text in inside for line in text.split("\n")] + list(answer.rows)
    room = most - sum(len(line) + 1 for line in (begin, end, _CUT, *tail))
    return "\n".join([begin, *_fitted(lines, room), end, *tail])


def _fitted(lines: Sequence[str], room: int) -> list[str]:
    """Return the first lines that fit, and where there are more, a line that says so."""
    shown: list[str] = []
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            return [*shown, _CUT]
        shown.append(line)
    return shown


def step_text(step: NextStep) -> str:
    """Return a step as a line: the verb, its arguments as JSON, and why."""
    return f"next: {step.verb} {json.dumps(dict(step.arguments))} - {step.why}"
