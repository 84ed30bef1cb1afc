"""Faults named by ``gviz mcp`` to a client that follows its steps and knows nothing else.

Recordings with one planted fault each, of every kind (tests/planted_faults.py), and ten of real
GPUs whose fault was written down when they were made (assets/recordings/README.md,
tests/golden/findings/README.md). The client asks for the overview, then follows ``next:`` lines in
their order, until an answer names the rule of the fault. Beside it stands how many characters the
same recording has as CSV: all of its tables, and those of nodes and edges alone.
Run: python -P bench/agents.py
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from agent_questions import ask, desk_of
from places import ROOT
from planted_faults import FAULTS, Program, whole_plan

from gviz.api import write_tables
from gviz.recording import upgrade_recording

RECORDINGS, FINDINGS = ROOT / "assets" / "recordings", ROOT / "tests" / "golden" / "findings"
#: Recordings of real GPUs: what was written down of them, and the rules that name it.
KNOWN = {
    "serialised_branches-faulty": ("independent branches captured from one stream",
                                   {"single-stream-capture", "branches-took-turns"}),
    "host_nodes-faulty": ("host nodes between kernels", {"host-node-on-path"}),
    "memsets_between_kernels-faulty": ("memsets instead of kernels: no fault", set()),
    "decode_step": ("attention written out, four kernels for one", {"fusable-chain"}),
    "decode_step_h200": ("attention written out, four kernels for one", {"fusable-chain"}),
    "token_step_1": ("attention and normalisation written out", {"fusable-chain"}),
    "token_step_2": ("attention and normalisation written out", {"fusable-chain"}),
    "token_step_4": ("normalised in single precision, op by op", {"fusable-chain"}),
    "graph_lives": ("executables made anew for nothing", {"graph-rebuilt"}),
    # No rule is about ranks.
    "ranks_h200": ("layer 5 of rank 1 has three times the work", set()),
}  # fmt: skip
#: What answers say of a fault that no rule is about.
SAID = {"ranks_h200": re.compile(r"\(decode › layer 5\) takes .+? on rank 1")}
#: What no answer may name, of a program that looks as if it had the fault.
NOT_SAID = {"memsets_between_kernels-faulty": "memset-between-kernels"}
MOST_CALLS = 12


@dataclass(frozen=True, slots=True)
class Case:
    """A recording, its fault in words, and the rules that name it; none: no rule does."""

    path: Path
    fault: str
    rules: set[str]

    def is_named(self, recorded: str) -> bool:
        """Return whether an answer names the fault; where there is none, whether it names none."""
        name = self.path.stem
        if name in NOT_SAID:
            return NOT_SAID[name] not in recorded
        if name in SAID and SAID[name].search(recorded):
            return True
        return any(f"{rule} |" in recorded or f"[{rule}]" in recorded for rule in self.rules)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The calls and characters until the fault was named, or until the client gave up."""

    is_named: bool
    calls: int
    characters: int


def planted(folder: Path) -> Iterator[Case]:
    """Write a recording for each kind of fault."""
    for seed, fault in enumerate(FAULTS):
        program = Program(random.Random(seed))
        program.stretch(6)
        rules = fault(program)
        program.stretch(8)
        program.fork()
        name = "-".join(sorted(rules))
        yield Case(whole_plan(program).write(folder / f"{name}-{seed}.gviz"), name, rules)


def known(folder: Path) -> Iterator[Case]:
    """Find the recordings of real GPUs; compressed ones are brought up to date."""
    for name, (fault, rules) in KNOWN.items():
        path = RECORDINGS / f"{name}.gviz"
        if not path.exists():
            old, path = folder / f"{name}-old.gviz", folder / f"{name}.gviz"
            old.write_bytes(lzma.decompress((FINDINGS / f"{name}.gviz.xz").read_bytes()))
            upgrade_recording(old, path)
        yield Case(path, fault, rules)


def follow(case: Case) -> Outcome:
    """Follow steps in their order until the fault is named."""
    desk = desk_of(case.path)
    waiting: list[tuple[str, dict[str, object]]] = [("overview", {})]
    asked: set[str] = set()
    characters = 0
    while waiting and len(asked) < MOST_CALLS:
        verb, arguments = waiting.pop(0)
        key = f"{verb} {json.dumps(arguments)}"
        if key in asked:
            continue
        asked.add(key)
        heard = ask(desk, verb, **arguments)
        characters += len(heard.text)
        waiting += heard.steps
        if case.is_named(heard.recorded):
            return Outcome(True, len(asked), characters)
    return Outcome(False, len(asked), characters)


def csv_characters(path: Path, folder: Path) -> tuple[int, int]:
    """Return the characters of all tables, and of the views of nodes and edges."""
    write_tables(path, folder, "csv")
    sizes = {file.stem: len(file.read_text("utf-8")) for file in folder.glob("*.csv")}
    return sum(sizes.values()), sizes["view_nodes"] + sizes["view_edges"]


def main() -> None:
    """Ask about each recording, print a table and a JSON line."""
    argparse.ArgumentParser(description=__doc__.split("\n")[0]).parse_args()
    results = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(f"{'recording':34}{'named':>6}{'calls':>6}{'chars':>7}{'CSV':>11}{'nodes':>9}  fault")
        for kind, cases in (("planted", planted(folder)), ("known", known(folder))):
            for case in cases:
                found = follow(case)
                every, nodes = csv_characters(case.path, folder / f"{case.path.stem}-csv")
                results.append((kind, found, every, nodes))
                word = "yes" if found.is_named else "no"
                print(f"{case.path.stem[:33]:34}{word:>6}{found.calls:6}{found.characters:7,}"
                      f"{every:11,}{nodes:9,}  {case.fault}")  # fmt: skip
    summary = {
        kind: {
            "recordings": len(mine),
            "named": sum(found.is_named for _, found, _, _ in mine),
            "calls": median(found.calls for _, found, _, _ in mine),
            "characters": median(found.characters for _, found, _, _ in mine),
            "csv_characters": median(every for _, _, every, _ in mine),
            "csv_nodes_and_edges": median(nodes for _, _, _, nodes in mine),
        }
        for kind in ("planted", "known")
        if (mine := [one for one in results if one[0] == kind])
    }
    print(json.dumps({"bench": "agents", **summary}))


if __name__ == "__main__":
    main()
