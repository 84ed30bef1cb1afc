"""``gviz import``: what other tools wrote becomes a recording."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from gviz.cli.file_mode import add_mode
from gviz.cli.output import WRITTEN_KEYS, add_json, print_json, written_file
from gviz.cli.progress import shown_progress
from gviz.cli.recording_path import file_path
from gviz.formats import bare_name, import_files
from gviz.recording import check_no_directory
from gviz.system import inform

if TYPE_CHECKING:
    from gviz.cli.command_line import Subparsers


#: Version of the keys of its JSON.
IMPORT_VERSION = 1
#: Share of the work that reads the file; the rest writes the recording.
_READ = 0.7


def add_parser(subparsers: Subparsers) -> None:
    """Add the parser of ``gviz import``."""
    parser = subparsers.add_parser(
        "import",
        help="make a recording from a trace of another profiler, or a DOT dump of the driver",
        description="Make a recording from a Chrome trace of PyTorch's profiler (.json, .json.gz), "
        "an SQLite export of Nsight Systems (nsys export --type sqlite), the JSON of AMD's "
        "rocprofv3 (--output-format json), or a DOT dump of CUDA or HIP (what "
        "cudaGraphDebugDotPrint, hipGraphDebugDotPrint, "
        "torch.cuda.CUDAGraph.debug_dump or cupy.cuda.Graph.debug_dot_str wrote). A trace holds "
        "times and no dependencies, a dump dependencies and no times: given together, they are "
        "joined into one run. docs/importing.md says what comes from where.",
    )
    parser.add_argument(
        "files", type=file_path, nargs="+", metavar="FILE", help="a trace, dumps, or both"
    )
    parser.add_argument(
        "-o",
        "--output",
        type=file_path,
        metavar="FILE.gviz",
        help="the recording to write (default: the first file's name with .gviz)",
    )
    parser.add_argument("--overwrite", action="store_true", help="replace an existing recording")
    add_mode(parser)
    parser.add_argument("--name", help="name of the run (default: the first file's name)")
    parser.add_argument(
        "--most-bytes",
        type=int,
        metavar="BYTES",
        help="refuse a trace that unpacks to more (default: any size)",
    )
    add_json(parser, f"{WRITTEN_KEYS}, notes")


def run(arguments: argparse.Namespace) -> int:
    """Import the files; return 0."""
    files: list[Path] = arguments.files
    for file in files:
        check_no_directory(file)
    output: Path = arguments.output or files[0].with_name(bare_name(files[0]) + ".gviz")
    with shown_progress("importing") as progress:
        reading = progress.part(0.0, _READ)
        reading.at(0.0, files[0].name)
        notes = import_files(
            files,
            output,
            overwrite=arguments.overwrite,
            name=arguments.name,
            progress=lambda share: reading.at(share, files[0].name),
            most_bytes=arguments.most_bytes,
        )
    for note in notes:
        print(f"gviz: {note}", file=sys.stderr)
    if arguments.json:
        print_json({"import_version": IMPORT_VERSION, **written_file(output), "notes": notes})
    inform(f"wrote {output}; 'gviz view {output}' shows it")
    return 0
