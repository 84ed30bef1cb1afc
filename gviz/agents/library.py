"""Texts for clients: the skill, documents of answers and of a recording's tables, and prompts."""

from __future__ import annotations

from importlib.resources import files

from gviz.dataclass import dataclass
from gviz.recording import queried_columns

_ABOUT = "{recording} is the recording to look at; where it is empty, the only one. "


@dataclass(frozen=True, slots=True)
class LibraryText:
    """A text that clients may read.

    Attributes
    ----------
    address
        As clients name it.
    title
        What it is.
    media_type
        Of its content.
    """

    address: str
    title: str
    media_type: str = "text/markdown"


@dataclass(frozen=True, slots=True)
class TaskPrompt:
    """A prompt for a usual task.

    Attributes
    ----------
    name, title
        For clients.
    text
        What the model is told; names in braces are its arguments.
    arguments
        These, with their meaning.
    """

    name: str
    title: str
    text: str
    arguments: tuple[tuple[str, str], ...]


TEXTS = (
    LibraryText("gviz://skill", "From a recording to a change that is proven"),
    LibraryText("gviz://schema", "Views and tables of a recording by columns", "text/plain"),
)
_RECORDING = ("recording", "name of the recording; empty: the only one")
PROMPTS = (
    TaskPrompt(
        "find_what_to_change",
        "What makes launches slow, and what to change first",
        _ABOUT + "Ask overview, then follow its next lines to the finding that can bring most and "
        "to the line of the program that it is about. Answer with that finding, its gain with how "
        "it was got, its range and caveats, the line, and the change. Where an answer is refused, "
        "say so.",
        (_RECORDING,),
    ),
    TaskPrompt(
        "verify_a_change",
        "Whether a change made launches faster",
        "Ask verify_fix with baseline {baseline} and candidate {candidate}. Answer faster, same, "
        "slower or cannot tell, with the interval. Where it is slower or cannot be told, ask "
        "compare and say where the time changed, or what to record again.",
        (("baseline", "recording before"), ("candidate", "recording after")),
    ),
    TaskPrompt(
        "explain_a_launch",
        "What takes the time of launches",
        _ABOUT + "Ask overview, path and layer. Answer in five sentences: how long a launch takes "
        "and on how many launches that rests, what bounds it, which part takes most, how much is "
        "idle, and what would bring most. Name how each figure was got.",
        (_RECORDING,),
    ),
)


def skill_text() -> str:
    """Return the skill: a text that teaches an agent the loop, with the head that agents expect."""
    return (files("gviz.agents") / "SKILL.md").read_text(encoding="utf-8")


def library_text(address: str) -> str | None:
    """Return a text by its address; None: there is none."""
    if address == "gviz://skill":
        return skill_text()
    if address == "gviz://schema":
        found = queried_columns().items()
        return "\n".join(f"{name}: {', '.join(columns)}" for name, columns in found)
    return None
