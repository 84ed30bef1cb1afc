"""Recordings of one real program before and after an optimisation, made of their spools."""

from __future__ import annotations

import tarfile
from pathlib import Path

from gviz.spool.folding.recording_fold import fold, read_contents

_SPOOLS = Path(__file__).resolve().parent / "golden" / "recaptures"
NAMES = ("decode_step_again", "decode_step_fused")


def write_recaptures(folder: Path) -> tuple[Path, Path]:
    """Return the recordings before and after (tests/golden/recaptures/README.md)."""
    found = []
    for name in NAMES:
        spool, output = folder / f"{name}.gviz-spool", folder / f"{name}.gviz"
        with tarfile.open(_SPOOLS / f"{name}.spool.tar.xz") as tar:
            tar.extractall(spool, filter="data")
        fold(read_contents(spool), spool, output)
        found.append(output)
    return found[0], found[1]
