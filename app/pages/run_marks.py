"""Marks of a run in a list of runs: its program in one line, and what went wrong in it."""

from __future__ import annotations

import shlex
from pathlib import PurePosixPath

from gviz.app.components import gpu_names
from gviz.app.inspector import refusals
from gviz.app.views import RunView
from gviz.dataclass import dataclass
from gviz.text import MISSING, counted


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something that went wrong in a run.

    Attributes
    ----------
    words, reasons
        What, with how often; and why.
    failed
        Something is missing because of it; else the program could go on.
    """

    words: str
    reasons: str
    failed: bool


def troubles(view: RunView) -> list[Trouble]:
    """Return what went wrong in a run, the worst first: captures, instantiations, updates."""
    found = []
    captures, instances = view.capture_failures, view.instantiate_failures
    if captures:
        rules = dict.fromkeys(x.failure.rule for x in captures)
        found.append(Trouble(f"{counted(len(captures), 'capture')} failed", "; ".join(rules), True))
    if instances:
        words = f"{counted(len(instances), 'instantiation')} failed"
        reasons = dict.fromkeys(x.explanation for x in instances)
        found.append(Trouble(words, "; ".join(reasons), True))
    execs = [e for line in view.graphs for e in line.life.execs]
    refused = sum(u.count for e in execs for u in e.updates if u.result != 0)
    if refused:
        why = dict.fromkeys(reason for e in execs for reason in refusals(e))
        found.append(Trouble(f"{counted(refused, 'update')} refused", "; ".join(why), False))
    return found


def program_line(view: RunView) -> str:
    """Return the command that was run, without folders, and its GPUs; "" where neither is known."""
    gpus = gpu_names(view.devices).replace("NVIDIA ", "")
    parts = (short_command(view.run.command or ""), "" if gpus == MISSING else gpus)
    return " · ".join(part for part in parts if part)


def short_command(command: str) -> str:
    """Return a command line whose program and Python script are named without their folders."""
    try:
        words = shlex.split(command)
    except ValueError:  # not quoted as a shell's
        words = command.split()
    script = next((i for i, word in enumerate(words) if word.endswith(".py")), 0)
    for i in {0, script} if words else set():
        words[i] = PurePosixPath(words[i]).name or words[i]
    return shlex.join(words)
