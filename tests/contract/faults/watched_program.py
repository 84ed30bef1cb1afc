"""A small watched program without Python, one of whose library's calls fails."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from contract.faults.steering import Fault, Shim

from gviz.collectors.job import Job
from gviz.collectors.options import ProfileOptions
from gviz.errors import SpoolError
from gviz.recording.reader import Recording
from gviz.spool.processes.left_over import fold_left_over

#: The native library, by a part of its name.
LIBRARY = "_native.abi3"
_TIMEOUT_S = 60


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of a program, as its user sees it."""

    code: int
    output: str


@dataclass(slots=True)
class WatchedProgram:
    """binary.c under the native library, as ``gviz run`` starts it.

    Attributes
    ----------
    command
        The program.
    environment
        Of the backend.
    folder
        Where it runs.
    shim
        What makes its calls fail.
    """

    command: list[str]
    environment: dict[str, str]
    folder: Path
    shim: Shim

    def run_plain(self) -> Ending:
        """Run it without gviz."""
        return self._run(self.environment)

    def run(self, fault: Fault | None) -> Ending:
        """Run it under gviz with a call that fails; its spool is left."""
        spool = self.folder / "out.gviz-spool"
        shutil.rmtree(spool, ignore_errors=True)
        (self.folder / "out.gviz").unlink(missing_ok=True)
        spool.mkdir(mode=0o700)
        job = Job(
            output=self.folder / "out.gviz", spool=spool, options=ProfileOptions(),
            parent=os.getpid(), follow=True, metadata={"name": "binary"},
            cupti=Path(self.environment["GVIZ_CUPTI"]),
        )  # fmt: skip
        self.shim.steer(fault, caller=LIBRARY)
        return self._run(job.environment(self.environment) | self.shim.environment())

    def _run(self, environment: dict[str, str]) -> Ending:
        done = subprocess.run(
            self.command,
            env=environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
        return Ending(done.returncode, done.stdout)

    def launches(self) -> int | None:
        """Return how many launches were recorded; None: there was no spool to record into."""
        try:
            fold_left_over(self.folder / "out.gviz-spool")
        except SpoolError as error:
            if "holds no records" in str(error):
                return None
            raise
        with Recording(self.folder / "out.gviz") as recording:
            graphs = recording.fetch_graphs()
            return sum(len(recording.fetch_launches(graph.graph_id)) for graph in graphs)
