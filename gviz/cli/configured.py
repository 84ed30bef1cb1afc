"""Options that a configuration sets: its tables ``[options.COMMAND]``.

A command that has commands has a table for each, such as ``[options.fleet.build]``.
"""

from __future__ import annotations

import argparse
from collections.abc import Collection
from typing import Any

from gviz.cli.parser import CommandParser
from gviz.errors import UsageError
from gviz.system import read_config
from gviz.text import likely_meant

#: For the command line alone: where is written, what is replaced, who may connect, whose programs
#: read the recordings. A file in another's folder must not choose that.
UNCONFIGURED = frozenset(
    (
        *("config", "help", "output", "overwrite", "junit", "markdown", "mode"),
        *("host", "allow-host", "socket", "url-prefix"),
        *("anew", "scheduler"),
    )
)


def fill_options(
    command: CommandParser, parsed: argparse.Namespace, name: str, commands: Collection[str]
) -> None:
    """Put the options of a command that were not given into what was parsed.

    Parameters
    ----------
    command
        The command's parser, which withheld its defaults.
    name
        The command's.
    commands
        All that there are.

    Raises
    ------
    UsageError
        If the configuration cannot be read, or sets what there is not or cannot be set.
    """
    file, content = read_config(getattr(parsed, "config", None))
    tables = content.get("options", {})
    if not (isinstance(tables, dict) and all(isinstance(x, dict) for x in tables.values())):
        raise UsageError(f"{file}: options stand below their command, such as [options.run]")
    for other in tables:
        if other not in commands:
            raise UsageError(
                f"{file}: [options.{other}]: there is no command {other!r}"
                f"{likely_meant(other, commands)}"
            )
    table, place = tables.get(name, {}), f"options.{name}"
    if command.commands:
        _check_inner(table, command.commands, f"{file}: [{place}]")
        command.fill(parsed, {})
        inner = command.chosen(parsed)
        command, table, place = command.commands[inner], table.get(inner, {}), f"{place}.{inner}"
    command.fill(parsed, _values(command, table, f"{file}: [{place}]"))


def _check_inner(table: dict[str, Any], commands: Collection[str], place: str) -> None:
    for key, value in table.items():
        if key not in commands:
            raise UsageError(f"{place}: there is no command {key!r}{likely_meant(key, commands)}")
        if not isinstance(value, dict):
            raise UsageError(f"{place}: options of {key} stand in a table of their own")


def _values(command: CommandParser, table: dict[str, Any], place: str) -> dict[str, object]:
    """Return the values by attribute of what is parsed."""
    options = {
        text.removeprefix("--"): action
        for action in command._actions
        for text in action.option_strings
        if text.startswith("--") and text.removeprefix("--") not in UNCONFIGURED
    }
    values = {}
    for key, value in table.items():
        if key in UNCONFIGURED:
            raise UsageError(
                f"{place} {key}: is for the command line alone: docs/configuration.md says why"
            )
        if key not in options:
            raise UsageError(f"{place}: there is no option {key!r}{likely_meant(key, options)}")
        action = options[key]
        try:
            found = _value(command, action, value)
        except (argparse.ArgumentError, UsageError) as error:
            raise UsageError(f"{place} {key}: {getattr(error, 'message', error)}") from error
        if found is not None:
            values[action.dest] = found
    return values


def _value(command: CommandParser, action: argparse.Action, value: Any) -> object:
    """Return the value that an option would have had on the command line; None: not given."""
    if action.nargs == 0:
        if not isinstance(value, bool):
            raise UsageError(f"give true or false, not {value!r}")
        return action.const if value else None
    if isinstance(action, argparse._AppendAction):
        items = value if isinstance(value, list) else [value]
        return [_word(command, action, item) for item in items]
    return _word(command, action, value)


def _word(command: CommandParser, action: argparse.Action, value: Any) -> object:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise UsageError(f"give a number or a text in quotes, not {value!r}")
    found: object = command._get_value(action, str(value))
    command._check_value(action, found)
    return found
