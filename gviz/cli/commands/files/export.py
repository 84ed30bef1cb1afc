"""``gviz export``: a recording for other programs, or as one HTML file."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gviz.cli.file_mode import add_mode
from gviz.cli.garbage import collection_paused
from gviz.cli.graph_choice import GRAPH, GRAPH_MEANS, find_graph, top_graphs
from gviz.cli.output import WRITTEN_KEYS, add_json, print_json, written_file
from gviz.cli.overlay_option import add_overlay
from gviz.cli.progress import shown_progress
from gviz.cli.recording_path import file_path, find_recording
from gviz.errors import GvizError, UsageError, cannot_write
from gviz.recording import Recording, check_output
from gviz.system import inform, written_aside
from gviz.text import byte_size, counted

if TYPE_CHECKING:
    from gviz.cli.command_line import Subparsers


#: Version of the keys of its JSON.
EXPORT_VERSION = 1


def add_parser(subparsers: Subparsers) -> None:
    """Add the parser of ``gviz export``."""
    parser = subparsers.add_parser(
        "export",
        help="write a recording for other programs, or as one HTML file",
        description="Write a recording for other programs, or to show it where there is no gviz. "
        "dot: Graphviz text on stdout unless -o names a file, coloured by median duration; "
        "'dot -Tsvg' draws it. html: one file that a browser opens without a server or a "
        "network, with graph, timeline, table and inspector. perfetto: Chrome trace events for "
        "ui.perfetto.dev, nodes in lanes with arrows for dependencies. svg: a picture of the "
        "graph, or with --timeline of a launch, coloured by duration. csv, parquet: a folder "
        "with every table. docs/exporting.md says what is in each.",
    )
    parser.add_argument("recording", type=file_path, metavar="FILE", help="a .gviz file")
    parser.add_argument(
        "--format", choices=[*_WRITERS], default="dot", help="what to write (default: dot)"
    )
    parser.add_argument(
        "--html",
        action="store_const",
        const="html",
        dest="format",
        help="as --format html",
    )
    _add_choices(parser)
    parser.add_argument("--overwrite", action="store_true", help="replace what exists")
    add_mode(parser)
    add_json(parser, f"format, {WRITTEN_KEYS}")


def _add_choices(parser: argparse.ArgumentParser) -> None:
    """Add the options that say what is written, and where to."""
    parser.add_argument(
        "--graph",
        action="append",
        default=[],
        metavar=GRAPH,
        help=f"a graph: {GRAPH_MEANS}; may be repeated (default: every top-level graph); not for "
        "csv and parquet",
    )
    parser.add_argument(
        "--launch",
        action="append",
        default=[],
        metavar="N|median|all",
        help="html: a launch for the timeline, by the number that the viewer shows with a #, "
        "or all recorded ones stacked; may be repeated (default: one of typical length; the "
        "median of all is always there). perfetto: launches by number, with what else ran "
        "meanwhile (default: all). svg: the one of --timeline",
    )
    parser.add_argument(
        "--baseline",
        type=file_path,
        metavar="FILE",
        help="html: a recording to compare with, of before: each graph with the one there that "
        "corresponds to it",
    )
    parser.add_argument(
        "--baseline-graph",
        metavar=GRAPH,
        help="html: the graph of --baseline that the one of --graph is compared with, whatever "
        "corresponds to it",
    )
    add_overlay(parser, "html: ")
    parser.add_argument(
        "--no-values",
        action="store_false",
        dest="values",
        help="html, csv and parquet: leave out what the memory of nodes held (gviz run --values)",
    )
    parser.add_argument(
        "--state",
        default="",
        metavar="QUERY",
        help="html: what the page shows at first, such as 'node=3-8&colour=kind': what stands "
        "after the ? in the address of a graph's page",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=file_path,
        metavar="OUT",
        help="what to write (default of html, perfetto and svg: the recording's name with .html, "
        ".json.gz or .svg; of csv and parquet: a folder, its name with -csv or -parquet)",
    )
    parser.add_argument(
        "--timeline",
        action="store_true",
        help="svg: a launch along time instead of the graph (--launch N; default: one of median "
        "length)",
    )
    parser.add_argument(
        "--theme", choices=["light", "dark"], default="light", help="svg: colours of the page"
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the graphs; return 0."""
    path = find_recording(arguments.recording)
    if arguments.json and arguments.format == "dot" and arguments.output is None:
        raise UsageError("--json says what was written; name the file for dot with -o")
    if arguments.timeline and arguments.format != "svg":
        raise UsageError("--timeline is for svg; html and perfetto have graph and timeline")
    if arguments.launch and arguments.format not in _WITH_LAUNCHES:
        raise UsageError(
            f"--launch is for {', '.join(_WITH_LAUNCHES)}; {arguments.format} has no launches "
            "to choose"
        )
    if arguments.baseline is not None and arguments.format != "html":
        raise UsageError("--baseline is for html; 'gviz diff' compares two recordings in words")
    if arguments.baseline is not None and arguments.launch:
        raise UsageError("--launch is not for --baseline: it shows the median launch of both")
    if arguments.baseline_graph is not None and arguments.baseline is None:
        raise UsageError("--baseline-graph is a graph of --baseline; give both")
    if arguments.overlay and arguments.format != "html":
        raise UsageError("--overlay is for html, which lays tables on its graphs")
    if arguments.state and arguments.format != "html":
        raise UsageError("--state is for html, whose page can be looked at in several ways")
    output = _WRITERS[arguments.format](path, arguments)
    if arguments.json:
        assert output is not None  # checked above
        print_json(
            {
                "export_version": EXPORT_VERSION,
                "format": arguments.format,
                **written_file(output),
            }
        )
    return 0


