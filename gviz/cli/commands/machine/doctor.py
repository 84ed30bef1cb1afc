"""``gviz doctor``: gather facts about this machine, print what they mean for profiling."""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import textwrap
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from gviz.cli.output import add_json, print_json, print_text, terminal_width
from gviz.cli.progress import shown_progress
from gviz.cuda import Diagnosis, Facts, diagnose, find_cupti, probe
from gviz.system import NO_PROGRESS, Progress, own_environment

if TYPE_CHECKING:
    from gviz.cli.command_line import Subparsers

#: Version of the keys of its JSON.
DOCTOR_VERSION = 1
#: Columns before the text of a finding.
_INDENT = 14
#: Of the time: the driver, which initialises the GPU, and three libraries.
_SHARES = (0.7, 0.1, 0.1, 0.1)
_DRIVER_PARAMETERS = Path("/proc/driver/nvidia/params")


def add_parser(subparsers: Subparsers) -> None:
    """Add the parser of ``gviz doctor``."""
    parser = subparsers.add_parser(
        "doctor",
        help="say whether profiling would work here, and why not",
        description="Look at the GPU, the driver, CUPTI and gviz's native library, and say "
        "for each what to do. Exits 0 when profiling would work here, else 1. Viewing "
        "recordings needs none of them.",
    )
    add_json(parser, "works, findings (name, status, text, advice, items)")


def run(arguments: argparse.Namespace) -> int:
    """Print the findings; return 0 when profiling would work, else 1."""
    with shown_progress("trying") as progress:
        facts = gather_facts(progress)
    diagnosis = diagnose(facts)
    if arguments.json:
        findings = [asdict(finding) for finding in diagnosis.findings]
        print_json(
            {"doctor_version": DOCTOR_VERSION, "works": diagnosis.works, "findings": findings},
            indent=2,
        )
    else:
        print_text(render(diagnosis, terminal_width()))
    return 0 if diagnosis.works else 1


def gather_facts(progress: Progress = NO_PROGRESS) -> Facts:
    """Ask this machine everything the checks want to know; nothing found is a fact too."""
    candidates = find_cupti()
    library = find_library("gviz.collectors", "_native")
    launchcost = find_library("gviz.collectors.launchcost", "_launchcost")
    gate = find_library("gviz.collectors", "_gate")
    steps = progress.steps(_SHARES, "gviz's libraries")
    progress.at(0.0, "the driver and CUPTI")
    return Facts(
        driver=steps.run(probe, candidates[0].path if candidates else None),
        cupti=tuple(candidates),
        native_library=None if library is None else str(library),
        native_error=None if library is None else steps.run(load_error, library),
        launchcost_library=None if launchcost is None else str(launchcost),
        launchcost_error=None if launchcost is None else steps.run(load_error, launchcost),
        gate_library=None if gate is None else str(gate),
        gate_error=None if gate is None else steps.run(preload_error, gate),
        compiler=shutil.which(os.environ.get("CC", "cc")) or shutil.which("gcc"),
        admin_only_counters=read_admin_only(_DRIVER_PARAMETERS),
        environment=dict(os.environ),
    )


def find_library(package: str, stem: str) -> Path | None:
    """Return the file of one of gviz's native libraries, or None when it was not built."""
    spec = importlib.util.find_spec(package)
    folders = [] if spec is None else list(spec.submodule_search_locations or [])
    files = [file for folder in folders for file in sorted(Path(folder).glob(f"{stem}*.so"))]
    return files[0] if files else None


def load_error(library: Path) -> str | None:
    """Return why a shared library cannot be loaded, or None; tried in a process of its own."""
    return _error_of("import ctypes, sys; ctypes.CDLL(sys.argv[1])", library, own_environment())


def preload_error(library: Path) -> str | None:
    """Return why the gate cannot be preloaded, or None; tried in a process of its own."""
    code = "import ctypes; ctypes.CDLL(None).gviz_gate"
    entries = filter(None, [os.environ.get("LD_PRELOAD"), str(library)])
    return _error_of(code, library, {**own_environment(), "LD_PRELOAD": ":".join(entries)})


def _error_of(code: str, library: Path, environment: dict[str, str]) -> str | None:
    try:
        child = subprocess.run(
            [sys.executable, "-P", "-c", code, str(library)],
            env=environment,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if child.returncode == 0:
        return None
    lines = child.stderr.strip().splitlines()
    return lines[-1] if lines else f"loading it ended with exit code {child.returncode}"


def read_admin_only(parameters: Path) -> bool | None:
    """Return the driver's RmProfilingAdminOnly, or None where the driver does not say."""
    try:
        found = re.search(r"^RmProfilingAdminOnly: (\d)", parameters.read_text(), re.MULTILINE)
    except OSError:
        return None
    return None if found is None else found[1] == "1"


def render(diagnosis: Diagnosis, width: int) -> str:
    """Return the findings as text: a line each, its advice indented below it."""
    lines = []
    for finding in diagnosis.findings:
        head = f"[{finding.status:^11}] {finding.name}: "
        lines.append(textwrap.fill(head + finding.text, width, subsequent_indent=" " * _INDENT))
        below = [f"- {item}" for item in finding.items]
        below += [] if finding.advice is None else [f"-> {finding.advice}"]
        for text in below:
            hanging = " " * (_INDENT + 1 + len(text.split()[0]))
            lines.append(
                textwrap.fill(text, width, initial_indent=" " * _INDENT, subsequent_indent=hanging)
            )
    verdict = "Profiling would work here." if diagnosis.works else "Profiling would not work here."
    return "\n".join([*lines, "", verdict])
