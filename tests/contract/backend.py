"""A driver to run the contract's programs on, and how a program ended."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from contract.left_spool import LEAVES_SPOOL, fold_spool

from gviz.recording.reader import Recording

_PROGRAMS = Path(__file__).parent / "programs.py"
_TESTS = _PROGRAMS.parent.parent
#: A program takes about a second; this catches one that hangs.
_TIMEOUT_S = 240


def preloading(*libraries: Path | str) -> str:
    """Return an LD_PRELOAD with libraries behind what this process was given: a sanitizer's."""
    return ":".join(filter(None, [os.environ.get("LD_PRELOAD"), *map(str, libraries)]))


@dataclass(frozen=True, slots=True)
class Outcome:
    """A program's end, and the recording that was written."""

    returncode: int
    stderr: str
    facts: dict[str, Any]
    output: Path

    def recording(self) -> Recording:
        """Open what gviz wrote; close it (``with``)."""
        return Recording(self.output)

    def seen(self) -> dict[str, Any]:
        """Return what the observer wrote."""
        found: dict[str, Any] = json.loads(self.output.read_text())
        return found


@dataclass(slots=True)
class Backend:
    """A driver to run programs on; a program of given options runs once a session."""

    name: str
    environment: Mapping[str, str]
    folder: Path
    #: gviz.profile's ``collector``, unless a test has its own.
    measured_by: str | None = None
    _done: dict[str, Outcome] = field(default_factory=dict)

    @property
    def is_real(self) -> bool:
        """Return whether this is a GPU."""
        return self.name == "real"

    def run(
        self,
        program: str,
        collector: str = "gviz",
        *,
        environment: Mapping[str, str] | None = None,
        script: str = _PROGRAMS.name,
        measured_by: str | None = None,
        writer: bool = False,
        **options: Any,
    ) -> Outcome:
        """Run a program in a process of its own.

        Parameters
        ----------
        program, collector
            As programs.py takes them.
        environment
            Added to the environment.
        script
            The file beside this one that has the program.
        measured_by
            gviz.profile's ``collector``.
        writer
            Have gviz.profile start its writer; else this process makes the recording, as one does.
        options
            Arguments of gviz.profile.
        """
        settings = dict(sorted((environment or {}).items()))
        if measured := measured_by or self.measured_by:
            options["collector"] = measured
        if not (writer or self.is_real):
            settings[LEAVES_SPOOL] = "1"
        key = json.dumps([program, collector, settings, options])
        if key not in self._done:
            arguments = [str(_PROGRAMS.with_name(script)), program, collector]
            self._done[key] = self._run(arguments, settings, options)
        return self._done[key]

    def _run(
        self, program: list[str], settings: dict[str, str], options: dict[str, Any]
    ) -> Outcome:
        output = self.folder / f"{program[1]}-{len(self._done)}.gviz"
        # For the imports of this package; -P keeps the rest off the path.
        path = os.pathsep.join(filter(None, [str(_TESTS), os.environ.get("PYTHONPATH")]))
        done = subprocess.run(
            [sys.executable, "-P", *program, str(output), json.dumps(options)],
            env={**self.environment, "PYTHONPATH": path, **settings},
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
        facts = json.loads(done.stdout) if done.returncode == 0 else {}
        said = fold_spool(output) if LEAVES_SPOOL in settings else ""
        return Outcome(done.returncode, done.stderr + said, facts, output)
