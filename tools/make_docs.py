"""Write what is generated: in docs/ tables of the schema, results and faults, commands, modules;
the C header of the spool's records.

``make docs`` writes them; with ``--check`` nothing is written, and the exit code is 1 when a
file is not current. Argparse's own help text is not used: it differs between versions of Python.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from record_header import HEADER, render_header
from walls.module_map import render_modules

from gviz.analysis.advice import RULES
from gviz.analysis.analysis import Analysis
from gviz.analysis.values import GraphData, NodeData
from gviz.checks.check_result import CheckReport
from gviz.cli.command_line import COMMANDS, build_parser
from gviz.comparison.diff_result import Diff
from gviz.comparison.ranks.result import Skew
from gviz.comparison.trend_result import Trend
from gviz.comparison.value_diff import ValuesDiff
from gviz.fleet import TABLES, FleetReport
from gviz.recording.rows.schema import to_markdown
from gviz.stats.figure_fields import fields_of, result_classes
from gviz.whatif import WhatIfReport

DOCS = Path(__file__).resolve().parent.parent / "docs"
#: What stands above this line in docs/recording.md is written by hand.
MARK = "<!-- Below: generated from gviz/recording/rows/recorded.py by 'make docs'. -->"
#: The same for docs/comparing.md.
COMPARING_MARK = "<!-- Below: generated from gviz/comparison by 'make docs'. -->"
#: The same for docs/merging.md.
MERGING_MARK = "<!-- Below: generated from gviz/comparison/ranks by 'make docs'. -->"
#: The same for docs/check.md.
CHECK_MARK = "<!-- Below: generated from gviz/checks by 'make docs'. -->"
#: The same for docs/what_if.md.
WHATIF_MARK = "<!-- Below: generated from gviz/whatif by 'make docs'. -->"
#: The same for docs/values.md.
VALUES_MARK = "<!-- Below: generated from gviz/analysis/values by 'make docs'. -->"
#: The same for docs/faults.md.
FAULTS_MARK = "<!-- Below: generated from tests/cures.json by 'make docs'. -->"
#: The same for docs/fleet.md.
FLEET_MARK = "<!-- Below: generated from gviz/fleet by 'make docs'. -->"
#: The same for docs/analysis.md.
ANALYSIS_MARK = "<!-- Below: generated from gviz/analysis by 'make docs'. -->"

_RULE_HEAD = "| rule | looks for | gain | assumes that | source |\n| --- | --- | --- | --- | --- |"
_RESULT_HEAD = "| key | how | meaning |\n| --- | --- | --- |"

_CLI_HEAD = """\
# Command line

After this page you can say what each command and option does, and rely on exit codes and streams.

<!-- Generated from gviz/cli by 'make docs'. -->

Data goes to stdout, messages to stderr. Exit codes: 0 success, 1 an error or a failed check,
2 wrong arguments, 130 interrupted, 141 the reader of stdout closed it. `gviz run` returns the
exit code of the program it ran. `python -m gviz` is the same as `gviz`; `gviz FILE.gviz` is
`gviz view FILE.gviz`.

Every command takes `-q` (`--quiet`), to say on stderr only what went wrong, `-v` (`--verbose`), to
say also what is done, how long it took and what an error came from, and `--json`, whose first key,
COMMAND_version, is raised when a key goes away or changes its meaning, and not when keys are added.
Text has colours where stdout is a terminal and `NO_COLOR` is not set. Work that takes longer than
half a second has a line on stderr where that is a terminal: the share that is done and the time
that remains, or the time so far where what remains is not known, as of a query.
"""


def render_recording(current: str) -> str:
    """Return docs/recording.md: its hand-written part and the schema's tables."""
    prose, mark, _ = current.partition(MARK)
    if not mark:
        sys.exit(f"docs/recording.md lacks the line {MARK}")
    return f"{prose}{MARK}\n\n{to_markdown().rstrip()}\n"


def render_analysis(current: str) -> str:
    """Return docs/analysis.md: its hand-written part and a table for each class of results."""
    prose, mark, _ = current.partition(ANALYSIS_MARK)
    if not mark:
        sys.exit(f"docs/analysis.md lacks the line {ANALYSIS_MARK}")
    parts = [
        f"{prose}{ANALYSIS_MARK}",
        _render_rules(),
        *map(_render_results, result_classes(Analysis)),
    ]
    return "\n\n".join(parts) + "\n"


def render_fleet(current: str) -> str:
    """Return docs/fleet.md: its hand-written part, a data set's tables and its report's keys."""
    prose, mark, _ = current.partition(FLEET_MARK)
    if not mark:
        sys.exit(f"docs/fleet.md lacks the line {FLEET_MARK}")
    head = "| column | type | meaning |\n| --- | --- | --- |"
    parts = [f"{prose}{FLEET_MARK}"]
    for table in TABLES.values():
        rows = [f"| {name} | {c.type} | {c.meaning} |" for name, c in table.columns.items()]
        meaning = table.meaning[:1].upper() + table.meaning[1:]
        parts.append("\n".join([f"## {table.name}", "", f"{meaning}.", "", head, *rows]))
    parts += _render_classes(FleetReport)
    return "\n\n".join(parts) + "\n"


def render_results(name: str, mark: str, current: str, *roots: type) -> str:
    """Return a document: its hand-written part and a table for each class of results."""
    prose, found, _ = current.partition(mark)
    if not found:
        sys.exit(f"docs/{name} lacks the line {mark}")
    return "\n\n".join([f"{prose}{mark}", *_render_classes(*roots)]) + "\n"


