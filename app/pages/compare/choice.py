"""The choice of what to compare: both files, their graphs, and the way back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice, product

from dash import dcc, html
from dash.development.base_component import Component

from gviz.app.components import Addresses, Query, Sides, select
from gviz.app.files import Library, OpenRecording
from gviz.app.pages.compare.counterparts import HOW_ALIKE
from gviz.app.views import read_titles
from gviz.comparison import (
    LikelyPair,
    PairedRecordings,
    likely_pair,
    pair_recordings,
    places_to_judge,
)
from gviz.dataclass import dataclass
from gviz.errors import RecordingError
from gviz.recording import rows
from gviz.text import MISSING

#: Pairs of open files that are offered.
_MOST_PAIRS = 8


def all_choices(
    library: Library, query: Query, sides: Sides, addresses: Addresses
) -> list[Component]:
    """Return the choices of both files and of both graphs, and the way to swap them."""
    first, second = library.file(sides.before), library.file(sides.after)
    return [
        *file_choices(library, query, addresses),
        _swap_link(sides, addresses),
        *_graph_choices(_titles(first), _titles(second), sides, addresses),
    ]


def file_choices(library: Library, query: Query, addresses: Addresses) -> list[Component]:
    """Return the choices of both files; each leads to a page."""
    keys = [file.key for file in library.files()]
    a, b = query.before_file, query.after_file
    first = [_option(addresses.compare_files(key, b), key) for key in keys]
    second = [_option(addresses.compare_files(a, key), key) for key in keys]
    return [
        _choice("compare-a", "A, before", first, addresses.compare_files(a, b) if a else None),
        _choice("compare-b", "B, after", second, addresses.compare_files(a, b) if b else None),
    ]


def _option(address: str, label: str) -> dict[str, str]:
    return {"value": address, "label": label}


def _choice(name: str, label: str, options: list[dict[str, str]], address: str | None) -> Component:
    """Return a choice of addresses; without the one of now it begins with none chosen."""
    if address is None:
        options = [{"value": "", "label": "choose"}, *options]
    return select(name, label, options, address or "", width=190)


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two open files with a graph in common: which, of what programs, on which GPUs."""

    before: OpenRecording
    after: OpenRecording
    likely: LikelyPair
    graph: str

    @property
    def words(self) -> str:
        """Return what is compared: program, GPU, graph."""
        differ, _ = self.likely.differences
        gpu = " → ".join(dict.fromkeys(gpu or MISSING for gpu in self.likely.gpus))
        parts = [" → ".join(dict.fromkeys(self.likely.programs)), gpu.replace("NVIDIA ", "")]
        return " · ".join([*parts, self.graph, *(["another GPU"] if differ else [])])


def offer_pairs(library: Library, addresses: Addresses) -> list[Component]:
    """Return links that compare open files that have a graph in common, the likeliest first.

    Those of one GPU come first, among them those of one program, among them those opened next to
    each other.
    """
    files = [file for file in library.files() if not file.waiting]
    judged = (_pair(files[m], files[n]) for m, n in places_to_judge(len(files)))
    found = sorted(filter(None, judged), key=lambda pair: pair.likely.differences)
    return [
        html.Div(
            [
                dcc.Link(
                    f"{pair.before.key} → {pair.after.key}",
                    href=addresses.compare(Sides(pair.before.key, pair.after.key)),
                    className="gv-report-link",
                ),
                html.Div(pair.words, className="gv-muted"),
            ]
        )
        for pair in found[:_MOST_PAIRS]
    ]


def offer_graphs(
    first: OpenRecording, second: OpenRecording, addresses: Addresses
) -> list[Component]:
    """Return links that compare graphs of two files of which none corresponds to another."""
    pairs = product(_titles(first).items(), _titles(second).items())
    return [
        dcc.Link(
            f"{title} → {other}",
            href=addresses.compare(Sides(first.key, second.key, one, two)),
            className="gv-report-link",
        )
        for (one, title), (two, other) in islice(pairs, _MOST_PAIRS)
    ]


