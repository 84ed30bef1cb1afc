"""Faults of the system in calls of gviz: the program ends as it does, and what was recorded stays.

Each call of a small program's native library fails once, and calls of the processes that start
programs, write and show recordings; and calls are held up, for a while or for ever: all up to 2,000
of a name, of more one in k. A run tries a part of them, and the next run in this working copy the
next part, by the seed that it prints: GVIZ_FAULT_SEED repeats it, GVIZ_FAULTS=all (make faults)
tries all.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from contract.backend import Backend
from contract.faults.extent import Extent, next_seed
from contract.faults.forking import REFUSED, Forked
from contract.faults.steering import CALLS, HANG, HANG_BESIDE, Fault, Shim
from contract.faults.watched_program import WatchedProgram
from fake.build import compiler
from recording_equality import normal_run
from recordings import fork_join_shape, write_recording

from gviz.errors import SpoolError
from gviz.recording.reader import Recording
from gviz.spool.processes.left_over import fold_left_over

_HERE = Path(__file__).parent
#: What binary.c is told to do.
_PROGRAMS = ((), ("fork later",), ("_exit",), ("atexit",))
_TRIES_ALL = os.environ.get("GVIZ_FAULTS") == "all"
#: Runs that try all between them: a prime, so that they do where other runs, as of the quick tests
#: alone, take every second seed.
_PARTS = 1 if _TRIES_ALL else 17
_EXTENT = Extent(2_000, 400, _PARTS)
#: Of the small program, which makes few calls.
_PROGRAM_EXTENT = Extent(2_000, 400, 1)
#: Of what starts a process for each fault, or waits for one.
_SLOW_EXTENT = Extent(200, 100, _PARTS)
#: Of few that are held up, and answer others after three seconds.
_HELD_EXTENT = Extent(2_000, 400, min(_PARTS, 5))
#: What waits for a writer of which a call never returns is over after so long, seconds.
_DEADLINE_S = 30


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Shim:
    return Shim.build(tmp_path_factory.mktemp("shim"))


@pytest.fixture(scope="module")
def seed() -> int:
    seed = int(os.environ.get("GVIZ_FAULT_SEED") or next_seed())
    print(f"GVIZ_FAULT_SEED={seed}")
    return seed


@pytest.fixture(scope="module")
def binary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("faulty") / "binary"
    source = str(_HERE / "binary.c")
    subprocess.run(
        [compiler() or "cc", "-std=gnu11", "-o", str(target), source, "-ldl"], check=True
    )
    return target


@pytest.fixture(scope="module")
def forked(fake: Backend, shim: Shim, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forked]:
    process = Forked(shim, tmp_path_factory.mktemp("forked"), fake.environment)
    yield process
    process.close()


@pytest.mark.quick
def test_runs_one_after_the_other_try_every_call(tmp_path: Path) -> None:
    counts = dict.fromkeys(CALLS, 50)
    seeds = [next_seed(tmp_path / "build" / "seed") for _ in range(7)]
    parts = [Extent(2_000, 400, 7).faults(counts, seed) for seed in seeds]
    whole = Extent(2_000, 400, 1).faults(counts, seeds[0])
    assert {fault.at for fault in whole if fault.call == "malloc"} == set(range(1, 51))
    assert sorted(map(str, whole)) == sorted(str(fault) for part in parts for fault in part)
    assert max(map(len, parts)) <= len(whole) // 7 + 1


class Trial:
    """The faults of one kind of work: how many were tried, and what they changed.

    Parameters
    ----------
    shim
        What makes calls fail.
    name
        Of the work, for the report.
    """

    def __init__(self, shim: Shim, name: str) -> None:
        self._shim = shim
        self._name = name
        self._tried = self._met = 0
        self._wrong: list[str] = []

    def attempt(self, fault: Fault, check: Callable[[Fault], str]) -> None:
        """Try a fault; ``check`` returns what it changed, "" where it changed nothing."""
        wrong = check(fault)
        self._tried += 1
        self._met += self._shim.has_failed()
        if wrong:
            self._wrong.append(f"{fault}: {wrong}")

    def report(self) -> None:
        """Fail where a fault changed something."""
        print(f"{self._name}: {self._tried} faults tried, {len(self._wrong)} changed anything")
        assert not self._wrong, "\n".join(self._wrong)
        # Threads, and who waits for a process, make more or fewer calls from one time to the next.
        met, tried = self._met, self._tried
        assert met > 0.5 * tried, f"{self._name}: only {met} of {tried} calls failed"


def _try_program(program: WatchedProgram, trial: Trial, seed: int, delay: int = 0) -> None:
    """Run a program with each fault of its native library."""
    plain = program.run_plain()
    assert program.run(None) == plain
    counts = program.shim.counts()
    whole = program.launches()
    assert whole
    assert min(counts["mmap"], counts["malloc"], counts["open"], counts["truncate"]) > 0

    def check(fault: Fault) -> str:
        ending = program.run(fault)
        if ending != plain:
            return f"{ending}, not {plain}"
        launches = program.launches()
        if delay:
            return "" if launches == whole else f"{launches} launches, not {whole}"
        # Where the spool itself could not be made nothing is recorded; all else is readable.
        lost = launches is None and fault.call not in ("open", "mmap", "truncate", "mkdir")
        return "nothing is recorded" if lost else ""

    for fault in _PROGRAM_EXTENT.faults(counts, seed, delay):
        trial.attempt(fault, check)


@pytest.mark.quick
def test_program_ends_as_plain_whatever_call_of_gviz_fails(
    fake: Backend, binary: Path, shim: Shim, tmp_path: Path, seed: int
) -> None:
    trial = Trial(shim, "program")
    for arguments in _PROGRAMS:
        program = WatchedProgram([str(binary), *arguments], dict(fake.environment), tmp_path, shim)
        _try_program(program, trial, seed)
    trial.report()


@pytest.mark.thorough
def test_program_ends_as_plain_whatever_call_of_gviz_is_held_up(
    fake: Backend, binary: Path, shim: Shim, tmp_path: Path, seed: int
) -> None:
    trial = Trial(shim, "program held up")
    program = WatchedProgram([str(binary)], dict(fake.environment), tmp_path, shim)
    _try_program(program, trial, seed, HANG_BESIDE)
    trial.report()


def _await_or_fold(spool: Path, output: Path) -> None:
    """Have a recording: the writer's, which may be at work unawaited, or what its spool gives."""
    end = time.monotonic() + _DEADLINE_S
    while not output.exists():
        try:
            fold_left_over(spool)
        except SpoolError:  # it is being made, or was in this moment
            assert time.monotonic() < end, "neither a recording nor a spool"
            time.sleep(0.05)