def render_faults(current: str) -> str:
    """Return docs/faults.md: its hand-written part, and a table of faults and tests a part."""
    prose, found, _ = current.partition(FAULTS_MARK)
    if not found:
        sys.exit(f"docs/faults.md lacks the line {FAULTS_MARK}")
    parts = [f"{prose}{FAULTS_MARK}"]
    cures = json.loads((DOCS.parent / "tests" / "cures.json").read_text("utf-8"))
    for heading, rows in cures.items():
        table = [f"| {row['fault']} | {row['test'].removeprefix('tests/')} |" for row in rows]
        head = "| fault | test, below tests/ |\n| --- | --- |"
        parts.append("\n".join([f"## {heading}", "", head, *table]))
    return "\n\n".join(parts) + "\n"


def _render_rules() -> str:
    rows = [
        f"| `{r.id}` | {r.title} | {r.bound}, a {r.per} | {r.assumes} | {r.source} |"
        for r in RULES.values()
    ]
    return "\n".join(["## Rules", "", _RULE_HEAD, *rows])


def _render_classes(*roots: type) -> Iterator[str]:
    """Yield a table for each class of results, and links to those that docs/analysis.md has."""
    elsewhere = set(result_classes(Analysis))
    classes = dict.fromkeys(cls for root in roots for cls in result_classes(root))
    links = [
        f"[{cls.__name__}](analysis.md#{cls.__name__.lower()})"
        for cls in classes
        if cls in elsewhere
    ]
    if links:
        yield f"As in analysis.md: {', '.join(links)}."
    yield from (_render_results(cls) for cls in classes if cls not in elsewhere)


def _render_results(cls: type) -> str:
    meaning = " ".join((cls.__doc__ or "").split())
    rows = [f"| {name} | {how} | {doc} |" for name, how, doc in fields_of(cls)]
    return "\n".join([f"## {cls.__name__}", "", meaning, "", _RESULT_HEAD, *rows])


def render_cli() -> str:
    """Return docs/cli.md: every command with its arguments."""
    return "\n".join([_CLI_HEAD, *(_render_command(name) for name in COMMANDS)])


def _render_command(name: str) -> str:
    parser = build_parser(name)
    (subparsers,) = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    return "\n".join(_render_parsers(name, subparsers.choices[name]))


def _render_parsers(name: str, command: argparse.ArgumentParser) -> Iterator[str]:
    """Yield a command, and then each command of its own."""
    inner = [a for a in command._actions if isinstance(a, argparse._SubParsersAction)]
    rows = list(_render_arguments(command))
    table = ["| argument | meaning |", "| --- | --- |", *rows] if rows and not inner else []
    lines = [f"## gviz {name}", "", " ".join((command.description or "").split()), "", *table]
    yield "\n".join(lines).rstrip() + "\n"
    for action in inner:
        for word, parser in action.choices.items():
            yield from _render_parsers(f"{name} {word}", parser)


def _render_arguments(command: argparse.ArgumentParser) -> Iterator[str]:
    for action in command._actions:
        if isinstance(action, argparse._HelpAction) or action.help is argparse.SUPPRESS:
            continue
        if action.dest in ("quiet", "verbose"):  # every command has them
            continue
        names = ", ".join(f"`{option}`" for option in action.option_strings)
        value = action.metavar or "|".join(action.choices or ()) or action.dest
        shown = value if isinstance(value, str) else " ".join(value)
        if not names:
            names = f"`{shown}`"
        elif action.nargs != 0:
            is_dest = action.metavar is None and action.choices is None
            names += f" {shown.upper() if is_dest else shown}"
        help_text = (action.help or "") % {"default": action.default, "prog": command.prog}
        yield "| {} | {} |".format(*(text.replace("|", r"\|") for text in (names, help_text)))


def main(arguments: list[str]) -> int:
    """Write or check the files."""
    recording, analysis = DOCS / "recording.md", DOCS / "analysis.md"
    comparing, check = DOCS / "comparing.md", DOCS / "check.md"
    what_if, values = DOCS / "what_if.md", DOCS / "values.md"
    merging, fleet = DOCS / "merging.md", DOCS / "fleet.md"
    faults = DOCS / "faults.md"
    wanted = {
        recording: render_recording(recording.read_text(encoding="utf-8")),
        analysis: render_analysis(analysis.read_text(encoding="utf-8")),
        comparing: render_results(
            comparing.name, COMPARING_MARK, comparing.read_text(encoding="utf-8"), Diff, Trend
        ),
        check: render_results(check.name, CHECK_MARK, check.read_text("utf-8"), CheckReport),
        merging: render_results(merging.name, MERGING_MARK, merging.read_text("utf-8"), Skew),
        what_if: render_results(
            what_if.name, WHATIF_MARK, what_if.read_text("utf-8"), WhatIfReport
        ),
        values: render_results(
            values.name, VALUES_MARK, values.read_text("utf-8"), GraphData, NodeData, ValuesDiff
        ),
        fleet: render_fleet(fleet.read_text("utf-8")),
        faults: render_faults(faults.read_text("utf-8")),
        DOCS / "cli.md": render_cli(),
        DOCS / "modules.md": render_modules(DOCS.parent),
        DOCS.parent / HEADER: render_header(),
    }
    stale = [p for p, text in wanted.items() if not p.exists() or p.read_text("utf-8") != text]
    for path in stale:
        if "--check" not in arguments:
            path.parent.mkdir(exist_ok=True)
            path.write_text(wanted[path], encoding="utf-8")
        else:
            print(f"{path.relative_to(DOCS.parent)} is not current; run 'make docs'")
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
