"""The revisions of the program whose recordings make a trend."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from places import TESTS

FOLDER = TESTS / "golden" / "series"


def test_history_has_the_commits_of_the_provenance(tmp_path: Path) -> None:
    script = FOLDER / "make_history.py"
    done = subprocess.run(
        [sys.executable, "-P", str(script), str(tmp_path / "history")],
        capture_output=True,
        text=True,
        check=True,
    )
    reported = re.findall(
        r"^\| ([0-9a-f]{40}) \| (.+) \|$", (FOLDER / "README.md").read_text(), re.M
    )
    assert [line.split(" ", 2)[1:] for line in done.stdout.splitlines()] == [*map(list, reported)]
    assert len(reported) == 5
    program = tmp_path / "history" / "token_step.py"
    assert program.read_bytes() == (FOLDER / "5.py").read_bytes()
    dirty = ["git", "status", "--porcelain"]
    status = subprocess.run(dirty, cwd=program.parent, capture_output=True, text=True, check=True)
    assert status.stdout == ""
