"""Quantities as text: made by one formatter, not by an f-string of its own.

Such an f-string rounds a number (``:.1f``) and goes on with a unit of time, size or share.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator

from walls.modules import Module, Product

#: The formatter.
OWNER = "gviz.text.quantity"
_PACKAGES = ("gviz.",)
_ROUNDED = re.compile(r",?\.\d+[fg%]|,?\.\{\}f|%")
_UNIT = re.compile(r"\s?(?:ns|us|µs|ms|s|B|bytes|kB|KB|MB|GB|KiB|MiB|GiB|%|Hz|GHz)\b|\s?%")


def find(product: Product) -> Iterator[str]:
    """Yield each module that formats quantities itself, and how often."""
    for module in product.modules.values():
        if module.name == OWNER or not module.name.startswith(_PACKAGES):
            continue
        units = Counter(_units(module))
        for unit, count in sorted(units.items()):
            yield f"{module.name}: {count} of {unit}"


def _units(module: Module) -> Iterator[str]:
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.JoinedStr):
            continue
        for value, after in zip(node.values, [*node.values[1:], None], strict=True):
            if not isinstance(value, ast.FormattedValue) or value.format_spec is None:
                continue
            spec = ast.unparse(value.format_spec)
            if "%" in spec:
                yield "%"
            elif (
                _ROUNDED.search(spec)
                and isinstance(after, ast.Constant)
                and (unit := _UNIT.match(str(after.value)))
            ):
                yield unit[0].strip()
