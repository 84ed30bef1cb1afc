"""A server in a process of its own: its address, its processor time, its memory."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from gviz.app import fetch_links

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


class Server:
    """A running server.

    Attributes
    ----------
    url
        The address it printed, with a one-time code where it has one.
    """

    def __init__(self, process: subprocess.Popen[str], url: str) -> None:
        self._process = process
        self.url = url

    def address(self, path: str = "") -> str:
        """Return an address below the server's, which admits nobody."""
        return self.url.split("?")[0] + path

    def new_link(self) -> str:
        """Return an address that admits one more browser; the printed one where it admits all."""
        links = (link.address for link in fetch_links().links if self.address() in link.address)
        return next(links, self.url)

    def cpu_s(self) -> float:
        """Return the processor time it has taken (s)."""
        return cpu_of(self._process.pid)

    def memory_bytes(self) -> tuple[int, int]:
        """Return resident memory, and the most it has been (VmRSS and VmHWM)."""
        return memory_of(self._process.pid)


def memory_of(process_id: int) -> tuple[int, int]:
    """Return resident memory of a process, and the most it has been (VmRSS and VmHWM), in bytes."""
    text = Path(f"/proc/{process_id}/status").read_text()
    found = dict(re.findall(r"^(VmRSS|VmHWM):\s+(\d+) kB$", text, re.MULTILINE))
    return int(found["VmRSS"]) * 1024, int(found["VmHWM"]) * 1024


def forget_peak() -> None:
    """Have the most memory of this process counted from here on."""
    Path("/proc/self/clear_refs").write_text("5")


def cpu_of(process_id: int) -> float:
    """Return the processor time of a process (s); 0 if it has ended."""
    try:
        text = Path(f"/proc/{process_id}/stat").read_text()
    except OSError:
        return 0.0
    # Behind the name, which may hold anything: fields 14 and 15 of proc(5).
    fields = text.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS_PER_SECOND


@contextmanager
def serve(command: Sequence[str], python: str = sys.executable) -> Iterator[Server]:
    """Run a Python program that prints its address on stderr, until the block ends."""
    environment = {k: v for k, v in os.environ.items() if "DISPLAY" not in k}
    process = subprocess.Popen(
        [python, "-P", *command], stderr=subprocess.PIPE, text=True, env=environment
    )
    try:
        assert process.stderr is not None
        found = next((m for line in process.stderr if (m := re.search(r"http://\S+", line))), None)
        if found is None:
            raise SystemExit(f"{' '.join(command)} printed no address")
        yield Server(process, found[0])
    finally:
        # Not SIGINT: a shell's background jobs, and what they start, ignore it.
        process.terminate()
        process.wait(timeout=30)
        assert process.stderr is not None
        process.stderr.close()


def view_command(path: Path) -> list[str]:
    """Return the command that serves a recording on a free port."""
    return ["-m", "gviz", "view", str(path), "--no-browser", "--port", "0"]
