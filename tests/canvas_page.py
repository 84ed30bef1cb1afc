"""Asking the canvas views of a page where they drew a node."""

from __future__ import annotations

import re

from playwright.sync_api import Page


def time_spot(page: Page, ns: float, side: str = "graph") -> tuple[float, float]:
    """Return the page coordinates of a time in the first lane of a side of the timeline."""
    state = page.evaluate("document.querySelector('#timeline canvas').gvizState()")
    box = page.locator("#timeline canvas").bounding_box()
    assert box is not None
    of_side = state["sides"][side]
    x = state["gutter"] + state["transform"]["x"] + state["transform"]["k"] * of_side["scale"] * ns
    return box["x"] + x, box["y"] + of_side["top"] + 3


def locate(page: Page, node: int, view: str = "dag") -> dict[str, float]:
    """Return the page coordinates of a node's centre in a view; it must be on screen."""
    found: dict[str, float] | None = page.evaluate(
        "([id, node]) => document.querySelector(`#${id} canvas`).gvizLocate(node)", [view, node]
    )
    assert found is not None, f"node {node} is off screen"
    return found


def choose(page: Page, box: str, option: str | re.Pattern[str]) -> None:
    """Choose from a list of the graph page: the option of a text, or else the first with it."""
    choice = page.locator(f"#{box}")
    names = choice.locator("option").all_inner_texts()
    if isinstance(option, re.Pattern):
        found = [name for name in names if option.search(name)]
    else:
        found = [name for name in names if name == option] or [n for n in names if option in n]
    choice.select_option(label=found[0])


def is_offered(page: Page, box: str, option: str) -> bool:
    """Return whether an option of a list of the graph page can be chosen."""
    found = page.locator(f"#{box} option", has_text=re.compile(f"^{re.escape(option)}$"))
    return found.count() > 0 and found.is_enabled()
