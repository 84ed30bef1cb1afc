"""``gviz skill``: the skill that teaches an agent the way from a recording to a proven change."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from gviz.cli.output import print_json

if TYPE_CHECKING:
    from gviz.cli.command_line import Subparsers

#: Raised when a key of the JSON goes away or changes its meaning; new keys do not raise it.
SKILL_VERSION = 1


def add_parser(subparsers: Subparsers) -> None:
    """Add the parser of ``gviz skill``."""
    parser = subparsers.add_parser(
        "skill",
        help="print the skill that teaches an agent to use gviz",
        description="Print SKILL.md, which teaches an agent with a language model the way from a "
        "recording to a change that is proven. Agents read it from their folder of skills: "
        "'gviz skill > skills/gviz/SKILL.md'.",
    )
    parser.add_argument("--json", action="store_true", help="print JSON: skill_version, text")


def run(arguments: argparse.Namespace) -> int:
    """Print the skill; return 0."""
    from gviz.agents import skill_text

    text = skill_text()
    if arguments.json:
        print_json({"skill_version": SKILL_VERSION, "text": text})
    else:
        print(text, end="")
    return 0
