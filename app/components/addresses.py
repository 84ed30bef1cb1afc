"""Addresses of pages and payloads: the text of links, the meaning of queries."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, get_args
from urllib.parse import parse_qs, quote, urlencode

from gviz.app.components.dag_options import LAYOUTS, OVERLAY_NAMES
from gviz.app.components.node_list import parse_ids, write_ids
from gviz.dataclass import dataclass

RUNS, RUN, GRAPH, REPORT, BENCH = "/", "/run", "/graph", "/report", "/bench"
COMPARE, TREND, RANKS, FLEET = "/compare", "/trend", "/ranks", "/fleet"
#: Every page, and what the browser calls it.
PAGES = {
    RUNS: "runs",
    RUN: "run",
    GRAPH: "graph",
    REPORT: "report",
    BENCH: "bench",
    COMPARE: "compare",
    TREND: "trend",
    RANKS: "ranks",
    FLEET: "fleet",
}
PAYLOAD = "/payload"

#: Of the graph page: the time that lies between the two nodes selected.
TIME_BETWEEN = "time=between"
#: The time of what is selected.
TIME_SELECTED = "time=selected"

#: SQLite's integers have up to 19.
_MOST_DIGITS = 18
_GRAPHS = re.compile(r"(\d{1,18})(?::(\d{1,18}))?", re.ASCII)

#: Many launches at once in place of one: their median, or each on a row of its own.
Launches = Literal["median", "all"]
#: In which order stacked launches stand, top to bottom; ``length``: the longest first.
Order = Literal["ordinal", "length"]
#: How the Runs page shows runs: a card each, or a row for each of their graphs.
RunsView = Literal["cards", "table"]


@dataclass(frozen=True, slots=True)
class Sides:
    """The two sides that the Compare page compares.

    Attributes
    ----------
    before, after
        Keys of files; in addresses of data ``key@version``.
    before_graph, after_graph
        Graphs; the second None: the one that corresponds; both None: what comes first.
    """

    before: str
    after: str
    before_graph: int | None = None
    after_graph: int | None = None

    @property
    def graphs(self) -> str | None:
        """The graphs as ``graph=`` names them."""
        if self.before_graph is None:
            return None
        return f"{self.before_graph}" + ("" if self.after_graph is None else f":{self.after_graph}")

    def swapped(self) -> Sides:
        """Return the same with what is before after; a graph that corresponds is found again."""
        if self.after_graph is None:
            return Sides(self.after, self.before)
        return Sides(self.after, self.before, self.after_graph, self.before_graph)


@dataclass(frozen=True, slots=True)
class Query:
    """Choices in the query of a page's address; None where it has none.

    What of a graph is shown the browser reads (assets/web/page/address.js); here only what the
    server needs of it is. ``launch=`` is the number of one launch, ``sort=`` a column of the
    table of runs, with ``-`` before it from the greatest down.
    ``baseline=`` is the file of the graph to compare with, ``baseline_graph=`` the graph, without
    which it is the one that corresponds.
    The Compare page has ``a=`` and ``b=``, files before and after, ``graph=1:2``, the graphs there
    (:attr:`graphs`), ``level=`` the body that is drawn and ``rows=`` what its table lists; the
    Trend page has ``file=`` as often as it has files. On the Ranks page ``launch=`` is the number
    that launches have on every rank, ``graph=`` the graph of one of them.
    """

    file: str | None = None
    run_id: int | None = None
    graph_id: int | None = None
    launch_id: int | None = None
    stream_launch_id: int | None = None
    node_ids: tuple[int, ...] = ()
    colour: str | None = None
    layout: str | None = None
    unfolded: tuple[str, ...] = ()
    runs_view: RunsView = "cards"
    sort: str | None = None
    baseline_file: str | None = None
    baseline_graph_id: int | None = None
    before_file: str | None = None
    after_file: str | None = None
    graphs: tuple[int, int | None] | None = None
    level: int = 0
    rows: str | None = None
    files: tuple[str, ...] = ()


def parse_query(search: str | None) -> Query:
    """Return the meaning of ``?file=...&graph=...``; a malformed number counts as absent."""
    given = parse_qs((search or "").lstrip("?"))
    fields = {k: v[0] for k, v in given.items()}
    colour, layout = (fields.get(name) for name in ("colour", "layout"))
    return Query(
        file=fields.get("file"),
        run_id=parse_id(fields.get("run")),
        graph_id=parse_id(fields.get("graph")),
        launch_id=parse_id(fields.get("launch")),
        stream_launch_id=parse_id(fields.get("stream")),
        node_ids=parse_ids(fields.get("node", "")),
        colour=colour if colour in OVERLAY_NAMES else None,
        layout=layout if layout in LAYOUTS else None,
        unfolded=tuple(part for part in fields.get("open", "").split(",") if part),
        runs_view="table" if fields.get("view") == "table" else "cards",
        sort=fields.get("sort"),
        baseline_file=fields.get("baseline"),
        baseline_graph_id=parse_id(fields.get("baseline_graph")),
        before_file=fields.get("a"),
        after_file=fields.get("b"),
        graphs=parse_graphs(fields.get("graph")),
        level=parse_id(fields.get("level")) or 0,
        rows=fields.get("rows"),
        files=tuple(dict.fromkeys(given.get("file", ()))),
    )


def parse_graphs(text: str | None) -> tuple[int, int | None] | None:
    """Return the graphs that ``graph=1:2`` names; the second None where it names one."""
    found = _GRAPHS.fullmatch(text or "")
    if found is None:
        return None
    return int(found[1]), None if found[2] is None else int(found[2])


def parse_sides(fields: Mapping[str, str]) -> Sides | None:
    """Return what ``a=&b=&graph=`` name; None where a file or the graphs are missing."""
    before, after = fields.get("a"), fields.get("b")
    graphs = parse_graphs(fields.get("graph"))
    if before is None or after is None or graphs is None:
        return None
    return Sides(before, after, *graphs)


def parse_launches(text: str | None) -> Launches | None:
    """Return which launches at once ``launch=`` requests; None: one launch, or no value known."""
    return next((name for name in get_args(Launches) if name == text), None)


def parse_order(text: str | None) -> Order:
    """Return the order that ``order=`` requests; by ordinal without one."""
    return "length" if text == "length" else "ordinal"


def parse_id(text: str | None) -> int | None:
    """Return an id; None for what is none, such as a number that SQLite cannot hold."""
    if text is None or not (text.isascii() and text.isdigit()) or len(text) > _MOST_DIGITS:
        return None
    return int(text)


@dataclass(frozen=True, slots=True)
class Addresses:
    """Builds addresses under the prefix the application is served at (ends with '/').

    ``file`` is a key of the library; of payloads rather ``key@version``, so that a page never
    mixes what was in a file before and after it was replaced.
    """

    prefix: str = "/"

    def runs(self, view: RunsView = "cards") -> str:
        """Return the address of the list of runs."""
        return self.prefix + ("" if view == "cards" else f"?view={view}")

    def run(self, file: str, run_id: int) -> str:
        """Return the address of a run's page."""
        return self._page(RUN, file=file, run=run_id)

    def bench(self, file: str | None = None, run_id: int | None = None) -> str:
        """Return the address of launch costs: of a run, or of whatever there is."""
        if file is None:
            return self.prefix + BENCH.lstrip("/")
        return self._page(BENCH, file=file, run=run_id)

    def report(self, file: str, graph_id: int) -> str:
        """Return the address of a graph's report."""
        return self._page(REPORT, file=file, graph=graph_id)

    def fleet(self, graph: int = 0) -> str:
        """Return the address of the Fleet page, with maps of a graph by its place among all."""
        return self._page(FLEET, graph=graph) if graph else self.prefix + FLEET.lstrip("/")

    def fleet_rank(
        self, recording_id: int | None, run_id: int | None, graph_key: int = 0, nth: int = 0
    ) -> str:
        """Return the address that opens a rank's graph; without a key that which it launches first.

        Without a recording it ends where its rank is to be added.
        """
        query = {"graph": f"{graph_key}.{nth}"} if graph_key else {}
        rank = "" if recording_id is None else f"{recording_id}.{run_id}"
        return self._page(f"{FLEET}/open", **query, rank=rank)

    def compare(self, sides: Sides | None = None, **more: object) -> str:
        """Return the address of the Compare page; without sides that on which they are chosen."""
        given: dict[str, object] = {}
        if sides is not None:
            given = {"a": sides.before, "b": sides.after, "graph": sides.graphs}
        arguments = urlencode({k: v for k, v in (given | more).items() if v}, safe=":,")
        return self.prefix + COMPARE.lstrip("/") + (f"?{arguments}" if arguments else "")

    def compare_files(self, before: str | None, after: str | None) -> str:
        """Return the address of the Compare page with one side or both chosen, and no graphs."""
        return self.compare(None, a=before, b=after)

    def compare_page(self, query: Query) -> str:
        """Return where the Compare page itself is fetched, as its address requests it."""
        graphs = query.graphs and Sides("", "", *query.graphs).graphs
        given = {"a": query.before_file, "b": query.after_file, "graph": graphs}
        arguments = urlencode({k: v for k, v in given.items() if v}, safe=":,@")
        return self.prefix + f"{PAYLOAD}/compared/page?{arguments}".lstrip("/")

    def trend(self, files: Sequence[str] = ()) -> str:
        """Return the address of the Trend page over these files; over all open ones for none."""
        arguments = urlencode({"file": list(files)}, doseq=True)
        return self.prefix + TREND.lstrip("/") + (f"?{arguments}" if arguments else "")

    def ranks(
        self,
        file: str,
        graph_id: int | None = None,
        ordinal: int | None = None,
        node_ids: Iterable[int] = (),
    ) -> str:
        """Return the address of a file's ranks side by side: a graph, a launch, nodes selected."""
        nodes, _ = write_ids(list(node_ids))
        given = {"file": file, "graph": graph_id, "launch": ordinal, "node": nodes or None}
        arguments = urlencode({k: v for k, v in given.items() if v is not None}, safe=",")
        return self.prefix + f"{RANKS}?{arguments}".lstrip("/")

    def ranks_payload(self, file: str, graph_id: int, ordinal: int) -> str:
        """Return where the Ranks page fetches one launch of every rank."""
        path = f"{PAYLOAD}/ranks/{quote(file, safe='@')}/{graph_id}".lstrip("/")
        return self.prefix + f"{path}?launch={ordinal}"

    def compared(self, kind: str, sides: Sides, **more: object) -> str:
        """Return where the views of the Compare page fetch their data."""
        given = {"a": sides.before, "b": sides.after, "graph": sides.graphs, **more}
        arguments = urlencode({k: v for k, v in given.items() if v}, safe=":,@")
        return self.prefix + f"{PAYLOAD}/compared/{kind}?{arguments}".lstrip("/")

    def graph(
        self,
        file: str,
        graph_id: int,
        node_ids: Iterable[int] = (),
        opened: Iterable[str] = (),
        selected: Sequence[str] = (),
    ) -> str:
        """Return the address of a graph's page: nodes selected, bodies open.

        Of more nodes than an address has room for (:func:`write_ids`) it has the first.
        ``selected`` names what is selected by what that is (assets/web/page/names.js), such as
        ``layer:layer 3``, in place of its nodes; at most six names.
        """
        given = {
            "node": write_ids(list(node_ids))[0],
            "open": ",".join(opened),
            "select": list(selected),
        }
        more: dict[str, object] = {k: v for k, v in given.items() if v}
        return self._page(GRAPH, file=file, graph=graph_id, **more)

    def graph_payload(self, kind: str, file: str, graph_id: int, **query: object) -> str:
        """Return where a graph's page fetches data of a kind (:mod:`gviz.app.server.routes`)."""
        path = f"{PAYLOAD}/{kind}/{quote(file, safe='@')}/{graph_id}".lstrip("/")
        given = {name: value for name, value in query.items() if value is not None}
        arguments = urlencode(given, safe="@")
        return self.prefix + path + (f"?{arguments}" if arguments else "")

    def page_payload(self, file: str, graph_id: int, query: Query) -> str:
        """Return where the page of a graph itself is fetched, as its address requests it."""
        return self.graph_payload(
            "page",
            file,
            graph_id,
            launch=query.launch_id,
            stream=query.stream_launch_id,
            baseline=query.baseline_file,
            baseline_graph=query.baseline_graph_id,
        )

    def miniature(self, file: str, graph_id: int) -> str:
        """Return where the small picture of a graph and a launch of it is fetched."""
        path = f"{PAYLOAD}/miniature/{quote(file, safe='@')}/{graph_id}"
        return self.prefix + path.lstrip("/")

    def state(self) -> str:
        """Return the address that says whether a page's files are still the same."""
        return self.prefix + f"{PAYLOAD}/state".lstrip("/")

    def overlay(self, number: int) -> str:
        """Return where a table that pages lay on graphs is, by its place among all of them."""
        return self.prefix + f"{PAYLOAD}/overlay/{number}".lstrip("/")

    def upload(self) -> str:
        """Return where files are uploaded to."""
        return self.prefix + f"{PAYLOAD}/upload".lstrip("/")

    def local(self, path: str) -> str:
        """Return a path of an address below the prefix: one of the pages' above, or another."""
        return "/" + path.removeprefix(self.prefix.rstrip("/")).strip("/")

    def _page(self, path: str, **query: object) -> str:
        return self.prefix + path.lstrip("/") + "?" + urlencode(query, safe=",:", doseq=True)
