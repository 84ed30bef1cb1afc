"""A process that forks one that works for each line it reads, so that modules are imported once.

A line is JSON: what to do, the file, and the fault to meet on the way. The answer is the code that
the child ended with: 0 done (or what ``gviz run`` returned), REFUSED in a sentence or by an error
of the system, or another: then what it wrote to standard error says why. One that does not end is
aborted, and leaves the stacks of its threads there.
Run: python -P -m contract.faults.forked SHIM_FOLDER, with the shim preloaded.
"""

from __future__ import annotations

import ctypes
import faulthandler
import json
import os
import select
import shutil
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from admitted import LOCAL, admitted_client
from contract.faults.forking import REFUSED
from contract.faults.steering import Fault, Shim
from places import ROOT

from gviz.app.files.library import Library
from gviz.app.server.access.security import AccessRules
from gviz.app.server.application import build_app, create_app
from gviz.cli import main as gviz
from gviz.collectors import writer
from gviz.errors import GvizError, is_out_of_memory, is_without_reason
from gviz.recording.reader import Recording
from gviz.report.summary import summarize
from gviz.spool.processes.follow import follow
from gviz.spool.processes.left_over import fold_left_over
from gviz.spool.records.format import SPOOL_SUFFIX

_PAYLOADS = ("dag", "timeline")
_BUNDLED = ROOT / "assets" / "recordings" / "cupy_pipeline.gviz"
#: A writer that does nothing for so long is ended (30 s where it is not tested).
_PATIENCE_S = 0.5
#: What is not held up itself is answered within.
_ANSWER_S = 30
#: A work that takes longer never ends: others of the same process wait for it.
_DEADLINE_S = 90


@dataclass(frozen=True, slots=True)
class Arming:
    """The fault of a work, from a moment on."""

    shim: Shim
    fault: Fault | None

    def arm(self, *, elsewhere: bool = False) -> None:
        """Have the call fail: this thread's, or with ``elsewhere`` one of other sessions'.

        So it is never one of the process that forks and waits for all of them.
        """
        task = -os.getsid(0) if elsewhere else threading.get_native_id()
        self.shim.steer(self.fault, task=task)

    def disarm(self) -> None:
        """Have none fail from here on; without a fault the calls of all of the work count."""
        if self.fault is not None:
            self.shim.disarm()


def write(spool: Path, arming: Arming) -> None:
    """Fold a spool into a recording, as the writer does at a program's end."""
    arming.arm()
    fold_left_over(spool)


def replace(spool: Path, arming: Arming) -> None:
    """Put the recording in the place of another, as the writer does with ``--overwrite``."""
    arming.arm()
    follow(
        spool,
        _recording_of(spool),
        overwrite=True,
        watched=os.getppid(),
        end_requested=lambda: True,
    )


def attend(spool: Path, arming: Arming) -> None:
    """Have a writer process make the recording, and wait for it as ``gviz.profile`` does."""
    environment = writer._environment
    writer._environment = lambda: {**environment(), **arming.shim.environment()}
    writer._STILL_SECONDS = _PATIENCE_S
    arming.arm(elsewhere=True)
    writer.WriterProcess(spool, _recording_of(spool), overwrite=False).wait()


def _recording_of(spool: Path) -> Path:
    return spool.with_name(spool.name.removesuffix(SPOOL_SUFFIX))


def run(program: Path, arming: Arming) -> int:
    """Run a program under ``gviz run`` in its folder; return what that returns."""
    os.chdir(program.parent)
    for number, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
    arming.arm()
    code = gviz(["run", "-o", "out.gviz", str(program)])
    arming.disarm()
    return code


def read(recording: Path, arming: Arming) -> None:
    """Read a recording, as ``gviz info`` does."""
    arming.arm()
    with Recording(recording) as opened:
        summarize(opened)


def view(recording: Path, arming: Arming) -> None:
    """Answer requests; whatever fails meanwhile, the server answers the next ones."""
    access = AccessRules()
    client = admitted_client(create_app([recording], access).server, access)
    arming.arm()
    for address in _addresses(recording):
        client.get(address, headers=LOCAL)
    arming.disarm()
    for address in _addresses(recording):
        answer = client.get(address, headers=LOCAL)
        assert answer.status_code == 200, answer.text


def _addresses(recording: Path) -> list[str]:
    return [f"/payload/{kind}/{recording.stem}/1" for kind in _PAYLOADS]


def view_beside(recording: Path, arming: Arming) -> None:
    """Answer requests for one recording while a call of those for another is held up."""
    used, other = (recording.with_name(f"{name}.gviz") for name in ("used", "other"))
    for copy in (used, other):
        shutil.copy(recording, copy)
    access = AccessRules()
    client = admitted_client(create_app([recording, used, other], access).server, access)

    def request(path: Path) -> None:
        for address in _addresses(path):
            answer = client.get(address, headers=LOCAL)
            assert answer.status_code == 200, answer.text

    request(used)  # what is imported when it is first used

    def request_armed() -> None:
        arming.arm()
        request(recording)

    arming.shim.steer(None)  # the fault of the work before is not this one's
    held_up = threading.Thread(target=request_armed, daemon=True)
    held_up.start()
    while held_up.is_alive() and not arming.shim.has_failed():
        held_up.join(0.01)
    arming.disarm()
    signal.alarm(_ANSWER_S)
    request(other)


WORKS: dict[str, Callable[[Path, Arming], int | None]] = {
    "write": write, "replace": replace, "attend": attend, "run": run, "read": read, "view": view,
    "view beside": view_beside,
}  # fmt: skip


def _child(shim: Shim, work: str, path: Path, fault: Fault | None) -> int:
    try:
        return WORKS[work](path, Arming(shim, fault)) or 0
    except (GvizError, MemoryError, OSError):
        return REFUSED
    except BaseException as error:
        is_known = is_out_of_memory(error) or is_without_reason(error)
        if is_known and fault is not None and fault.call == "malloc":
            return REFUSED
        traceback.print_exc()
        return REFUSED + 1
    finally:
        sys.stderr.flush()


def _await_end(child: int) -> int:
    """Return the code that a child ends with, at the latest after a deadline."""
    end = os.pidfd_open(child)
    # faulthandler shows the stacks at the first.
    for patience_s, last in ((_DEADLINE_S, signal.SIGABRT), (5, signal.SIGKILL)):
        if select.select([end], [], [], patience_s)[0]:
            break
        os.kill(child, last)
    os.close(end)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@contextmanager
def _kept(*descriptors: int) -> Iterator[None]:
    """Put descriptors back at the end: ``gviz run`` leaves the pipes that it was given."""
    copies = [os.dup(number) for number in descriptors]
    yield
    for copy, number in zip(copies, descriptors, strict=True):
        os.dup2(copy, number)
        os.close(copy)


def main() -> None:
    """Fork and work until the input ends."""
    shim = Shim(Path(sys.argv[1]))
    faulthandler.enable()
    ctypes.CDLL(None).show_crashes()
    assert np.zeros(1).sum() == 0  # what numpy imports when it is first used
    with closing(Library([_BUNDLED])) as library:
        build_app(library, AccessRules())  # and what Dash does
    with TemporaryDirectory() as folder, _kept(0, 1):
        assert gviz(["run", "-o", f"{folder}/x.gviz", "/bin/true"]) == 0
    while line := sys.stdin.readline():
        work, path, fault = json.loads(line)
        child = os.fork()
        if child == 0:
            os._exit(_child(shim, work, Path(path), None if fault is None else Fault(*fault)))
        print(_await_end(child), flush=True)


if __name__ == "__main__":
    main()
