"""A pytest plugin in the copy: runs chosen tests in order, and logs what became of each.

It is copied into the copy's environment, so it imports nothing of this package. Its orders
are in files that the environment names: GVIZ_MUTATION_LOG (JSON lines are appended) and
GVIZ_MUTATION_RUN (JSON: ``only``, the tests to run in this order, and ``without``, the tests to
leave out).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

_TEST = "GVIZ_MUTATION_TEST"
_seconds: dict[str, float] = {}
_LOG = open(os.environ["GVIZ_MUTATION_LOG"], "a", buffering=1)  # noqa: SIM115


def _log(**row: Any) -> None:
    _LOG.write(json.dumps(row) + "\n")


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Make Hypothesis try the same examples each time; the suite's own profile is loaded by now."""
    try:
        from hypothesis import settings
    except ImportError:
        return
    settings.register_profile("mutations", settings(), derandomize=True, database=None)
    settings.load_profile("mutations")


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Log a module that cannot be imported, as if it were a test."""
    if report.failed:
        _log(test=report.nodeid.partition("::")[0], failed=_what(report), seconds=0.0)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the chosen tests, in their order."""
    orders = json.loads(Path(os.environ["GVIZ_MUTATION_RUN"]).read_text())
    without = set(orders["without"])
    left = [item for item in items if item.nodeid not in without]
    if orders["only"] is not None:
        place = {test: i for i, test in enumerate(orders["only"])}
        left = sorted((i for i in left if i.nodeid in place), key=lambda i: place[i.nodeid])
    items[:] = left


def pytest_collection_finish(session: pytest.Session) -> None:
    """Log the fixtures of each test that it shares with others."""
    for item in session.items:
        definitions = getattr(item, "_fixtureinfo").name2fixturedefs  # noqa: B009
        shared = [_name(d[-1]) for d in definitions.values() if d[-1].scope != "function"]
        _log(item=item.nodeid, fixtures=shared)


def _name(definition: pytest.FixtureDef[Any]) -> str:
    return f"fixture {definition.baseid}::{definition.argname}"


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any]) -> Iterator[None]:
    """Let a fixture that several tests share have its name in the environment."""
    before = os.environ.get(_TEST, "")
    if fixturedef.scope != "function":
        # Within the setup of another one both have it.
        outer = f"{before}\t" if before.startswith("fixture ") else ""
        os.environ[_TEST] = outer + _name(fixturedef)
    try:
        return (yield)
    finally:
        os.environ[_TEST] = before


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Let a test have its name in the environment, and log that it begins."""
    os.environ[_TEST] = item.nodeid
    _log(begun=item.nodeid)
    try:
        return (yield)
    finally:
        os.environ[_TEST] = ""


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Log a failure at once, and at the end of a test how long its phases took."""
    _seconds[report.nodeid] = _seconds.get(report.nodeid, 0.0) + report.duration
    if report.failed or report.when == "teardown":
        what = _what(report) if report.failed else ""
        _log(test=report.nodeid, failed=what, seconds=_seconds[report.nodeid])


def _what(report: pytest.TestReport | pytest.CollectReport) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash else str(report.longrepr)
    return str(text).strip().partition("\n")[0][:200]
