"""Attaching at interpreter start, for ``gviz run``."""

from __future__ import annotations

import atexit
import json
import os
from pathlib import Path
from typing import Any

from gviz.collectors.options import ProfileOptions
from gviz.collectors.session import Session

#: The parent's options for the child, as JSON; gone from the environment once read.
VARIABLE = "GVIZ_RUN"

_session: Session | None = None


def attach_from_environment() -> None:
    """Open the spool that ``gviz run`` asked for; recording starts when the driver initialises."""
    global _session
    text = os.environ.pop(VARIABLE, None)
    if text is None:
        return
    given: dict[str, Any] = json.loads(text)
    options = ProfileOptions.from_json(given["options"])
    session = Session(Path(given["output"]), options, source="run", metadata=given["metadata"])
    # CUPTI is attached by the driver when it starts; without CUPTI there is nothing to wait for.
    session.start(at_init=options.collector in ("auto", "cupti"), own_writer=False)
    _session = session
    # Registered before the program's own handlers, so it runs after them.
    atexit.register(session.finish)


def recording_path() -> Path | None:
    """Return what ``gviz run`` records this process into, or None."""
    return _session.path if _session is not None else None
