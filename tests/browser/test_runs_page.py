"""The Runs page in a real browser: pictures, the table, and files dropped on it."""

from __future__ import annotations

import base64
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from app_recordings import write_detailed_recording, write_imported_recording
from bare_recordings import BARE
from playwright.sync_api import Locator, Page, expect
from recordings import transformer_shape, write_recording
from waiting import eventually

if TYPE_CHECKING:
    from conftest import GraphPage, RequestsWith, Serve, Site

pytestmark = pytest.mark.browser

ONE_PAGE = True
BUNDLED = Path(__file__).resolve().parents[2] / "assets" / "recordings"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory, small_recording: Path) -> list[Path]:
    """Three recordings: of 47 and 306 nodes, and of an aborted run without times."""
    folder = tmp_path_factory.mktemp("several")
    return [
        small_recording,
        write_recording(folder / "decode.gviz", transformer_shape(20), launches=3),
        write_detailed_recording(folder / "detailed.gviz"),
    ]


@pytest.fixture(scope="module")
def site(serve: Serve, files: list[Path]) -> Site:
    return serve(*files)


def card(page: Page, name: str) -> Locator:
    return page.locator("article.gv-card", has=page.get_by_role("link", name=name, exact=True))


def column(page: Page, field: str) -> list[str]:
    """Return the texts of a column of the table, from top to bottom."""
    cells = page.locator(f"#runs-table .ag-row [col-id='{field}']")
    rows = page.locator("#runs-table .ag-center-cols-container .ag-row")
    order = [int(r.get_attribute("row-index") or 0) for r in rows.all()]
    return [text for _, text in sorted(zip(order, cells.all_inner_texts(), strict=True))]


# -- cards -------------------------------------------------------------------------------


def test_card_says_what_a_run_is(page: Page, site: Site) -> None:
    site.open(page, "")
    found = card(page, "fork-join 3x4")
    expect(found).to_contain_text("H100 80GB HBM3")
    expect(found).to_contain_text("Nodes47")
    expect(found).to_contain_text("Launches60")
    expect(found).to_contain_text("completed")
    expect(card(page, "train <b>.py")).to_contain_text("aborted")
    expect(card(page, "train <b>.py")).to_contain_text("The process was killed.")
    # And it has a picture of the median launch.
    picture = card(page, "fork-join 3x4").get_by_role("img")
    expect(picture).to_have_attribute(
        "aria-label",
        re.compile(r"^#\d+, the median launch with node times: \d+ µs, 4 lanes · at most 4 nodes"),
    )
    assert picture.locator(".gv-mini-bars").count() > 3
    assert picture.locator(".gv-mini-band").count() == 1
    box = picture.locator("svg").first.bounding_box()
    assert box is not None
    assert box["width"] > 300
    expect(card(page, "train <b>.py").get_by_role("img")).to_have_attribute(
        "aria-label", "No launch has node times · a chain"
    )


def test_picture_takes_the_colours_of_the_theme(page: Page, site: Site) -> None:
    site.open(page, "")
    band = card(page, "fork-join 3x4").locator(".gv-mini-band").first
    band.wait_for()

    def fill() -> str:
        return str(band.evaluate("band => getComputedStyle(band).fill"))

    light = fill()
    page.get_by_role("button", name="Switch between dark and light").click()
    page.locator("html[data-mantine-color-scheme=dark]").wait_for()
    assert fill() != light


def test_picture_is_fetched_only_when_it_is_seen(
    page: Page,
    serve: Serve,
    tmp_path: Path,
    small_recording: Path,
    requests_with: RequestsWith,
) -> None:
    many = [Path(shutil.copy(small_recording, tmp_path / f"{i}.gviz")) for i in range(40)]
    fetched = requests_with("miniature")
    serve(*many).open(page, "")
    page.locator(".gv-mini-bars").first.wait_for()
    page.wait_for_timeout(300)
    assert 0 < len(fetched) < 20
    page.locator("article.gv-card").last.scroll_into_view_if_needed()
    page.locator("article.gv-card").last.locator(".gv-mini-bars").first.wait_for()


# -- the table ---------------------------------------------------------------------------


