"""``gviz completion``: a script by which a shell completes commands, options and files."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from gviz.cli.output import add_json, print_json
from gviz.cli.recording_path import file_path

if TYPE_CHECKING:
    from gviz.cli.command_line import Subparsers

#: Version of the keys of its JSON.
COMPLETION_VERSION = 1
SHELLS = ("bash", "zsh", "fish")


def add_parser(subparsers: Subparsers) -> None:
    """Add the parser of ``gviz completion``."""
    parser = subparsers.add_parser(
        "completion",
        help="print what completes gviz in bash, zsh or fish",
        description="Print a script that completes commands, options and file names. Write it to "
        "~/.local/share/bash-completion/completions/gviz, to _gviz in a folder of zsh's fpath, or "
        "to ~/.config/fish/completions/gviz.fish.",
    )
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help="bash, zsh or fish")
    add_json(parser, "shell, script")


def run(arguments: argparse.Namespace) -> int:
    """Print the script; return 0."""
    import shtab

    from gviz.cli.command_line import COMMANDS, build_parser

    parser = build_parser(*COMMANDS)
    _prepare(parser)
    script = shtab.complete(parser, arguments.shell)
    if arguments.json:
        print_json(
            {"completion_version": COMPLETION_VERSION, "shell": arguments.shell, "script": script}
        )
    else:
        print(script)
    return 0


def _prepare(parser: argparse.ArgumentParser) -> None:
    """Mark what is a file in a parser and its commands, as shtab wants it; commands in one line."""
    import shtab

    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for listed in action._choices_actions:
                command = action.choices[listed.dest]
                command.description = listed.help
                _prepare(command)
        elif action.type is file_path or action.dest in ("program", "arguments"):
            action.complete = shtab.FILE  # type: ignore[attr-defined]
