"""``--overlay``: tables of a reader's own that pages lay on graphs."""

from __future__ import annotations

import argparse

from gviz.cli.recording_path import file_path


def add_overlay(parser: argparse.ArgumentParser, only: str = "") -> None:
    """Add the option of tables that pages lay on graphs; ``only``: what of a command has them."""
    parser.add_argument(
        "--overlay",
        action="append",
        default=[],
        type=file_path,
        metavar="[NAME[:GRAPH]=]TABLE",
        help=f"{only}a table by node, kernel name or range (CSV, JSON, Parquet) to lay on the "
        "graphs as colour, column and breakdown; of the recording that pages call NAME, or one "
        "graph of it, else of all; may be repeated; docs/overlays.md",
    )
