"""One recording in this process: the spool, the native library, and Python's part of it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

from gviz.collectors import metadata, native
from gviz.collectors.nvtx import NvtxHooks
from gviz.collectors.options import ProfileOptions
from gviz.collectors.others import JAX, OtherProfilers, holder
from gviz.collectors.stacks import StackTaker
from gviz.collectors.writer import WriterProcess
from gviz.cupti_library import find_cupti
from gviz.errors import CollectorError, RecordingError
from gviz.spool.format import RecordType, spool_of

#: How long finishing waits for outstanding GPU work.
_FINISH_SECONDS = 20.0
#: How long leaving CUPTI to another profiler waits for it.
_LEAVE_SECONDS = 2.0
_UNSEEN = "what the program does from here on is not recorded"


class Session:
    """Start and finish one recording. NEW -> RECORDING -> FINISHED."""

    def __init__(
        self,
        path: Path,
        options: ProfileOptions,
        *,
        source: str = "profile",
        metadata: dict[str, object] | None = None,
    ) -> None:
        self.path = path
        self.options = options
        self._source = source
        self._given_metadata = metadata
        self.spool = spool_of(path).absolute()
        self._stacks = StackTaker()
        self._nvtx = NvtxHooks(self._note)
        self._others = OtherProfilers(self.leave_cupti, self.return_to_cupti)
        self._left_to: str | None = None
        #: Takes over after CUPTI was left, told why; returns whether it does.
        self.successor: Callable[[str], bool] | None = getattr(self, "start_events", None)
        self._writer: WriterProcess | None = None
        self._process_id = 0
        self._open = False

    def start(self, *, at_init: bool = False, own_writer: bool = True) -> None:
        """Open the spool, start the writer, attach (or, ``at_init``, wait for the driver)."""
        self._process_id = os.getpid()
        try:
            native.load()
        except CollectorError as error:
            print(f"gviz: nothing is recorded: {error}", file=sys.stderr)
            return
        _make_spool(self.spool)
        if own_writer:
            self._writer = WriterProcess(
                self.spool, self.path.absolute(), overwrite=self.options.overwrite
            )
        candidates = find_cupti()
        cupti = (
            Path(os.environ["GVIZ_CUPTI"])
            if "GVIZ_CUPTI" in os.environ
            else (candidates[0].path if candidates else None)
        )
        native.set_holder(holder(own_library=str(native.library_path())))
        why = native.start(self.spool, cupti, self.options.native(), at_init=at_init)
        self._open = True
        native.append(RecordType.META, json.dumps(self._metadata(), default=str).encode())
        if why is not None:
            self._note(f"nothing was recorded: {why}", kind="warning")
            print(f"gviz: nothing is recorded: {why}", file=sys.stderr)
            return
        self._stacks.install()
        self._nvtx.install()
        self._others.install()

    def abandon(self) -> None:
        """End after a start that failed half way: nothing stays attached or waits."""
        if self._open:
            self.finish()
        elif self._writer is not None:
            self._writer.wait()

    def finish(self) -> None:
        """Detach, close the spool and wait for the recording to be written."""
        if not self._open or os.getpid() != self._process_id:
            return  # nothing to do, or a forked child: the recording is the parent's
        self._open = False
        self._others.remove()
        self._stacks.remove()
        self._nvtx.remove()
        native.append(RecordType.META, json.dumps(metadata.libraries()).encode())
        native.stop(_FINISH_SECONDS)
        if self._writer is not None:
            self._writer.wait()

    def resume(self) -> None:
        """Begin a period of recording, unless one is going on."""
        if self._open and os.getpid() == self._process_id:
            native.resume()

    def pause(self) -> None:
        """End the period of recording."""
        if self._open and os.getpid() == self._process_id:
            native.pause()

    # -- other profilers -------------------------------------------------------------------

    def leave_cupti(self, profiler: str) -> None:
        """Leave CUPTI to a profiler that is about to start; the spool stays open. Says so once.

        JAX's profiler lets CUPTI go when its trace is over: see :meth:`return_to_cupti`. After
        others ``successor`` takes over, where there is one.
        """
        if self._left_to is not None or os.getpid() != self._process_id:
            return
        if not native.leave(profiler, _LEAVE_SECONDS):
            return
        self._left_to = profiler
        why = f"{profiler} started, and CUPTI serves one profiler a process"
        then = _UNSEEN
        if profiler == JAX:
            then = "nothing is recorded until that has ended"
        elif self._is_followed(why):
            then = "the events collector goes on"
        self._note(f"{why}: gviz left CUPTI to it; {then}", kind="warning")
        print(f"gviz: {profiler} starts, so gviz leaves CUPTI to it: {then}", file=sys.stderr)

    def return_to_cupti(self, profiler: str) -> None:
        """Take CUPTI again after the profiler that it was left to has ended, if it let go."""
        if self._left_to != profiler or os.getpid() != self._process_id:
            return
        why = native.take_back()
        if why is None:
            self._left_to = None
            print(f"gviz: {profiler} has ended: gviz records again", file=sys.stderr)
            return
        followed = self._is_followed(f"{profiler} ended, but keeps CUPTI")
        then = "the events collector goes on" if followed else _UNSEEN
        self._note(f"{profiler} ended, but keeps CUPTI ({why}): {then}", kind="warning")
        print(f"gviz: {profiler} has ended, but keeps CUPTI: {then}", file=sys.stderr)

    def _is_followed(self, why: str) -> bool:
        wanted = self.options.collector != "cupti"
        return wanted and self.successor is not None and self.successor(why)

    def _note(self, text: str, kind: str = "limit") -> None:
        native.append(RecordType.NOTE, f"{kind}\n{text}".encode())

    def _metadata(self) -> dict[str, object]:
        given = metadata.machine() if self._given_metadata is None else self._given_metadata
        return (
            metadata.process()
            | given
            | {
                "name": self.options.name or self.path.stem,
                "source": self._source,
                "node_launches": str(self.options.node_launches),
            }
        )


def _make_spool(spool: Path) -> None:
    try:
        spool.mkdir(mode=0o700)
    except FileExistsError:
        raise RecordingError(
            f"{spool} is left over from an earlier run; 'gviz info {spool!s}' folds it into "
            "a recording, or remove it"
        ) from None
    except OSError as error:
        raise RecordingError(f"cannot write {spool}: {error.strerror}") from error
