"""Look into a Dash component tree: its texts and its components by id."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dash.development.base_component import Component


def walk(node: Any) -> Iterator[Any]:
    """Yield every component and text of a tree, depth first."""
    if node is None:
        return
    if isinstance(node, list | tuple):
        for child in node:
            yield from walk(child)
        return
    yield node
    if isinstance(node, Component):
        yield from walk(getattr(node, "children", None))


def texts(node: Any) -> str:
    """Return all texts of a tree, one a line."""
    return "\n".join(str(x) for x in walk(node) if not isinstance(x, Component))


def by_id(node: Any, name: str) -> Any:
    """Return the component of an id."""
    found = [x for x in walk(node) if getattr(x, "id", None) == name]
    assert len(found) == 1, f"{len(found)} components with id {name}"
    return found[0]


def links(node: Any) -> list[str]:
    """Return the addresses a tree links to."""
    return [x.href for x in walk(node) if isinstance(x, Component) and hasattr(x, "href")]
