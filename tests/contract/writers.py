"""The writer process of a program that is recorded, found from outside."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path


def writer_of(process: int) -> int:
    """Return the process id of the writer that a process started."""
    until = time.monotonic() + 20
    while time.monotonic() < until:
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
        for child in children:
            if b"gviz.spool.processes.follow" in Path(f"/proc/{child}/cmdline").read_bytes():
                return int(child)
        time.sleep(0.01)
    raise AssertionError("there is no writer")


def awaited_by(process: int) -> set[int]:
    """Return the process ids that a process has a handle of, to learn how they end."""
    found = set()
    for file in Path(f"/proc/{process}/fdinfo").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            for line in file.read_text().splitlines():
                name, _, value = line.partition(":")
                if name == "Pid":
                    found.add(int(value))
    return found
