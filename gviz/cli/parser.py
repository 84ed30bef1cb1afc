"""Parsers of the command line: argparse's, whose errors also name what was probably meant."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import NoReturn

_UNKNOWN_OPTION = re.compile(r"unrecognized arguments: (--[\w-]+)")


def meant(wrong: str, known: Iterable[str]) -> str:
    """Return the end of a sentence that names the likeliest of the known words, or nothing."""
    found = get_close_matches(wrong, list(known), n=1)
    return f"; did you mean {found[0]}?" if found else ""


class CommandParser(argparse.ArgumentParser):
    """A parser that suggests the option whose name is nearest to one that it does not know."""

    def error(self, message: str) -> NoReturn:
        """Print the usage and the error, and exit with 2."""
        unknown = _UNKNOWN_OPTION.match(message)
        super().error(message + (meant(unknown[1], self._options()) if unknown else ""))

    def _options(self) -> Iterator[str]:
        """Yield the options of this parser and of its commands."""
        for action in self._actions:
            yield from action.option_strings
            if isinstance(action, argparse._SubParsersAction):
                for command in action.choices.values():
                    yield from command._options()
