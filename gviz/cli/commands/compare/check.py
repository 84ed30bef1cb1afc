"""``gviz check``: a gate for continuous integration; exit code 1 when a limit is exceeded."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from gviz.analysis import Ignored
from gviz.checks import (
    DEFAULT_REGRESSION,
    CheckReport,
    Limits,
    check_recording,
    parse_limits,
    read_ignored,
    report_to_json,
    to_junit,
)
from gviz.cli.output import print_json, print_text, terminal_width
from gviz.cli.progress import shown_progress
from gviz.cli.recording_path import file_path, find_recording
from gviz.errors import GvizError, UsageError, cannot_write
from gviz.recording import Recording
from gviz.report import check_document, render_markdown, render_text
from gviz.system import DEFAULT_NAME, read_config

if TYPE_CHECKING:
    from gviz.cli.command_line import Subparsers


def add_parser(subparsers: Subparsers) -> None:
    """Add the parser of ``gviz check``."""
    parser = subparsers.add_parser(
        "check",
        help="fail if a recording exceeds limits or its baseline",
        description="Hold a recording against limits and against a baseline. The exit code is 0 "
        "when all is within them, 1 when something is not or could not be judged, 2 when the "
        "command, a file or the configuration is wrong. Needs no GPU.",
    )
    parser.add_argument("recording", type=file_path, help="a .gviz file, or a left-over spool")
    parser.add_argument(
        "--baseline",
        type=file_path,
        metavar="FILE",
        help="a recording of the same program to compare with, on the same kind of GPU",
    )
    parser.add_argument(
        "--config",
        type=file_path,
        metavar="FILE",
        help=f"limits, in its table [check] (default: {DEFAULT_NAME} here); docs/check.md has "
        "the form",
    )
    parser.add_argument(
        "--json", action="store_true", help="print JSON; docs/check.md has the keys"
    )
    parser.add_argument(
        "--junit", type=file_path, metavar="FILE", help="also write JUnit XML, for CI servers"
    )
    parser.add_argument(
        "--markdown",
        type=file_path,
        metavar="FILE",
        help="also append Markdown, such as to $GITHUB_STEP_SUMMARY",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print what is within limits and what is not; return 0 or 1."""
    try:
        report = _check(arguments)
        if arguments.junit is not None:
            _write(arguments.junit, "w", to_junit(report))
        if arguments.markdown is not None:
            _write(arguments.markdown, "a", render_markdown(check_document(report)))
    except GvizError as error:
        # 1 says that a limit is exceeded; a file that cannot be read says nothing of limits.
        raise UsageError(str(error)) from error
    if arguments.json:
        print_json(report_to_json(report))
    else:
        print_text(render_text(check_document(report), terminal_width()))
    return 0 if report.passed else 1


def _check(arguments: argparse.Namespace) -> CheckReport:
    limits, ignored = read_limits(arguments.config, has_baseline=arguments.baseline is not None)
    path = find_recording(arguments.recording)
    before = None if arguments.baseline is None else find_recording(arguments.baseline)
    with shown_progress("checking") as progress, ExitStack() as stack:
        recording = stack.enter_context(Recording(path))
        baseline = None if before is None else stack.enter_context(Recording(before))
        return check_recording(recording, baseline, limits, ignored, progress)


def read_limits(path: Path | None, *, has_baseline: bool) -> tuple[Limits, Sequence[Ignored]]:
    """Return the limits and the findings that do not count; UsageError where nothing is checked."""
    file, content = read_config(path)
    try:
        limits = parse_limits(content.get("check", {}))
    except UsageError as error:
        raise UsageError(f"{file}: {error}") from error
    if has_baseline and not limits.has_regression:
        limits = replace(limits, every=replace(limits.every, regression=DEFAULT_REGRESSION))
    if not has_baseline and not limits.has_limits:
        missing = f"{file} sets no limits in a table [check]" if content else f"there is no {file}"
        raise UsageError(
            f"nothing to check: {missing}, and no --baseline is given; docs/check.md has examples"
        )
    return limits, read_ignored(path)


def _write(path: Path, mode: str, text: str) -> None:
    try:
        with path.open(mode, encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise GvizError(cannot_write(path, error)) from error
