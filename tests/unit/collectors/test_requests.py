"""Requests to programs that are recorded: which processes are found, and why none is."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from gviz.collectors.requests import find_recorded
from gviz.errors import CollectorError


def test_process_that_is_not_recorded_is_told_how_to_be() -> None:
    with pytest.raises(CollectorError, match="is not recorded by gviz; start it with 'gviz run"):
        find_recorded(os.getpid())


def test_child_of_a_run_that_has_ended_takes_no_requests() -> None:
    command = [sys.executable, "-I", "-c", "input()"]
    environment = {**os.environ, "GVIZ_SPOOL": "/nowhere"}
    with subprocess.Popen(command, stdin=subprocess.PIPE, env=environment) as child:
        with pytest.raises(CollectorError, match=f"process {child.pid} takes no requests"):
            find_recorded(child.pid)
        child.communicate(b"\n")


def test_process_that_has_ended_is_named() -> None:
    child = subprocess.Popen([sys.executable, "-I", "-c", ""])
    child.wait()
    with pytest.raises(CollectorError, match=f"there is no process {child.pid}; 'ps ux' lists"):
        find_recorded(child.pid)


def test_process_of_another_user_is_refused() -> None:
    text = (
        "import os, sys\nimport gviz.collectors.requests as r\n"
        f"target = 1 if os.geteuid() else {os.getpid()}\n"
        "if not os.geteuid(): os.setuid(65534)\n"
        "try: r.find_recorded(target)\nexcept r.CollectorError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", text], capture_output=True, text=True, check=True
    )
    assert "cannot be looked into: it is another user's, or protected" in done.stdout
