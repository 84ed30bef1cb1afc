"""Many seeds of a target in processes of their own, with limits of time and memory."""

from __future__ import annotations

import multiprocessing
import resource
import shutil
import tempfile
import traceback
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random

from fuzzing.reading import check_refusal
from fuzzing.targets import TARGETS
from gviz.errors import GvizError

#: The most one input may take: time in seconds; address space in bytes, beside the tests' own.
LIMIT_S = 30
LIMIT_BYTES = 3 << 30
#: Seeds of one process, which then makes way for another.
_SEEDS_A_PROCESS = 5_000


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
    path = write_input(target, seed, corpus, folder)
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
    outcome = Outcome()
    left = list(seeds)
    while left:
        done = _fuzz_in_process(target, left[:_SEEDS_A_PROCESS], corpus, outcome)
        left = left[done:]
    for fault in outcome.faults if keep is not None else ():
        kept = keep / f"{target}-{fault.seed}"
        shutil.rmtree(kept, ignore_errors=True)
        kept.mkdir(parents=True)
        write_input(target, fault.seed, corpus, kept)
        (kept / "fault.txt").write_text(fault.what)
    return outcome


def _fuzz_in_process(
    target: str, seeds: Sequence[int], corpus: Sequence[Path], outcome: Outcome
) -> int:
    """Read inputs until all are read or one ends the process; return how many."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(target, seeds, corpus, theirs), daemon=True)
    process.start()
    theirs.close()
    for done, seed in enumerate(seeds):
        try:
            stated = ours.recv() if ours.poll(LIMIT_S) else f"took more than {LIMIT_S} s"
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


def _work(target: str, seeds: Sequence[int], corpus: Sequence[Path], out: Connection) -> None:
    limit = _address_space() + LIMIT_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for seed in seeds:
        with tempfile.TemporaryDirectory() as folder:
            out.send(read_input(target, seed, corpus, Path(folder)))


def _address_space() -> int:
    """Return the bytes of address space in use: after other tests, gigabytes."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
