"""The end of a process that closes no recording, and is meant all the same.

``os._exit`` runs no handlers, and neither does a process that its parent terminates, as a pool of
multiprocessing does with workers whose work is done.
"""

from __future__ import annotations

from pathlib import Path

#: In the metadata: the status that the process gave to ``os._exit``.
LEFT_WITH = "left_with"
_TERMINATED = "terminated"


def mark_terminated(job: Path, process_id: int) -> None:
    """Say in the spools of a process that its parent ends it now.

    Parameters
    ----------
    job
        Directory of the job, which has one folder a child.
    process_id
        The child; nothing is written for one that has no spool.
    """
    for spool in job.glob(f"{process_id}-*"):
        (spool / _TERMINATED).touch(mode=0o600)


def well_ended(spool: Path, left_with: object, exit_code: int | None) -> str:
    """Return how a process ended well that did not close its spool; "": it did not end well.

    Parameters
    ----------
    spool
        Its spool.
    left_with
        Status that it gave to ``os._exit``, where that is known.
    exit_code
        Its exit code, where that is known.
    """
    if (spool / _TERMINATED).exists():
        return "was terminated by its parent"
    if left_with == 0 or exit_code == 0:
        return "left by _exit"
    return ""