def test_runs_of_several_files_are_compared_in_one_table(
    page: Page, site: Site, graph_page: GraphPage
) -> None:
    site.open(page, "")
    page.get_by_role("link", name="Table").click()
    page.locator("#runs-table .ag-row").first.wait_for()
    assert page.url.endswith("?view=table")
    assert column(page, "graph") == ["decode, 20 layers", "fork-join 3x4", "step"]
    assert column(page, "launch_ns")[-1] == "–"
    assert column(page, "file") == ["decode", "small", "detailed"]
    expect_order_in_the_address(page, graph_page)
    expect_rows_to_lead_on(page)


def expect_order_in_the_address(page: Page, graph_page: GraphPage) -> None:
    """Sort the table: its order is in the address."""
    page.locator("#runs-table .ag-header-cell[col-id='nodes']").click()
    graph_page.wait_until(lambda: "sort=nodes" in page.url, "the order in the address")
    ascending = column(page, "nodes")
    assert ascending == ["2", "47", "306"]
    page.reload()
    page.locator("#runs-table .ag-row").first.wait_for()
    assert column(page, "nodes") == ascending


def expect_rows_to_lead_on(page: Page) -> None:
    """Follow a row to its graph and to its run."""
    page.get_by_role("link", name="step").click()
    page.get_by_role("heading", name="step").wait_for()
    assert "graph?file=detailed&graph=1" in page.url
    page.go_back()
    page.get_by_role("link", name="decode, 20 layers").last.click()
    page.get_by_role("heading", name="What measuring cost and lost").wait_for()


@pytest.mark.parametrize("view", ["cards", "table"])
def test_page_is_no_wider_than_its_window(page: Page, site: Site, view: str) -> None:
    page.set_viewport_size({"width": 1920, "height": 900})
    site.open(page, f"?view={view}")
    page.wait_for_selector(".gv-mini-bars, #runs-table .ag-row")
    for width in (1920, 1280, 640):
        page.set_viewport_size({"width": width, "height": 900})
        eventually(
            lambda width=width: (
                page.evaluate("window.innerWidth") == width
                and page.evaluate("document.documentElement.scrollWidth") <= width
            ),
            f"no wider than {width}",
        )


def test_no_column_of_the_table_is_cut_at_the_edge(page: Page, site: Site) -> None:
    page.set_viewport_size({"width": 1024, "height": 768})
    site.open(page, "?view=table")
    page.locator("#runs-table .ag-row").first.wait_for()

    def parts() -> list[list[float]]:
        found: list[list[float]] = page.locator("#runs-table .ag-header-cell").evaluate_all(
            """all => {
              const { right } = all[0].closest(".ag-header-viewport").getBoundingClientRect();
              return all.map((x) => x.getBoundingClientRect())
                .map((x) => [x.left - right, x.right - right]);
            }"""
        )
        return found

    def is_none_cut() -> bool:
        return all(left >= -1 or right <= 1 for left, right in parts())

    eventually(is_none_cut, "no column cut at the edge")
    assert min(abs(right) for _, right in parts()) <= 1
    time = page.locator("#runs-table .ag-header-cell[col-id='node_time_ns']")
    expect(time).to_be_in_viewport(ratio=1)


# -- files given in the browser ----------------------------------------------------------


DROP = """([name, content]) => {
    const bytes = Uint8Array.from(atob(content), (c) => c.charCodeAt(0));
    const transfer = new DataTransfer();
    transfer.items.add(new File([bytes], name));
    const fire = (type) => document.body.dispatchEvent(
        new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: transfer }));
    fire("dragenter");
    window.veiled = document.getElementById("drop-veil") !== null;
    fire("dragover");
    fire("drop");
}"""


def drop(page: Page, path: Path) -> None:
    page.evaluate(DROP, [path.name, base64.b64encode(path.read_bytes()).decode()])


def choose(page: Page, *paths: Path) -> None:
    """Choose files as a person does who has no mouse, once the runs are shown."""
    card(page, "fork-join 3x4").wait_for()
    button = page.get_by_role("button", name="Open files…")
    button.focus()
    with page.expect_file_chooser() as chooser:
        # Answered when the page knows that a test chooses; it takes key presses before that.
        page.evaluate("0")
        page.keyboard.press("Enter")
    chooser.value.set_files(list(paths))


