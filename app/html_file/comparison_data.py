"""The data of a graph and its counterpart in a file, as named blobs of bytes."""

from __future__ import annotations

from collections.abc import Iterator

from dash import html
from dash.development.base_component import Component

from gviz.app.components import Parts, select
from gviz.app.files import OpenRecording
from gviz.app.html_file.facts import NODES_A_BLOB, InspectedPair, fact_blobs, to_json
from gviz.app.html_file.notes import MEDIAN_LAUNCHES, file_note
from gviz.app.html_file.pool import Pool
from gviz.app.html_file.source import Source
from gviz.app.pages import (
    SIDES,
    TABLES,
    both_timelines,
    compared_table,
    comparison_content,
    graph_options,
    render_compared,
    whole_union,
)
from gviz.app.views import (
    breakdown_payload,
    graph_view,
    read_titles,
    table_payload,
)
from gviz.system import Progress


def comparison_blobs(
    source: Source, pair: InspectedPair, progress: Progress
) -> Iterator[tuple[str, bytes]]:
    """Yield the blobs of a comparison, by name.

    Those of a graph (:func:`gviz.app.html_file.graph_data.graph_blobs`), numbered as the graph
    after; ``dag-ID`` is :func:`gviz.app.pages.compare.whole_union.whole_union`, ``table-ID`` that
    of all nodes, ``table-ID-NAME`` another one, ``side-ID-A`` and ``side-ID-B`` those of either
    graph alone.
    """
    graph_id, found = pair.graph_id, pair.found
    parts = Parts()
    page = render_compared(found, _choices(source, pair), can_share=False)
    nothing = parts.add(pair.inspect(()))
    pool = Pool()
    files = source.library.file(pair.sides.before), source.library.file(pair.sides.after)
    recordings = files[0].recording, files[1].recording
    keeps = files[0].keep, files[1].keep
    timeline = both_timelines(found, recordings, pair.sides, None, keeps, whole=True)
    breakdowns = {
        side: pool.add(breakdown_payload(opened.recording, own_id, opened.keep))
        for side, opened, own_id in _sides(source, pair)
    }
    content = {
        **comparison_content(found, pair.sides, page, parts),
        "fixed": {"graph": graph_id},
        "note": _note(source, pair),
        "nothing": nothing,
        "nodes_a_blob": NODES_A_BLOB,
        "breakdown": None,
        "verdict": None,
        "timeline": {"": pool.add(timeline)},
        "memory": {},
        "sides": breakdowns,
        "headers": pool.headers,
        "strings": pool.strings,
    }
    yield f"graph-{graph_id}", to_json(content)
    yield f"arrays-{graph_id}", pool.data
    progress.at(0.3, f"{found.graph.after_name}: nodes and edges of both")
    names = pair.sides.before, pair.sides.after
    yield f"dag-{graph_id}", whole_union(found, recordings, names)
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


def _note(source: Source, pair: InspectedPair) -> str:
    """Return where the file comes from, and what it cannot show."""
    library, sides = source.library, pair.sides
    files = dict.fromkeys(library.file(key).path.name for key in (sides.before, sides.after))
    return file_note(MEDIAN_LAUNCHES, *files)
