"""One recording in this process: the spool, the native library, and Python's part of it."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from gviz.collectors import metadata, native, watch_native
from gviz.collectors.nvtx import NvtxHooks
from gviz.collectors.options import ProfileOptions
from gviz.collectors.stacks import StackTaker
from gviz.collectors.watching import Watching
from gviz.collectors.writer import WriterProcess
from gviz.cupti_library import find_cupti
from gviz.errors import CollectorError, RecordingError
from gviz.spool.format import RecordType, spool_of

#: How long finishing waits for outstanding GPU work.
_FINISH_SECONDS = 20.0


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
        self._watching = Watching()
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
        watch_native.want_collector(self.options.collector)
        why = native.start(self.spool, cupti, self.options.native(), at_init=at_init)
        self._open = True
        native.append(RecordType.META, json.dumps(self._metadata(), default=str).encode())
        if why is not None:
            self._note(f"nothing was recorded: {why}", kind="warning")
            print(f"gviz: nothing is recorded: {why}", file=sys.stderr)
            return
        self._stacks.install()
        self._nvtx.install()
        measures = watch_native.collector()
        # Before the driver starts nobody knows yet whether CUPTI can be had.
        if measures in ("events", "topology") or (at_init and self.options.collector == "auto"):
            self._watching.install()

    def start_events(self, why: str) -> str | None:
        """Go on without CUPTI, after it was left in the middle of the recording.

        Parameters
        ----------
        why
            What the recording gives as the reason, such as ``torch.profiler started``.

        Returns
        -------
        str or None
            The collector that measures now; None: none can, and a note says why.
        """
        failure = watch_native.start_events(why)
        if failure is not None:
            self._note(f"nothing was recorded after CUPTI was left: {failure}", kind="warning")
            return None
        self._watching.go_on_without_cupti()
        return watch_native.collector()

    def end_events(self) -> None:
        """Stop what :meth:`start_events` began, before CUPTI is taken again."""
        self._watching.remove()
        watch_native.end_events()

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
        self._watching.remove()
        self._stacks.remove()
        self._nvtx.remove()
        native.append(RecordType.META, json.dumps(metadata.libraries()).encode())
        native.stop(_FINISH_SECONDS)
        if self._writer is not None:
            self._writer.wait()

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
