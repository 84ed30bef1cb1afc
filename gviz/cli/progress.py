"""Progress of a command, shown where its user can see it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gviz.cli.verbosity import is_verbose
from gviz.system import Progress, ProgressLine


@contextmanager
def shown_progress(doing: str) -> Iterator[Progress]:
    """Show on the terminal what is told to the progress; with ``-v`` elsewhere too, as lines.

    Parameters
    ----------
    doing
        What is done to the things that the progress is told of, such as "reading".
    """
    with ProgressLine(doing, says_all=is_verbose()) as line:
        yield Progress(lambda share, text: line.progress.at(share, f"{doing} {text}"))
