"""Findings that commands and reports leave out: [[ignore]] of a configuration file.

[[ignore]]
rule = "below-one-wave"
graph = "decode*"        # only in graphs of such a name; without it everywhere
kernels = "flash_*"      # only findings all of whose nodes have such names
"""

from __future__ import annotations

from pathlib import Path

from gviz.analysis import ANY_RULE, RULES, Ignored
from gviz.errors import UsageError
from gviz.system import read_config
from gviz.text import nearest


def read_ignored(path: Path | None) -> tuple[Ignored, ...]:
    """Return what a configuration file leaves out; nothing if none is named and none is here.

    Raises
    ------
    UsageError
        If the file cannot be read or says something else than it may.
    """
    path, content = read_config(path)
    entries = content.get("ignore", [])
    if not isinstance(entries, list):
        raise UsageError(f"{path}: 'ignore' must be [[ignore]] tables; docs/analysis.md has one")
    return tuple(_entry(path, number, entry) for number, entry in enumerate(entries, start=1))


def _entry(path: Path, number: int, entry: object) -> Ignored:
    where = f"{path}, [[ignore]] table {number}"
    if not isinstance(entry, dict):
        raise UsageError(f"{where}: it must be a table, not {entry!r}; docs/analysis.md has one")
    unknown = sorted(set(entry) - {"rule", "graph", "kernels"})
    if unknown:
        raise UsageError(f"{where}: it has rule, graph and kernels, not {unknown[0]!r}; mend it")
    rule = entry.get("rule")
    if not isinstance(rule, str) or (rule not in RULES and rule != ANY_RULE):
        near = nearest(str(rule), RULES)
        meant = f" (did you mean {near!r}?)" if near else ""
        raise UsageError(
            f"{where}: there is no rule {rule!r}{meant}; there are {', '.join(RULES)}, and "
            f"{ANY_RULE!r} for all"
        )
    return Ignored(rule, _pattern(where, entry, "graph"), _pattern(where, entry, "kernels"))


def _pattern(where: str, entry: dict[str, object], key: str) -> str | None:
    found = entry.get(key)
    if found is None or (isinstance(found, str) and found):
        return found
    raise UsageError(f"{where}: {key} must be a pattern of names, not {found!r}; mend it")
