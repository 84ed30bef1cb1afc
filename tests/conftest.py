"""Parts that every test folder shares: which tests can run here, and how users start gviz."""

from __future__ import annotations

import gc
import io
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from importlib.util import find_spec
from pathlib import Path

import pytest
from built_once import built_once
from fake.build import Fakes, build_fakes, fake_sources
from file_order import in_order
from parts import Part, add_options
from recordings import fork_join_shape, write_recording
from spool_writing import FoldRecords, write_spool
from tiers import mark_tiers

from gviz.agents.chromium import find_chromium
from gviz.cli.command_line import main
from gviz.recording.reader import Recording
from gviz.spool.folding.recording_fold import fold, read_contents
from gviz.system import collect_rarely

#: With "1", a GPU test that cannot run fails instead of being deselected or skipped.
REQUIRE_GPU = os.environ.get("GVIZ_REQUIRE_GPU") == "1"
#: The same for the browser tests.
REQUIRE_BROWSER = os.environ.get("GVIZ_REQUIRE_BROWSER") == "1"
ROOT = Path(__file__).resolve().parent.parent

# Some containers forbid compiled modules: every worker and every process that a test starts would
# compile the same thousand anew, a third of the time that gviz takes to start.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# How long an example takes, or is made, says nothing of it: machines are busy. (Not on the machine
# with a GPU.)
if find_spec("hypothesis"):
    from hypothesis import HealthCheck, settings

    settings.register_profile("gviz", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("gviz")

Gviz = Callable[..., "subprocess.CompletedProcess[str]"]


def has_gpu() -> bool:
    """Return whether a GPU's device file is here; the driver is not started, tests may fork."""
    return Path("/dev/dxg").exists() or any(Path("/dev").glob("nvidia[0-9]*"))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --part and --minutes."""
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Let programs of tests be interrupted; take a part of the tests, where one is asked for."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # "make test &": children inherit it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    part, minutes = config.getoption("part"), config.getoption("minutes")
    if part or minutes:
        config.pluginmanager.register(Part(part, minutes))
    if config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        config.pluginmanager.register(FailuresAtOnce(config))
    # What is imported and collected stays: looking through it for garbage is a third of the time
    # that each worker takes to collect.
    gc.disable()


def pytest_collection_finish() -> None:
    """Leave what was collected out of all later collections of garbage, and make these rare.

    Made after every 700 objects they take up to a tenth of the processor time of tests.
    """
    gc.freeze()
    collect_rarely()
    gc.enable()


class FailuresAtOnce:
    """Name each failed test when it fails: a run that is ended before its own end says no more."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Write the line."""
        terminal = self._config.pluginmanager.get_plugin("terminalreporter")
        if report.failed and terminal is not None:
            terminal.write_line(f"\n{report.when} failed: {report.nodeid}")


@pytest.hookimpl(tryfirst=True)  # before -m selects by the tiers
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the tiers, order the files; deselect tests that cannot run here, unless required."""
    mark_tiers(items)
    place = {path: at for at, path in enumerate(in_order(item.path for item in items))}
    items.sort(key=lambda item: place[item.path])
    marked = {mark: [i for i in items if i.get_closest_marker(mark)] for mark in ("gpu", "browser")}
    left_out: list[pytest.Item] = []
    if marked["gpu"] and not (REQUIRE_GPU or has_gpu()):
        left_out += marked["gpu"]
    if marked["browser"] and not (REQUIRE_BROWSER or find_chromium()):
        left_out += marked["browser"]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> object:
    """Turn the skip of a required test into a failure."""
    report = yield
    required = (REQUIRE_GPU and item.get_closest_marker("gpu")) or (
        REQUIRE_BROWSER and item.get_closest_marker("browser")
    )
    # Two GPUs are more than a GPU: such a test says so, and may be skipped.
    alone = report.skipped and "one GPU only" in str(report.longrepr)
    if required and report.skipped and not alone and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped although required: {report.longrepr}"
    return report


@pytest.fixture(scope="session", autouse=True)
def width() -> Iterator[None]:
    """Give gviz's output one width on every terminal, here and in the processes started."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "100")
        yield


@pytest.fixture(scope="session", autouse=True)
def temporary(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Have temporary files, here and of the processes started, in the folder of the run.

    pytest removes it when three newer ones are there: what a test does not remove, or a process
    that it kills, would stay in the system's folder for ever.
    """
    folder = str(tmp_path_factory.mktemp("t", numbered=False))  # short: sockets may lie in it
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", folder)
        patch.setattr(tempfile, "tempdir", folder)
        yield


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a Chromium; only tests marked ``browser`` may ask for it."""
    path = find_chromium()
    assert path is not None, "no Chromium here; run tools/install_chromium.sh"
    return path


@pytest.fixture(scope="session")
def gviz() -> Gviz:
    """Run ``gviz`` in a process of its own and return the completed process.

    -P keeps the working directory off the import path, as the installed script does.
    Warnings of the interpreter are off: a test compares stderr.
    """

    def run(*arguments: str | Path, **options: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-P", "-m", "gviz", *map(str, arguments)]
        environment = os.environ | dict(options.pop("env", {}))  # type: ignore[call-overload]
        return subprocess.run(  # type: ignore[call-overload, no-any-return]
            command,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            env=environment,
            **options,
        )

    return run


@pytest.fixture(scope="session")
def gviz_here() -> Gviz:
    """Run ``gviz`` in this process: it says and returns the same, in a tenth of the time.

    What depends on the process (streams, signals, what is imported) is for the fixture gviz.
    """

    def run(*arguments: str | Path, cwd: str | Path = ".") -> subprocess.CompletedProcess[str]:
        words, out, err = [*map(str, arguments)], io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err), chdir(cwd):
            try:
                code = main(words)
            except SystemExit as ended:  # of argparse
                code = int(ended.code or 0)
        return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())

    return run


@pytest.fixture(scope="session")
def fakes(tmp_path_factory: pytest.TempPathFactory) -> Fakes:
    """The fake driver and CUPTI, compiled; with GVIZ_FAKES those of that folder."""
    given = os.environ.get("GVIZ_FAKES")
    if given:
        return Fakes(Path(given))
    return Fakes(built_once(tmp_path_factory, "fakes", build_fakes, fake_sources()))


@pytest.fixture(scope="session")
def small_recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording of a fork-join graph of 47 nodes: 20 launches with node times, 20 without."""
    return write_recording(tmp_path_factory.mktemp("recording") / "small.gviz", fork_join_shape())


@pytest.fixture
def fold_records(tmp_path: Path) -> Iterator[FoldRecords]:
    """Fold a spool of these records into a recording that is closed after the test."""
    opened: list[Recording] = []

    def run(records: Sequence[tuple[int, bytes]]) -> Recording:
        spool = write_spool(tmp_path / "x.gviz-spool", records)
        opened.append(Recording(fold(read_contents(spool), spool, tmp_path / "x.gviz")))
        return opened[-1]

    yield run
    for recording in opened:
        recording.close()
