"""Violations that axe-core finds on a page."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

#: Rules whose answers depend on colours; those of all others are the same in light and in dark.
OF_COLOURS = ("color-contrast", "link-in-text-block")
#: Rules whose answers depend on the width of the window.
OF_WIDTH = (*OF_COLOURS, "scrollable-region-focusable", "target-size")
#: What Plotly draws is a picture with a name and a table below it: axe reads no words in there. It
#: is taken out meanwhile: thousands of shapes that are only left out take seconds.
DRAWN = ".js-plotly-plot .svg-container"

#: Marks text to look at for its contrast, three of a kind: nine tenths of axe's time go into that
#: rule, and rows of a table are alike. Of a kind is text of one colour, size and weight, on the
#: same backgrounds (in what floats: of the same floating element), all of it seen or all covered.
_MARK = """() => {
  const kinds = new Map();
  const seen = element => {
    const { left, top, width, height } = element.getBoundingClientRect();
    const hit = document.elementFromPoint(left + width / 2, top + height / 2);
    return hit !== null && (element.contains(hit) || hit.contains(element));
  };
  const backgrounds = element => {
    const found = [];
    let isCovered = false;
    for (let e = element; e !== null; e = e.parentElement) {
      const style = getComputedStyle(e);
      const { backgroundColor: colour, backgroundImage: image, opacity, position, filter } = style;
      found.push(opacity, filter);
      if (isCovered) continue;
      found.push(colour, image);
      if (position !== "static" && position !== "relative") found.push(floating(e));
      isCovered = /^rgb[(]/.test(colour);
    }
    return found.filter(value => value !== "none" && value !== "1" && value !== "rgba(0, 0, 0, 0)");
  };
  const floats = [];
  const floating = element => {
    if (!floats.includes(element)) floats.push(element);
    return `float ${floats.indexOf(element)}`;
  };
  for (const element of document.querySelectorAll("body *")) {
    element.removeAttribute("data-contrast");
    const isText = [...element.childNodes].some(n => n.nodeType === 3 && n.data.trim() !== "");
    if (!isText && !element.matches("input, select, textarea")) continue;
    if (!element.checkVisibility() || element.closest("[aria-hidden=true]")) continue;
    const { color, fontSize, fontWeight, textShadow } = getComputedStyle(element);
    const off = element.closest(":disabled, [aria-disabled=true]") !== null;
    const kind = JSON.stringify([
      element.tagName, color, fontSize, fontWeight, textShadow, off, seen(element),
      backgrounds(element),
    ]);
    kinds.set(kind, [...(kinds.get(kind) ?? []), element]);
  }
  for (const same of kinds.values()) {
    for (const at of [0, same.length >> 1, same.length - 1]) {
      same[at].setAttribute("data-contrast", "");
    }
  }
  axe.configure({ rules: [{ id: "color-contrast", selector: "[data-contrast]" }] });
}"""

_RUN = f"""async ([within, options, drawn]) => {{
  const boxes = [...document.querySelectorAll(drawn)].map(box => [box, [...box.childNodes]]);
  for (const [box] of boxes) box.replaceChildren();
  try {{
    ({_MARK})();
    return (await axe.run(within, options)).violations;
  }} finally {{
    for (const [box, shapes] of boxes) box.append(...shapes);
  }}
}}"""


def violations(page: Page, rules: tuple[str, ...] = (), within: str = "html") -> list[str]:
    """Return what axe finds in an element: rule, how bad, and the first place; by some rules."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    options: dict[str, Any] = {"resultTypes": ["violations"], "selectors": False}
    if rules:
        options["runOnly"] = {"type": "rule", "values": rules}
    broken = page.evaluate(_RUN, [within, options, DRAWN])
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
