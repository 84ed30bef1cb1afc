"""Faces: a package is entered through the names in its ``__init__.pyi``, not past it."""

from __future__ import annotations

from collections.abc import Iterator

from walls.modules import Import, Product, parent


def find(product: Product) -> Iterator[str]:
    """Yield the imports that pass a face, and names of faces that are none or a module's too."""
    for found in product.imports:
        fault = _fault_of(product, found)
        if fault is not None:
            yield f"{found.importer}: {fault}"
    for package, face in product.faces.items():
        for name, source in face.items():
            if source != package and source not in product.modules:
                yield f"{package}: its face has {name} from {source}, which does not exist"
            if source != package and f"{package}.{name}" in product.modules:
                # The import of the module would put it in the name's place.
                yield f"{package}: its face has {name}, which a module beside it is called too"


def _fault_of(product: Product, found: Import) -> str | None:
    module = product.modules[found.importer]
    place = found.importer if module.is_package else parent(found.importer)
    if _is_within(place, found.target):
        return None  # a package around it: a module beside it, or gviz's own version
    entered = _first_package(product, place, found.target)
    if entered is None:
        return None
    if entered != found.target:
        return f"imports {found.target} past the face of {entered}"
    if found.name and found.name not in product.faces.get(entered, {}):
        return f"imports {found.name}, which is not in the face of {entered}"
    return None


def _is_within(inner: str, outer: str) -> bool:
    return f"{inner}.".startswith(f"{outer}.")


def _first_package(product: Product, place: str, target: str) -> str | None:
    """Return the outermost package that leads from a package to a target; None: none is between."""
    parts = target.split(".")
    for count in range(1, len(parts) + 1):
        name = ".".join(parts[:count])
        if not _is_within(place, name):
            return name if product.modules[name].is_package else None
    return None