@pytest.mark.thorough
def test_gviz_run_ends_as_the_program_or_does_not_start_it(
    binary: Path, forked: Forked, shim: Shim, tmp_path: Path, seed: int
) -> None:
    program = shutil.copy(binary, tmp_path)
    spool, output = tmp_path / "out.gviz-spool", tmp_path / "out.gviz"
    assert forked.work("run", program, None) == 3, forked.said()
    whole = _launch_count(output)

    def check(fault: Fault) -> str:
        output.unlink(missing_ok=True)
        shutil.rmtree(spool, ignore_errors=True)
        code = forked.work("run", program, fault)
        printed, said = ((tmp_path / name).read_text() for name in ("stdout", "stderr"))
        if not printed:
            # Without memory Python may say it in words of its own, or cannot say it.
            in_words = said.startswith("gviz: ") or fault.call == "malloc"
            return "" if 0 < code < 3 and in_words else f"{code}: {said}"
        if (code, printed) != (3, "words are 4\n"):
            return f"{code}, {printed!r}: {said}"
        _await_or_fold(spool, output)
        launches = _launch_count(output)
        return "" if launches == whole else f"{launches} launches, not {whole}"

    trial = Trial(shim, "gviz run")
    for fault in _SLOW_EXTENT.faults(shim.counts(), seed):
        trial.attempt(fault, check)
    trial.report()


class Spool:
    """The spool of a program that has ended, put back for each fault."""

    def __init__(self, program: WatchedProgram) -> None:
        folder = program.folder
        program.run(None)
        self.path, self._kept = folder / "out.gviz-spool", folder / "kept"
        self.output = folder / "out.gviz"
        shutil.copytree(self.path, self._kept)

    def put_back(self) -> None:
        """Have it as the program left it, and no recording."""
        self.output.unlink(missing_ok=True)
        shutil.rmtree(self.path, ignore_errors=True)
        shutil.copytree(self._kept, self.path)

    def content(self) -> object:
        """Return the content of the recording: that which was made, or is made of it now."""
        if not self.output.exists():
            fold_left_over(self.path)
        return _content(self.output)


@pytest.fixture
def spool(fake: Backend, binary: Path, shim: Shim, tmp_path: Path) -> Spool:
    return Spool(WatchedProgram([str(binary)], dict(fake.environment), tmp_path, shim))


