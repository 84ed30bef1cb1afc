"""``--quiet``, which every command has."""

from __future__ import annotations

import argparse

from gviz.system import be_quiet

QUIET = ("-q", "--quiet")


def add_quiet(parser: argparse.ArgumentParser) -> None:
    """Add the option to a parser."""
    parser.add_argument(*QUIET, action="store_true", help="say on stderr only what went wrong")


def use_quiet(arguments: argparse.Namespace) -> None:
    """Have this process, and those of gviz that it starts, say as much as a command asks for."""
    if arguments.quiet:
        be_quiet()
