"""``gviz``: find the command, load its module only, turn errors into sentences and exit codes."""

from __future__ import annotations

import argparse
import importlib
import io
import os
import sys
import time
from collections.abc import Sequence
from itertools import takewhile
from typing import ClassVar, Protocol, cast

from gviz import __version__
from gviz.cli.configured import fill_options
from gviz.cli.encoding import take_any_encoding
from gviz.cli.file_mode import apply_mode
from gviz.cli.output import print_text
from gviz.cli.parser import CommandHelp, CommandParser
from gviz.cli.verbosity import FLAGS, add_verbosity, is_verbose, use_verbosity
from gviz.dataclass import dataclass
from gviz.errors import GvizError, is_out_of_memory, is_without_reason
from gviz.system import inform
from gviz.text import duration, likely_meant

#: Exit codes of a process ended by SIGINT and SIGPIPE, as a shell reports them.
EXIT_INTERRUPTED = 130
EXIT_BROKEN_PIPE = 141
COMMANDS_PACKAGE = "gviz.cli.commands"
_WITHOUT_REASON = (
    "a library failed and named no error, as NumPy does without memory; try again with more "
    "memory, and if that changes nothing report what follows"
)


class Subparsers(Protocol):
    """The argument of a command's ``add_parser``: argparse's collection of subparsers."""

    def add_parser(
        self, name: str, *, help: str, description: str = ...
    ) -> argparse.ArgumentParser:
        """Add the parser of one command."""


class CommandModule(Protocol):
    """Functions that a module of a command provides."""

    def add_parser(self, subparsers: Subparsers) -> None:
        """Add the command's parser to the subparsers of ``gviz``."""

    def run(self, arguments: argparse.Namespace) -> int:
        """Carry the command out and return the exit code."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command: its heading in ``gviz --help``, module below COMMANDS_PACKAGE, and line there."""

    heading: str
    module: str
    summary: str


_RECORD, _READ, _COMPARE = "record a program", "read a recording", "compare recordings"
_FILES, _MACHINE = "convert, join and repair recordings", "check and set up this machine"
COMMANDS = {
    "run": Command(_RECORD, "record.run_", "run a program and record its CUDA graphs"),
    "start": Command(
        _RECORD, "record.start", "begin recording in a program that runs, paused, under gviz run"
    ),
    "stop": Command(
        _RECORD, "record.stop", "end recording in a program that runs under gviz run --paused"
    ),
    "top": Command(_RECORD, "record.top", "show the graphs of a running program in the terminal"),
    "view": Command(_READ, "look.view", "open recordings in the browser"),
    "demo": Command(_READ, "look.demo", "open the bundled recordings in the browser"),
    "info": Command(_READ, "look.info", "say what is in a recording"),
    "analyze": Command(
        _READ, "look.analyze", "say what bounds a graph's launches and what could be gained"
    ),
    "what-if": Command(
        _READ,
        "look.what_if",
        "say what a launch would take if nodes were faster, gone, fused or independent",
    ),
    "node": Command(_READ, "look.node", "say all that is recorded of one node"),
    "values": Command(_READ, "look.values", "say what went into nodes and came out of them"),
    "query": Command(_READ, "look.query", "print rows of a recording, by SQL"),
    "mcp": Command(
        _READ, "look.mcp", "answer programs that read profiles, by the Model Context Protocol"
    ),
    "skill": Command(_READ, "look.skill", "print the skill that teaches an agent to use gviz"),
    "diff": Command(_COMPARE, "compare.diff", "say what changed from one recording to another"),
    "trend": Command(
        _COMPARE, "compare.trend", "show the launch times of graphs through any number of runs"
    ),
    "check": Command(
        _COMPARE, "compare.check", "fail if a recording exceeds limits or its baseline"
    ),
    "skew": Command(_COMPARE, "compare.skew", "compare the ranks of a job"),
    "fleet": Command(
        _COMPARE, "fleet.command", "put the recordings of many ranks in one data set; ask it"
    ),
    "merge": Command(_FILES, "files.merge", "put the recordings of a job's ranks in one file"),
    "import": Command(
        _FILES,
        "files.import_",
        "make a recording from a trace of another profiler, or a DOT dump of the driver",
    ),
    "export": Command(
        _FILES, "files.export", "write a recording for other programs, or as one HTML file"
    ),
    "upgrade": Command(
        _FILES, "files.upgrade", "bring recordings of older gviz versions up to date"
    ),
    "recover": Command(
        _FILES, "files.recover", "write what can be read of a damaged recording or spool"
    ),
    "doctor": Command(
        _MACHINE, "machine.doctor", "say whether profiling would work here, and why not"
    ),
    "bench": Command(
        _MACHINE, "machine.bench", "measure what CUDA graphs cost and save on this GPU"
    ),
    "completion": Command(
        _MACHINE, "machine.completion", "print what completes gviz in bash, zsh or fish"
    ),
}


