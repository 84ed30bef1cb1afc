"""Tasks of an engineer: the right answer in few clicks, and by keyboard alone.

Answers are computed here from bundled recordings; the page counts clicks and presses.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING
from urllib.parse import unquote

import networkx as nx
import pytest
from playwright.sync_api import Page, expect

import gviz.assets
from gviz.analysis import label_of

if TYPE_CHECKING:
    from conftest import GraphPage, Serve, Site

pytestmark = pytest.mark.browser

RECORDINGS = Path(gviz.assets.__file__).parent / "recordings"
FILE = "decode_step_h200"
OTHER = "decode_step_h200_fused"
START = f"graph?file={FILE}&graph=1"
#: Presses that a task may take from the open page, the letters of what is typed included.
MOST_PRESSES = 8
#: What of the name of a kernel or a function is looked for.
WORD = "silu"
#: CUDA's number of the kind.
KERNEL = 0
_COUNTER = """() => {
  const count = ({ isTrusted, key, target }) => {
    const isModifier = ["Control", "Shift", "Alt"].includes(key);
    if (isTrusted && !isModifier) sessionStorage.acts = Number(sessionStorage.acts ?? 0) + 1;
  };
  for (const kind of ["mousedown", "keydown"]) window.addEventListener(kind, count, true);
}"""


@dataclass(frozen=True, slots=True)
class Graph:
    """A graph as its file has it: numbers of nodes are those of the page, for it has no bodies.

    Attributes
    ----------
    spent_ns
        Median duration of each node.
    names, functions, ranges
        Kernel, functions of the Python stack, innermost first with lines, and NVTX ranges.
    edges
        From, to, and whether the dependent may start before the dependency has ended.
    """

    spent_ns: dict[int, float]
    names: dict[int, str]
    functions: dict[int, list[tuple[str, str, int]]]
    ranges: dict[int, list[str]]
    edges: list[tuple[int, int, bool]]

    @classmethod
    def read(cls, file: str) -> Graph:
        with closing(sqlite3.connect(RECORDINGS / f"{file}.gviz")) as database:
            durations: dict[int, list[int]] = defaultdict(list)
            timed = "launch_id IN (SELECT launch_id FROM launch WHERE side = 'graph')"
            for node, ns in database.execute(
                f"SELECT node_id, duration_ns FROM span WHERE {timed}"
            ):
                durations[node].append(ns)
            nodes = database.execute("SELECT node_id, name, stack_id, nvtx_path_id FROM node")
            rows = nodes.fetchall()
            stacks: dict[int, list[tuple[str, str, int]]] = defaultdict(list)
            for stack_id, *frame in database.execute(
                "SELECT stack_id, file, function, line FROM stack JOIN location "
                "USING (location_id) ORDER BY stack_id, depth"
            ):
                stacks[stack_id].append((frame[0], frame[1], frame[2]))
            paths = {
                path: (parent, text)
                for path, parent, text in database.execute(
                    "SELECT nvtx_path_id, parent_id, text FROM nvtx_path"
                )
            }

            def ranges(path: int | None) -> list[str]:
                found: list[str] = []
                while path is not None:
                    path, text = paths[path]
                    found.insert(0, text)
                return found

            edges = database.execute("SELECT from_node, to_node, type FROM edge").fetchall()
        return cls(
            {node: median(some) for node, some in durations.items()},
            {node: name for node, name, _, _ in rows},
            {node: stacks[stack_id] for node, _, stack_id, _ in rows},
            {node: ranges(path) for node, _, _, path in rows},
            [(a, b, kind == 1) for a, b, kind in edges],
        )

    def slowest_phase(self) -> str:
        """Return the range of a layer that takes most."""
        spent: Counter[str] = Counter()
        for node, ns in self.spent_ns.items():
            spent[self.ranges[node][1]] += round(ns)
        return spent.most_common(1)[0][0]

    def largest_family(self) -> str:
        """Return the label of the kernel family that takes most."""
        spent: Counter[str] = Counter()
        for node, ns in self.spent_ns.items():
            spent[label_of(self.names[node], KERNEL)] += round(ns)
        return spent.most_common(1)[0][0]

    def longest_path_ns(self, among: set[int] | None = None) -> float:
        """Return how long the longest chain of dependencies takes, of some nodes or of all."""
        graph: nx.DiGraph[int] = nx.DiGraph()
        graph.add_nodes_from(self.names if among is None else among)
        graph.add_edges_from(
            (a, b, {"early": early}) for a, b, early in self.edges if {a, b} <= set(graph)
        )
        starts: dict[int, float] = {}
        for node in nx.topological_sort(graph):
            starts[node] = max(
                (
                    starts[a] + (0 if early else self.spent_ns[a])
                    for a, _, early in graph.in_edges(node, "early")
                ),
                default=0,
            )
        return max(starts[node] + self.spent_ns[node] for node in graph)

    def named(self, word: str) -> set[int]:
        """Return the nodes of kernels or functions of such a name."""
        return {
            node
            for node, name in self.names.items()
            if word in name.lower() or any(word in f.lower() for _, f, _ in self.functions[node])
        }

    def own_line(self, node: int) -> str:
        """Return function and line of a node's own code."""
        own = next(f for f in self.functions[node] if "site-packages" not in f[0])
        return f"{own[1].split('<locals>.')[-1]}:{own[2]}"


