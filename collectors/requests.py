"""Requests to programs that are recorded: to begin recording now, or stop, from outside."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import time
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path

from gviz.collectors.job import Job
from gviz.dataclass import dataclass
from gviz.errors import CollectorError
from gviz.spool import ANSWER_PREFIX, CONTROL_SOCKET, SEGMENT_SUFFIX, START_REQUEST_PREFIX
from gviz.text import duration

#: A program looks for requests twice a second, and later where the driver holds gviz's thread up.
_ANSWER_S = 10.0
_AGAIN_S = 0.1
_LONGEST_ANSWER = 64
#: A segment that a process appends to, in /proc/ID/maps (man 5 proc).
_MAPPED = re.compile(rf"^\S+ rw.s \S+ \S+ \d+ +(/.*/)\d+{re.escape(SEGMENT_SUFFIX)}$", re.MULTILINE)


class Request(StrEnum):
    """The word that is sent."""

    START = "start"
    STOP = "stop"


class RequestAnswer(StrEnum):
    """The word that comes back: the state after a request, and whether it was another before."""

    STARTED = "started"
    RECORDING = "recording"
    STOPPED = "stopped"
    PAUSED = "paused"
    #: It has not used CUDA so far; that begins the recording.
    WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class RecordedProcess:
    """A process that writes a spool.

    Attributes
    ----------
    process_id
        Operating system's process id.
    spool
        Folder of its own segments, as the process sees it.
    """

    process_id: int
    spool: Path

    def takes_requests(self) -> bool:
        """Return whether it has used CUDA and was started to wait for requests."""
        return self._seen_from_here().joinpath(CONTROL_SOCKET).exists()

    def _seen_from_here(self) -> Path:
        """Return its folder; it may be in a container."""
        return _from_here(self.process_id, self.spool)

    def send(self, request: Request) -> RequestAnswer:
        """Have it start or stop recording, and return its answer.

        Raises
        ------
        CollectorError
            If it takes no requests, or does not answer in time.
        """
        job = Job.from_environment(_environment(self.process_id))
        if request is Request.STOP and job is not None:  # nor is what it starts to begin
            _awaiting(self.process_id, job).take_back()
        try:
            word = self._ask_until(request, time.monotonic() + _ANSWER_S)
        except FileNotFoundError:
            raise CollectorError(self._why_deaf()) from None
        except (TimeoutError, ConnectionRefusedError):
            raise CollectorError(
                f"process {self.process_id} has not answered within {duration(1e9 * _ANSWER_S)}: "
                "it is stopped, or waits in the driver; 'gviz top' says whether it records"
            ) from None
        except OSError as error:
            raise CollectorError(
                f"process {self.process_id} cannot be reached ({error.strerror}); if it still "
                "runs, try again"
            ) from error
        try:
            return RequestAnswer(word)
        except ValueError:
            raise CollectorError(
                f"process {self.process_id} answered {word!r}, which is not known here; use the "
                "version of gviz that records it"
            ) from None

    def _ask_until(self, request: Request, until_s: float) -> str:
        while True:
            try:
                return self._ask(request)
            except ConnectionRefusedError:  # closed by the program; gviz is about to make another
                if time.monotonic() > until_s:
                    raise
                time.sleep(_AGAIN_S)

    def _ask(self, request: Request) -> str:
        # By a descriptor, for an address is shorter than a path may be.
        folder = os.open(self._seen_from_here(), os.O_PATH | os.O_DIRECTORY)
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as asking:
                asking.settimeout(_ANSWER_S)
                asking.bind("")  # an address for the answer, which the kernel chooses
                asking.connect(f"/proc/self/fd/{folder}/{CONTROL_SOCKET}")
                asking.send(request.encode())
                return self._answer(asking).decode(errors="replace")
        finally:
            os.close(folder)

    def _answer(self, asking: socket.socket) -> bytes:
        """Return what comes back, or is left beside its socket: a container knows no address."""
        address = asking.getsockname()
        left = self._seen_from_here() / f"{ANSWER_PREFIX}{os.fsdecode(address[1:])}"
        until_s = time.monotonic() + _ANSWER_S
        asking.settimeout(min(_AGAIN_S, _ANSWER_S))
        while time.monotonic() < until_s:
            with contextlib.suppress(TimeoutError):
                return asking.recv(_LONGEST_ANSWER)
            with contextlib.suppress(FileNotFoundError):
                if answer := left.read_bytes():
                    left.unlink()
                    return answer
        raise TimeoutError

    def _why_deaf(self) -> str:
        return (
            f"process {self.process_id} takes no requests: only one that 'gviz run --paused' "
            "started does"
        )


@dataclass(frozen=True, slots=True)
class AwaitedProcess:
    """A process that has not used CUDA so far, so that no thread of gviz's is in it.

    Attributes
    ----------
    process_id
        Operating system's process id.
    request
        File in its job's directory that has it, and the processes that it starts, record from
        their first use of CUDA on.
    """

    process_id: int
    request: Path

    def send(self, request: Request) -> RequestAnswer:
        """Leave the request, or take it back, and return what that means.

        Raises
        ------
        CollectorError
            If the file cannot be made.
        """
        try:
            if request is Request.START:
                self.request.touch(0o600)
            else:
                self.take_back()
        except OSError as error:
            raise CollectorError(
                f"the request to process {self.process_id} cannot be left in {self.request.parent}"
                f" ({error.strerror}); if it still runs, try again"
            ) from error
        # Who has used CUDA meanwhile has looked for the file, or listens by now.
        answers = {one.process_id: one.send(request) for one in _takers(self.process_id)}
        missing = RequestAnswer.WAITING if request is Request.START else RequestAnswer.PAUSED
        return answers.get(self.process_id, missing)

    def take_back(self) -> None:
        """Have no request left."""
        self.request.unlink(missing_ok=True)


def find_recorded(process_id: int) -> Sequence[RecordedProcess | AwaitedProcess]:
    """Return which of a process, its children and theirs take requests, in this order.

    Where none does, the first that may use CUDA later, or those that are recorded: to ask them says
    why.

    Raises
    ------
    CollectorError
        If none is, with the reason.
    """
    found = _found(process_id)
    if takers := [one for one in found if one.takes_requests()]:
        return takers
    if (awaited := find_awaited(process_id)) is not None:
        return [awaited]
    if found:
        return found
    if any("GVIZ_SPOOL" in _environment(one) for one in _family(process_id)):
        raise CollectorError(
            f"process {process_id} takes no requests: it was not started by 'gviz run --paused', "
            "or its recording has ended"
        )
    raise CollectorError(
        f"process {process_id} is not recorded by gviz; start it with 'gviz run --paused PROGRAM'"
    )


def find_awaited(process_id: int) -> AwaitedProcess | None:
    """Return the first of a process, its children and theirs that may use CUDA later, or None.

    Only under ``gviz run --paused``.
    """
    for one in _family(process_id):
        job = Job.from_environment(_environment(one))
        if job is not None and job.options.paused:
            is_first = _id_inside(_status(one).get("PPid", "0")) == str(job.parent)
            waits = (is_first or job.follow) and not _has_used_cuda(one, job, is_first=is_first)
            return _awaiting(one, job) if waits else None
    return None


def _awaiting(process_id: int, job: Job) -> AwaitedProcess:
    name = f"{START_REQUEST_PREFIX}{_id_inside(process_id)}"
    return AwaitedProcess(process_id, _from_here(process_id, job.spool) / name)


def _from_here(process_id: int, path: Path) -> Path:
    """Return a path of a process, which may be in a container."""
    return Path(f"/proc/{process_id}/root{path}")


def _id_inside(process_id: int | str) -> str:
    """Return the id of a process in its own namespace, which is that of its container."""
    return _status(process_id).get("NSpid", str(process_id)).split()[-1]


def _has_used_cuda(process_id: int, job: Job, *, is_first: bool) -> bool:
    """Return whether it takes requests, or has recorded and does no more."""
    recorded = next(_look_at_all([process_id]), None)
    if recorded is not None:  # the first, where it is Python's, has a spool from its start on
        return recorded.takes_requests() or not is_first
    pattern = f"0*{SEGMENT_SUFFIX}" if is_first else f"{_id_inside(process_id)}-*"
    return next(_from_here(process_id, job.spool).glob(pattern), None) is not None


def _takers(process_id: int) -> list[RecordedProcess]:
    return [one for one in _found(process_id) if one.takes_requests()]


def _found(process_id: int) -> list[RecordedProcess]:
    """Return which of a process, its children and theirs write a spool."""
    found = (_look_at(process_id), *_look_at_all(_family(process_id)[1:]))
    return [one for one in found if one is not None]


def _family(process_id: int) -> list[int]:
    return [process_id, *_descendants(process_id)]


def _look_at(process_id: int) -> RecordedProcess | None:
    """Return the process as one that is recorded, or None."""
    try:
        maps = Path(f"/proc/{process_id}/maps").read_text(errors="surrogateescape")
    except FileNotFoundError:
        raise CollectorError(
            f"there is no process {process_id}; 'ps ux' lists those that you have running"
        ) from None
    except PermissionError:
        raise CollectorError(
            f"process {process_id} cannot be looked into: it is another user's, or protected; "
            "send the request as who started it"
        ) from None
    except OSError:  # it has just ended
        return None
    mapped = _MAPPED.search(maps)
    spool = None if mapped is None else Path(mapped[1].replace(r"\012", "\n"))
    return None if spool is None else RecordedProcess(process_id, spool)


def _look_at_all(process_ids: Sequence[int]) -> Iterator[RecordedProcess | None]:
    for process_id in process_ids:
        with contextlib.suppress(CollectorError):  # it ended meanwhile, or is another user's
            yield _look_at(process_id)


def _descendants(process_id: int) -> Iterator[int]:
    """Yield the children of a process, each followed by its own."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = entry.read_text(errors="replace").rpartition(")")[2].split()
            children.setdefault(int(fields[1]), []).append(int(entry.parent.name))
    left = sorted(children.get(process_id, []), reverse=True)
    while left:
        child = left.pop()
        yield child
        left += sorted(children.get(child, []), reverse=True)


def _environment(process_id: int) -> dict[str, str]:
    """Return the environment that a process was started with; nothing if it cannot be read."""
    try:
        text = Path(f"/proc/{process_id}/environ").read_text(errors="surrogateescape")
    except OSError:
        return {}
    return dict(entry.split("=", 1) for entry in text.split("\0") if "=" in entry)


def _status(process_id: int | str) -> dict[str, str]:
    """Return the lines of its status (man 5 proc); nothing if it has just ended."""
    try:
        text = Path(f"/proc/{process_id}/status").read_text(errors="replace")
    except OSError:
        return {}
    parts = (line.partition(":") for line in text.splitlines())
    return {name: value.strip() for name, _, value in parts}
