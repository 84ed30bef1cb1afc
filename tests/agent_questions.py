"""Questions to a desk as a client asks them, and answers taken apart."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import anyio

from gviz.agents import Allowed, Desk, RecordingSet, all_verbs

_STEP = re.compile(r"next: (\w+) (\{.*\}) - (.+)")


@dataclass(frozen=True, slots=True)
class Heard:
    """An answer: the recorded lines, the steps that lead on, and the whole text."""

    text: str
    recorded: str
    steps: list[tuple[str, dict[str, object]]]
    is_refusal: bool


def hear(text: str, *, is_refusal: bool = False) -> Heard:
    """Take an answer's text apart, as a client may that knows its form and nothing else."""
    recorded, outside = "", text
    if not is_refusal:
        begin, _, rest = text.partition("\n")
        word = re.fullmatch(r"<recorded (\w+)>", begin)
        assert word is not None
        recorded, _, outside = rest.partition(f"\n</recorded {word[1]}>")
    found = (_STEP.fullmatch(line) for line in outside.splitlines())
    steps = [(step[1], json.loads(step[2])) for step in found if step]
    return Heard(text, recorded, steps, is_refusal)


def desk_of(*places: Path, allowed: Allowed | None = None) -> Desk:
    """Return a desk for files and folders."""
    return Desk(RecordingSet(places), all_verbs(allowed or Allowed()))


def ask(desk: Desk, verb: str, **arguments: object) -> Heard:
    """Ask a desk."""
    reply = desk.ask(verb, arguments)
    return hear(reply.text, is_refusal=reply.is_refusal)


def run_aside(talk: Callable[[], Awaitable[None]]) -> None:
    """Run a client to its end on a thread: a browser of the tests keeps a loop on this one."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(anyio.run, talk).result()