def longest_gap_ns(launch: int) -> float:
    """Return the longest time between nodes of a launch in which none ran."""
    with closing(sqlite3.connect(RECORDINGS / f"{FILE}.gviz")) as database:
        spans = database.execute(
            "SELECT start_ns, start_ns + duration_ns FROM span WHERE launch_id = ? ORDER BY 1",
            (launch,),
        ).fetchall()
    longest, end = 0, spans[0][1]
    for start, until in spans:
        longest, end = max(longest, start - end), max(end, until)
    return longest


@dataclass(slots=True)
class Hand:
    """A user's hand on the page: what it did is counted by the page."""

    graph_page: GraphPage
    chosen: int = 0

    @property
    def page(self) -> Page:
        return self.graph_page.page

    def begin(self) -> None:
        """Count from here."""
        self.page.evaluate("sessionStorage.acts = 0")
        self.chosen = 0

    def count(self) -> int:
        """Return the clicks and presses until now."""
        return int(self.page.evaluate("sessionStorage.acts")) + self.chosen

    def choose(self, name: str, option: str) -> None:
        """Choose from a list of the browser's own: a click opens it, another one chooses."""
        choice = self.page.get_by_label(name, exact=True)
        names = choice.locator("option").all_inner_texts()
        choice.select_option(label=next(text for text in names if option in text))
        self.chosen += 2

    def command(self, text: str) -> None:
        """Run the first command that has these words."""
        self.page.keyboard.press("Control+k")
        self.page.keyboard.type(text)
        self.page.keyboard.press("Enter")

    def search(self, text: str) -> None:
        """Search, and go to the first hit."""
        self.page.keyboard.press("/")
        self.page.keyboard.type(text)
        self.page.keyboard.press("Enter")


@pytest.fixture(scope="module")
def graph() -> Graph:
    return Graph.read(FILE)


@pytest.fixture(scope="module")
def site(serve: Serve) -> Site:
    return serve(*(RECORDINGS / f"{name}.gviz" for name in (FILE, OTHER, "training_step")))


@pytest.fixture(scope="module")
def opened(kept_page: GraphPage, site: Site) -> GraphPage:
    """One page for all tasks, which counts what it is told."""
    kept_page.page.add_init_script(f"({_COUNTER})()")
    kept_page.open(site, START)
    return kept_page


@pytest.fixture
def hand(opened: GraphPage, site: Site) -> Hand:
    """A hand on the page as it is when the file has been opened."""
    page = opened.page
    if "/graph?" in page.url and f"file={FILE}&" in page.url:
        # Without another document: a state that is requested is shown in place. Again, where the
        # address had not got yet what the task before did: it would be no other one.
        def is_reset() -> bool:
            page.evaluate(
                """address => {
                  document.activeElement.blur();
                  history.pushState({}, "", address);
                  dispatchEvent(new PopStateEvent("popstate"));
                }""",
                site.address(START),
            )
            page.wait_for_timeout(100)
            return opened.state("dag").get("selected") == []

        opened.wait_until(is_reset, "nothing selected")
        expect(page.locator("#search")).to_have_value("")
        # Folded anew where a task unfolded it, with the whole launch in view.
        page.locator("#timeline canvas").press("f")
        page.evaluate("document.activeElement.blur()")
    else:
        opened.open(site, START)
    opened.wait_until(lambda: opened.state("dag")["foldCount"], "folded")
    opened.at_rest("timeline")
    found = Hand(opened)
    found.begin()
    return found


def seen(page: Page, text: str) -> bool:
    """Return whether a text is on screen, in full and not scrolled away."""
    found: bool = page.evaluate(
        """text => Array.from(document.querySelectorAll("button, span, code")).some((x) => {
          if (!x.textContent.includes(text) || !x.checkVisibility()) return false;
          const { left, top, right, bottom } = x.getBoundingClientRect();
          const at = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
          const isIn = left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
          return isIn && at !== null && (x.contains(at) || at.contains(x));
        })""",
        text,
    )
    return found


