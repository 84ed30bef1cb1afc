"""gviz view: open recordings in the browser."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from gviz.cli.output import print_json
from gviz.cli.overlay_option import add_overlay
from gviz.cli.recording_path import file_path, find_sources, newest_recording
from gviz.errors import GvizError, UsageError
from gviz.system import DEFAULT_NAME, inform, say

if TYPE_CHECKING:
    from gviz.cli.command_line import Subparsers


#: Version of the keys of its JSON, which gviz demo has too.
VIEW_VERSION = 1


def add_parser(subparsers: Subparsers) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "view",
        help="open recordings in the browser",
        description="Serve recordings to the browser of this machine until Ctrl-C.",
    )
    parser.add_argument(
        "file",
        nargs="*",
        default=[],
        type=file_path,
        metavar="FILE",
        help="recording (.gviz), also one that is still being recorded; a folder means its *.gviz "
        "(default: the newest recording here)",
    )
    parser.add_argument(
        "--link",
        action="store_true",
        help="print a fresh address of each gviz that you have running here, and end",
    )
    add_server_options(parser, "; with --link: links (address, shows)")


def add_server_options(parser: argparse.ArgumentParser, other_keys: str = "") -> None:
    """Add the options of a server, shared by every command that starts one.

    Parameters
    ----------
    other_keys
        Keys of its JSON where it does something else.
    """
    parser.add_argument(
        "--port",
        type=int,
        metavar="N",
        help="port to listen on; 0 lets the system pick (default: 8765 or the next free one)",
    )
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        help="address to listen on; 0.0.0.0 for every network (default: %(default)s)",
    )
    parser.add_argument(
        "--socket",
        type=file_path,
        metavar="PATH",
        help="listen on a socket at PATH, which you alone can use, instead of a port: for machines "
        "that others use, through 'ssh -L PORT:PATH'",
    )
    parser.add_argument("--no-browser", action="store_true", help="do not open a browser")
    parser.add_argument(
        "--url-prefix",
        default="/",
        metavar="PATH",
        help="path under which a proxy serves gviz, such as /proxy/8765",
    )
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="also answer for this host name, such as a proxy's; may be repeated",
    )
    add_overlay(parser)
    parser.add_argument(
        "--json",
        action="store_true",
        help="print JSON as soon as pages can be opened: view_version, address (one that works "
        f"once){other_keys}",
    )
    parser.add_argument(
        "--config",
        type=file_path,
        metavar="FILE",
        help=f"findings that reports leave out (default: {DEFAULT_NAME} here); docs/analysis.md "
        "has the form",
    )


def run(args: argparse.Namespace) -> int:
    """Serve the recordings named on the command line, or print links to those served."""
    if args.link:
        return print_links(as_json=args.json)
    return serve_files(find_sources(args.file or [_newest()]), args)


def _newest() -> Path:
    """Return the newest recording of the working directory, and say which it is."""
    newest = newest_recording(Path())
    if newest is None:
        raise UsageError(
            "there is no *.gviz here to view; name one, make one with 'gviz run PROGRAM', or look "
            "at those of 'gviz demo'"
        )
    inform(f"gviz: opening {newest}, the newest here")
    return newest


def print_links(*, as_json: bool = False) -> int:
    """Print a fresh address of each running gviz of this user; exit code 1 where none runs."""
    from gviz.app import fetch_links

    servers = fetch_links()
    for process in servers.silent:
        say(
            f"gviz: the one of process {process} is too busy to answer: try again, press Enter in "
            "its terminal, or end it"
        )
    if not servers.links:
        if servers.silent:
            raise GvizError("no gviz of yours has answered within 2 s")
        raise GvizError("no gviz of yours shows recordings on this machine; start 'gviz view FILE'")
    if as_json:
        print_json({"view_version": VIEW_VERSION, "links": [asdict(one) for one in servers.links]})
        return 0
    for link in servers.links:
        print(f"{link.address}  {link.shows}")
    return 0


def _announce(address: str) -> None:
    print_json({"view_version": VIEW_VERSION, "address": address})


def serve_files(paths: Sequence[Path], args: argparse.Namespace, fleet: str | None = None) -> int:
    """Serve recordings, and a data set, with the options of :func:`add_server_options`."""
    # Dash takes half a second to import; other commands need not wait for it.
    from gviz.app import Options, serve
    from gviz.checks import read_ignored
    from gviz.overlay import read_overlays

    options = Options(
        host=args.host,
        port=args.port,
        socket_path=args.socket,
        open_browser=not args.no_browser,
        url_prefix=args.url_prefix,
        allow_hosts=tuple(args.allow_host),
        ignored=read_ignored(args.config),
        overlays=read_overlays(args.overlay),
        announce=_announce if args.json else None,
        fleet=fleet,
    )
    return serve(paths, options)
