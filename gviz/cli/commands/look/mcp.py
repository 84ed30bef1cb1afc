"""``gviz mcp``: answers for programs that read profiles, by the Model Context Protocol."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gviz.cli.output import print_json
from gviz.cli.recording_path import file_path
from gviz.errors import GvizError, UsageError
from gviz.system import inform

if TYPE_CHECKING:
    from gviz.agents import Allowed, RecordingSet
    from gviz.cli.command_line import Subparsers

#: Raised when a key of the JSON goes away or changes its meaning; new keys do not raise it.
MCP_VERSION = 1


def add_parser(subparsers: Subparsers) -> None:
    """Add the parser of ``gviz mcp``."""
    parser = subparsers.add_parser(
        "mcp",
        help="answer programs that read profiles, by the Model Context Protocol",
        description="Serve recordings to a program that reads profiles, such as an agent with a "
        "language model, by the Model Context Protocol on standard input and output: the client "
        "starts it; or by HTTP. docs/agents.md describes the verbs. Nothing but these recordings "
        "can be read. Needs the library of the extra mcp.",
    )
    parser.add_argument(
        "file",
        nargs="*",
        default=[],
        type=file_path,
        metavar="FILE",
        help="recording (.gviz); a folder means its *.gviz, also those that come later (default: "
        "this folder)",
    )
    parser.add_argument(
        "--http",
        action="store_true",
        help="answer clients of this machine by HTTP, until Ctrl-C; the address is printed",
    )
    parser.add_argument(
        "--port",
        type=int,
        metavar="N",
        help="with --http: port to listen on; 0 lets the system pick (default: 8765 or the next "
        "free one)",
    )
    parser.add_argument(
        "--fleet",
        metavar="FLEET",
        help="data set of a fleet that clients may ask about too, a folder or address (default: "
        "the one among the folders, or in one of them); needs the libraries of the extra fleet",
    )
    parser.add_argument(
        "--allow-record",
        action="store_true",
        help="let clients run programs under gviz run, as this user, and put the recordings into "
        "the first folder; each command is shown before it is run",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="with --http: print JSON as soon as clients can connect: mcp_version, address (one "
        "that works once)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Serve until the client ends, or by HTTP until interrupted; return 0."""
    from gviz.agents import Desk, RecordingSet, all_verbs, serve_http, serve_stdio
    from gviz.fleet import is_fleet

    if not arguments.http and (arguments.json or arguments.port is not None):
        raise UsageError("--port and --json are for --http; without it the client has both streams")
    files = arguments.file or ([] if arguments.fleet else [Path()])
    fleet = arguments.fleet or fleet_among(files)
    recordings = RecordingSet([path for path in files if not is_fleet(path)])
    desk = Desk(recordings, all_verbs(_allowed(arguments, recordings, fleet)))
    if not arguments.http:
        return serve_stdio(desk)
    return serve_http(desk, arguments.port, _announce if arguments.json else None)


def fleet_among(files: Sequence[Path]) -> str | None:
    """Return the data set of a fleet among folders, or in one of them.

    None: there is none, or it cannot be asked, which is said.
    """
    from gviz.fleet import is_fleet, open_manifest

    folders = [path for path in files if path.is_dir()]
    found = [path for folder in folders for path in (folder, *folder.iterdir()) if is_fleet(path)]
    if len(found) > 1:
        names = ", ".join(map(str, sorted(found)))
        raise UsageError(f"there are several data sets of a fleet; name one by --fleet: {names}")
    try:
        for path in found:
            open_manifest(str(path))
    except GvizError as error:
        inform(f"gviz: no questions to the fleet are answered: {error}")
        return None
    return str(found[0]) if found else None


def _allowed(arguments: argparse.Namespace, recordings: RecordingSet, fleet: str | None) -> Allowed:
    from gviz.agents import Allowed, Recorder
    from gviz.fleet import open_manifest

    if fleet is not None:
        open_manifest(fleet)  # it says what is wrong with it
    if not arguments.allow_record:
        return Allowed(fleet=fleet)
    if recordings.folder is None:
        raise UsageError("--allow-record needs a folder that recordings go to; name one")
    return Allowed(Recorder(recordings.folder), fleet)


def _announce(address: str) -> None:
    print_json({"mcp_version": MCP_VERSION, "address": address})
