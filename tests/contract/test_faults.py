"""Faults of the system in calls of gviz: the program ends as it does, and what was recorded stays.

Each call of a small program's native library fails once, and calls of the processes that write and
show recordings: all of them, or a sample where there are many. GVIZ_FAULT_SEED repeats a sample.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from contract.backend import Backend
from contract.faults.forked import REFUSED
from contract.faults.steering import Fault, Shim, faults
from contract.faults.watched_program import WatchedProgram
from fake.build import compiler
from recording_equality import normal_run
from recordings import fork_join_shape, write_recording

from gviz.recording.reader import Recording
from gviz.spool.processes.left_over import fold_left_over

_HERE = Path(__file__).parent
#: What binary.c is told to do.
_PROGRAMS = ((), ("fork later",), ("_exit",), ("atexit",))
#: Of calls that are made more often, a sample of so many fails.
_MOST_CALLS = 25


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Shim:
    return Shim.build(tmp_path_factory.mktemp("shim"))


@pytest.fixture(scope="module")
def random() -> Random:
    seed = int(os.environ.get("GVIZ_FAULT_SEED") or Random().randrange(1 << 32))
    print(f"GVIZ_FAULT_SEED={seed}")
    return Random(seed)


@pytest.fixture(scope="module")
def binary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("faulty") / "binary"
    source = str(_HERE / "binary.c")
    subprocess.run(
        [compiler() or "cc", "-std=gnu11", "-o", str(target), source, "-ldl"], check=True
    )
    return target


def _try_all(program: WatchedProgram, most: int, random: Random) -> tuple[int, list[str]]:
    """Run a program with each fault; return how many there were, and what changed the program."""
    plain = program.run_plain()
    assert program.run(None) == plain
    counts, wrong, met = program.shim.counts(), [], 0
    whole = program.launches()
    assert whole
    assert min(counts["mmap"], counts["malloc"], counts["open"]) > 0
    tried = list(faults(counts, most, random))
    for fault in tried:
        ending = program.run(fault)
        met += program.shim.has_failed()
        if ending != plain:
            wrong.append(f"{fault}: {ending}, not {plain}")
        # Where the spool itself could not be made nothing is recorded; all else is readable.
        launches = program.launches()
        if launches is None and fault.call not in ("open", "mmap", "truncate", "mkdir"):
            wrong.append(f"{fault}: nothing is recorded")
    _check_met(met, len(tried))
    return len(tried), wrong


def _check_met(met: int, tried: int) -> None:
    """Fail if calls were not made that were to fail: threads make a few more or fewer."""
    assert met > 0.8 * tried, f"only {met} of {tried} calls failed"


@pytest.mark.quick
def test_program_ends_as_plain_whatever_call_of_gviz_fails(
    fake: Backend, binary: Path, shim: Shim, tmp_path: Path, random: Random
) -> None:
    environment = dict(fake.environment)
    tried, wrong = 0, []
    for arguments in _PROGRAMS:
        program = WatchedProgram([str(binary), *arguments], environment, tmp_path, shim)
        count, found = _try_all(program, _MOST_CALLS, random)
        tried += count
        wrong += found
    print(f"{tried} faults tried, {len(wrong)} changed the program")
    assert not wrong, "\n".join(wrong)


class Forked:
    """The process of faults/forked.py."""

    def __init__(self, shim: Shim, folder: Path) -> None:
        self.shim = shim
        self.errors = folder / "errors"
        self._said_before = 0
        path = os.pathsep.join([str(_HERE.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
        with self.errors.open("w") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "contract.faults.forked", str(shim.library.parent)],
                env={**os.environ, **shim.environment(), "PYTHONPATH": path},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )

    def work(self, what: str, path: Path, fault: Fault | None) -> int:
        """Return the code that a process ended with."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        given = None if fault is None else (fault.call, fault.at, fault.error)
        self._said_before = self.errors.stat().st_size
        self._process.stdin.write(json.dumps([what, str(path), given]) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def said(self) -> str:
        """Return what the last process wrote to standard error, its end where it is long."""
        with self.errors.open("rb") as errors:
            errors.seek(self._said_before)
            return errors.read().decode(errors="replace")[-6000:]

    def crashed_in(self) -> str:
        """Return the file name of the library whose code ended the last process by SIGSEGV."""
        _, _, stack = self.said().rpartition("crashed in:\n")
        libraries = [Path(line.partition("(")[0]).name for line in stack.splitlines()]
        # Before it: the handler, and the C library's return from a signal.
        return next(name for name in libraries if not name.startswith(("shim.so", "libc.so")))

    def close(self) -> None:
        """End it."""
        self._process.communicate()


@pytest.fixture(scope="module")
def forked(shim: Shim, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forked]:
    process = Forked(shim, tmp_path_factory.mktemp("forked"))
    yield process
    process.close()


@pytest.mark.thorough
def test_recording_is_made_later_whatever_call_of_the_writer_fails(
    fake: Backend, binary: Path, forked: Forked, shim: Shim, tmp_path: Path, random: Random
) -> None:
    program = WatchedProgram([str(binary)], dict(fake.environment), tmp_path, shim)
    program.run(None)
    spool, kept, output = (tmp_path / n for n in ("out.gviz-spool", "kept", "out.gviz"))
    shutil.copytree(spool, kept)
    assert forked.work("write", spool, None) == 0, forked.errors.read_text()
    counts = shim.counts()
    whole, met = _content(output), 0
    tried = list(faults(counts, _MOST_CALLS, random))
    for fault in tried:
        output.unlink(missing_ok=True)
        shutil.rmtree(spool, ignore_errors=True)
        shutil.copytree(kept, spool)
        code = forked.work("write", spool, fault)
        met += shim.has_failed()
        # However the writer ended, the recording is there, or is made of what it left.
        assert code == 0 or spool.is_dir(), f"{fault}: {code}"
        if not output.exists():
            fold_left_over(spool)
        assert _content(output) == whole, fault
    _check_met(met, len(tried))
    print(f"writer: {len(tried)} faults tried, 0 lost what was recorded")


def _content(path: Path) -> object:
    with Recording(path) as recording:
        return normal_run(recording, 1)


@pytest.mark.thorough
@pytest.mark.parametrize("work", ["read", "view"])
def test_reader_refuses_in_words_and_the_viewer_goes_on(
    forked: Forked, shim: Shim, tmp_path: Path, random: Random, work: str
) -> None:
    path = write_recording(tmp_path / "x.gviz", fork_join_shape(1, 2, 1), launches=3)
    assert forked.work(work, path, None) == 0, forked.errors.read_text()
    tried = list(faults(shim.counts(), _MOST_CALLS, random))
    met = 0
    for fault in tried:
        code = forked.work(work, path, fault)
        met += shim.has_failed()
        # NumPy's indexing by arrays does not look at what malloc gave it (2.4).
        if fault.call == "malloc" and code == -signal.SIGSEGV:
            assert forked.crashed_in().startswith("_multiarray_umath"), f"{fault}: {forked.said()}"
            continue
        assert 0 <= code <= REFUSED, f"{fault}: {code}\n{forked.said()}"
    _check_met(met, len(tried))
    print(f"{work}: {len(tried)} faults tried, 0 ended it otherwise than in words")
