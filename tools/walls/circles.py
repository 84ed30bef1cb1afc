"""Circles of modules, also those that imports in functions or under TYPE_CHECKING close."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter

from walls.modules import Product


def find(product: Product) -> Iterator[str]:
    """Yield a circle, by its modules in the order of their imports."""
    try:
        TopologicalSorter(defining_modules(product)).prepare()
    except CycleError as error:
        # The order of the sorter: each is imported by the one that follows it.
        yield f"a circle: {' imports '.join(reversed(error.args[1]))}"


def defining_modules(product: Product) -> Mapping[str, set[str]]:
    """Return the modules that each module imports, by where the names are defined."""
    edges: dict[str, set[str]] = {name: set() for name in product.modules}
    for found in product.imports:
        target = product.define(found.target, found.name) if found.name else found.target
        if target != found.importer:
            edges[found.importer].add(target)
    return edges
