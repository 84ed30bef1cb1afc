"""Asking the canvas views of a page where they drew a node."""

from __future__ import annotations

from playwright.sync_api import Page


def time_spot(page: Page, ns: float, side: str = "graph") -> tuple[float, float]:
    """Return the page coordinates of a time in the first lane of a side of the timeline."""
    state = page.evaluate("document.querySelector('#timeline canvas').gvizState()")
    box = page.locator("#timeline canvas").bounding_box()
    assert box is not None
    x = state["gutter"] + state["transform"]["x"] + state["transform"]["k"] * ns
    return box["x"] + x, box["y"] + state["sides"][side]["top"] + 3


def locate(page: Page, node: int, view: str = "dag") -> dict[str, float]:
    """Return the page coordinates of a node's centre in a view; it must be on screen."""
    found: dict[str, float] | None = page.evaluate(
        "([id, node]) => document.querySelector(`#${id} canvas`).gvizLocate(node)", [view, node]
    )
    assert found is not None, f"node {node} is off screen"
    return found
