"""States of the GPUs that a program uses, sampled beside it into a file of its spool.

Run as ``gviz.spool.processes.gpu_states FILE``, a child of the writer, at low priority. Each line
on standard input is the PCI address of a GPU to sample from then on; it ends with its standard
input. The management library is loaded in this process alone: where a call of it never returns,
nobody else waits.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import sys
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from threading import Timer
from typing import TextIO

from gviz.cuda import GpuState, Nvml, NvmlError, NvmlGpu

#: Politeness towards the program that is measured (man 2 nice).
_NICENESS = 15
#: Seconds from one look to the next, by the seconds since the first: short runs have some, and days
#: of one GPU take a megabyte each.
_PERIODS = ((10.0, 0.25), (600.0, 1.0), (float("inf"), 10.0))
#: A library that has not answered for so long never will.
_DEADLINE_S = 5.0


class GpuStates:
    """Samples GPUs named by their addresses.

    Parameters
    ----------
    out
        Where a line of JSON goes for each sample and failure.
    load
        Loads the management library.
    """

    def __init__(self, out: TextIO, load: Callable[[], Nvml] = Nvml) -> None:
        self._out = out
        self._load = load
        self._nvml: Nvml | None = None
        self._gpus: dict[str, NvmlGpu] = {}

    def watch(self, bus_ids: Iterable[str]) -> None:
        """Sample GPUs from now on, or say why not."""
        for bus_id in bus_ids:
            try:
                self._nvml = self._nvml or self._load()
                self._gpus[bus_id] = self._nvml.find(bus_id)
            except NvmlError as error:
                self._write(bus_id, failure=str(error))

    def sample(self) -> None:
        """Write down the state of each GPU; one that fails is not sampled any more."""
        for bus_id, gpu in list(self._gpus.items()):
            try:
                self._write(bus_id, state=gpu.state())
            except NvmlError as error:
                self._write(bus_id, failure=str(error))
                del self._gpus[bus_id]

    def _write(self, bus_id: str, *, state: GpuState | None = None, failure: str = "") -> None:
        line: dict[str, object] = {"gpu": bus_id, "time_ns": time.time_ns()}
        if state is None:
            line["failure"] = failure
        else:
            line |= {name: getattr(state, name) for name in _SAMPLED}
        self._out.write(json.dumps(line) + "\n")
        self._out.flush()


_SAMPLED = (
    "busy_percent", "sm_clock_mhz", "sm_clock_max_mhz", "temperature_celsius", "power_watts",
    "slowed_by",
)  # fmt: skip


def sample_until_end(path: Path) -> None:
    """Sample the GPUs that lines of standard input name, until it ends."""
    os.set_blocking(sys.stdin.fileno(), False)
    begun = time.monotonic()
    with path.open("a", encoding="ascii") as out:
        states = GpuStates(out)
        given = ""
        while True:
            elapsed = time.monotonic() - begun
            period = next(period for until, period in _PERIODS if elapsed < until)
            if select.select([sys.stdin], [], [], period)[0]:
                read = os.read(sys.stdin.fileno(), 4096)
                if not read:
                    return
                *lines, given = (given + read.decode("ascii", "replace")).split("\n")
                _within_deadline(path, partial(states.watch, lines))
            _within_deadline(path, states.sample)


def _within_deadline(path: Path, look: Callable[[], object]) -> None:
    """Look at GPUs; where that takes too long, say so and end the process."""
    timer = Timer(_DEADLINE_S, _give_up, [path])
    timer.daemon = True
    timer.start()
    try:
        look()
    finally:
        timer.cancel()


def _give_up(path: Path) -> None:
    # A file of its own: the other one may be held by the call that does not return.
    write_failure(path, f"the management library did not answer within {_DEADLINE_S:g} s")
    os._exit(1)


def write_failure(path: Path, failure: str) -> None:
    """Say in a spool's file why no GPU is sampled from now on."""
    line = json.dumps({"time_ns": time.time_ns(), "failure": failure}) + "\n"
    with path.open("a", encoding="ascii") as out:
        out.write(line)


def main() -> int:
    """Sample; a disk that is full, or a spool that has gone, ends it in silence."""
    parser = argparse.ArgumentParser(prog="gviz.spool.processes.gpu_states")
    parser.add_argument("file", type=Path)
    arguments = parser.parse_args()
    os.nice(_NICENESS)
    try:
        sample_until_end(arguments.file)
    except OSError:
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