def _graph_ids(path: Path, arguments: argparse.Namespace) -> list[int]:
    with Recording(path) as recording:
        return _find_graphs(recording, arguments.graph)


def _find_graphs(recording: Recording, wanted: Sequence[str]) -> list[int]:
    if wanted:
        return list(dict.fromkeys(find_graph(recording, name) for name in wanted))
    return top_graphs(recording)


def _write_dot(path: Path, arguments: argparse.Namespace) -> Path | None:
    from gviz.formats import to_dot

    graph_ids = _graph_ids(path, arguments)
    output: Path | None = arguments.output
    if output is not None:
        check_output(output, overwrite=arguments.overwrite)
    with shown_progress("writing") as progress, Recording(path) as recording:
        each = progress.each(graph_ids, lambda graph_id: f"graph {graph_id}")
        text = "".join(to_dot(recording, graph_id, part) for graph_id, part in each)
    if output is None:
        sys.stdout.write(text)
        return None
    _write_text(output, text, arguments)
    inform(f"wrote {output}; 'dot -Tsvg {output}' draws it")
    return output


def _write_html(path: Path, arguments: argparse.Namespace) -> Path:
    # Dash takes half a second to import; DOT need not wait for it.
    from gviz.app import parse_launch, write_html
    from gviz.overlay import read_overlays

    graph_ids = _graph_ids(path, arguments)
    baseline = arguments.baseline and find_recording(arguments.baseline)
    with collection_paused(), shown_progress("writing") as progress:
        written = write_html(
            path,
            arguments.output or path.with_suffix(".html"),
            graph_ids,
            [parse_launch(text) for text in arguments.launch],
            baseline=baseline,
            baseline_graph=_baseline_graph(baseline, arguments.baseline_graph),
            overlays=read_overlays(arguments.overlay),
            values=arguments.values,
            state=arguments.state,
            overwrite=arguments.overwrite,
            progress=progress,
        )
    held = [
        counted(written.graph_count, "graph"),
        counted(written.node_count, "node"),
        written.launches,
    ]
    inform(
        f"wrote {written.path}, {byte_size(written.size_bytes)}: {', '.join(held)}; "
        "open it in a browser",
    )
    return Path(written.path)


