"""Asking the canvas views of a page where they drew a node."""

from __future__ import annotations

from playwright.sync_api import Page


def locate(page: Page, node: int, view: str = "dag") -> dict[str, float]:
    """Return the page coordinates of a node's centre in a view; it must be on screen."""
    found: dict[str, float] | None = page.evaluate(
        "([id, node]) => document.querySelector(`#${id} canvas`).gvizLocate(node)", [view, node]
    )
    assert found is not None, f"node {node} is off screen"
    return found
