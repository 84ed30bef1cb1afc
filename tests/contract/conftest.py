"""Running the contract's programs, on the fake driver and on the real one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from contract.backend import Backend
from fake.build import Fakes

from gviz.recording.reader import Recording


@pytest.fixture(scope="session")
def fake(fakes: Fakes, tmp_path_factory: pytest.TempPathFactory) -> Backend:
    """The fake driver, for what only it can do."""
    return Backend("fake", fakes.environment(), tmp_path_factory.mktemp("fake"))


@pytest.fixture(scope="session", params=["fake", pytest.param("real", marks=pytest.mark.gpu)])
def backend(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Backend:
    """The fake driver, and with ``-m gpu`` the real one."""
    if request.param == "real":
        return Backend("real", dict(os.environ), tmp_path_factory.mktemp("real"))
    found: Backend = request.getfixturevalue("fake")
    return found


Open = Callable[..., Recording]


@pytest.fixture
def record(backend: Backend) -> Iterator[Open]:
    """Run a program under gviz and open its recording; closed after the test."""
    opened: list[Recording] = []

    def run(program: str, **options: Any) -> Recording:
        outcome = backend.run(program, **options)
        assert outcome.returncode == 0, outcome.stderr
        opened.append(outcome.recording())
        return opened[-1]

    yield run
    for recording in opened:
        recording.close()
