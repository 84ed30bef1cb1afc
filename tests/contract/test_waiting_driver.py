"""Calls of gviz's own that wait in the driver while another thread of the program needs to go on.

What they wait for is a function on the host, which waits for that thread: the program would hang if
the thread waited for a lock of gviz's that is held meanwhile.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import pytest
from contract.backend import Backend
from contract.scripts import run_script
from contract.test_trials import SUMS, WITHOUT_LIMIT

#: ``FIRST`` makes the call of gviz's own; ``SECOND`` is what the other thread does until then.
PROGRAM = f"""{SUMS}
import threading
begun, freed, outcome = threading.Event(), threading.Event(), []
def hold(_):
    begun.set()
    outcome.append(freed.wait(25))
add([]), add([0])
other, third, spare = cuda.stream(), cuda.stream(), cuda.allocate(64)
small = build_shape(cuda, GRAPH_SHAPES["chain"])
BEFORE
def second():
    cuda.make_current(), begun.wait()
    time.sleep(0.5)  # the first one is waiting by now
    SECOND
    freed.set()
thread = threading.Thread(target=second)
thread.start()
cuda.host_function(other, hold)
begun.wait()
FIRST
thread.join()
cuda.synchronize()
report(freed=outcome)
"""


class Case(NamedTuple):
    waits: str  # the driver's function
    first: str
    second: str
    before: str = ""
    options: tuple[str, ...] = ()


CASES = {
    "event before a call, and a capture": Case(
        "cuEventRecord", "cuda.set32(spare, 0, 4, stream)",
        "cuda.begin_capture(third), cuda.end_capture(third)",
    ),
    "event before a call, and another call": Case(
        "cuEventRecord", "cuda.set32(spare, 0, 4, stream)",
        "cuda.set32(spare, 0, 4, third)",
    ),
    "calibration, and an instantiation": Case(
        "cuModuleLoadData", "cuda.instantiate(graph)", "cuda.instantiate(small)",
    ),
    "trial, and the end of an executable": Case(
        "cuModuleLoadData", "cuda.launch_graph(tried, stream)", "cuda.destroy_exec(unused)",
        "unused = cuda.instantiate(small)\ntried = cuda.instantiate(graph)\nlaunches(tried, 3)",
        ("--trials", *WITHOUT_LIMIT),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_thread_that_the_gpu_waits_for_goes_on(fake: Backend, tmp_path: Path, case: Case) -> None:
    text = PROGRAM
    for name in ("before", "first", "second"):
        text = text.replace(name.upper(), getattr(case, name))
    done = run_script(
        fake, tmp_path, text, *case.options, "-o", "x.gviz",
        FAKE_WAITS=case.waits,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["freed"] == [True]
