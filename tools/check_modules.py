"""check_modules.py FOLDER: fail unless the ES modules below a folder import only what they may.

Imports of types (``import("./x.js").Y`` and ``@import`` in comments) count for the direction
between folders. Circles are of values only: two modules of a folder may name each other's types.
"""

from __future__ import annotations

import posixpath
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

_VIEWS = ("dag", "timeline", "memory", "table", "breakdown")
_DAG = ("core", "dag/overlay", "dag/scene", "dag/draw")
#: What each folder may import, itself besides: the views do not know each other, and what is in
#: the application and what is in a saved file know each other's no more.
ALLOWED: dict[str, Sequence[str]] = {
    "core": (),
    "overlay/read": ("core",),
    "overlay": ("core", "overlay/read"),
    "dag/overlay": ("core", "overlay"),
    "dag/scene": _DAG[:2],
    "dag/draw": _DAG[:3],
    "dag": _DAG,
    "layout/place": (),
    "layout/fold": ("core", "layout/place"),
    "layout": ("core", "inspector", "layout/fold", "layout/place"),
    "timeline/lanes": ("core", "overlay", "timeline"),
    "timeline": ("core", "overlay", "timeline/lanes"),
    "memory": ("core",),
    "table": ("core",),
    "breakdown": ("core",),
    "search": ("core", "table", "breakdown"),
    "inspector": ("core", "table"),
    "page": ("core", "overlay", *_VIEWS, "search"),
    "stores": ("core", "overlay", *_VIEWS, "inspector", "page", "layout"),
    "dash": ("core", "overlay", *_VIEWS, "search", "page", "stores"),
    "file": ("core", "overlay", *_VIEWS, "search", "page", "stores"),
    "early": (),
}
MOST_MODULES = 20
_VALUES = re.compile(r'^(?:import|export) (?:[\w*{][^;"=(]*? from )?"([^"]+)"', re.MULTILINE)
_TYPES = re.compile(r'import\("([^"]+)"\)|@import \{[^}]*\} from "([^"]+)"')


def read_imports(folder: Path, pattern: re.Pattern[str]) -> dict[str, list[str]]:
    """Return, by the name of each module, the names of what it imports in a form."""
    found = {}
    for path in sorted(folder.rglob("*.js")):
        name = path.relative_to(folder).as_posix()
        matches = pattern.finditer(path.read_text(encoding="utf-8"))
        sources = [next(filter(None, match.groups())) for match in matches]
        at = posixpath.dirname(name)
        found[name] = [posixpath.normpath(posixpath.join(at, source)) for source in sources]
    return found


def find_faults(folder: Path) -> Iterator[str]:
    """Yield what is wrong with the modules, one sentence each."""
    values, types = read_imports(folder, _VALUES), read_imports(folder, _TYPES)
    folders = [posixpath.dirname(name) for name in values]
    for here in sorted(set(folders)):
        if here not in ALLOWED:
            yield f"{here or 'the root'}: no folder of modules; ALLOWED in {__file__} lists them"
        if (count := folders.count(here)) > MOST_MODULES:
            yield f"{here}: {count} modules, at most {MOST_MODULES}; put some into a folder within"
    for name in values:
        here = posixpath.dirname(name)
        for source in dict.fromkeys(values[name] + types[name]):
            there = posixpath.dirname(source)
            if source not in values:
                yield f"{name}: imports {source}, which is not there"
            elif there != here and there not in ALLOWED.get(here, ()):
                yield f"{name}: imports {source}, but {here} may not know {there}"
    yield from (f"modules import each other: {' > '.join(c)}" for c in find_circles(values))


def find_circles(imports: Mapping[str, Sequence[str]]) -> Iterator[list[str]]:
    """Yield each circle once, as the names along it."""
    done: set[str] = set()

    def walk(name: str, way: list[str]) -> Iterator[list[str]]:
        if name in way:
            yield [*way[way.index(name) :], name]
        elif name not in done:
            for source in imports.get(name, ()):
                yield from walk(source, [*way, name])
            done.add(name)

    for name in imports:
        yield from walk(name, [])


def main(folder: str) -> int:
    """Check the modules; return 1 after naming faults."""
    faults = list(find_faults(Path(folder)))
    count = len(list(Path(folder).rglob("*.js")))
    print("\n".join(faults) or f"modules: {count} in {folder}, imports as they may be")
    return 1 if faults or not count else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