@pytest.fixture(scope="module")
def mine(serve: Serve, small_recording: Path) -> Site:
    """A site for files that tests add to it, each with names of its own."""
    return serve(small_recording)


def test_dropped_recording_appears_in_each_tab_and_its_pages_work(
    page: Page, mine: Site, graph_page: GraphPage
) -> None:
    mine.open(page, "")
    card(page, "fork-join 3x4").wait_for()
    other = page.context.new_page()
    other.goto(mine.address(""))
    card(other, "fork-join 3x4").wait_for()
    page.bring_to_front()
    drop(page, BUNDLED / "cupy_pipeline.gviz")
    assert page.evaluate("window.veiled")
    page.get_by_text("cupy_pipeline.gviz is open.").wait_for()
    assert page.locator("#drop-veil").count() == 0
    card(page, "CuPy fork-join pipeline").wait_for()
    card(page, "CuPy fork-join pipeline").locator(".gv-mini-bars").first.wait_for()
    other.bring_to_front()
    card(other, "CuPy fork-join pipeline").wait_for()
    other.close()
    address = mine.address("graph?file=cupy_pipeline&graph=1")
    page.goto(address)
    graph_page.wait()
    graph_page.click_node("dag", 5)
    graph_page.expect_selected(5)


def test_dump_chosen_by_keyboard_is_imported(page: Page, mine: Site) -> None:
    dump = Path(__file__).resolve().parents[1] / "golden" / "dot" / "cupy_fork_join_verbose.dot"
    mine.open(page, "")
    choose(page, dump, BUNDLED / "decode_step.gviz")
    page.get_by_text("cupy_fork_join_verbose.dot is open.").wait_for()
    page.get_by_text("decode_step.gviz is open.").wait_for()
    card(page, "cupy_fork_join_verbose").wait_for()
    expect(card(page, "cupy_fork_join_verbose")).to_contain_text("imported")
    page.get_by_role("link", name="cupy_fork_join_verbose.dot").click()
    page.get_by_role("heading", name="cupy_fork_join_verbose").wait_for()


def put_away(page: Page, name: str) -> None:
    """Dismiss the only message, which would stay while other pages are shown."""
    page.get_by_role("button", name=f"Dismiss the message about {name}").click()
    expect(page.get_by_role("alert")).to_have_count(0)


def test_bad_file_is_a_sentence_that_can_be_put_away(
    page: Page, mine: Site, tmp_path: Path, console_may_say: list[str]
) -> None:
    console_may_say.append("status of 422")
    bad = tmp_path / "notes.gviz"
    bad.write_text("my notes")
    other = tmp_path / "notes.txt"
    other.write_text("my notes")
    mine.open(page, "")
    card(page, "fork-join 3x4").wait_for()
    drop(page, bad)
    alert = page.get_by_role("alert")
    expect(alert).to_have_text(re.compile(r"^notes\.gviz is not a gviz recording"))
    put_away(page, "notes.gviz")
    drop(page, other)
    expect(page.get_by_role("alert")).to_have_text(re.compile("none of what is opened here"))
    put_away(page, "notes.txt")


def test_file_that_is_too_large_is_refused_before_anything_is_sent(
    page: Page, mine: Site, tmp_path: Path, requests_with: RequestsWith
) -> None:
    big = tmp_path / "big.gviz"
    with big.open("wb") as file:
        file.truncate((512 << 20) + 1)
    sent = requests_with("payload/upload")
    mine.open(page, "")
    choose(page, big)
    expect(page.get_by_role("alert")).to_have_text(
        re.compile(r"big\.gviz has 512 MiB, more than the 512 MiB .* gviz view big\.gviz")
    )
    assert sent == []
    put_away(page, "big.gviz")


