"""``gviz run``: run a program unchanged and record its CUDA graphs."""

from __future__ import annotations

import argparse
import contextlib
import os
import resource
import shutil
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import FrameType

import gviz
from gviz.cli.commands.record.given_pipes import leave_given_pipes
from gviz.cli.commands.record.program import command_of, default_name
from gviz.cli.file_mode import add_mode
from gviz.cli.output import add_json, print_json, written_file
from gviz.cli.parser import CommandParser
from gviz.cli.recording_path import file_path
from gviz.collectors import (
    BLACK_BOXES,
    COLLECTORS,
    NODE_TIMES,
    OWN_VARIABLES,
    Job,
    JobWriter,
    ProfileOptions,
    metadata,
    native,
    parse_signal,
    plan_preloading,
    warn_of_outer_run,
)
from gviz.cuda import find_cupti
from gviz.dataclass import dataclass
from gviz.errors import CollectorError, UsageError
from gviz.recording import check_output, forget_contents
from gviz.spool import attend, make_spool, spool_of
from gviz.system import inform, say

#: Version of the keys of its JSON.
RUN_VERSION = 1
#: Signals that a supervisor sends to the program it started; Ctrl-C reaches the child by itself.
_FORWARDED = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGCONT)


def add_parser(subparsers: argparse._SubParsersAction[CommandParser]) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser(
        "run",
        help="run a program and record its CUDA graphs",
        usage="gviz run [options] (PROGRAM | -m MODULE) [ARGUMENT ...]",
        description="Run a program and record every CUDA graph that it and its children make: "
        "a Python script or module under the Python of the active environment (where none is "
        "active, gviz's own), a binary or a command found on PATH as the shell would. Each process "
        "is a run of the recording.",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=file_path,
        metavar="FILE.gviz",
        help="the recording to write (default: the program's name with .gviz, here; where that "
        "is taken, with -2, -3 and so on before it)",
    )
    _add_choices(parser)
    _add_slices(parser)
    _add_black_box(parser)
    parser.add_argument(
        "--no-gate",
        action="store_true",
        help="preload nothing: CUPTI measures, and where it cannot be had only graphs of PyTorch "
        "and CuPy are recorded",
    )
    _add_periods(parser)
    parser.add_argument("--overwrite", action="store_true", help="replace an existing recording")
    add_mode(parser)
    parser.add_argument(
        "--no-children",
        action="store_true",
        help="record the program's first process only, and leave children alone",
    )
    add_json(
        parser,
        "path and size_bytes (null: none was written), exit_code; a line after "
        "what the program printed",
    )
    parser.add_argument("-m", dest="module", action="store_true", help="run a module, as python -m")
    parser.add_argument("program", metavar="PROGRAM | MODULE", help="what to run")
    rest = parser.add_argument("arguments", nargs=argparse.REMAINDER, help="its arguments")
    rest.required = False  # argparse would name them among what is missing


def _add_choices(parser: argparse.ArgumentParser) -> None:
    """Add what says what is recorded, and by what."""
    parser.add_argument("--name", help="what to call the run (default: the program's name)")
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument(
        "--node-launches",
        default="20",
        metavar="N|all",
        help="launches of each executable whose nodes are timed (default: the first 20)",
    )
    chosen.add_argument(
        "--every",
        metavar="K|10s",
        help="time the nodes of every Kth launch of each executable, or of one in so long, for as "
        "long as the program runs (units: ms, s, min, h)",
    )
    parser.add_argument(
        "--eager-operations",
        type=int,
        default=20_000,
        metavar="N",
        help="kernels, copies and memsets outside graphs recorded at most (default: 20000)",
    )
    parser.add_argument(
        "--graph",
        metavar="NAME-PATTERN",
        help="time the nodes of graphs whose name matches this shell pattern only",
    )
    parser.add_argument(
        "--collector",
        choices=COLLECTORS,
        default="auto",
        help="what measures: events, which leave the program its speed; cupti, which times all "
        "nodes and slows short launches; topology, without node times (default: auto, events)",
    )
    parser.add_argument(
        "--node-times",
        choices=NODE_TIMES,
        default="auto",
        help="what times nodes while CUPTI is not in the program: event copies, or CUPTI in "
        "windows of a moment (default: auto, as --collector says)",
    )