def _pair(first: OpenRecording, second: OpenRecording) -> _Pair | None:
    """Return two files as a pair; None: no graph corresponds, or to tell takes long."""
    try:
        with first.at(), second.at():
            key = ("likely pair", first.versioned_key)
            found = second.derive(key, lambda: likely_pair(first.recording, second.recording))
            if found is None:
                return None
            title = read_titles(first, found.runs[0].run_id)[found.graphs.first]
            return _Pair(first, second, found, f"{title} ({HOW_ALIKE[found.graphs.how]})")
    except RecordingError:  # its own page says why
        return None


def _swap_link(sides: Sides, addresses: Addresses) -> Component:
    """Return the link to the same with A and B the other way round."""
    return dcc.Link(
        "⇄ Swap",
        href=addresses.compare(sides.swapped()),
        className="gv-report-link",
        title="What is before becomes after",
    )


def top_graphs(opened: OpenRecording) -> list[rows.Graph]:
    """Return the graphs of a file that are launched, run by run."""
    runs = opened.recording.fetch_runs()
    found = [g for run in runs for g in opened.recording.fetch_graphs(run.run_id)]
    return [g for g in found if g.parent_graph_id is None]


def _titles(opened: OpenRecording) -> Mapping[int, str]:
    """Return what the graphs of a file that are launched are called, by graph_id."""
    graphs = top_graphs(opened)
    runs = dict.fromkeys(graph.run_id for graph in graphs)
    titles = {k: v for run in runs for k, v in read_titles(opened, run).items()}
    return {graph.graph_id: titles[graph.graph_id] for graph in graphs}


def _graph_choices(
    before: Mapping[int, str], after: Mapping[int, str], sides: Sides, addresses: Addresses
) -> list[Component]:
    """Return the choices of both graphs; none where there is one on each side, or no pair."""
    if max(len(before), len(after)) < 2:
        return []

    def way(first: int | None, second: int | None) -> str:
        return addresses.compare(Sides(sides.before, sides.after, first, second))

    one, two = sides.before_graph, sides.after_graph
    if one is None:
        return []
    first = [_option(way(g, two), f"{g}: {title}") for g, title in before.items()]
    second = [_option(way(one, g), f"{g}: {title}") for g, title in after.items()]
    second.insert(0, _option(way(one, None), "the one that corresponds"))
    return [
        _choice("compare-graph-a", "Graph of A", first, way(one, two)),
        _choice("compare-graph-b", "of B", second, way(one, two)),
    ]


def no_pair(sides: Sides) -> str:
    """Return that no graphs of two files correspond."""
    return (
        f"No graph of {sides.before} is a graph of {sides.after}: none has the shape, the name "
        "or half of the work of one there. They can be compared anyway:"
    )


def choose_graph(first: OpenRecording, second: OpenRecording) -> int | None:
    """Return the graph before that is shown first: of those with a counterpart the most launched.

    None: no graph of one is a graph of the other.
    """
    paired = _paired(first, second)
    ids = [pair.first for graphs in paired.graphs for pair in graphs]
    launches = {i: first.recording.count_launches(i)[0] for i in ids}
    return max(ids, key=lambda i: launches[i], default=None)


def _paired(first: OpenRecording, second: OpenRecording) -> PairedRecordings:
    key = ("paired", first.versioned_key)
    return second.derive(key, lambda: pair_recordings(first.recording, second.recording))


def nothing_to_compare(library: Library, query: Query) -> Sequence[str]:
    """Return why there is nothing to compare yet, as sentences; none: there is."""
    if len(library.files()) == 1:
        only = library.files()[0]
        if query.graphs is None or query.graphs[1] is None:
            return (
                f"Only one recording is open: {only.key}. Open the one to compare it with from the "
                "Runs page, or drop its file here.",
            )
    if query.before_file is None or query.after_file is None:
        return (
            "Choose a recording before (A) and one after (B): of one program, recorded before "
            "and after a change, on the same GPU.",
        )
    if query.before_file == query.after_file and (query.graphs is None or query.graphs[1] is None):
        return ("A and B are the same recording: choose another, or name two of its graphs.",)
    return ()
