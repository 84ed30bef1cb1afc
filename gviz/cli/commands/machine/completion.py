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
    _complete_files(parser)
    script = shtab.complete(parser, arguments.shell)
    if arguments.json:
        print_json(
            {"completion_version": COMPLETION_VERSION, "shell": arguments.shell, "script": script}
        )
    else:
        print(script)
    return 0


def _complete_files(parser: argparse.ArgumentParser) -> None:
    """Mark the arguments of a parser and of its commands that are files, as shtab wants it."""
    import shtab

    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                _complete_files(command)
        elif action.type is file_path or action.dest in ("program", "arguments"):
            action.complete = shtab.FILE  # type: ignore[attr-defined]
