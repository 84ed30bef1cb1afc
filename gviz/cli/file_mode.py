"""Permissions of what a command writes: ``--mode``, or ``[files]`` of ``gviz.toml``."""

from __future__ import annotations

import argparse

from gviz.system import use_mode


def add_mode(parser: argparse.ArgumentParser) -> None:
    """Add ``--mode`` to a command that writes files."""
    parser.add_argument(
        "--mode",
        dest="file_mode",
        metavar="OCTAL",
        help="permissions of what is written, such as 0640 (default: those of the file that is "
        "replaced, else GVIZ_MODE, else 'mode' under [files] in gviz.toml, else 0600)",
    )


def apply_mode(arguments: argparse.Namespace) -> None:
    """Have this process, and those of gviz that it starts, write files as a command asks.

    Raises
    ------
    UsageError
        If the permissions cannot be understood.
    GvizError
        If ``gviz.toml`` cannot be read.
    """
    if hasattr(arguments, "file_mode"):
        use_mode(arguments.file_mode)
