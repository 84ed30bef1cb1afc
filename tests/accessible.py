"""Violations that axe-core finds on a page."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

#: Rules whose answers depend on colours; those of all others are the same in light and in dark.
OF_COLOURS = ("color-contrast", "link-in-text-block")
#: Rules whose answers depend on the width of the window.
OF_WIDTH = (*OF_COLOURS, "scrollable-region-focusable", "target-size")
#: What Plotly draws is a picture with a name and a table below it: axe reads no words in there.
DRAWN = ".js-plotly-plot .svg-container"


def violations(page: Page, rules: tuple[str, ...] = (), within: str = "html") -> list[str]:
    """Return what axe finds in an element: rule, how bad, and the first place; by some rules."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    options: dict[str, Any] = {"resultTypes": ["violations"]}
    if rules:
        options["runOnly"] = {"type": "rule", "values": rules}
    drawn = [DRAWN] if page.locator(DRAWN).count() else []
    place = {"include": [within], "exclude": drawn}
    broken = page.evaluate(
        "async ([place, options]) => (await axe.run(place, options)).violations", [place, options]
    )
    return [
        f"{found['id']} ({found['impact']}): {first['html'][:160]} {first['failureSummary']}"
        for found in broken
        for first in found["nodes"][:1]
    ]


def violations_by_scheme(
    page: Page, rules: tuple[str, ...] = (), within: str = "html"
) -> dict[str, list[str]]:
    """Return what axe finds in light and in dark, where it finds something."""
    # A graph's page begins in front of Dash's, without its header.
    page.locator(".gv-early").wait_for(state="detached")
    page.locator("h1").first.wait_for()
    found = {}
    for scheme, asked in (("light", rules), ("dark", OF_COLOURS)):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        page.locator(f"html[data-mantine-color-scheme={scheme}]").wait_for()
        # Mantine fades colours; axe must see the last of them.
        page.evaluate("Promise.allSettled(document.getAnimations().map(a => a.finished))")
        if bad := violations(page, asked, within):
            found[scheme] = bad
    return found


def expect_accessible(page: Page) -> None:
    """Fail for whatever axe finds, in light and in dark."""
    assert violations_by_scheme(page) == {}
