"""``gviz export``: a recording's graphs as text for other programs, or as one HTML file."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gviz.cli.quantity import format_bytes, format_count
from gviz.cli.recording_path import find_recording
from gviz.errors import GvizError, RecordingError, UsageError
from gviz.recording import rows
from gviz.recording.output import check_output
from gviz.recording.reader import Recording

if TYPE_CHECKING:
    from gviz.cli.main import Subparsers

#: Work that takes longer than this is said to go on, and so often.
_PATIENCE_S = 0.5
#: Characters of such a line.
_LINE = 79


def add_parser(subparsers: Subparsers) -> None:
    """Add the parser of ``gviz export``."""
    parser = subparsers.add_parser(
        "export",
        help="write a recording's graphs as DOT, or as one HTML file",
        description="Write graphs for other programs, or to show them where there is no gviz. "
        "dot: Graphviz text on stdout unless -o names a file, coloured by median duration; "
        "'dot -Tsvg' draws it. html: one file that a browser opens without a server or a "
        "network, with graph, timeline, table and inspector.",
    )
    parser.add_argument("recording", type=Path, metavar="FILE", help="a .gviz file")
    parser.add_argument(
        "--format", choices=["dot", "html"], default="dot", help="what to write (default: dot)"
    )
    parser.add_argument(
        "--html",
        action="store_const",
        const="html",
        dest="format",
        help="as --format html",
    )
    parser.add_argument(
        "--graph",
        action="append",
        default=[],
        metavar="ID|NAME",
        help="the graph, by its number or its name; 'gviz info' lists them; may be repeated "
        "(default: every top-level graph)",
    )
    parser.add_argument(
        "--launch",
        action="append",
        default=[],
        metavar="N|median|all",
        help="html: a launch for the timeline, by the number that the viewer shows with a #, "
        "or all recorded ones stacked; may be repeated (default: one of typical length; the "
        "median of all is always there)",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="OUT",
        help="the file to write (default of html: the recording's name with .html)",
    )
    parser.add_argument("--overwrite", action="store_true", help="replace an existing file")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Write the graphs; return 0."""
    path = find_recording(arguments.recording)
    if arguments.launch and arguments.format != "html":
        raise UsageError("--launch chooses what the timeline of --html shows; give both or none")
    with Recording(path) as recording:
        graph_ids = _find_graphs(recording, path, arguments.graph)
    if arguments.format == "html":
        _write_html(path, graph_ids, arguments)
    else:
        _write_dot(path, graph_ids, arguments)
    return 0


def _find_graphs(recording: Recording, path: Path, wanted: Sequence[str]) -> list[int]:
    graphs = recording.fetch_graphs()
    if wanted:
        return list(dict.fromkeys(_find_graph(graphs, name) for name in wanted))
    found = [g.graph_id for g in graphs if g.parent_graph_id is None]
    if not found:
        raise RecordingError(f"{path} has no graph to export; 'gviz info' says why")
    return found


def _find_graph(graphs: Sequence[rows.Graph], wanted: str) -> int:
    """Return the graph of a number, or else the one of a name."""
    by_name = [g.graph_id for g in graphs if g.name == wanted]
    if wanted.isascii() and wanted.isdigit():
        by_name = [g.graph_id for g in graphs if g.graph_id == int(wanted)] or by_name
    if len(by_name) == 1:
        return by_name[0]
    if by_name:
        numbers = ", ".join(map(str, by_name))
        raise RecordingError(f"graphs {numbers} are called {wanted!r}; give one of the numbers")
    raise RecordingError(f"there is no graph {wanted}; 'gviz info' lists them")


def _write_dot(path: Path, graph_ids: Sequence[int], arguments: argparse.Namespace) -> None:
    from gviz.dot.export import to_dot

    output: Path | None = arguments.output
    if output is not None:
        check_output(output, overwrite=arguments.overwrite)
    with Recording(path) as recording:
        text = "".join(to_dot(recording, graph_id) for graph_id in graph_ids)
    if output is None:
        sys.stdout.write(text)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise GvizError(f"cannot write {output}: {error.strerror}; choose another place") from error
    print(f"wrote {output}; 'dot -Tsvg {output}' draws it", file=sys.stderr)


def _write_html(path: Path, graph_ids: Sequence[int], arguments: argparse.Namespace) -> None:
    # Dash takes half a second to import; DOT need not wait for it.
    from gviz.app.html_file.file import write_html
    from gviz.app.html_file.launches import parse_asked

    progress = _Progress()
    try:
        written = write_html(
            path,
            arguments.output or path.with_suffix(".html"),
            graph_ids,
            [parse_asked(text) for text in arguments.launch],
            overwrite=arguments.overwrite,
            progress=progress.tell,
        )
    finally:
        progress.end()
    held = [
        format_count(written.graph_count, "graph"),
        format_count(written.node_count, "node"),
        written.launches,
    ]
    print(
        f"wrote {written.path}, {format_bytes(written.size_bytes)}: {', '.join(held)}; "
        "open it in a browser",
        file=sys.stderr,
    )


class _Progress:
    """Says on a terminal what is being done, on one line that is written over."""

    def __init__(self) -> None:
        self._said_at = time.monotonic()
        self._width = 0

    def tell(self, text: str) -> None:
        """Say it, unless something was said just before."""
        if sys.stderr.isatty() and time.monotonic() - self._said_at >= _PATIENCE_S:
            self._say(text[-_LINE:])

    def end(self) -> None:
        """Take the line away."""
        if self._width:
            self._say("")
            sys.stderr.write("\r")

    def _say(self, text: str) -> None:
        sys.stderr.write(f"\r{text:<{self._width}}")
        sys.stderr.flush()
        self._said_at, self._width = time.monotonic(), len(text)
