"""A core dump of the GPU that the driver wrote beside a spool: kept beside the recording."""

from __future__ import annotations

import os
from pathlib import Path

from gviz.spool.records import CORE_DUMP_FILE, recording_of

#: Suffix that NVIDIA's tools give such a file.
_SUFFIX = ".nvcudmp"


def keep_core_dump(spool: Path, process_id: object) -> Path | None:
    """Move a spool's core dump beside the recording, for its owner alone; None: there is none.

    Its name is the recording's, with the process's id.
    """
    dump = spool / CORE_DUMP_FILE
    try:
        if not dump.stat().st_size:
            return None
    except OSError:
        return None
    recording = recording_of(spool)
    if recording is None:
        return dump
    kept = recording.with_name(f"{recording.stem}.{process_id}{_SUFFIX}")
    dump.chmod(0o600)
    os.replace(dump, kept)
    return kept
