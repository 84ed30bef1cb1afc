"""One recording in this process: the spool, the native library, and Python's part of it."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gviz.collectors import metadata, native
from gviz.collectors.hooks import (
    CompiledGraphHook,
    EndingHooks,
    HandedOutHook,
    KernelSignatureHook,
    NvtxHooks,
    RecordFunctionHook,
    StackTaker,
)
from gviz.collectors.job import Job
from gviz.collectors.options import ProfileOptions, parse_capture_range
from gviz.collectors.others import JAX, OtherProfilers, cupti_user
from gviz.collectors.watching import GraphChoice, Watching, framework_patches, watch_native
from gviz.errors import CollectorError
from gviz.spool import RecordType, make_spool, spool_of
from gviz.system import say

# Every Python child of a program under gviz run imports this module: what it does not need there
# is imported where it is used.
if TYPE_CHECKING:
    from gviz.collectors.writer import WriterProcess

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
        job: Job | None = None,
    ) -> None:
        self.path = path
        self.options = options
        self._source = source
        self._job = job
        self.spool = spool_of(path).absolute()
        self._stacks = StackTaker()
        self._choice = GraphChoice(options.graph)
        self._nvtx = NvtxHooks(self._note)
        self._record_function = RecordFunctionHook()
        self._compiled_graphs = CompiledGraphHook()
        self._signatures = KernelSignatureHook()
        self._handed_out = HandedOutHook()
        self._endings = EndingHooks(None if job is None else job.spool)
        self._others = OtherProfilers(self.leave_cupti, self.return_to_cupti)
        self._left_to: str | None = None
        self._watching = Watching(framework_patches)
        self._writer: WriterProcess | None = None
        self._process_id = 0
        self._open = False

    def start(self, *, at_init: bool = False, own_writer: bool = True) -> None:
        """Open the spool, start the writer, attach (or, ``at_init``, wait for the driver)."""
        self._process_id = os.getpid()
        try:
            native.load()
        except CollectorError as error:
            say(f"gviz: nothing is recorded: {error}")
            return
        if self._job is None:
            make_spool(self.spool)
        if own_writer:
            from gviz.collectors.writer import WriterProcess

            self._writer = WriterProcess(
                self.spool, self.path.absolute(), overwrite=self.options.overwrite
            )
        self._choice.install()
        native.set_range(parse_capture_range(self.options.capture_range)[1])
        native.set_cupti_user(cupti_user(own_library=str(native.library_path())))
        watch_native.want_collector(self.options.measured_by)
        if self._job is not None:
            why = native.prepare(
                self._job.spool,
                self._cupti(),
                self.options.native(),
                parent=self._job.parent,
                follow=self._job.follow,
                is_first=self._job.is_first(),
            )
        else:
            why = native.start(self.spool, self._cupti(), self.options.native(), at_init=at_init)
        self._open = True
        native.append(RecordType.META, json.dumps(self._metadata(), default=str).encode())
        if why is not None:
            self._note(f"nothing was recorded: {why}", kind="warning")
            say(f"gviz: nothing is recorded: {why}")
            return
        if self.options.trials and self._job is None:
            say("gviz: nothing is tried: trials need the gate; use 'gviz run --trials PROGRAM'")
        if self.options.reads_values and self._job is None:
            say("gviz: no values are read: that needs the gate; use 'gviz run --values PROGRAM'")
        self._stacks.install()
        self._nvtx.install()
        self._record_function.install()
        self._compiled_graphs.install()
        self._signatures.install()
        if self.options.reads_values:
            self._handed_out.install()
        self._endings.install()
        self._others.install()
        # Before the driver starts nobody knows yet whether CUPTI can be had.
        waiting = at_init and self.options.measured_by != "cupti"
        if waiting or watch_native.collector() in ("events", "topology"):
            self._watching.install()

    def begin_again_in_child(self) -> None:
        """After fork(): a child of a process without CUDA may use it, and writes its own spool.

        Where CUDA was in use already, the child cannot use it, and the recording is the parent's.
        """
        if not self._open or not native.is_awaiting():
            return
        self._process_id = os.getpid()
        self._stacks.begin_again()
        native.append(RecordType.META, json.dumps(self._metadata(), default=str).encode())
        if (util := sys.modules.get("multiprocessing.util")) is not None:
            # Its children leave by os._exit(): nothing registered with atexit runs.
            util.register_after_fork(self, lambda session: _finish_last(util, session))

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
        self._others.remove()
        self._watching.remove()
        self._stacks.remove()
        self._choice.remove()
        self._endings.remove()
        self._handed_out.remove()
        self._signatures.remove()
        self._compiled_graphs.remove()
        self._record_function.remove()
        self._nvtx.remove()
        if native.is_open():
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
        others the events collector goes on, unless CUPTI was requested.
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
        say(f"gviz: {profiler} starts, so gviz leaves CUPTI to it: {then}")

    def return_to_cupti(self, profiler: str) -> None:
        """Take CUPTI again after the profiler that it was left to has ended, if it released it."""
        if self._left_to != profiler or os.getpid() != self._process_id:
            return
        why = native.take_back()
        if why is None:
            self._left_to = None
            say(f"gviz: {profiler} has ended: gviz records again")
            return
        followed = self._is_followed(f"{profiler} ended, but keeps CUPTI")
        then = "the events collector goes on" if followed else _UNSEEN
        self._note(f"{profiler} ended, but keeps CUPTI ({why}): {then}", kind="warning")
        say(f"gviz: {profiler} has ended, but keeps CUPTI: {then}")

    def _is_followed(self, why: str) -> bool:
        wanted = self.options.collector != "cupti"
        return wanted and self.start_events(why) is not None

    def _note(self, text: str, kind: str = "limit") -> None:
        native.append(RecordType.NOTE, f"{kind}\n{text}".encode())

    def _metadata(self) -> dict[str, object]:
        given = metadata.machine() if self._job is None else dict(self._job.metadata)
        return (
            metadata.process()
            | given
            | {
                "name": self.options.name or self.path.stem,
                "source": self._source,
                "node_launches": str(self.options.node_launches),
                "graph_pattern": self.options.graph,
            }
        )

    def _cupti(self) -> Path | None:
        if "GVIZ_CUPTI" in os.environ:
            return Path(os.environ["GVIZ_CUPTI"])
        if self._job is not None and self._job.prefix == sys.prefix:
            return self._job.cupti
        from gviz.cuda import find_cupti

        candidates = find_cupti()
        return candidates[0].path if candidates else None


def _finish_last(util: Any, session: Session) -> None:
    """Finish after whatever else multiprocessing has to do at the end of this process."""
    util.Finalize(None, session.finish, exitpriority=-1000)
