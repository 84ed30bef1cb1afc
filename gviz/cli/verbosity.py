"""``--quiet`` and ``--verbose``, which every command has."""

from __future__ import annotations

import argparse

from gviz.system import be_quiet

#: Both in all their forms: before the command they mean what they mean behind it.
FLAGS = ("-q", "--quiet", "-v", "--verbose")


def add_verbosity(parser: argparse.ArgumentParser, *, is_inner: bool = False) -> None:
    """Add the options to a parser.

    Parameters
    ----------
    is_inner
        It is that of a command's own command, around which another parser has them too.
    """
    default = argparse.SUPPRESS if is_inner else False
    parser.add_argument(
        *FLAGS[:2],
        action="store_true",
        default=default,
        help="say on stderr only what went wrong",
    )
    parser.add_argument(
        *FLAGS[2:],
        action="store_true",
        default=default,
        help="also say on stderr what is done, how long it took, and what an error came from",
    )


def use_verbosity(arguments: argparse.Namespace) -> None:
    """Have this process, and those of gviz that it starts, say as much as a command asks for.

    What was not given, and not filled in so far, is not asked for.
    """
    global _is_verbose
    _is_verbose = getattr(arguments, "verbose", False)
    if getattr(arguments, "quiet", False):
        be_quiet()


_is_verbose = False


def is_verbose() -> bool:
    """Return whether all is said that is done."""
    return _is_verbose
