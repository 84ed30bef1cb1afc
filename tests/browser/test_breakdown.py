"""Verdict and breakdown of the graph page, served and in a saved file: words and selection."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from accessible import expect_accessible, violations
from playwright.sync_api import Locator, Page, expect
from waiting import eventually

from gviz.app.html_file.file import write_html
from gviz.assets import recordings as bundled

if TYPE_CHECKING:
    from conftest import GraphPage, Serve, Site

pytestmark = pytest.mark.browser

RECORDING = Path(next(iter(bundled.__path__))) / "token_step_1.gviz"
#: Of its 72 nodes; 4 layers of 18.
ATTENTION, MLP = 48, 24
#: Of its largest kernel family.
GEMMS = 28
SENTENCE = (
    "238 µs (recorded, median of 14, ±704 ns): attention 139 µs, mlp 66.3 µs, idle 32.8 µs (13.8%)."
)


@pytest.fixture(scope="module")
def site(serve_beside: Serve) -> Site:
    return serve_beside(RECORDING)


def block(page: Page, text: str) -> Locator:
    """Return the first block of that text."""
    return page.locator(".gv-block").filter(has_text=text).first


def selected(page: Page) -> list[int]:
    found: list[int] = page.evaluate("document.querySelector('#dag canvas').gvizState().selected")
    return found


def state(page: Page, view: str) -> dict[str, Any]:
    found: dict[str, Any] = page.evaluate(
        "id => document.querySelector(`#${id} canvas`).gvizState()", view
    )
    return found


def expect_count(page: Page, count: int) -> None:
    eventually(lambda: len(selected(page)) == count, f"{count} nodes selected")


def use(page: Page) -> None:
    """Do with the breakdown what one does, and see that the graph follows."""
    page.locator(".gv-said").first.wait_for()
    assert page.locator(".gv-headline").inner_text().startswith(SENTENCE)
    findings = page.locator("#findings")
    assert findings.get_by_role("listitem").count() == 3
    page.get_by_role("button", name="attention 139 µs", exact=True).click()
    expect_count(page, ATTENTION)
    assert findings.is_hidden()
    assert block(page, "attention").get_attribute("aria-pressed") == "true"
    assert block(page, "mlp").get_attribute("aria-pressed") == "false"
    assert block(page, "layer 0..3").get_attribute("aria-pressed") == "mixed"
    block(page, "mlp").click(modifiers=["Shift"])
    expect_count(page, ATTENTION + MLP)
    number = block(page, "mlp").locator("span")  # the block's, too
    number.click()
    expect_count(page, MLP)
    assert page.locator(".gv-block-tip").is_visible()
    number.click()
    expect_count(page, 0)
    assert findings.is_visible()
    finding = findings.get_by_role("button").first
    finding.hover()
    eventually(lambda: state(page, "dag")["lit"] > 0, "a finding's nodes lit")
    assert not selected(page)
    lit = state(page, "timeline")["lit"]
    finding.click()
    expect_count(page, lit)
    assert state(page, "dag")["lit"] == 0
    page.get_by_role("button", name="idle 32.8 µs (13.8%)", exact=True).click()
    measure = state(page, "timeline")["measure"]
    gap = state(page, "timeline")["sides"]["graph"]["widest_gap"]
    assert [measure["from"], measure["to"]] == gap
    page.get_by_role("button", name="faster than eager").click()
    eventually(lambda: "stream" in state(page, "timeline")["sides"], "eager opened")


def use_keys(page: Page) -> None:
    """Open all rows and walk over them without a mouse."""
    page.keyboard.press("b")
    assert not page.locator("#dag").is_visible()
    rows = page.locator(".gv-block").evaluate_all("all => new Set(all.map(x => x.style.top)).size")
    assert rows == 4  # layers, layer, operation, family
    for key in ("ArrowDown", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    focused = page.locator(".gv-block:focus")
    assert (focused.get_attribute("aria-label") or "").startswith("Operation attention, Part of")
    assert page.locator(".gv-block-tip").is_visible()
    page.keyboard.press("z")
    assert focused.evaluate("x => x.style.width") == "100%"
    page.keyboard.press("z")
    page.keyboard.press("Enter")
    page.keyboard.press("b")
    assert page.locator("#dag").is_visible()
    expect_count(page, ATTENTION // 4)


def use_gains(page: Page) -> None:
    """Look at what 10% off brings, choose a part there, and ask what if it were free."""
    page.keyboard.press("w")
    assert not page.locator("#dag").is_visible()
    part = page.locator(".gv-part-gain:focus")
    said = "10% off GEMM f16/f32 64x8 brings 5.0% of the launch (share of time 49.7%), estimated "
    assert (part.get_attribute("aria-label") or "").startswith(said)
    page.keyboard.press("Enter")
    expect_count(page, GEMMS)
    page.keyboard.press("w")
    assert page.locator("#dag").is_visible()
    page.keyboard.press("Shift+W")
    page.keyboard.press("Enter")
    page.locator(".gv-headline", has_text=f"What if {GEMMS} nodes took no time: ").wait_for()


def test_strip_says_that_there_is_no_finding(graph_page: GraphPage, serve_beside: Serve) -> None:
    site = serve_beside(RECORDING.with_name("nested_torch.gviz"))
    graph_page.open(site, "graph?file=nested_torch&graph=1")
    expect(graph_page.page.locator(".gv-headline")).to_contain_text("No rule found a gain")
    assert graph_page.page.get_by_text("What to change first").count() == 0


def test_strip_says_that_the_analysis_is_under_way(graph_page: GraphPage, site: Site) -> None:
    page = graph_page.page
    page.route("**/verdict/**", lambda route: None)  # held
    site.open(page, f"graph?file={RECORDING.stem}&graph=1")
    headline = page.locator(".gv-headline")
    expect(headline).to_have_text("Analysis under way…")
    page.unroute("**/verdict/**")  # what is held goes on
    expect(headline).to_contain_text(SENTENCE)


def test_breakdown_says_and_selects(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, "graph?file=token_step_1&graph=1")
    page = graph_page.page
    use(page)
    use_keys(page)
    expect_accessible(page)
    page.keyboard.press("b")
    expect_accessible(page)
    page.keyboard.press("b")
    use_gains(page)
    page.locator(".gv-headline", has_text="Gain: estimated ").wait_for()
    page.keyboard.press("Control+k")
    page.keyboard.type("what if the selected nodes waited")
    page.keyboard.press("Enter")
    page.locator(".gv-headline", has_text=f"What if {GEMMS} nodes waited for nothing: ").wait_for()
    page.keyboard.press("w")
    expect_accessible(page)
    page.keyboard.press("w")
    page.keyboard.press("Escape")
    eventually(lambda: page.locator(".gv-headline").inner_text().startswith(SENTENCE), "verdict")


def test_breakdown_of_a_saved_file_does_the_same(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "token_step.html"
    write_html(RECORDING, path, [1])
    page.goto(path.as_uri())
    use(page)
    use_keys(page)
    use_gains(page)
    command = "gviz what-if 'token_step_1.gviz' --graph 1 --off '"
    assert page.locator(".gv-headline code").inner_text().startswith(command)
    assert violations(page) == []