def _add_slices(parser: argparse.ArgumentParser) -> None:
    """Add what launches copies of graphs between launches of the program."""
    parser.add_argument(
        "--trials",
        action="store_true",
        help="try edits of graphs in front of launches, on copies and undone: dependencies that "
        "others imply are left out, nodes stand in another order, in one chain or by priority, "
        "kernel families and layers are delayed; when the program has ended, families are left "
        "out; the recording says what each saves, or why it was not tried",
    )
    parser.add_argument(
        "--trial-budget",
        type=float,
        default=2.0,
        metavar="SECONDS",
        help="host time that the trials of a graph may take (default: 2)",
    )
    values = parser.add_mutually_exclusive_group()
    values.add_argument(
        "--values",
        dest="values",
        action="store_const",
        const="*",
        help="read the memory that each node is given before and after it, in front of a launch, "
        "on a copy and undone: what it reads and writes, NaN, least, greatest, a hash; contents "
        "are not kept",
    )
    values.add_argument(
        "--values-of",
        dest="values",
        metavar="NAME-PATTERN",
        help="the same of nodes whose kernel's symbol matches this shell pattern (memcpy, memset: "
        "copies, memsets)",
    )
    parser.add_argument(
        "--values-budget",
        type=float,
        default=2.0,
        metavar="SECONDS",
        help="host time that reading the values of a graph may take (default: 2)",
    )
    parser.add_argument(
        "--dump",
        metavar="NAME-PATTERN",
        help="keep what the memory of these nodes held, as .npy files beside the recording that "
        "only you can read; without --values only they are read",
    )
    parser.add_argument(
        "--dump-limit",
        type=float,
        default=64.0,
        metavar="MIB",
        help="MiB that these contents may take of a graph (default: 64)",
    )


def _add_black_box(parser: CommandParser) -> None:
    """Add what is left for after a fault."""
    parser.add_argument(
        "--black-box",
        default="off",
        choices=BLACK_BOXES[1:],
        metavar="[=layer|node]",
        help="be ready for a fault: the driver writes a core dump of a failed kernel; with =layer "
        "or =node launches also leave crumbs at the ends of layers or of all nodes, which tell "
        "after a fault, a stall or a kill which nodes were running, and no node times are taken",
    )
    parser.default_value("--black-box", "core")
    parser.add_argument(
        "--stall",
        metavar="30s",
        help="with crumbs: report a launch that makes no progress for so long (units: ms, s, min, "
        "h)",
    )


def _add_periods(parser: argparse.ArgumentParser) -> None:
    """Add what says when to record."""
    parser.add_argument(
        "--delay",
        type=float,
        default=0.0,
        metavar="SECONDS",
        help="record from so long after the program's first use of CUDA on",
    )
    parser.add_argument(
        "--duration",
        type=float,
        metavar="SECONDS",
        help="record for so long (default: to the end)",
    )
    parser.add_argument(
        "--max-launches",
        type=int,
        metavar="N",
        help="record so many graph launches (default: all)",
    )
    parser.add_argument(
        "--paused",
        action="store_true",
        help="do not record until gviz.start(), 'gviz start PID' or the signal",
    )
    parser.add_argument(
        "--capture-range",
        metavar="cudaProfilerApi|nvtx:NAME",
        help="record where the program says so: between cudaProfilerStart and cudaProfilerStop, or "
        "inside NVTX ranges of that name",
    )
    parser.add_argument(
        "--toggle-signal",
        metavar="SIGNAL",
        help="a signal, such as SIGUSR2, that starts and stops recording; it may be sent to gviz "
        "run itself",
    )


