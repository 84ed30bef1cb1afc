"""Violations that axe-core finds on a page."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page


def violations(page: Page) -> list[str]:
    """Return what axe finds: rule, how bad, and the first element."""
    return [
        f"{found['id']} ({found['impact']}): {first['html'][:160]} {first['failureSummary']}"
        for found in Axe().run(page).response["violations"]
        for first in found["nodes"][:1]
    ]


def expect_accessible(page: Page) -> None:
    """Fail for whatever axe finds, in light and in dark."""
    # What is shown while Dash is loaded is inert, and for a moment beside Dash's own page.
    page.locator(".gv-first-page").wait_for(state="detached")
    page.locator("h1").first.wait_for()
    found = {}
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        page.locator(f"html[data-mantine-color-scheme={scheme}]").wait_for()
        # Mantine fades colours; axe must see the last of them.
        page.evaluate("Promise.all(document.getAnimations().map(a => a.finished))")
        if bad := violations(page):
            found[scheme] = bad
    assert found == {}
