"""A page that the tests of a module use in turn: left empty by one, gone on from by the next."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Error, Page

WINDOW: Any = {"width": 1280, "height": 800}
#: The address where a page rests, below the server's, and what it says there. Asked for by its
#: class too: a search for words alone reads all of a page.
_REST = "nowhere"
_RESTING = "#page > .gv-message:has-text('There is no page at this address')"

#: Leads to an address as a link of the page does, without loading Dash again.
_GO = """address => {
  history.pushState({}, "", address);
  dispatchEvent(new PopStateEvent("popstate"));
}"""
#: Forgets what was stored; returns the address of the server whose page this is. A page whose
#: colours were chosen stays so.
_FORGET = """() => {
  const config = document.getElementById("_dash-config");
  if (!config || localStorage.getItem("mantine-color-scheme-value") !== null) return null;
  localStorage.clear();
  return location.origin + JSON.parse(config.textContent).requests_pathname_prefix;
}"""


def leave(page: Page, base: str) -> None:
    """Lead a page of a server to where it rests, if it is elsewhere; what it stored stays."""
    if page.url == base + _REST:
        return
    page.evaluate(_GO, base + _REST)
    page.locator(_RESTING).wait_for()


def rest(page: Page) -> bool:
    """Leave what a test showed; return whether the next can go on from here."""
    page.unroute_all()
    if not page.url.startswith("http"):
        return False
    try:
        base = page.evaluate(_FORGET)
        if base is None:
            return False
        page.mouse.move(0, 0)
        leave(page, base)
    except Error:  # a test may end while its page is on its way to another document
        return False
    if page.viewport_size != WINDOW:
        page.set_viewport_size(WINDOW)
    page.emulate_media(color_scheme="null")
    return True


def go_on(page: Page, base: str, path: str) -> bool:
    """Lead a page that rests to an address of the server it is of; return whether it was one."""
    if page.url != base + _REST or path == _REST:
        return False
    page.evaluate(_GO, base + path)
    page.locator(_RESTING).wait_for(state="detached")
    return True