def run(args: argparse.Namespace) -> int:
    """Run the program; return its exit code."""
    options = _options(args)
    command = command_of(args.program, args.arguments, module=args.module)
    output = _full_path(args.output or _free_output(_name_of(args), overwrite=args.overwrite))
    check_output(output, overwrite=args.overwrite)
    native.load()
    outer = Job.from_environment(os.environ)
    if outer is not None:
        # As gviz.profile does: the run outside records this program too.
        warn_of_outer_run(outer.output, output)
        return _attend(_start(command, dict(os.environ)), None, options, _Outcome(args.json, None))
    _check_injection()
    job = _job(options, output, follow=not args.no_children)
    make_spool(job.spool)
    forget_contents(output)
    with attend(job.spool) as lock:
        try:
            environment = job.environment(_clean(os.environ))
            if not args.no_gate:
                _preload_gate(environment, command[0], _wanted_gate(job))
            child = _start(command, environment)
        except BaseException:
            with contextlib.suppress(OSError):  # somebody put something there
                job.spool.rmdir()
            raise
        if options.paused:
            inform(f"gviz: nothing is recorded until 'gviz start {child.pid}', or gviz.start() in "
                   "the program")  # fmt: skip
        outcome = _Outcome(args.json, output, options.black_box != "off")
        return _attend(child, _start_writer(job, lock), options, outcome)


@dataclass(frozen=True, slots=True)
class _Outcome:
    """The line of JSON after a program, if one is wanted, about the recording of its own."""

    is_wanted: bool
    output: Path | None
    has_black_box: bool = False

    def say_faults(self) -> None:
        """Say what the black box has, a paragraph each; nothing where nothing failed."""
        if self.has_black_box and self.output is not None and self.output.exists():
            from gviz.model import summarize_faults
            from gviz.recording import Recording
            from gviz.report import fault_paragraph

            with Recording(self.output) as recording:
                for run in recording.fetch_runs():
                    for fault in summarize_faults(recording, run.run_id):
                        say(f"gviz: {fault_paragraph(fault)}")

    def report(self, code: int) -> None:
        """Print it; whatever takes no output changes nothing of how the program ended."""
        if not self.is_wanted:
            return
        with contextlib.suppress(OSError, ValueError):
            found: dict[str, object] = {"path": None, "size_bytes": None}
            if self.output is not None and self.output.exists():
                found = written_file(self.output)
            print_json({"run_version": RUN_VERSION, **found, "exit_code": code})


def _full_path(path: Path) -> Path:
    """Return the path from the root on, for a program that changes its folder, without ".."."""
    full = path.absolute()
    # Only the system knows what ".." behind a link is.
    return Path(os.path.realpath(full.parent), full.name) if ".." in full.parts else full


def _free_output(program: str, *, overwrite: bool) -> Path:
    """Return the recording to write where none is named: the first name that is not taken."""
    output, number = Path(f"{program}.gviz"), 1
    while not overwrite and (output.exists() or spool_of(output).exists()):
        number += 1
        output = Path(f"{program}-{number}.gviz")
    return output


def _check_injection() -> None:
    found = os.environ.get("CUDA_INJECTION64_PATH")
    # Ours is left over from a gviz run that this process has outlived.
    if found and found != str(native.library_path()):
        raise CollectorError(
            f"another profiler is set up in CUDA_INJECTION64_PATH ({found}); run without it"
        )


