"""Output on a terminal whose encoding lacks characters that gviz writes."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

Gviz = Callable[..., "subprocess.CompletedProcess[str]"]


def test_nearest_text_is_written_where_characters_are_missing(
    gviz: Gviz, small_recording: Path
) -> None:
    plain = gviz("info", small_recording, env={"PYTHONIOENCODING": "ascii"})
    whole = gviz("info", small_recording, env={"PYTHONIOENCODING": "utf-8"}, encoding="utf-8")
    assert (plain.returncode, plain.stderr) == (0, "")
    assert " µs" in whole.stdout
    assert plain.stdout == whole.stdout.replace("µ", "u").replace("×", "x").replace("–", "-")


def test_errors_name_files_that_cannot_be_written_as_they_are(gviz: Gviz, tmp_path: Path) -> None:
    done = gviz("info", tmp_path / "día µ.gviz", env={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 1
    assert "d?a u.gviz" in done.stderr
