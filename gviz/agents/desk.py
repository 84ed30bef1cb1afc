"""The desk: takes requests, one at a time, and answers or refuses in words."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextlib import nullcontext

from gviz.agents.answer import NextStep, Picture, answer_text, step_text
from gviz.agents.question import Question
from gviz.agents.recording_set import RecordingSet
from gviz.agents.verb import Verb
from gviz.dataclass import dataclass
from gviz.errors import GvizError, UsageError
from gviz.text import inert, likely_meant

#: A refusal's characters: it may name names.
_REFUSAL = 1_000
_NO_MEMORY = "there is not enough memory for the answer; ask for less at once"


@dataclass(frozen=True, slots=True)
class Reply:
    """A text and a picture for a client, and whether it is a refusal."""

    text: str
    picture: Picture | None = None
    is_refusal: bool = False


class Desk:
    """Answers requests about a set of recordings; any thread may ask.

    Parameters
    ----------
    recordings
        What may be asked about.
    verbs
        What may be asked.
    """

    def __init__(self, recordings: RecordingSet, verbs: Sequence[Verb]) -> None:
        self.recordings = recordings
        self.verbs = {verb.name: verb for verb in verbs}
        # One answer at a time: each may take as much memory as the viewer.
        self._lock = threading.Lock()

    def ask(self, name: str, arguments: Mapping[str, object]) -> Reply:
        """Answer a request, or refuse it and say why."""
        verb = None
        try:
            verb = self._find(name)
            verb.check(arguments)
            # What runs a program takes minutes, and little memory here.
            with self._lock if verb.is_read_only else nullcontext():
                answer = verb.answer(Question(self.recordings, self.verbs, arguments))
        except GvizError as error:
            return self._refuse(str(error), verb)
        except MemoryError:
            return self._refuse(_NO_MEMORY, verb)
        text = self._by_name(answer_text(answer, verb.most_characters))
        return Reply(text, answer.picture)

    def _find(self, name: str) -> Verb:
        if name not in self.verbs:
            meant = likely_meant(name, self.verbs) if len(name) < 100 else ""
            raise UsageError(f"there is no such verb{meant}; there are {', '.join(self.verbs)}")
        return self.verbs[name]

    def _by_name(self, text: str) -> str:
        """Return a text that names files as the list of recordings does, not as a shell."""
        for name, path in self.recordings.files().items() if "/" in text else ():
            text = text.replace(str(path), name)
        return text

    def _refuse(self, why: str, verb: Verb | None) -> Reply:
        steps = [NextStep("overview", "what there is to ask about")]
        if verb is not None and verb.instead is not None:
            steps.insert(0, verb.instead)
        lines = [f"refused: {inert(self._by_name(why), _REFUSAL)}"]
        lines += [step_text(step) for step in steps if step.verb in self.verbs]
        return Reply("\n".join(lines), is_refusal=True)
