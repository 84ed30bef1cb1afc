"""Verbs: what a client may ask, with which arguments, and the check of these."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from gviz.agents.answer import MOST_CHARACTERS, NextStep, VerbAnswer
from gviz.agents.question import Question
from gviz.dataclass import dataclass
from gviz.errors import UsageError
from gviz.text import likely_meant

#: Kinds of arguments, as JSON Schema names them; ``texts``: a list of strings.
Kind = Literal["string", "integer", "number", "boolean", "texts"]
#: A text's characters, those of SQL included, and a list's entries.
MOST_TEXT, MOST_ENTRIES = 10_000, 64
#: SQLite's integers.
_LARGEST = 2**63 - 1
_PYTHON: Mapping[Kind, type | tuple[type, ...]] = {
    "string": str, "integer": int, "number": (int, float), "boolean": bool, "texts": list,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Parameter:
    """An argument of a verb.

    Attributes
    ----------
    name, kind
        As clients give it.
    meaning
        For the client.
    is_required
        Whether it has to be there.
    choices
        The values that it may have; empty: any.
    """

    name: str
    kind: Kind
    meaning: str
    is_required: bool = False
    choices: tuple[str, ...] = ()

    def schema(self) -> dict[str, Any]:
        """Return its JSON Schema."""
        if self.kind == "texts":
            items = {"type": "string", "maxLength": MOST_TEXT}
            found = {"type": "array", "items": items, "maxItems": MOST_ENTRIES}
        else:
            found = {"type": self.kind}
        if self.kind == "string":
            found["maxLength"] = MOST_TEXT
        if self.choices:
            found["enum"] = list(self.choices)
        return {**found, "description": self.meaning}

    def check(self, value: object) -> None:
        """Raise UsageError if a value is none of the parameter's kind."""
        is_flag = isinstance(value, bool)
        if not isinstance(value, _PYTHON[self.kind]) or is_flag != (self.kind == "boolean"):
            kind = "a list of strings" if self.kind == "texts" else f"a value of type {self.kind}"
            raise UsageError(f"{self.name} must be {kind}: {self.meaning}")
        for text in value if isinstance(value, list) else [value]:
            self._check_one(text)
        if isinstance(value, list) and len(value) > MOST_ENTRIES:
            raise UsageError(f"{self.name} has {len(value):,} entries; {MOST_ENTRIES} are the most")

    def _check_one(self, value: object) -> None:
        if self.kind == "texts" and not isinstance(value, str):
            raise UsageError(f"{self.name} must be a list of strings: {self.meaning}")
        if isinstance(value, str) and len(value) > MOST_TEXT:
            raise UsageError(
                f"{self.name} has {len(value):,} characters; {MOST_TEXT:,} are the most"
            )
        if isinstance(value, int | float) and not abs(value) <= _LARGEST:
            raise UsageError(f"{self.name} is too large a number: {self.meaning}")
        if self.choices and value not in self.choices:
            raise UsageError(f"{self.name} must be one of {', '.join(self.choices)}")


@dataclass(frozen=True, slots=True)
class Verb:
    """Something that a client may ask.

    Attributes
    ----------
    name
        As clients call it.
    summary
        What it answers, for the client.
    parameters
        Its arguments.
    answer
        Answers a request; raises GvizError where there is no answer that can be relied on.
    most_characters
        Of an answer.
    is_read_only
        Whether it changes nothing outside of the server.
    instead
        What to ask where it is refused; None: nothing in particular.
    """

    name: str
    summary: str
    parameters: Sequence[Parameter]
    answer: Callable[[Question], VerbAnswer]
    most_characters: int = MOST_CHARACTERS
    is_read_only: bool = True
    instead: NextStep | None = None

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of its arguments."""
        return {
            "type": "object",
            "properties": {one.name: one.schema() for one in self.parameters},
            "required": [one.name for one in self.parameters if one.is_required],
            "additionalProperties": False,
        }

    def check(self, arguments: Mapping[str, object]) -> None:
        """Raise UsageError if arguments are not those of the verb."""
        known = {one.name: one for one in self.parameters}
        for name, value in arguments.items():
            if name not in known:
                meant = likely_meant(name, known) if len(name) < 100 else ""
                raise UsageError(
                    f"{self.name} has no such argument{meant}; it has {', '.join(known) or 'none'}"
                )
            known[name].check(value)
        for one in self.parameters:
            if one.is_required and one.name not in arguments:
                raise UsageError(f"{self.name} needs {one.name}: {one.meaning}")