def _clean(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without what an earlier gviz run put there."""
    left = {k: v for k, v in environment.items() if k not in OWN_VARIABLES}
    if "GVIZ_RUN" in environment:
        left.pop("PYTHONPATH", None)
        if "GVIZ_PYTHONPATH" in environment:
            left["PYTHONPATH"] = environment["GVIZ_PYTHONPATH"]
    return left


def _wanted_gate(job: Job) -> str | None:
    """Return 1 for the gate, the path of another build of it (for tests), or None for none.

    It is wanted where CUPTI is not to be in the program, or cannot be had, and where GVIZ_GATE says
    so.
    """
    given = os.environ.get("GVIZ_GATE")
    return given or ("1" if job.goes_without_cupti() else None)


def _preload_gate(environment: dict[str, str], program: str, wanted: str | None) -> None:
    """Have the gate preloaded, if it is wanted and can be."""
    if not wanted:
        return
    gate = native.gate_path() if wanted == "1" else Path(wanted)
    plan = plan_preloading(gate, program, environment.get("LD_PRELOAD"))
    environment["GVIZ_GATE"] = plan.obstacle or "preloaded"
    if plan.variable is not None:
        environment["LD_PRELOAD"] = plan.variable


def _node_launches(args: argparse.Namespace) -> str:
    """Return which launches get node times, in the words of ProfileOptions."""
    if args.every is not None:
        return f"every:{args.every}"
    given = str(args.node_launches)
    if given.startswith("every:"):
        say(f"gviz: --every {given.removeprefix('every:')} stands for --node-launches {given}")
    return given


def _name_of(args: argparse.Namespace) -> str:
    return default_name(args.program, args.arguments, module=args.module)


def _options(args: argparse.Namespace) -> ProfileOptions:
    return ProfileOptions(
        name=args.name or _name_of(args),
        node_launches=_node_launches(args),
        eager_operations=args.eager_operations,
        graph=args.graph,
        delay_s=args.delay,
        duration_s=args.duration,
        max_launches=args.max_launches,
        paused=args.paused,
        toggle_signal=args.toggle_signal,
        capture_range=args.capture_range,
        collector=args.collector,
        node_times=args.node_times,
        trials=args.trials,
        trial_budget_s=args.trial_budget,
        black_box=args.black_box,
        stall=args.stall,
        values=args.values,
        values_budget_s=args.values_budget,
        dump=args.dump,
        dump_limit_mib=args.dump_limit,
        overwrite=args.overwrite,
    )


def _job(options: ProfileOptions, output: Path, *, follow: bool) -> Job:
    spool = spool_of(output)
    candidates = find_cupti()
    facts = {
        "name": options.name,
        "source": "run",
        "node_launches": str(options.node_launches),
        "gviz_version": gviz.__version__,
    }
    return Job(
        output=output,
        spool=spool,
        options=options,
        parent=os.getpid(),
        follow=follow,
        metadata=facts | metadata.machine(),
        cupti=candidates[0].path if candidates else None,
    )


def _start(command: list[str], environment: dict[str, str]) -> subprocess.Popen[bytes]:
    # Descriptors that gviz was given are the program's, as without it. So, and with a path, Python
    # starts it by posix_spawn, without a pipe of its own that could fail.
    found = shutil.which(command[0], path=environment.get("PATH"))
    try:
        return subprocess.Popen(command, executable=found, env=environment, close_fds=False)
    except OSError as error:
        raise UsageError(f"{command[0]} cannot be started: {error.strerror}") from error


def _start_writer(job: Job, lock: int) -> JobWriter | None:
    """Start what makes the recording; the program runs on where that fails."""
    try:
        return JobWriter(job.spool, job.output, overwrite=job.options.overwrite, lock=lock)
    except (OSError, MemoryError) as error:
        why = error.strerror if isinstance(error, OSError) else "there is not enough memory"
        say(f"gviz: {job.output} is not written: its writer cannot be started ({why}); "
            f"'gviz info {job.output}' makes it of what is recorded")  # fmt: skip
        return None


def _attend(
    child: subprocess.Popen[bytes],
    writer: JobWriter | None,
    options: ProfileOptions,
    outcome: _Outcome,
) -> int:
    """Wait until the program ends, have the recording written, and end as the program did."""

    def forward(number: int, frame: FrameType | None) -> None:
        child.send_signal(number)

    forwarded = set(_FORWARDED)
    if options.toggle_signal is not None:
        forwarded.add(parse_signal(options.toggle_signal))
    previous = {number: signal.signal(number, forward) for number in forwarded}
    previous[signal.SIGINT] = signal.signal(signal.SIGINT, signal.SIG_IGN)
    leave_given_pipes(kept=(1, 2) if outcome.is_wanted else (2,))
    try:
        # From here on the end is decided: what happens to the recording is said and no more.
        status = child.wait()
        code = status if status >= 0 else 128 - status
        _finish(writer, child.pid, code, outcome)
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
    if status < 0:
        _die_like(-status)
    return code


def _finish(writer: JobWriter | None, process_id: int, code: int, outcome: _Outcome) -> None:
    """Have the recording written and reported; the program has ended, whatever fails here."""
    try:
        if writer is not None:
            writer.wait(process_id, code)
        outcome.say_faults()
        outcome.report(code)
    except Exception as error:
        with contextlib.suppress(Exception):
            say(f"gviz: the recording was not waited for: {error or 'there is not enough memory'}")


def _die_like(number: int) -> None:
    """End by the signal that ended the program, so that our parent sees the same status."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_DFL)
    # Who started us may have blocked it.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
    os.kill(os.getpid(), number)
