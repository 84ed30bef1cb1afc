"""Folders of the product: none too full to be read, no package too small, tests that mirror it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from walls.modules import Product, parent

MOST_MODULES = 20
LEAST_MODULES = 3
#: Modules that stand in gviz/ itself, and why.
LOOSE = {
    "gviz.__main__": "python -m gviz",
    "gviz.dataclass": "what makes a class a dataclass, below every package",
    "gviz.errors": "the exceptions, below every package",
    "gviz.face": "the face of every package, below them all",
    "gviz.pytest_plugin": "its name is public: -p gviz.pytest_plugin",
}
#: Folders of tests/unit that are no package of the product.
_UNIT_FOLDERS = {"assets"}


def find(product: Product) -> Iterator[str]:
    """Yield what is wrong with a folder."""
    inside = Counter(parent(name) for name in product.modules)
    modules = Counter(parent(n) for n, module in product.modules.items() if not module.is_package)
    for name, module in product.modules.items():
        if not module.is_package:
            continue
        if modules[name] > MOST_MODULES:
            yield f"{name}: {modules[name]} modules, at most {MOST_MODULES}; make folders of them"
        if inside[name] < LEAST_MODULES:
            yield f"{name}: {inside[name]} modules, at least {LEAST_MODULES}; join it to another"
    for name, module in product.modules.items():
        if not module.is_package and parent(name) in ("gviz", "gviz.app") and name not in LOOSE:
            yield f"{name}: stands loose in {module.path.parent}/; put it into a package"
    yield from _find_strange_tests(product)


def _find_strange_tests(product: Product) -> Iterator[str]:
    unit = product.root / "tests" / "unit"
    packages = {_place_of(module.path) for module in product.modules.values() if module.is_package}
    for folder in sorted(path for path in unit.rglob("*") if path.is_dir()):
        inside = folder.relative_to(unit)
        tests = list(folder.glob("test_*.py"))
        if tests and inside not in packages and inside.parts[0] not in _UNIT_FOLDERS:
            yield f"tests/unit/{inside}: mirrors no package of the product"
        if len(tests) > MOST_MODULES:
            yield f"tests/unit/{inside}: {len(tests)} modules, at most {MOST_MODULES}"


def _place_of(init: Path) -> Path:
    """Return the folder of tests/unit that mirrors a package."""
    parts = init.parent.parts
    return Path(*parts[1:]) if parts[0] == "gviz" else Path(*parts)
