"""Many seeds of a target in processes of their own, with limits of time and memory."""

from __future__ import annotations

import multiprocessing
import resource
import shutil
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random

from fuzzing.refusals import check_refusal
from fuzzing.targets import TARGETS
from gviz.errors import GvizError

#: The most one input may take: time in seconds, but for that in which other processes had the
#: cores; address space in bytes, beside the tests' own.
LIMIT_S = 10
LIMIT_BYTES = 1 << 30
#: Seeds of one process, which then makes way for another.
_SEEDS_A_PROCESS = 5_000
#: What a process says once it has imported what it reads with; the most that may take, seconds.
_LOADED = "loaded"
_LOAD_S = 600
#: Where processes have their files: in memory, as some inputs take more time by their files than
#: by what is read of them.
_MEMORY = Path("/dev/shm")
#: Reads the input of a seed, in a folder of its own; returns what came of it.
Read = Callable[[int, Path], str]


@dataclass(frozen=True, slots=True)
class Fault:
    """An input that was neither taken nor refused in words."""

    target: str
    seed: int
    what: str


@dataclass(slots=True)
class Outcome:
    """Outcomes of the inputs of a target."""

    taken: int = 0
    refused: int = 0
    faults: list[Fault] = field(default_factory=list)

    @property
    def count(self) -> int:
        """Inputs."""
        return self.taken + self.refused + len(self.faults)


def write_input(target: str, seed: int, corpus: Sequence[Path], folder: Path) -> Path:
    """Write the input of a seed into a folder, and return it."""
    # A text as seed: its hash is the same in every process.
    return TARGETS[target].mutate(Random(f"{target} {seed}"), corpus, folder)


def read_input(target: str, seed: int, corpus: Sequence[Path], folder: Path) -> str:
    """Read the input of a seed; return ``taken``, ``refused``, or what went wrong."""
    return read_path(target, write_input(target, seed, corpus, folder))


def read_path(target: str, path: Path) -> str:
    """Read an input; return ``taken``, ``refused``, or what went wrong."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            TARGETS[target].read(path)
    except GvizError as error:
        try:
            check_refusal(error)
        except Exception:
            return traceback.format_exc()
        return "refused"
    except Exception:  # each of them is a fault
        return traceback.format_exc()
    return "taken"


def write_corpus(target: str, folder: Path) -> Sequence[Path]:
    """Write a target's honest inputs into a folder, and return them."""
    folder.mkdir(parents=True)
    return TARGETS[target].corpus(folder)


def fuzz(
    target: str, seeds: Sequence[int], corpus: Sequence[Path], keep: Path | None = None
) -> Outcome:
    """Read the inputs of some seeds; ``keep``: a folder for those that show a fault."""
    outcome = _read_all(
        target, seeds, lambda seed, folder: read_input(target, seed, corpus, folder)
    )
    for fault in outcome.faults if keep is not None else ():
        kept = keep / f"{target}-{fault.seed}"
        shutil.rmtree(kept, ignore_errors=True)
        kept.mkdir(parents=True)
        write_input(target, fault.seed, corpus, kept)
        (kept / "fault.txt").write_text(fault.what)
    return outcome


def read_kept(target: str, paths: Sequence[Path]) -> Outcome:
    """Read inputs as they are; the seed of a fault is the place of its input."""
    return _read_all(target, range(len(paths)), lambda at, _: read_path(target, paths[at]))


def _read_all(target: str, seeds: Sequence[int], read: Read) -> Outcome:
    outcome = Outcome()
    left = list(seeds)
    while left:
        done = _read_in_process(target, left[:_SEEDS_A_PROCESS], read, outcome)
        left = left[done:]
    return outcome


def _read_in_process(target: str, seeds: Sequence[int], read: Read, outcome: Outcome) -> int:
    """Read inputs until all are read or one ends the process; return how many."""
    # Removed here: a process that is ended removes nothing.
    with tempfile.TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None) as folder:
        return _read_with_files_in(folder, target, seeds, read, outcome)


def _read_with_files_in(
    folder: str, target: str, seeds: Sequence[int], read: Read, outcome: Outcome
) -> int:
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    work = (folder, target, seeds, read, theirs)
    process = context.Process(target=_work, args=work, daemon=True)
    process.start()
    theirs.close()
    if not ours.poll(_LOAD_S) or ours.recv() != _LOADED:
        process.kill()
        raise RuntimeError(f"what {target} reads with is not imported within {_LOAD_S} s")
    for done, seed in enumerate(seeds):
        try:
            ended = _says_something(ours, process.pid)
            stated = ours.recv() if ended else f"took more than {LIMIT_S} s"
        except EOFError:
            process.join()
            stated = f"the process ended with code {process.exitcode}"
        if stated == "taken":
            outcome.taken += 1
        elif stated == "refused":
            outcome.refused += 1
        else:
            outcome.faults.append(Fault(target, seed, stated))
            if not stated.startswith("Traceback"):
                process.kill()
                process.join()
                ours.close()
                return done + 1
    process.join()
    ours.close()
    return len(seeds)


def _says_something(process: Connection, process_id: int | None) -> bool:
    """Return whether a process says something, or ends, in the time that an input may take."""
    begun = time.monotonic() - _kept_waiting_s(process_id)
    left_s: float = LIMIT_S
    while not process.poll(left_s):
        left_s = LIMIT_S - (time.monotonic() - _kept_waiting_s(process_id) - begun)
        if left_s <= 0:
            return False
    return True


def _kept_waiting_s(process_id: int | None) -> float:
    """Return the seconds for which threads of a process could run and had no core."""
    waited_ns = 0
    for file in Path(f"/proc/{process_id}/task").glob("*/schedstat"):
        with suppress(OSError):  # the thread has ended
            waited_ns += int(file.read_text().split()[1])
    return waited_ns / 1e9


def _load(target: str) -> None:
    """Import what reads a target's inputs: no input's time or memory is that of imports."""
    with tempfile.TemporaryDirectory() as folder:
        for number, path in enumerate(write_corpus(target, Path(folder) / "honest")):
            # What is read may write beside it, and some stand in the repository.
            place = Path(folder) / str(number)
            place.mkdir()
            copy = shutil.copytree if path.is_dir() else shutil.copyfile
            read_path(target, Path(copy(path, place / path.name)))


def _work(folder: str, target: str, seeds: Sequence[int], read: Read, out: Connection) -> None:
    tempfile.tempdir = folder  # of what gviz writes aside, too
    _load(target)
    out.send(_LOADED)
    limit = _address_space() + LIMIT_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for seed in seeds:
        with tempfile.TemporaryDirectory() as own:
            out.send(read(seed, Path(own)))


def _address_space() -> int:
    """Return the bytes of address space in use: after other tests, gigabytes."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
