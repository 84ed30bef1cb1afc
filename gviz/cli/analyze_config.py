"""What ``gviz analyze`` leaves out: a configuration file in TOML.

[[ignore]]
rule = "below-one-wave"
graph = "decode*"        # only in graphs of such a name; without it everywhere
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from gviz.analysis.advice import Ignored
from gviz.analysis.rules.rule import RULES
from gviz.errors import GvizError

#: Read where it is there, unless another file is named.
DEFAULT_NAME = "gviz.toml"


def read_ignored(path: Path | None) -> tuple[Ignored, ...]:
    """Return what a configuration file leaves out; nothing if none is named and none is here.

    Raises
    ------
    GvizError
        If the file cannot be read or says something else than it may.
    """
    if path is None:
        path = Path(DEFAULT_NAME)
        if not path.exists():
            return ()
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise GvizError(f"cannot read {path}: {error.strerror}; check the name") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise GvizError(f"{path} is no TOML: {error}; docs/analysis.md has an example") from error
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
