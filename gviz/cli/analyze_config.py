"""What ``gviz analyze`` and ``gviz check`` leave out: [[ignore]] of a configuration file.

[[ignore]]
rule = "below-one-wave"
graph = "decode*"        # only in graphs of such a name; without it everywhere
"""

from __future__ import annotations

from pathlib import Path

from gviz.analysis.advice import Ignored
from gviz.analysis.rules.rule import RULES
from gviz.cli.config_file import read_config
from gviz.errors import GvizError


def read_ignored(path: Path | None) -> tuple[Ignored, ...]:
    """Return what a configuration file leaves out; nothing if none is named and none is here.

    Raises
    ------
    GvizError
        If the file cannot be read or says something else than it may.
    """
    path, content = read_config(path)
    entries = content.get("ignore", [])
    if not isinstance(entries, list):
        raise GvizError(f"{path}: 'ignore' must be [[ignore]] tables; docs/analysis.md has one")
    return tuple(_entry(path, entry) for entry in entries)


def _entry(path: Path, entry: object) -> Ignored:
    if not isinstance(entry, dict) or not set(entry) <= {"rule", "graph"}:
        raise GvizError(f"{path}: an [[ignore]] table has rule and graph, not {entry}; mend it")
    rule, graph = entry.get("rule"), entry.get("graph")
    if rule not in RULES:
        raise GvizError(f"{path}: there is no rule {rule!r}; there are {', '.join(RULES)}")
    if graph is not None and not isinstance(graph, str):
        raise GvizError(f"{path}: graph must be a pattern of names, not {graph!r}; mend it")
    return Ignored(str(rule), graph)
