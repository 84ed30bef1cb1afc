"""``gviz run``: run a Python program unchanged and record its CUDA graphs."""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType

from gviz.collectors import metadata, native
from gviz.collectors.attach import VARIABLE
from gviz.collectors.options import COLLECTORS, ProfileOptions
from gviz.errors import CollectorError, UsageError
from gviz.recording.output import check_output
from gviz.spool.contents import Contents
from gviz.spool.fold import discard, fold
from gviz.spool.follow import gather
from gviz.spool.format import spool_of
from gviz.spool.reader import SpoolReader

_POLL_SECONDS = 0.05
#: Signals that a supervisor sends to the program it started; Ctrl-C reaches the child by itself.
_FORWARDED = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGCONT)


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser(
        "run",
        help="run a Python program and record its CUDA graphs",
        usage="gviz run -o OUT.gviz [options] (SCRIPT | -m MODULE) [ARGUMENT ...]",
        description="Run a Python script or module as python itself would, and record every "
        "CUDA graph it makes.",
    )
    parser.add_argument("-o", "--output", required=True, type=Path, help="the recording to write")
    parser.add_argument("--name", help="what to call the run (default: the script's name)")
    parser.add_argument(
        "--node-launches",
        default="20",
        metavar="N|every:K|all",
        help="launches of each executable whose nodes are timed (default: the first 20)",
    )
    parser.add_argument(
        "--eager-operations",
        type=int,
        default=20_000,
        metavar="N",
        help="kernels, copies and memsets outside graphs recorded at most (default: 20000)",
    )
    parser.add_argument(
        "--collector",
        choices=COLLECTORS,
        default="auto",
        help="what measures (default: auto, CUPTI if it can be had, else events)",
    )
    parser.add_argument("--overwrite", action="store_true", help="replace an existing recording")
    parser.add_argument("-m", dest="module", action="store_true", help="run a module, as python -m")
    parser.add_argument("program", metavar="SCRIPT | MODULE", help="what to run")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="its arguments")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the program; return its exit code."""
    options = _options(args)
    _check_program(args)
    output = Path(args.output).absolute()
    check_output(output, overwrite=args.overwrite)
    native.load()
    if os.environ.get("CUDA_INJECTION64_PATH"):
        raise CollectorError(
            "another profiler is set up in CUDA_INJECTION64_PATH "
            f"({os.environ['CUDA_INJECTION64_PATH']}); run without it"
        )
    child = _start(args, options, output)
    return _attend(child, output, overwrite=args.overwrite)


def _check_program(args: argparse.Namespace) -> None:
    if args.module:
        return
    script = Path(args.program)
    if not script.exists():
        raise UsageError(f"there is no script {script}; check the path")
    if script.is_dir() and not (script / "__main__.py").exists():
        raise UsageError(f"{script} is a directory without __main__.py; name a script")


def _options(args: argparse.Namespace) -> ProfileOptions:
    return ProfileOptions(
        name=args.name or Path(args.program).stem,
        node_launches=args.node_launches,
        eager_operations=args.eager_operations,
        collector=args.collector,
        overwrite=args.overwrite,
    )


def _start(
    args: argparse.Namespace, options: ProfileOptions, output: Path
) -> subprocess.Popen[bytes]:
    startup = Path(native.__file__).parent / "startup"
    told = {
        "output": str(output),
        "options": options.to_json(),
        "metadata": metadata.machine(),
    }
    environment = dict(os.environ)
    environment[VARIABLE] = json.dumps(told)
    if "PYTHONPATH" in environment:
        environment["GVIZ_PYTHONPATH"] = environment["PYTHONPATH"]
    rest = environment.get("PYTHONPATH")
    environment["PYTHONPATH"] = str(startup) + (os.pathsep + rest if rest else "")
    library = str(native.library_path())
    environment["CUDA_INJECTION64_PATH"] = library
    environment.setdefault("NVTX_INJECTION64_PATH", library)
    command = [sys.executable, *(["-m"] if args.module else []), args.program, *args.arguments]
    return subprocess.Popen(command, env=environment)


def _attend(child: subprocess.Popen[bytes], output: Path, *, overwrite: bool) -> int:
    """Follow the child's spool until it ends, fold it, and end as the child did."""

    def forward(number: int, frame: FrameType | None) -> None:
        child.send_signal(number)

    previous = {number: signal.signal(number, forward) for number in _FORWARDED}
    previous[signal.SIGINT] = signal.signal(signal.SIGINT, signal.SIG_IGN)
    spool = spool_of(output)
    try:
        while not spool.is_dir() and child.poll() is None:
            time.sleep(_POLL_SECONDS)
        if spool.is_dir():
            contents = gather(SpoolReader(spool), lambda _: child.poll() is not None)
            _write(contents, spool, output, child.returncode, overwrite=overwrite)
        else:
            print(
                f"gviz: {output} was not written: the program ended before gviz attached",
                file=sys.stderr,
            )
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
    if child.returncode < 0:
        _die_like(-child.returncode)
    return child.returncode


def _write(
    contents: Contents, spool: Path, output: Path, returncode: int, *, overwrite: bool
) -> None:
    code = returncode if returncode >= 0 else 128 - returncode
    fold(contents, spool, output, overwrite=overwrite, exit_code=code)
    discard(spool)
    print(f"gviz: wrote {output}; look at it with: gviz view {output}", file=sys.stderr)


def _die_like(number: int) -> None:
    """End by the signal that ended the program, so that our parent sees the same status."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
