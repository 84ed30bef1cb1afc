"""Answers of the server that tests keep back, so that something else comes first."""

from __future__ import annotations

import re

from playwright.sync_api import Page, Route


def hold(page: Page, address: re.Pattern[str]) -> list[Route]:
    """Keep back the answers to requests from now on; the list has them as they are asked."""
    held: list[Route] = []
    page.route(address, lambda route: held.append(route))
    return held


def let_go(page: Page, address: re.Pattern[str], held: list[Route]) -> None:
    """Answer what was kept back, and from now on everything."""
    while held:
        held.pop().continue_()
    page.unroute(address)
