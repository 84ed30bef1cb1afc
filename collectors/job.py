"""The job of ``gviz run`` as the processes that it follows read it, in their environment."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from gviz.collectors import native
from gviz.collectors.options import COLLECTORS, ProfileOptions, parse_capture_range
from gviz.dataclass import dataclass

#: Variables that are gviz's own; a program that is not followed further does not see them.
OWN_VARIABLES = (
    "GVIZ_RUN",  # JSON, for Python: output, options, prefix
    "GVIZ_SPOOL",  # the job's directory
    "GVIZ_PARENT",  # process id of gviz run: its own child is the first process
    "GVIZ_FOLLOW",  # 1: also children of the program
    "GVIZ_OPTIONS",  # of the native library, as text
    "GVIZ_GRAPH",  # shell pattern of the graphs whose nodes are timed, for a process without Python
    "GVIZ_RANGE",  # name of the NVTX ranges that are recorded, for a process without Python
    "GVIZ_COLLECTOR",  # number of the collector requested, for a process without Python
    "GVIZ_META",  # JSON, metadata for a process without Python
    "GVIZ_CUPTI_FOUND",  # where gviz run found CUPTI
    "GVIZ_PYTHONPATH",  # PYTHONPATH as the user set it
    "GVIZ_MODE",  # permissions of the recording; for the writer alone
    "GVIZ_QUIET",  # 1: only what went wrong is said; for the writer alone
    "GVIZ_GATE",  # "preloaded", or why the gate is not; absent: it is not wanted
)
_STARTUP = Path(__file__).parent / "startup"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One ``gviz run``: where its processes write, and how they record.

    Attributes
    ----------
    output
        The recording that it becomes.
    spool
        Directory of the job: the first process's spool, and in it one folder a further process.
    parent
        Process id of ``gviz run``.
    follow
        Whether children of the program are recorded too.
    metadata
        What is the same for every process: name, git revision.
    cupti
        The CUPTI that ``gviz run`` found; None where there is none.
    prefix
        ``sys.prefix`` of the Python of ``gviz run``: another Python has its own CUPTI, perhaps.
    """

    output: Path
    spool: Path
    options: ProfileOptions
    parent: int
    follow: bool
    metadata: Mapping[str, object]
    cupti: Path | None
    prefix: str = sys.prefix

    def environment(self, base: Mapping[str, str]) -> dict[str, str]:
        """Return ``base`` with what a program needs in order to be recorded."""
        library = str(native.library_path())
        given = {"output": str(self.output), "options": self.options.to_json()}
        environment = {
            **base,
            "CUDA_INJECTION64_PATH": library,
            "GVIZ_RUN": json.dumps({**given, "prefix": self.prefix}),
            "GVIZ_SPOOL": str(self.spool),
            "GVIZ_PARENT": str(self.parent),
            "GVIZ_FOLLOW": str(int(self.follow)),
            "GVIZ_OPTIONS": native.options_text(self.options.native()),
            "GVIZ_META": json.dumps(dict(self.metadata), default=str),
            "GVIZ_CUPTI_FOUND": str(self.cupti or ""),
        }
        environment["GVIZ_COLLECTOR"] = str(COLLECTORS.index(self.options.measured_by))
        if self.options.graph is not None:
            environment["GVIZ_GRAPH"] = self.options.graph
        if (name := parse_capture_range(self.options.capture_range)[1]) is not None:
            environment["GVIZ_RANGE"] = name
        environment.setdefault("NVTX_INJECTION64_PATH", library)
        rest = base.get("PYTHONPATH")
        if rest is not None:
            environment["GVIZ_PYTHONPATH"] = rest
        environment["PYTHONPATH"] = str(_STARTUP) + (os.pathsep + rest if rest else "")
        return environment

    def goes_without_cupti(self) -> bool:
        """Return whether it is to record without CUPTI."""
        return self.options.measured_by != "cupti"

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Job | None:
        """Return the job that this process belongs to, or None.

        None also for a job that is over: a program that outlives ``gviz run`` goes on alone.
        """
        spool = Path(environment.get("GVIZ_SPOOL", ""))
        if "GVIZ_RUN" not in environment or not spool.is_dir():
            return None
        given = json.loads(environment["GVIZ_RUN"])
        return cls(
            output=Path(given["output"]),
            spool=spool,
            options=ProfileOptions.from_json(given["options"]),
            parent=int(environment["GVIZ_PARENT"]),
            follow=environment["GVIZ_FOLLOW"] == "1",
            metadata=json.loads(environment["GVIZ_META"]),
            cupti=Path(found) if (found := environment["GVIZ_CUPTI_FOUND"]) else None,
            prefix=given["prefix"],
        )

    def is_first(self) -> bool:
        """Return whether this process is the one that ``gviz run`` started."""
        return os.getppid() == self.parent
