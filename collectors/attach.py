"""Attaching at interpreter start, for ``gviz run``."""

from __future__ import annotations

import atexit
import os
from pathlib import Path

from gviz.collectors.job import Job
from gviz.collectors.session import Session
from gviz.system import say

_session: Session | None = None


def attach_from_environment() -> None:
    """Prepare this process for ``gviz run``; recording starts when the driver initialises."""
    global _session
    job = Job.from_environment(os.environ)
    if job is None or not (job.follow or job.is_first()):
        return
    session = Session(job.output, job.options, source="run", job=job)
    session.start(at_init=True, own_writer=False)
    _session = session
    # Registered before the program's own handlers, so it runs after them.
    atexit.register(session.finish)
    os.register_at_fork(after_in_child=session.begin_again_in_child)


def running_session() -> Session | None:
    """Return the recording of ``gviz run`` in this process, or None."""
    return _session


def recording_path() -> Path | None:
    """Return what ``gviz run`` records this process into, or None."""
    return _session.path if _session is not None else None


def warn_of_outer_run(outer: Path, path: Path) -> None:
    """Print that the run around this one records instead of it: nothing comes into ``path``."""
    say(f"gviz: gviz run records into {outer}; nothing is written to {path}")