@pytest.mark.thorough
def test_recording_is_made_later_whatever_call_of_the_writer_fails(
    forked: Forked, shim: Shim, spool: Spool, seed: int
) -> None:
    assert forked.work("write", spool.path, None) == 0, forked.said()
    counts = shim.counts()
    whole = _content(spool.output)

    def check(fault: Fault) -> str:
        spool.put_back()
        code = forked.work("write", spool.path, fault)
        # However the writer ended, the recording is there, or is made of what it left.
        if code != 0 and not spool.path.is_dir():
            return f"{code}: {forked.said()}"
        return "" if spool.content() == whole else "another recording"

    trial = Trial(shim, "writer")
    for fault in _EXTENT.faults(counts, seed):
        trial.attempt(fault, check)
    trial.report()


@pytest.mark.thorough
def test_recording_that_is_replaced_stays_whatever_call_of_the_writer_fails(
    forked: Forked, shim: Shim, spool: Spool, tmp_path: Path, seed: int
) -> None:
    before = write_recording(tmp_path / "before.gviz", fork_join_shape(1, 2, 1), launches=3)
    old = _content(before)

    def work(fault: Fault | None) -> int:
        spool.put_back()
        shutil.copy(before, spool.output)
        return forked.work("replace", spool.path, fault)

    assert work(None) == 0, forked.said()
    counts = shim.counts()
    assert min(counts["fsync"], counts["rename"]) > 0
    new = _content(spool.output)
    assert new != old

    def check(fault: Fault) -> str:
        done = work(fault) == 0
        found = _content(spool.output)
        if found == new or (found == old and spool.path.is_dir() and not done):
            return ""
        return f"neither one nor the other: {forked.said()}"

    trial = Trial(shim, "writer that replaces")
    # Without memory it was tried where it replaces nothing.
    for fault in _EXTENT.faults({**counts, "malloc": 0}, seed):
        trial.attempt(fault, check)
    trial.report()


@pytest.mark.thorough
def test_nobody_waits_for_a_writer_of_which_a_call_never_returns(
    forked: Forked, shim: Shim, spool: Spool, seed: int
) -> None:
    spool.put_back()
    assert forked.work("attend", spool.path, None) == 0, forked.said()
    counts = shim.counts()
    whole = _content(spool.output)

    def check(fault: Fault) -> str:
        spool.put_back()
        begun = time.monotonic()
        code = forked.work("attend", spool.path, fault)
        if code != 0 or time.monotonic() - begun > _DEADLINE_S:
            return f"{code} after {time.monotonic() - begun:.0f} s: {forked.said()}"
        return "" if spool.content() == whole else "another recording"

    trial = Trial(shim, "writer that hangs")
    for fault in _SLOW_EXTENT.faults(counts, seed, HANG):
        trial.attempt(fault, check)
    trial.report()


def _content(path: Path) -> object:
    with Recording(path) as recording:
        return normal_run(recording, 1)


def _launch_count(path: Path) -> int:
    with Recording(path) as recording:
        graphs = recording.fetch_graphs()
        return sum(len(recording.fetch_launches(graph.graph_id)) for graph in graphs)


@pytest.mark.thorough
@pytest.mark.parametrize("work", ["read", "view"])
def test_reader_refuses_in_words_and_the_viewer_goes_on(
    forked: Forked, shim: Shim, tmp_path: Path, seed: int, work: str
) -> None:
    path = write_recording(tmp_path / "x.gviz", fork_join_shape(1, 2, 1), launches=3)
    assert forked.work(work, path, None) == 0, forked.said()

    def check(fault: Fault) -> str:
        code = forked.work(work, path, fault)
        # NumPy's indexing by arrays does not look at what malloc gave it (2.4).
        if fault.call == "malloc" and code == -signal.SIGSEGV:
            numpys = forked.crashed_in().startswith("_multiarray_umath")
            return "" if numpys else forked.said()
        return "" if 0 <= code <= REFUSED else f"{code}: {forked.said()}"

    trial = Trial(shim, work)
    for fault in _EXTENT.faults(shim.counts(), seed):
        trial.attempt(fault, check)
    trial.report()


@pytest.mark.thorough
def test_viewer_shows_other_files_while_a_call_for_one_never_returns(
    forked: Forked, shim: Shim, tmp_path: Path, seed: int
) -> None:
    path = write_recording(tmp_path / "x.gviz", fork_join_shape(1, 2, 1), launches=3)
    assert forked.work("view beside", path, None) == 0, forked.said()

    def check(fault: Fault) -> str:
        code = forked.work("view beside", path, fault)
        return "" if code == 0 else f"{code}: {forked.said()}"

    trial = Trial(shim, "view held up")
    # CPython allocates and maps memory with its lock held: where that never comes, all waits.
    counts = {**shim.counts(), "malloc": 0, "mmap": 0}
    assert counts["read"] > 0
    for fault in _HELD_EXTENT.faults(counts, seed, HANG):
        trial.attempt(fault, check)
    trial.report()
