"""``gviz import``: a DOT dump of the CUDA driver becomes a recording."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from gviz.dot.importer import import_dot

if TYPE_CHECKING:
    from gviz.cli.main import Subparsers


def add_parser(subparsers: Subparsers) -> None:
    """Add the parser of ``gviz import``."""
    parser = subparsers.add_parser(
        "import",
        help="make a recording from a DOT dump of the driver",
        description="Make a recording from a DOT dump: what cudaGraphDebugDotPrint, "
        "torch.cuda.CUDAGraph.debug_dump or cupy.cuda.Graph.debug_dot_str wrote. Verbose dumps "
        "also tell launch shapes and addresses. A dump holds no times.",
    )
    parser.add_argument("dump", type=Path, metavar="FILE.dot", help="the dump")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE.gviz",
        help="the recording to write (default: the dump's name with .gviz)",
    )
    parser.add_argument("--overwrite", action="store_true", help="replace an existing recording")
    parser.add_argument("--name", help="name of the run (default: the dump's file name)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Import the dump; return 0."""
    output = arguments.output or arguments.dump.with_suffix(".gviz")
    import_dot(arguments.dump, output, overwrite=arguments.overwrite, name=arguments.name)
    print(f"wrote {output}; 'gviz view {output}' shows it", file=sys.stderr)
    return 0
