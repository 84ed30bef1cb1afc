"""Parsers of the command line: argparse's, whose errors also name what was probably meant."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any, ClassVar, NoReturn

from gviz.text import likely_meant

_UNKNOWN_OPTION = re.compile(r"unrecognized arguments: (--[\w-]+)")
_UNKNOWN_VALUE = re.compile(r"(?s).*: invalid choice: '(.*)' \(choose from (.*)\)")
_NO_NUMBER = re.compile(r"invalid (int|float) value: (.*)")
#: Names of types, as argparse says them, in words.
_NUMBERS = {"int": "whole number", "float": "number"}


class CommandHelp(argparse.HelpFormatter):
    """Help that lists commands below headings."""

    #: The heading of each command.
    headings: ClassVar[Mapping[str, str]]

    def _format_action(self, action: argparse.Action) -> str:
        if not isinstance(action, argparse._SubParsersAction):
            return super()._format_action(action)
        groups = []
        for heading, commands in groupby(
            action._choices_actions, lambda command: self.headings[command.dest]
        ):
            lines = [f"{'':{self._current_indent}}{heading}:\n"]
            self._indent()
            lines += map(super()._format_action, commands)
            self._dedent()
            groups.append("".join(lines))
        return "\n".join(groups)


class CommandParser(argparse.ArgumentParser):
    """A parser that suggests the option, command or value nearest to one that it does not know.

    It can leave the defaults of options to its caller, so that what a configuration sets stands
    between them and what was given.
    """

    def error(self, message: str) -> NoReturn:
        """Print the usage and the error, and exit with 2."""
        message = _NO_NUMBER.sub(lambda found: f"{found[2]} is no {_NUMBERS[found[1]]}", message)
        meant = ""
        if unknown := _UNKNOWN_OPTION.match(message):
            meant = likely_meant(unknown[1], self._options())
        elif unknown := _UNKNOWN_VALUE.match(message):
            meant = likely_meant(unknown[1], re.findall(r"[^\s,']+", unknown[2]))
        super().error(message + meant)

    def command(self, name: str) -> CommandParser:
        """Return the parser of a command."""
        (found,) = (a for a in self._actions if isinstance(a, argparse._SubParsersAction))
        parser = found.choices[name]
        assert isinstance(parser, CommandParser)
        return parser

    @property
    def commands(self) -> Mapping[str, CommandParser]:
        """Return the parsers of its commands by name; empty: it has none."""
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                return action.choices
        return {}

    def chosen(self, parsed: argparse.Namespace) -> str:
        """Return the name of the one of its commands that was parsed."""
        (action,) = (a for a in self._actions if isinstance(a, argparse._SubParsersAction))
        name: str = getattr(parsed, action.dest)
        return name

    def withhold_defaults(self) -> None:
        """Leave options that are not given out of what is parsed; :meth:`fill` puts them in."""
        for inner in self.commands.values():
            inner.withhold_defaults()
        self._withheld = {a: a.default for a in self._actions if a.option_strings}
        for action in self._withheld:
            action.default = argparse.SUPPRESS

    def fill(self, parsed: argparse.Namespace, configured: Mapping[str, object]) -> None:
        """Put in what is configured for options that were not given, and the other defaults.

        Of options of which one may be given, a given one outweighs another that is configured.
        """
        outweighed = set(vars(parsed))
        for group in self._mutually_exclusive_groups:
            names = {action.dest for action in group._group_actions}
            outweighed |= names if names & outweighed else set()
        for name, value in configured.items():
            if name not in outweighed:
                setattr(parsed, name, value)
        for action, default in self._withheld.items():
            if default is not argparse.SUPPRESS and not hasattr(parsed, action.dest):
                setattr(parsed, action.dest, default)

    def format_help(self) -> str:
        """Return the help, which says what the defaults are."""
        for action, default in getattr(self, "_withheld", {}).items():
            action.default = default
        return super().format_help()

    def default_value(self, option: str, value: str) -> None:
        """Let an option be given without its value, which then is this; others follow a ``=``."""
        self._values = {**getattr(self, "_values", {}), option: value}

    def _parse_optional(self, arg_string: str) -> Any:
        value = getattr(self, "_values", {}).get(arg_string)
        return super()._parse_optional(arg_string if value is None else f"{arg_string}={value}")

    def _options(self) -> Iterator[str]:
        """Yield the options of this parser and of its commands."""
        for action in self._actions:
            yield from action.option_strings
            if isinstance(action, argparse._SubParsersAction):
                for command in action.choices.values():
                    yield from command._options()