def test_large_file_is_sent_in_pieces(
    page: Page, mine: Site, tmp_path: Path, requests_with: RequestsWith
) -> None:
    path = write_recording(tmp_path / "large.gviz", transformer_shape(333), launches=40, played=2)
    assert path.stat().st_size > 4 << 20
    sent = requests_with("payload/upload")
    mine.open(page, "")
    choose(page, path)
    page.get_by_text("large.gviz is open.").wait_for()
    assert len(sent) == -(-path.stat().st_size // (4 << 20))
    card(page, "decode, 333 layers").wait_for()


# -- recordings that lack something ------------------------------------------------------


@pytest.fixture(scope="module")
def bare(serve: Serve, tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder = tmp_path_factory.mktemp("bare")
    paths = [write(folder / f"{name}.gviz") for name, write in BARE.items()]
    return serve(*paths, write_imported_recording(folder / "dump.gviz"))


#: A fact's name and its value, as a text of the page.
STATED: dict[str, tuple[str, ...]] = {
    "never launched": ("Launches0", "no times"),
    "no node times": ("Launches4", "no times"),
    "attached late": ("Launches2", "7.50 µs node time, median of 2"),
    "one node": ("Nodes1", "Launches1"),
    "streams only": ("5 stream operations", "torch.cuda.graph"),
    "nothing": ("aborted", "the program did not initialise CUDA"),
}


def test_cards_say_what_is_missing(page: Page, bare: Site) -> None:
    bare.open(page, "")
    for name, words in STATED.items():
        for text in words:
            expect(card(page, name).first).to_contain_text(text)
    page.get_by_text("This recording has no runs").wait_for()


def test_table_has_a_row_for_runs_without_graphs(page: Page, bare: Site) -> None:
    bare.open(page, "?view=table")
    page.locator("#runs-table .ag-row").first.wait_for()
    runs = column(page, "run")
    assert set(STATED) <= set(runs)
    assert column(page, "graph")[runs.index("streams only")] == "no graph"


@pytest.mark.parametrize(
    ("file", "sentence", "timeline"),
    [
        ("no_launches", "No times: this graph was not launched while gviz watched.", False),
        ("no_times", "No node times: 4 launches of this graph, none recorded node by node", False),
        ("no_edges", "edges unknown: the graph was instantiated before gviz attached", True),
        ("one_node", "No node selected", True),
    ],
)
def test_graph_page_says_what_is_missing(
    page: Page, bare: Site, graph_page: GraphPage, file: str, sentence: str, timeline: bool
) -> None:
    graph_page.open(bare, f"graph?file={file}&graph=1")
    expect(page.locator("#page")).to_contain_text(sentence)
    assert page.locator("#timeline").count() == int(timeline)
    graph_page.click_node("dag", 1)
    page.locator("#nodes [data-row='1'][aria-selected=true]").wait_for()
    expect(page.locator("#inspector")).to_contain_text("kernel_1")


@pytest.mark.parametrize("file", ["only_stream", "nothing"])
def test_run_page_says_what_is_missing(page: Page, bare: Site, file: str) -> None:
    bare.open(page, f"run?file={file}&run=1")
    page.get_by_text("No CUDA graph was instantiated while gviz watched").wait_for()


@pytest.mark.parametrize(
    "path",
    [
        "graph?file=no_runs&graph=1",
        "run?file=no_runs&run=1",
        "graph?file=absent&graph=1",
        "graph?file=one_node&graph=9",
    ],
)
def test_address_of_what_is_not_there_is_a_page(page: Page, bare: Site, path: str) -> None:
    bare.open(page, path)
    expect_a_page(page)
    answer = page.context.request.get(bare.address(path), headers={"Connection": "close"})
    assert answer.status == 200
    assert "gv-early" not in answer.text()


MALFORMED = (
    "graph?file=no_runs&graph=1",
    "graph?file=one_node&graph=999999999999999999999",
    "graph?graph=%00&file=%ff%fe",
    "run?run=<script>alert(1)</script>",
    "no/such/page",
    "graph?file=one_node&graph=1&node=x&launch=abc&layout=none&fold=none&open=,,&colour=1",
)


@pytest.mark.own_page
def test_malformed_address_is_a_page(page: Page, bare: Site) -> None:
    for path in MALFORMED:
        bare.open(page, path)
        expect_a_page(page)


def expect_a_page(page: Page) -> None:
    """Expect a page, and a way from what is not here."""
    heading = page.locator("#page h1, #page h2").first
    heading.wait_for()
    if heading.inner_text() == "Not here":
        page.get_by_role("link", name="To the Runs page").click()
        page.get_by_role("heading", name="Runs", exact=True).wait_for()
