"""Processes that end, as others than their parents see it."""

from __future__ import annotations

import subprocess
import sys
from functools import cache

from gviz.spool.processes.owner import OwnerEnd, SpoolOwner


def started(code: str) -> subprocess.Popen[str]:
    """Start a Python process that runs some code once its standard input ends."""
    command = [sys.executable, "-c", f"import os, sys; sys.stdin.read(); {code}"]
    return subprocess.Popen(command, stdin=subprocess.PIPE, text=True)


@cache
def tells_ends() -> bool:
    """Return whether this kernel says how a process ended that another has waited for."""
    child = started("os._exit(7)")
    end = OwnerEnd(SpoolOwner(child.pid))
    child.communicate()
    return end.exit_code() is not None