# -- what is seen at once ------------------------------------------------------------------


def test_largest_step_of_a_set_of_runs_is_the_first_card(opened: GraphPage, site: Site) -> None:
    page = opened.page
    spent = {
        name: sum(Graph.read(name).spent_ns.values()) for name in (FILE, OTHER, "training_step")
    }
    page.goto(site.address(""))
    first = page.locator(".gv-card").first
    expect(first).to_contain_text(f"{max(spent, key=lambda name: spent[name])}.gviz")
    box = first.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < 800


def test_slowest_phase_and_largest_family_are_named_at_once(hand: Hand, graph: Graph) -> None:
    page = hand.page
    expect(page.locator(".gv-said").first).to_contain_text(graph.slowest_phase())
    assert seen(page, graph.slowest_phase())
    family = graph.largest_family()
    legend = page.locator("#dag-legend").inner_text()
    assert re.match(rf"Coloured by Kernel family: {re.escape(family)}", legend)
    assert hand.count() == 0


# -- what takes clicks ---------------------------------------------------------------------


def is_critical_path(hand: Hand, graph: Graph) -> None:
    """Check that the longest chain of dependencies is selected, and no more."""
    nodes = set(
        hand.graph_page.wait_until(lambda: hand.graph_page.state("dag")["selected"], "a path")
    )
    chain = [(a, b) for a, b, _ in graph.edges if {a, b} <= nodes]
    assert len(nodes) < len(graph.names)
    assert nx.is_directed_acyclic_graph(nx.DiGraph(chain))
    assert nx.dag_longest_path_length(nx.DiGraph(chain)) == len(nodes) - 1
    assert graph.longest_path_ns(nodes) == pytest.approx(graph.longest_path_ns(), rel=1e-6)


def is_longest_gap(hand: Hand, graph: Graph) -> None:
    """Check that the longest gap takes a tenth of the timeline, and is in it."""
    del graph
    gap = longest_gap_ns(int(hand.page.locator("#launch").input_value()))

    def share() -> float:
        state = hand.graph_page.state("timeline")
        wide: float = hand.page.evaluate("document.querySelector('#timeline canvas').clientWidth")
        found: float = state["transform"]["k"] * gap / wide
        return found

    hand.graph_page.wait_until(lambda: share() >= 0.1, "the gap as a tenth of the timeline")


def has_source(hand: Hand, graph: Graph) -> None:
    """Check that the line of the selected node's own code is seen without scrolling."""
    (node,) = hand.graph_page.wait_until(
        lambda: hand.graph_page.state("dag")["selected"], "a node selected"
    )
    line = graph.own_line(node)
    hand.graph_page.wait_until(lambda: seen(hand.page, line), f"{line} seen")


def has_hits(hand: Hand, graph: Graph) -> None:
    """Check count and sum of what was searched."""
    nodes = graph.named(WORD)
    spent_us = sum(graph.spent_ns[node] for node in nodes) / 1000
    words = hand.page.locator("#row-count")
    expect(words).to_contain_text(f"1 of {len(nodes)} hits, ")
    told = re.search(r"hits, ([\d.]+) µs, ([\d.]+)%", words.inner_text())
    assert told is not None
    assert float(told[1]) == pytest.approx(spent_us, rel=0.01)
    assert set(hand.graph_page.state("timeline")["kept"]) == nodes
    assert set(hand.graph_page.state("dag")["selected"]) < nodes


def is_unfolded(hand: Hand, graph: Graph) -> None:
    """Check that every node is drawn."""
    hand.graph_page.drawn("dag", nodeCount=len(graph.names), foldCount=0)


def is_compared(hand: Hand, graph: Graph) -> None:
    """Check that the comparison begins with what became of the work, and in how many layers."""
    page = hand.page
    page.wait_for_url("**/compare?*")
    layers = len({ranges[0] for ranges in graph.ranges.values()})
    change = page.get_by_text(re.compile(r" kernels? became \d"))
    expect(change.first).to_contain_text(f"in {layers} of {layers} layers")
    is_more = sum(graph.spent_ns.values()) > sum(Graph.read(OTHER).spent_ns.values())
    expect(change.first).to_contain_text(" more, " if is_more else " less, ")


def click_node(hand: Hand, graph: Graph) -> None:
    """Click one node that is drawn by itself."""
    locate = "node => document.querySelector('#dag canvas').gvizLocate(node)"
    node = next(n for n in graph.names if hand.page.evaluate(locate, n))
    hand.graph_page.click_node("dag", node)


