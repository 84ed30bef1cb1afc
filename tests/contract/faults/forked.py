"""A process that forks one that works for each line it reads, so that modules are imported once.

A line is JSON: what to do, the file, and the fault to meet on the way. The answer is the code that
the child ended with: 0 done, REFUSED in a sentence or by an error of the system, or another: then
what it wrote to standard error says why.
Run: python -P -m contract.faults.forked SHIM_FOLDER, with the shim preloaded.
"""

from __future__ import annotations

import ctypes
import faulthandler
import json
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

import numpy as np
from admitted import LOCAL, admitted_client
from contract.faults.steering import Fault, Shim

from gviz.app.server.access.security import AccessRules
from gviz.app.server.application import create_app
from gviz.errors import GvizError
from gviz.recording.reader import Recording
from gviz.report.summary import summarize
from gviz.spool.processes.left_over import fold_left_over

REFUSED = 1
_PAYLOADS = ("dag", "timeline")


def write(spool: Path, arm: Callable[[], None], disarm: Callable[[], None]) -> None:
    """Fold a spool into a recording, as the writer does at a program's end."""
    arm()
    fold_left_over(spool)


def read(recording: Path, arm: Callable[[], None], disarm: Callable[[], None]) -> None:
    """Read a recording, as ``gviz info`` does."""
    arm()
    with Recording(recording) as opened:
        summarize(opened)


def view(recording: Path, arm: Callable[[], None], disarm: Callable[[], None]) -> None:
    """Answer requests; whatever fails meanwhile, the server answers the next ones."""
    access = AccessRules()
    client = admitted_client(create_app([recording], access).server, access)
    addresses = [f"/payload/{kind}/{recording.stem}/1" for kind in _PAYLOADS]
    arm()
    for address in addresses:
        client.get(address, headers=LOCAL)
    disarm()
    for address in addresses:
        answer = client.get(address, headers=LOCAL)
        assert answer.status_code == 200, answer.text


WORKS = {"write": write, "read": read, "view": view}


def _child(shim: Shim, work: str, path: Path, fault: Fault | None) -> int:
    try:
        WORKS[work](
            path,
            lambda: shim.steer(fault, process=os.getpid()),
            # Without a fault the calls of all of the work count.
            lambda: None if fault is None else shim.disarm(),
        )
    except (GvizError, MemoryError, OSError):
        return REFUSED
    except BaseException as error:
        if fault is not None and fault.call == "malloc" and _is_of_libraries(error):
            return REFUSED
        traceback.print_exc()
        return REFUSED + 1
    finally:
        sys.stderr.flush()
    return 0


def _is_of_libraries(error: BaseException) -> bool:
    """Return whether CPython or NumPy said in words of its own that there is no memory."""
    if isinstance(error, RuntimeError):
        return str(error) == "can't allocate lock"
    # NumPy's reductions (numpy.ufunc.reduce, called by numpy/_core/_methods.py) forget the word.
    frames = traceback.extract_tb(error.__traceback__)
    in_numpy = Path(np.__file__).parent in Path(frames[-1].filename).parents
    return isinstance(error, SystemError) and (in_numpy or "numpy" in str(error))


def main() -> None:
    """Fork and work until the input ends."""
    shim = Shim(Path(sys.argv[1]))
    faulthandler.enable()
    ctypes.CDLL(None).show_crashes()
    assert np.zeros(1).sum() == 0  # what numpy imports when it is first used
    while line := sys.stdin.readline():
        work, path, fault = json.loads(line)
        child = os.fork()
        if child == 0:
            os._exit(_child(shim, work, Path(path), None if fault is None else Fault(*fault)))
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()
