"""Output of commands: text in the width and colours of the terminal, or JSON with a version."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TextIO

#: Keys about a file that was written.
WRITTEN_KEYS = "path, size_bytes"
#: Columns and lines where there is no terminal.
_NO_TERMINAL = (100, 24)
#: Parts of reports and sentences by how they look: expressions in the order in which they are laid
#: on the text, later ones over earlier ones. The text is the same with them as without.
_STYLES = {
    r"\A\S.*(?=\n)": "bold",
    r"(?m)(?<=\n\n)[A-Z][^.:\n]*$": "bold",
    r"(?<![\w.])[−+±]?\d[\d,.]*(?: ?(?:ns|µs|ms|s|min|h|bytes|[KMG]i?B)\b|%|×)": "cyan",
    r"\[(?:measured|derived|estimated|stated)[^\]\n]*\]": "dim",
    r"\(--json\)": "dim",
    r"'gviz [^'\n]+'": "bold",
    r"(?m)^ *Caveat:": "yellow",
    r"(?m)^ *Fix:": "green",
    r"(?m)^\[ *(?:ok|passed) *\]": "green",
    r"(?m)^\[ *(?:error|failed) *\]": "red",
    r"(?m)^\[ *warning *\]": "yellow",
    r"\b\d+ captures? failed\b|\baborted\b": "red",
    r"(?m)\Agviz: ": "red",
}


def add_json(parser: argparse.ArgumentParser, keys: str) -> None:
    """Add ``--json`` to a command; ``keys``: what it prints beside the version, in words."""
    command = parser.prog.rpartition(" ")[2]
    parser.add_argument(
        "--json", action="store_true", help=f"print JSON: {command}_version, {keys}"
    )


def written_file(path: Path) -> dict[str, object]:
    """Return what JSON says of a file or folder that was written: :data:`WRITTEN_KEYS`."""
    files = [one for one in path.rglob("*") if one.is_file()] if path.is_dir() else [path]
    return {"path": str(path), "size_bytes": sum(file.stat().st_size for file in files)}


def terminal_width() -> int:
    """Return the columns of the terminal that is written to."""
    return shutil.get_terminal_size(_NO_TERMINAL).columns


def print_text(text: str, stream: TextIO | None = None) -> None:
    """Print a report or a sentence, in colours where that is wanted.

    Parameters
    ----------
    text
        Of one or more lines.
    stream
        By default standard output.
    """
    stream = stream or sys.stdout
    if not wants_colours(stream):
        print(text, file=stream)
        return
    # 30 ms to import, which what is piped need not wait for.
    from rich.console import Console
    from rich.text import Text

    shown = Text(text)
    for expression, style in _STYLES.items():
        shown.highlight_regex(expression, style)
    console = Console(
        file=stream,
        force_terminal=True,
        no_color=False,  # rich 13.0 would take an empty NO_COLOR for one that is set
        highlight=False,
        markup=False,
        emoji=False,
    )
    console.print(shown, soft_wrap=True)


def wants_colours(stream: TextIO) -> bool:
    """Return whether a stream is a terminal that shows colours, and nobody said NO_COLOR.

    References
    ----------
    NO_COLOR, where it is set and not empty: https://no-color.org
    """
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty()


def print_json(
    values: Mapping[str, Any],
    *,
    indent: int | None = None,
    default: Callable[[Any], Any] | None = None,
) -> None:
    """Print values as JSON.

    Parameters
    ----------
    values
        By key. ``COMMAND_version`` is among them: it is raised when a key goes away or changes its
        meaning, and not for new keys.
    indent
        Columns that values are indented by, on lines of their own; None: all is one line.
    default
        What makes JSON's values of others.
    """
    print(json.dumps(values, indent=indent, default=default), flush=True)