def _baseline_graph(baseline: Path | None, name: str | None) -> int | None:
    if baseline is None or name is None:
        return None
    with Recording(baseline) as recording:
        return find_graph(recording, name)


def _write_perfetto(path: Path, arguments: argparse.Namespace) -> Path:
    from gviz.formats import write_trace

    output: Path = arguments.output or path.with_suffix(".json.gz")
    if not output.name.endswith((".json", ".json.gz")):
        raise UsageError(f"-o {output}: name a file that ends with .json or .json.gz")
    ordinals = _parse_ordinals(arguments.launch)
    graph_ids = _graph_ids(path, arguments)
    with shown_progress("writing") as progress, Recording(path) as recording:
        written = write_trace(
            recording,
            output,
            graph_ids,
            ordinals,
            overwrite=arguments.overwrite,
            progress=progress,
        )
    held = [
        counted(written.launch_count, "launch", "launches"),
        counted(written.event_count, "event"),
    ]
    inform(
        f"wrote {written.path}, {byte_size(written.size_bytes)}: {', '.join(held)}; open it "
        "in ui.perfetto.dev or chrome://tracing",
    )
    return Path(written.path)


def _write_svg(path: Path, arguments: argparse.Namespace) -> Path:
    from gviz.formats import draw_graphs, draw_launch

    if arguments.launch and not arguments.timeline:
        raise UsageError("--launch chooses the launch of --timeline; give both or none")
    graph_ids = _graph_ids(path, arguments)
    with shown_progress("writing") as progress, Recording(path) as recording:
        if arguments.timeline:
            ordinals = list(_parse_ordinals(arguments.launch) or [None])
            if len(graph_ids) > 1 or len(ordinals) > 1 or "all" in arguments.launch:
                raise UsageError(
                    "--timeline draws one launch of one graph; choose by --graph and --launch"
                )
            text = draw_launch(recording, graph_ids[0], ordinals[0], arguments.theme, progress)
        else:
            text = draw_graphs(recording, graph_ids, arguments.theme, progress)
    output: Path = arguments.output or path.with_suffix(".svg")
    _write_text(output, text, arguments)
    inform(f"wrote {output}; open it in a browser")
    return output


def _write_text(output: Path, text: str, arguments: argparse.Namespace) -> None:
    check_output(output, overwrite=arguments.overwrite)
    try:
        with written_aside(output) as part:
            part.write_text(text, encoding="utf-8")
    except OSError as error:
        raise GvizError(cannot_write(output, error)) from error


def _parse_ordinals(texts: Sequence[str]) -> frozenset[int] | None:
    """Return numbers of launches; None: all."""
    if not texts or "all" in texts:
        return None
    found = set()
    for text in texts:
        number = text.removeprefix("#")
        if not (number.isascii() and number.isdigit()):
            raise UsageError(f"--launch {text}: give a launch's number or 'all'")
        found.add(int(number))
    return frozenset(found)


def _write_tables(path: Path, arguments: argparse.Namespace) -> Path:
    from gviz.api import write_tables

    if arguments.graph:
        raise UsageError(f"--graph is not for {arguments.format}: it writes the whole recording")
    form = arguments.format
    folder = arguments.output or path.with_name(f"{path.stem}-{form}")
    with shown_progress("writing") as progress:
        written = write_tables(
            path,
            folder,
            form,
            values=arguments.values,
            overwrite=arguments.overwrite,
            progress=progress,
        )
    held = [counted(written.file_count, "table"), counted(written.row_count, "row")]
    inform(
        f"wrote {written.folder}, {byte_size(written.size_bytes)}: {', '.join(held)}; "
        "docs/recording.md says what the columns mean",
    )
    return Path(written.folder)


_WRITERS: Mapping[str, Callable[[Path, argparse.Namespace], Path | None]] = {
    "dot": _write_dot,
    "html": _write_html,
    "perfetto": _write_perfetto,
    "svg": _write_svg,
    "csv": _write_tables,
    "parquet": _write_tables,
}
#: Formats that hold some launches of many.
_WITH_LAUNCHES = ("html", "perfetto", "svg")
