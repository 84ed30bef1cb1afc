"""The data of a graph and its counterpart in a file, as named blobs of bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from dash import html
from dash.development.base_component import Component

from gviz.app.components import Parts, select
from gviz.app.files import OpenRecording
from gviz.app.html_file.facts import NODES_A_BLOB, InspectedPair, fact_blobs, to_json
from gviz.app.html_file.notes import MEDIAN_LAUNCHES, Progress, file_note, opening_words
from gviz.app.html_file.pool import Pool
from gviz.app.html_file.source import Source
from gviz.app.html_file.states import FoldStates, Opening, fold_states
from gviz.app.pages import (
    LAYOUTS,
    SIDES,
    TABLES,
    Comparison,
    UnionRequest,
    both_timelines,
    compared_table,
    comparison_content,
    graph_options,
    open_path,
    place_of,
    render_compared,
    union_dag,
)
from gviz.app.views import (
    breakdown_payload,
    graph_view,
    open_id,
    read_titles,
    table_payload,
    unpack,
)
from gviz.recording import Recording


def comparison_blobs(
    source: Source, pair: InspectedPair, progress: Progress
) -> Iterator[tuple[str, bytes]]:
    """Yield the blobs of a comparison, by name.

    Those of a graph (:func:`gviz.app.html_file.graph_data.graph_blobs`), numbered as the graph
    after; ``table-ID`` is that of all nodes, ``table-ID-NAME`` another one, ``side-ID-A`` and
    ``side-ID-B`` those of either graph alone.
    """
    graph_id, found = pair.graph_id, pair.found
    parts = Parts()
    page = render_compared(found, _choices(source, pair), can_share=False)
    nothing = parts.add(pair.inspect(()))
    pool = Pool()
    states = _views(source, pair, pool, progress)
    breakdowns = {
        side: pool.add(breakdown_payload(opened.recording, own_id, opened.keep))
        for side, opened, own_id in _sides(source, pair)
    }
    content = {
        **comparison_content(found, pair.sides, page, parts),
        "fixed": {"graph": graph_id},
        "note": _note(source, pair, states["folds"]["none"]),
        "nothing": nothing,
        "nodes_a_blob": NODES_A_BLOB,
        "breakdown": None,
        "verdict": None,
        **states,
        "sides": breakdowns,
        "headers": pool.headers,
        "strings": pool.strings,
    }
    yield f"graph-{graph_id}", to_json(content)
    yield f"arrays-{graph_id}", pool.data
    for name in TABLES:
        suffix = "" if name == "nodes" else f"-{name}"
        yield f"table-{graph_id}{suffix}", compared_table(found, name)
    # Tables can be about nodes and layers of either graph.
    for side, opened, own_id in _sides(source, pair):
        view = graph_view(source.library, opened.key, own_id)
        yield f"side-{graph_id}-{side}", table_payload(view)
    yield from fact_blobs(pair)


def _sides(source: Source, pair: InspectedPair) -> Iterator[tuple[str, OpenRecording, int]]:
    """Yield both sides, each with its file and its graph."""
    files = (pair.sides.before, pair.sides.after)
    for side, key, tree in zip(SIDES, files, pair.found.trees, strict=True):
        yield side, source.library.file(key), tree.graph.graph_id


def _choices(source: Source, pair: InspectedPair) -> list[Component]:
    """Return which files these are, and the choice among the graphs of the file."""
    sides = pair.sides
    text = f"A: {sides.before}, B: {sides.after}"
    shown: list[Component] = [html.Span(text, className="gv-muted gv-ellipsis", title=text)]
    if len(source.graphs) > 1:
        titles = read_titles(source.library.file(source.file), source.graphs[0].run_id)
        options = graph_options(source.graphs, titles)
        shown.append(select("graph-choice", "Graph", options, str(pair.graph_id), width=230))
    return shown


def _note(source: Source, pair: InspectedPair, states: dict[str, Any]) -> str:
    """Return where the file comes from, and what it cannot show."""
    content = MEDIAN_LAUNCHES
    if states["folds"]:
        content += f", and opens {opening_words(states['together'])}"
    library, sides = source.library, pair.sides
    files = dict.fromkeys(library.file(key).path.name for key in (sides.before, sides.after))
    return file_note(content, *files)


def _views(source: Source, pair: InspectedPair, pool: Pool, progress: Progress) -> dict[str, Any]:
    """Add the payloads of DAG and timeline; return where the page finds them.

    The DAG's are found by ``layout|level|place of the open set``; see
    assets/web/stores/saved_comparison.js.
    """
    found, sides = pair.found, pair.sides
    files = tuple(source.library.file(key) for key in (sides.before, sides.after))
    recordings: tuple[Recording, Recording] = (files[0].recording, files[1].recording)
    states = fold_states(*_openings(found))

    def draw(request: UnionRequest) -> bytes:
        return union_dag(found, recordings, (sides.before, sides.after), request)

    header, _ = unpack(draw(UnionRequest()))
    layouts = LAYOUTS if header["edges_known"] else (header["layout"],)
    dag: dict[str, int] = {}
    for key, request in _requests(found, layouts, states):
        progress(f"{found.graph.after_name}: {len(dag):,} layouts and bodies")
        dag[key] = pool.add(draw(request))
    timeline = both_timelines(
        found, recordings, sides, None, (files[0].keep, files[1].keep), whole=True
    )
    return {
        "dag": dag,
        "layout": header["layout"],
        "folds": {"none": states.to_header()},
        "timeline": {"": pool.add(timeline)},
        "memory": {},
    }


def _openings(found: Comparison) -> tuple[list[Opening], int]:
    """Return what can be opened, outer nodes first, and how many items are drawn with none open."""
    paths = {parent: _path_to(found, parent) for parent in found.page.bodies}
    openings = [
        Opening(
            open_id(parent),
            open_id(path[0]) if path else None,
            sum(found.item_count(body) for body in found.page.bodies[parent]),
        )
        for parent, path in sorted(paths.items(), key=lambda item: len(item[1]))
    ]
    return openings, found.item_count(0)


def _path_to(found: Comparison, number: int) -> list[int]:
    place = place_of(found, number)
    assert place is not None
    return open_path(found, place)


def _requests(
    found: Comparison, layouts: Sequence[str], states: FoldStates
) -> Iterator[tuple[str, UnionRequest]]:
    """Yield the request for every state, with its key; a level alone opens what is inside it."""
    parents = [level.parent for level in found.page.levels]
    for layout, at in product(layouts, range(len(found.page))):
        for place, names in enumerate(states.sets()):
            parent = parents[at]
            if not place or parent is None or open_id(parent) in names:
                yield f"{layout}|{at}|{place}", UnionRequest(at, layout, names)
