"""``record``: runs a program and records it, where the server's user allows that."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from gviz.agents.answer import NextStep, VerbAnswer
from gviz.agents.question import Question
from gviz.agents.recorder import MOST_SECONDS, SECONDS, RecordedProgram, Recorder
from gviz.agents.verb import Parameter, Verb
from gviz.errors import UsageError
from gviz.text import byte_size, duration, inert

#: Earlier recordings to whose comparison steps lead, and a line's characters.
_COMPARED, _LINE = 3, 300


def record_verb(recorder: Recorder) -> Verb:
    """Return the verb of a recorder."""
    return Verb(
        "record",
        "Run a program under gviz run, into a new recording of this server. The first answer "
        "shows the command and how long it may take, and names the word that confirms it; with "
        "confirm alone it is run. Show the user the command before.",
        (
            Parameter("program", "string", "a script, or a command found on PATH"),
            Parameter("arguments", "texts", "the program's arguments; default: none"),
            Parameter("name", "string", "name of the new recording; none of that name is there"),
            Parameter(
                "seconds",
                "number",
                f"the program is ended after so long; default {SECONDS:g}, at most "
                f"{MOST_SECONDS:g}; what it did until then is recorded",
            ),
            Parameter("confirm", "string", "the word of the answer that showed the command"),
        ),
        partial(_record, recorder),
        is_read_only=False,
    )


def _record(recorder: Recorder, question: Question) -> VerbAnswer:
    word = question.text("confirm")
    if word is None:
        return _show(recorder, question)
    if any(map(question.has, ("program", "arguments", "name", "seconds"))):
        raise UsageError("give confirm alone: it stands for the command that was shown")
    return _outcome(question, recorder.record(word))


def _show(recorder: Recorder, question: Question) -> VerbAnswer:
    program, name = question.text("program"), question.text("name")
    if not program or not name:
        raise UsageError("give program and name, or confirm")
    command = (program, *question.texts("arguments"))
    word, plan = recorder.plan(command, name, question.number("seconds", SECONDS))
    lines = [
        f"Nothing has been run yet. This is to be run: {plan.command_text}",
        f"It is ended after {plan.seconds:g} s at the latest.",
    ]
    step = NextStep("record", "run it, when the user has seen the command", {"confirm": word})
    return VerbAnswer(rows=lines, steps=[step])


def _outcome(question: Question, found: RecordedProgram) -> VerbAnswer:
    name = found.plan.output.name
    ended = "was ended, its time was over," if found.is_overdue else "ended"
    code = found.exit_code
    how = f"with exit code {code}" if code >= 0 else f"by signal {-code}"
    lines = [f"The program {ended} after {duration(found.took_ns)} [measured], {how}."]
    is_there = found.plan.output.exists()
    if is_there:
        lines.append(f"Recording {name}, {byte_size(found.plan.output.stat().st_size)}.")
    else:
        lines.append("No recording was written; the last lines of the output say why.")
    lines += ["# Last lines of its output", *found.lines]
    steps = tuple(_lead_on(question, name)) if is_there else ()
    return VerbAnswer(rows=[inert(line, _LINE) for line in lines], steps=question.steps_of(*steps))


def _lead_on(question: Question, name: str) -> Iterator[NextStep]:
    yield NextStep("overview", "the new recording in brief", {"recording": name})
    others = [other for other in question.recordings.files() if other != name]
    for other in others[-_COMPARED:]:
        sides = {"baseline": other, "candidate": name}
        yield NextStep("verify_fix", "whether launches became faster than in it", sides)
