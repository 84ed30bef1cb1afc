"""Names of classes: one meaning each, over all packages."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator

from walls.modules import Product


def find(product: Product) -> Iterator[str]:
    """Yield each public name that several modules give to a class."""
    for name, modules in sorted(modules_by_class(product).items()):
        if len(modules) > 1:
            yield f"{name}: a class of {' and of '.join(sorted(modules))}"


def modules_by_class(product: Product) -> dict[str, set[str]]:
    """Return the modules that define a class, by its name."""
    found: dict[str, set[str]] = defaultdict(set)
    for module in product.modules.values():
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].add(module.name)
    return found
