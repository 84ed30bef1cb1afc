"""``gviz recover``: write what can be read of a damaged recording, or of a left-over spool."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from gviz.cli.output import WRITTEN_KEYS, add_json, print_json, written_file
from gviz.cli.progress import shown_progress
from gviz.cli.recording_path import file_path
from gviz.errors import UsageError
from gviz.recording import (
    DAMAGE,
    SUFFIX,
    Recording,
    check_output,
    recover_recording,
    written_sentence,
)
from gviz.spool import SPOOL_SUFFIX, fold_left_over
from gviz.system import inform

if TYPE_CHECKING:
    from gviz.cli.command_line import Subparsers

#: Version of the keys of its JSON.
RECOVER_VERSION = 1
#: Exit code: something was lost.
EXIT_LOST = 3


def add_parser(subparsers: Subparsers) -> None:
    """Add the parser of ``gviz recover``."""
    parser = subparsers.add_parser(
        "recover",
        help="write what can be read of a damaged recording or spool",
        description="Write what can be read of a damaged recording, or of the spool that a killed "
        "program left behind, as a recording that is whole, and say what was lost. Exit codes: 0 "
        "nothing was lost, 3 something was, 1 nothing could be read. Other commands read damaged "
        "files too, and leave out the same; a recovered file has it done once.",
    )
    parser.add_argument("source", type=file_path, help="a .gviz file, or a left-over spool")
    parser.add_argument(
        "-o",
        "--output",
        type=file_path,
        help=f"write here (default: NAME.recovered{SUFFIX} beside a recording; of a spool, the "
        "recording that it would have become)",
    )
    parser.add_argument("--overwrite", action="store_true", help="replace what is at OUTPUT")
    add_json(parser, f"{WRITTEN_KEYS}, lost (sentences)")


def run(arguments: argparse.Namespace) -> int:
    """Write what can be read; return 0, or 3 if something was lost."""
    source: Path = arguments.source
    if source.name.endswith(SPOOL_SUFFIX) and source.is_dir():
        output, losses = _recover_spool(source, arguments.output, overwrite=arguments.overwrite)
    else:
        output = arguments.output or _beside(source)
        if output.exists() and source.exists() and output.samefile(source):
            raise UsageError(f"{output} is what is to be recovered; name another file with -o")
        with shown_progress("recovering") as progress:
            lost = recover_recording(
                source, output, overwrite=arguments.overwrite, progress=progress
            )
        losses = [lost] if lost else []
        inform(written_sentence(output))
    for sentence in losses or ["nothing was lost"]:
        print(f"gviz: {sentence}", file=sys.stderr)
    if arguments.json:
        print_json({"recover_version": RECOVER_VERSION, **written_file(output), "lost": losses})
    return EXIT_LOST if losses else 0


def _beside(source: Path) -> Path:
    if not source.name:
        raise UsageError(f"{source} is a folder; name the recording or the spool in it")
    return source.with_name(f"{source.name.removesuffix(SUFFIX)}.recovered{SUFFIX}")


def _recover_spool(spool: Path, output: Path | None, *, overwrite: bool) -> tuple[Path, list[str]]:
    """Fold a spool into a recording; return it, and what was lost of the spool."""
    if output is not None:
        check_output(output, overwrite=overwrite)
    with shown_progress("recovering") as progress:
        folded = fold_left_over(spool, progress)
    if output is not None:
        folded = Path(shutil.move(folded, output))
    inform(written_sentence(folded))
    with Recording(folded) as recording:
        runs = recording.fetch_runs()
        notes = [note for run in runs for note in recording.fetch_notes(run.run_id)]
    return folded, [note.text for note in notes if note.kind == DAMAGE]
