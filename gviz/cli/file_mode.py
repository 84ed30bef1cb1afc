"""Permissions of what a command writes: ``--mode``, or ``[files]`` of ``gviz.toml``."""

from __future__ import annotations

import argparse
import os

from gviz.errors import GvizError
from gviz.system import MODE_VARIABLE, parse_mode


def add_mode(parser: argparse.ArgumentParser) -> None:
    """Add ``--mode`` to a command that writes files."""
    parser.add_argument(
        "--mode",
        dest="file_mode",
        metavar="OCTAL",
        help="permissions of what is written, such as 0640 (default: those of the file that is "
        "replaced, else GVIZ_MODE, else 'mode' under [files] in gviz.toml, else 0600)",
    )


def use_mode(arguments: argparse.Namespace) -> None:
    """Have this process, and those of gviz that it starts, write files as a command asks.

    Raises
    ------
    UsageError
        If the permissions cannot be understood.
    GvizError
        If ``gviz.toml`` cannot be read.
    """
    if not hasattr(arguments, "file_mode"):
        return
    wished = arguments.file_mode or os.environ.get(MODE_VARIABLE) or _configured()
    if wished:
        parse_mode(wished)
        os.environ[MODE_VARIABLE] = wished


def _configured() -> str | None:
    from gviz.checks import read_config

    file, content = read_config(None)
    table = content.get("files", {})
    mode = table.get("mode") if isinstance(table, dict) else table
    if not (mode is None or isinstance(mode, str)) or set(table or ()) - {"mode"}:
        raise GvizError(f'{file}: [files] may hold mode = "0640" and nothing else')
    return mode
