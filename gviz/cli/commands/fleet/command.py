"""``gviz fleet``: its commands, of which one is run."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, cast

from gviz.cli.commands.fleet import build, query, report, view
from gviz.cli.verbosity import add_verbosity

if TYPE_CHECKING:
    from gviz.cli.command_line import CommandModule, Subparsers

_COMMANDS: dict[str, CommandModule] = {
    "build": build,
    "report": report,
    "query": query,
    "view": view,
}


def add_parser(subparsers: Subparsers) -> None:
    """Add the parsers of ``gviz fleet`` and its commands."""
    parser = subparsers.add_parser(
        "fleet",
        help="put the recordings of many ranks in one data set; ask it",
        description="Put the recordings of thousands of ranks in one data set of Parquet files, "
        "and ask it who is slow. docs/fleet.md describes it. "
        "Needs the libraries of the extra fleet.",
    )
    inner = parser.add_subparsers(dest="fleet_command", metavar="COMMAND", required=True)
    for name, module in _COMMANDS.items():
        module.add_parser(cast("Subparsers", inner))
        add_verbosity(inner.choices[name], is_inner=True)


def run(arguments: argparse.Namespace) -> int:
    """Run the command; return its exit code."""
    return _COMMANDS[arguments.fleet_command].run(arguments)
