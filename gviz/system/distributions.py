"""Distributions that are installed, as the names of their folders say it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

#: Name of the folder that an installed distribution leaves (PyPA: recording installed projects).
_INSTALLED = re.compile(r"(?P<name>[\w.-]+?)-(?P<version>[^-]+)(-py[\d.]+)?\.(dist|egg)-info")


def installed_versions(folders: Iterable[str]) -> dict[str, str]:
    """Return the version of each distribution in some folders, by normalized name.

    Of two of one name the first counts, as for Python. Not through importlib.metadata: it imports
    thirty modules, into the watched program too; and importing it while the program ends runs code
    from strings (namedtuple), upon which CPython forgets that Ctrl-C ended the program, and exits
    with 1.
    """
    found: dict[str, str] = {}
    for folder in folders:
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        for name in names:
            if match := _INSTALLED.fullmatch(name):
                found.setdefault(match["name"].replace("_", "-").lower(), match["version"])
    return found
