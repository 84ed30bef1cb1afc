"""Runs of the copy's tests in processes of their own, with limits of time and memory."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import IO

from mutating.tree import PLUGIN, Tree

#: The most a test may take (s): of those that run in seconds, and of those of the browser.
TEST_LIMIT_S = 60
SLOW_TEST_LIMIT_S = 300
#: Memory of a process's own: some mutations would take all there is.
MOST_BYTES = 8 << 30


@dataclass(slots=True)
class Run:
    """The outcome of tests.

    Attributes
    ----------
    failed
        Error of each test that failed, in order; of a module that cannot be imported too.
    seconds
        How long each test took that passed.
    fixtures
        Of each test that was collected the fixtures that it shares with others.
    complete
        Whether all tests ran: none was stopped by a limit, nor pytest by an error.
    """

    failed: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    fixtures: dict[str, list[str]] = field(default_factory=dict)
    complete: bool = True


class Suite:
    """Runs tests of a copy.

    Parameters
    ----------
    tree
        The copy.
    """

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    def files(self) -> list[str]:
        """Return the test modules that can run without a GPU."""
        tests = self._tree.path / "tests"
        found = [p.relative_to(self._tree.path) for p in tests.rglob("test_*.py")]
        return sorted(str(p) for p in found if p.parts[1] not in ("gpu", "golden"))

    def run(
        self,
        files: Sequence[str],
        *,
        only: Sequence[str] | None = None,
        without: Sequence[str] = (),
        marks: str = "not gpu",
        most_failures: int = 0,
        limit_s: float = 3600.0,
        test_limit_s: int = SLOW_TEST_LIMIT_S,
        marked: Path | None = None,
    ) -> Run:
        """Run tests of modules.

        Parameters
        ----------
        only, without
            The tests to run, in order; tests not to run.
        marks
            Expression of marks.
        most_failures
            After so many failures it ends; 0: never.
        limit_s
            After so many seconds it is stopped; the test that runs then has failed.
        test_limit_s
            A test that takes longer fails.
        marked
            The file for what marked lines write.
        """
        # A short path: sockets have names of at most 108 bytes.
        folder = Path(tempfile.mkdtemp(prefix="gviz-mutations-"))
        try:
            orders = {"only": only if only is None else list(only), "without": list(without)}
            (folder / "orders").write_text(json.dumps(orders))
            environment = self._environment(folder, marked)
            command = self._command(folder / "tests", files, marks)
            command += [f"--maxfail={most_failures}", f"--timeout={test_limit_s}"]
            with (folder / "output").open("w") as output:
                code = self._wait(command, environment, limit_s, output)
            return _read(folder, code, files)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _environment(self, folder: Path, marked: Path | None) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "PYTHON"))}
        path = f"{self._tree.python.parent}{os.pathsep}{kept.get('PATH', '')}"
        own = {
            "GVIZ_MUTATION_LOG": str(folder / "log"),
            "GVIZ_MUTATION_RUN": str(folder / "orders"),
        }
        if marked is not None:
            own["GVIZ_MUTATION_MARKS"] = str(marked)
        return {**kept, "PATH": path, "COLUMNS": "120", **own}

    def _command(self, base: Path, files: Sequence[str], marks: str) -> list[str]:
        options = [f"--basetemp={base}", "-p", PLUGIN, "-p", "no:cacheprovider", "-q", "-m", marks]
        options.append("--tb=short")
        if find_spec("xdist"):
            options.append("-n0")
        return [str(self._tree.python), "-P", "-m", "pytest", *options, *files]

    def _wait(
        self, command: list[str], environment: dict[str, str], limit_s: float, output: IO[str]
    ) -> int:
        """Return the exit code of a process; it and those that it started are gone then."""
        process = subprocess.Popen(
            command,
            cwd=self._tree.path,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            preexec_fn=_limit_memory,
        )
        try:
            return process.wait(limit_s)
        except subprocess.TimeoutExpired:
            return -signal.SIGKILL
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            _end_all(environment["GVIZ_MUTATION_RUN"])


def _end_all(orders: str) -> None:
    """End what tests started in sessions of their own and left: it has the run's orders."""
    given = f"GVIZ_MUTATION_RUN={orders}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # another's, or gone
            if given in (folder / "environ").read_bytes().split(b"\0"):
                os.kill(int(folder.name), signal.SIGKILL)


def _limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTES, MOST_BYTES))


def _read(folder: Path, code: int, files: Sequence[str]) -> Run:
    """Read a plugin's log and pytest's output; ``code`` is its exit code."""
    run = Run(complete=code in (0, 1, 5))
    log = folder / "log"
    begun = ""
    for line in log.read_text().splitlines() if log.exists() else ():
        row = json.loads(line)
        if "item" in row:
            run.fixtures[row["item"]] = row["fixtures"]
        elif "begun" in row:
            begun = row["begun"]
        elif row["failed"]:
            run.failed.setdefault(row["test"], row["failed"])
        elif row["test"] not in run.failed:
            run.seconds[row["test"]] = row["seconds"]
    if not run.complete and not run.failed:
        # The test that ran then, or the import of the tests.
        last = begun if begun and begun not in run.seconds else " ".join(files)
        end = " / ".join((folder / "output").read_text(errors="replace").splitlines()[-3:])
        run.failed[last] = f"stopped by a limit or signal {-code}" if code < 0 else end
    return run
