"""The gate closes only with no work in flight and no capture open, on the fake driver and a GPU."""

from __future__ import annotations

from pathlib import Path

import pytest
from contract.backend import Backend, preloading
from contract.scripts import run_script

from gviz.collectors import native

#: A program with work for 300 ms: a closing gives up after 15 ms at first.
PREAMBLE = """
import ctypes, threading, time
from contract.closing import Gate
from contract.driver import Arguments, Driver, DriverError
cuda, gate = Driver(), Gate()
LEGACY, PER_THREAD = 1, 2
def spin(stream, ns):
    cuda.launch("spin", Arguments(ctypes.c_uint64(ns)), stream)
def busy(stream):
    spin(stream, 300_000_000)
idle = cuda.stream()
assert gate.close() == "ran"
"""
CASES = {
    "a stream": "busy(cuda.stream())\n",
    "a blocking stream": "busy(cuda.stream(non_blocking=False))\n",
    "the legacy stream": "busy(LEGACY)\n",
    "the per-thread stream": "busy(PER_THREAD)\n",
    "that of an ended thread": (
        "def work():\n    cuda.make_current()\n    busy(PER_THREAD)\n"
        "thread = threading.Thread(target=work)\nthread.start()\nthread.join()\n"
    ),
    "a destroyed stream": (
        "stream = cuda.stream()\nbusy(stream)\n"
        "cuda.call('cuStreamDestroy_v2', ctypes.c_void_p(stream))\n"
    ),
    "a stream beside an open capture": (
        "stream, other = cuda.stream(), cuda.stream()\nbusy(stream)\n"
        "cuda.begin_capture(other)\n"
        "cuda.call('cuStreamDestroy_v2', ctypes.c_void_p(stream))\n"
        "assert gate.close() == 'an open capture'\n"
        "cuda.end_capture(other)\n"
    ),
}


def run(backend: Backend, tmp_path: Path, text: str) -> None:
    """Run a program behind the gate; it has no complaints."""
    path = native.gate_path()
    assert path is not None
    done = run_script(backend, tmp_path, PREAMBLE + text, LD_PRELOAD=preloading(path))
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("case", CASES)
def test_gate_stays_open_while_work_is_in_flight(
    backend: Backend, tmp_path: Path, case: str
) -> None:
    text = CASES[case]
    run(
        backend,
        tmp_path,
        f"{text}assert gate.close() == 'work in flight'\n"
        "assert gate.close_within(20) == 'ran'\n"
        "cuda.synchronize()\n",
    )


def test_gate_stays_open_beside_a_capture(backend: Backend, tmp_path: Path) -> None:
    run(
        backend,
        tmp_path,
        "stream = cuda.stream()\ncuda.begin_capture(stream)\n"
        "assert gate.close() == 'an open capture'\n"
        "try:\n    cuda.begin_capture(stream)\nexcept DriverError:\n    pass\n"
        "try:\n    cuda.end_capture(idle)\nexcept DriverError:\n    pass\n"
        "assert gate.close() == 'an open capture'\n"
        "cuda.end_capture(stream)\nassert gate.close() == 'ran'\n"
        "cuda.begin_capture(stream)\n"
        "def end():\n    cuda.make_current()\n    try:\n        cuda.end_capture(stream)\n"
        "    except DriverError as error:\n        assert error.code == 908\n"
        "thread = threading.Thread(target=end)\nthread.start()\nthread.join()\n"
        "assert gate.close() == 'ran'\n",
    )


@pytest.mark.parametrize("wait", ["cuda.wait(stream)", "cuda.synchronize()"])
def test_gate_closes_where_a_program_waits_over_and_over(
    backend: Backend, tmp_path: Path, wait: str
) -> None:
    run(
        backend,
        tmp_path,
        "stop = threading.Event()\n"
        "stream = cuda.stream()\n"
        "def work():\n    cuda.make_current()\n    while not stop.is_set():\n"
        f"        spin(stream, 100_000_000)\n        {wait}\n"
        "thread = threading.Thread(target=work)\nthread.start()\n"
        "answer, end = 'busy', time.monotonic() + 20\n"
        # It may find the moment between two waits.
        "while (answer != 'ran' or not gate.counts.polled) and time.monotonic() < end:\n"
        "    answer = gate.close()\n"
        "stop.set()\nthread.join()\n"
        "assert answer == 'ran' and gate.counts.polled and not gate.counts.overrun\n",
    )
