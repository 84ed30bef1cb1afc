"""The collector of cyclic garbage is as it was once a command has made its report."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from gviz.cli.garbage import collection_paused


@pytest.fixture(autouse=True)
def _collector() -> Iterator[None]:
    yield
    gc.enable()


@pytest.mark.parametrize("is_enabled", [True, False])
def test_collection_is_paused_and_then_as_before(is_enabled: bool) -> None:
    if not is_enabled:
        gc.disable()
    with collection_paused():
        assert not gc.isenabled()
    assert gc.isenabled() == is_enabled


@collection_paused()
def fail() -> None:
    raise KeyError


def test_collection_goes_on_after_an_error() -> None:
    with pytest.raises(KeyError):
        fail()
    assert gc.isenabled()