class _Help(CommandHelp):
    headings: ClassVar = {name: command.heading for name, command in COMMANDS.items()}


def load_command(name: str) -> CommandModule:
    """Import and return the module of a command."""
    return cast(
        CommandModule, importlib.import_module(f"{COMMANDS_PACKAGE}.{COMMANDS[name].module}")
    )


def build_parser(*loaded: str) -> CommandParser:
    """Return the parser of ``gviz``.

    Parameters
    ----------
    loaded
        The commands whose own options are wanted. The others are listed without importing their
        modules, which keeps ``gviz info`` from loading a web server.
    """
    parser = CommandParser(
        prog="gviz",
        formatter_class=_Help,
        description="Profile and show CUDA graphs: 'gviz run step.py' records a program, 'gviz "
        "view' opens the recording, 'gviz analyze step.gviz' says what bounds its launches.",
        epilog="'gviz COMMAND --help' says what a command takes; 'gviz FILE.gviz' opens a file.",
    )
    add_verbosity(parser)
    parser.add_argument("-V", "--version", action="version", version=f"gviz {__version__}")
    subparsers = parser.add_subparsers(title="commands", dest="command", metavar="COMMAND")
    for name, command in COMMANDS.items():
        if name in loaded:
            load_command(name).add_parser(cast(Subparsers, subparsers))
            add_verbosity(subparsers.choices[name])
        else:
            subparsers.add_parser(name, help=command.summary, add_help=False)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv
        Arguments without the program's name; by default those of the process.

    Returns
    -------
    int
        Exit code: 0 fine, 1 a gviz error or a failed check, 2 usage, 130 interrupted.
        ``gviz run`` returns the exit code of the program it ran.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    # Closed by who started gviz: what is printed goes nowhere, and errors not to the other one.
    sys.stdout = sys.stdout or io.StringIO()
    sys.stderr = sys.stderr or io.StringIO()
    take_any_encoding(sys.stdout, sys.stderr)
    try:
        try:
            code = _dispatch(arguments)
            from gviz.cli.recording_path import say_late_damage  # help and the version need none

            say_late_damage()
            return code
        finally:  # also what --help has printed, before it ends by SystemExit
            sys.stdout.flush()
    except GvizError as error:
        print_text(f"gviz: {error}", sys.stderr)
        if is_verbose():
            _print_causes(error)
        return error.exit_code
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader (head, less) went away. Python would complain again when it flushes
        # stdout at exit, so stdout gets a place to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_BROKEN_PIPE
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        print("gviz: there is not enough memory", file=sys.stderr)
        return 1
    except SystemError as error:
        if not is_without_reason(error):
            raise
        print(f"gviz: {_WITHOUT_REASON}", file=sys.stderr)
        sys.excepthook(type(error), error, error.__traceback__)
        return 1
    except OSError as error:
        print(f"gviz: the system refused something: {error}", file=sys.stderr)
        return 1
    finally:
        use_verbosity(argparse.Namespace())  # who calls this from Python goes on as before


def _print_causes(error: BaseException) -> None:
    """Say what an error came from, the nearest first."""
    cause = error.__cause__
    while cause is not None:
        print(f"gviz: it came from {type(cause).__name__}: {cause}", file=sys.stderr)
        cause = cause.__cause__


def _dispatch(arguments: list[str]) -> int:
    # Before the command they mean what they mean behind it.
    flags = list(takewhile(FLAGS.__contains__, arguments))
    arguments = arguments[len(flags) :]
    first = arguments[0] if arguments else "-"
    if first not in COMMANDS and _is_recording(first):
        arguments, first = ["view", *arguments], "view"
    name = first if first in COMMANDS else None
    parser = build_parser(*filter(None, [name]))
    if name is None and not first.startswith("-"):
        records = f"; to record a program: gviz run {first}" if os.path.isfile(first) else ""
        parser.error(f"there is no command {first!r}{records or likely_meant(first, COMMANDS)}")
    if name is None:
        parser.parse_args([*arguments[:1], *flags, *arguments[1:]])
        parser.print_help()
        return 0
    parser.command(name).withhold_defaults()
    parsed = parser.parse_args([name, *flags, *arguments[1:]])
    use_verbosity(parsed)  # for errors in the configuration, which may say more of it
    fill_options(parser.command(name), parsed, name, COMMANDS)
    use_verbosity(parsed)
    apply_mode(parsed)
    begun = time.monotonic()
    code = load_command(name).run(parsed)
    if is_verbose():
        inform(f"gviz: {name} took {duration(1e9 * (time.monotonic() - begun))}")
    return code


def _is_recording(word: str) -> bool:
    """Return whether a word in the place of a command names what ``gviz view`` opens."""
    return word.endswith((".gviz", ".gviz-spool")) or os.path.isdir(word)


if __name__ == "__main__":
    sys.exit(main())