Act = Callable[[Hand, Graph], object]


@dataclass(frozen=True, slots=True)
class Task:
    """A task: how it is done with how many clicks, how by keyboard, and what must be seen then."""

    clicks: int
    by_mouse: Act
    by_keys: Act
    check: Act


TASKS = {
    "critical path": Task(
        1,
        lambda hand, _: hand.page.locator(".gv-path").first.click(),
        lambda hand, _: hand.page.keyboard.press("k"),
        is_critical_path,
    ),
    "longest gap": Task(
        1,
        lambda hand, _: hand.page.locator(".gv-block-idle").click(),
        lambda hand, _: hand.command("idle"),
        is_longest_gap,
    ),
    "source line": Task(1, click_node, lambda hand, _: hand.search(WORD), has_source),
    "find a kernel": Task(
        len(WORD) + 2,
        lambda hand, _: hand.search(WORD),
        lambda hand, _: hand.search(WORD),
        has_hits,
    ),
    "unfold": Task(
        1,
        lambda hand, _: hand.page.get_by_role("button", name="Fold repeats, or draw").click(),
        lambda hand, _: hand.command("repeat"),
        is_unfolded,
    ),
    "compare two runs": Task(
        2,
        lambda hand, _: hand.choose("Compare with", OTHER),
        lambda hand, _: hand.command("fused"),
        is_compared,
    ),
}


@pytest.mark.parametrize("way", ["clicks", "keys"])
@pytest.mark.parametrize("name", TASKS)
def test_task_is_done_with_few(hand: Hand, graph: Graph, name: str, way: str) -> None:
    task = TASKS[name]
    act = task.by_mouse if way == "clicks" else task.by_keys
    act(hand, graph)
    count = hand.count()
    task.check(hand, graph)
    assert 0 < count <= (task.clicks if way == "clicks" else MOST_PRESSES)


@pytest.mark.parametrize("way", ["clicks", "keys"])
def test_what_is_on_the_screen_is_shared_with_two(hand: Hand, way: str) -> None:
    page = hand.page
    asked: list[str] = []
    # What the server writes then is a matter of tests of saved files.
    page.route(
        "**/payload/saved/**",
        lambda route, request: (asked.append(unquote(request.url)), route.fulfill(body="saved")),
    )
    page.keyboard.press("k")
    hand.graph_page.wait_until(lambda: "select=" in page.url, "the selection in the address")
    nodes = re.search("select=[^&]+", unquote(page.url))
    hand.begin()
    with page.expect_download() as download:
        if way == "clicks":
            page.locator("#share-menu summary").click()
            page.get_by_role("button", name="This page as HTML").click()
        else:
            hand.command("html")
        count = hand.count()
    assert 0 < count <= (2 if way == "clicks" else MOST_PRESSES)
    assert download.value.suggested_filename.endswith(".html")
    assert nodes is not None
    assert nodes[0] in unquote(asked[0])
    page.unroute_all()


def test_folding_again_is_a_click_or_a_press(hand: Hand, graph: Graph) -> None:
    fold = hand.page.get_by_role("button", name="Fold repeats, or draw")
    fold.click()
    is_unfolded(hand, graph)
    hand.begin()
    fold.click()
    assert hand.count() == 1
    hand.graph_page.wait_until(lambda: hand.graph_page.state("dag").get("foldCount"), "folded")
    expect(fold).to_have_attribute("aria-pressed", "true")
    hand.page.locator("#dag canvas").press("h")
    is_unfolded(hand, graph)


# -- what is selected is where one looks ----------------------------------------------------


def test_selection_leads_the_timeline_no_nearer_and_escape_back(hand: Hand) -> None:
    graph_page, page = hand.graph_page, hand.page

    def scale() -> float:
        found: float = graph_page.at_rest("timeline")["transform"]["k"]
        return found

    whole = scale()
    # A node at the start can be seen as it is.
    hand.search("id:0")
    graph_page.wait_until(lambda: graph_page.state("dag")["selected"] == [0], "the first node")
    assert scale() == pytest.approx(whole)
    page.keyboard.press("Escape")
    canvas = page.locator("#timeline canvas")
    for key in "++++":
        canvas.press(key)
    near = scale()
    assert near > 3 * whole
    page.locator("#dag canvas").press("k")
    graph_page.wait_until(lambda: len(graph_page.state("dag")["selected"]) > 100, "a path")
    assert scale() < near
    canvas.press("Escape")
    graph_page.wait_until(lambda: graph_page.state("dag")["selected"] == [], "nothing selected")
    assert scale() == pytest.approx(near, rel=0.01)
