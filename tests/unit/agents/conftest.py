"""A browser for the tests of agents."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gviz.agents.chromium import find_chromium


@pytest.fixture
def browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A program that takes Chromium's options and writes them where the picture is to be."""
    path = tmp_path / "browser"
    path.write_text(
        '#!/bin/sh\nfor option; do case "$option" in\n'
        '--version) exit 0;;\n--screenshot=*) echo "$@" >"${option#*=}";;\nesac; done\n'
    )
    path.chmod(0o755)
    monkeypatch.setenv("GVIZ_CHROMIUM", str(path))
    find_chromium.cache_clear()
    yield path
    find_chromium.cache_clear()
