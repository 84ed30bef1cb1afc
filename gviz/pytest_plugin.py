"""pytest plugin: record the CUDA graphs of a test, and compare them with limits and a baseline.

Every run of pytest on a machine with gviz imports this module: nothing but pytest is loaded before
a test requests the fixture.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from gviz.api import Opened
    from gviz.checks import Limits
    from gviz.model import LaunchTimes

FIXTURE = "gviz_profile"
_OTHER_CHARACTERS = re.compile(r"[^A-Za-z0-9_.]+")
#: Characters of a test's name in the name of its baseline, before what makes it unique.
_LONGEST_NAME = 120


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("gviz", "CUDA graphs")
    group.addoption(
        "--gviz-baseline",
        metavar="DIR",
        type=Path,
        help="compare the graphs of tests that use gviz_profile with their recordings in DIR, and "
        "fail those that regressed",
    )
    group.addoption(
        "--gviz-update-baseline",
        action="store_true",
        help="write the recordings to the folder of --gviz-baseline instead",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Refuse options that contradict each other."""
    if config.getoption("--gviz-update-baseline") and config.getoption("--gviz-baseline") is None:
        raise pytest.UsageError("--gviz-update-baseline needs --gviz-baseline DIR, where to write")


class GraphTest:
    """The fixture ``gviz_profile`` of a test. NEW -> RECORDING -> RECORDED.

    ``with gviz_profile:`` or, with arguments of gviz.profile, ``with gviz_profile.record(...):``
    records a part of the test, once.

    Parameters
    ----------
    path
        Where the recording goes.
    name
        Of the run: the test's.
    config_file
        Has limits for every test in its table ``[check]``; None: none.
    """

    def __init__(self, path: Path, name: str, config_file: Path | None) -> None:
        self.path = path
        self._name = name
        self._config_file = config_file
        self._block: Any = None
        self._opened: Opened | None = None

    @contextmanager
    def record(self, **options: Any) -> Iterator[GraphTest]:
        """Record what runs in the ``with`` block; arguments are those of ``gviz.profile``."""
        import gviz

        with gviz.profile(self.path, **{"name": self._name, **options}):
            yield self

    def __enter__(self) -> GraphTest:
        self._block = self.record()
        self._block.__enter__()
        return self

    def __exit__(self, *error: Any) -> bool | None:
        ended: bool | None = self._block.__exit__(*error)
        return ended

    @property
    def is_recorded(self) -> bool:
        """Return whether there is a recording."""
        return self.path.exists()

    @property
    def recording(self) -> Opened:
        """The recording, as of ``gviz.open``; the fixture closes it."""
        if self._opened is None:
            import gviz

            if not self.is_recorded:
                raise gviz.GvizError(
                    f"{self._name}: nothing was recorded; run the graphs inside "
                    "'with gviz_profile:' and ask after it"
                )
            self._opened = gviz.open(self.path)
        return self._opened

    def launch_times(self, graph: int | str = "*") -> LaunchTimes:
        """Return the launch times of the one graph of an id, name or pattern."""
        return self.recording.graph(graph).launch_times

    def check(self, limits: Mapping[str, Any]) -> None:
        """Fail the test unless its recording is within limits.

        Parameters
        ----------
        limits
            As the table ``[check]`` of ``gviz.toml``, such as ``{"launch": "2 ms", "nodes": 400}``.
        """
        from gviz.checks import parse_limits

        self._hold(None, parse_limits(dict(limits)))

    def compare(self, baseline: Path) -> None:
        """Fail the test if its recording regressed from another, or exceeds ``gviz.toml``."""
        from gviz.cli import read_limits

        if not baseline.exists():
            pytest.fail(
                f"gviz: there is no recording of this test, {baseline}; write it with "
                "--gviz-update-baseline",
                pytrace=False,
            )
        limits, _ = read_limits(self._config_file, has_baseline=True)
        self._hold(baseline, limits)

    def _hold(self, baseline: Path | None, limits: Limits) -> None:
        from gviz.checks import check_recording, describe, place
        from gviz.recording import Recording

        before = None if baseline is None else Recording(baseline)
        try:
            report = check_recording(self.recording.recording, before, limits)
        finally:
            if before is not None:
                before.close()
        if not report.passed:
            lines = [f"{place(c)}: {c.status}: {c.what}: {describe(c)}" for c in report.failures()]
            against = "" if baseline is None else f" against {baseline}"
            pytest.fail("\n".join([f"gviz check{against}:", *lines]), pytrace=False)

    def close(self) -> None:
        """Close the recording."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None


@pytest.fixture
def gviz_profile(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[GraphTest]:
    """Record CUDA graphs in ``with gviz_profile:``; skips the test where there is no GPU."""
    why_not = _no_gpu()
    if why_not:
        pytest.skip(f"gviz_profile records on a GPU, and there is none here: {why_not}")
    config_file = request.config.rootpath / "gviz.toml"
    test = GraphTest(
        tmp_path / "gviz_profile.gviz",
        request.node.nodeid,
        config_file if config_file.exists() else None,
    )
    yield test
    test.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Compare what a test recorded with its baseline, once the test itself has passed."""
    result = yield
    test = getattr(item, "funcargs", {}).get(FIXTURE)
    folder: Path | None = item.config.getoption("--gviz-baseline")
    if isinstance(test, GraphTest) and folder is not None and test.is_recorded:
        baseline = item.config.rootpath / folder / baseline_name(item.nodeid)
        if item.config.getoption("--gviz-update-baseline"):
            baseline.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(test.path, baseline)
        else:
            test.compare(baseline)
    return result


def baseline_name(node_id: str) -> str:
    """Return the name of the file that holds a test's baseline."""
    plain = _OTHER_CHARACTERS.sub("-", node_id).strip("-")
    if plain == node_id and len(plain) <= _LONGEST_NAME:
        return f"{plain}.gviz"
    return f"{plain[:_LONGEST_NAME]}-{hashlib.sha256(node_id.encode()).hexdigest()[:8]}.gviz"


@cache
def _no_gpu() -> str:
    """Return why nothing can be recorded here; empty: a driver names a device."""
    from gviz.cuda import probe

    # In another process: a driver that was started here would be broken in forked children.
    answers = probe()
    if answers.devices:
        return ""
    return answers.library_error or answers.failure or "the driver names no device"
