"""The data of one graph level in a file, as named blobs of bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from gviz.analysis import GraphSubject, analyze
from gviz.app.components import Launches, Parts
from gviz.app.html_file.facts import NODES_A_BLOB, InspectedGraph, fact_blobs, to_json
from gviz.app.html_file.launches import Chosen, offer
from gviz.app.html_file.notes import file_note
from gviz.app.html_file.pool import Pool
from gviz.app.html_file.source import Source
from gviz.app.inspector import render_memory_facts, render_sums
from gviz.app.pages import (
    first_folds,
    graph_content,
    graph_head,
    has_breakdown,
    render_graph,
)
from gviz.app.views import (
    GraphView,
    breakdown_payload,
    payload,
    read_breakdown,
    table_payload,
    typical_launch,
    verdict_values,
    whole_dag,
)
from gviz.model import Keep
from gviz.recording import Recording
from gviz.system import Progress


def graph_blobs(
    source: Source, graph: InspectedGraph, chosen: Chosen, progress: Progress
) -> Iterator[tuple[str, bytes]]:
    """Yield the blobs of a graph level, by name.

    ``graph-ID``: JSON, the page and its launches; ``arrays-ID``: the arrays of these; ``dag-ID``:
    :func:`gviz.app.views.dag_source.whole_dag`, which the page lays out;
    ``table-ID``: JSON, the table; ``facts-ID-N``: JSON, records of so many nodes as
    ``nodes_a_blob`` says (:mod:`gviz.app.inspector.node_records`).
    """
    view, graph_id = graph.view, graph.graph_id
    parts = Parts()
    measurements = source.recording.fetch_measurements(view.run.run_id)
    head = graph_head(view, source.graphs, measurements)
    page = render_graph(view, head, offer(view, chosen))
    memory = parts.add(render_memory_facts(source.library, source.file, view))
    nothing = parts.add(render_sums(view, ()))
    pool = Pool()
    keep = source.keep
    progress.at(0.02, f"{view.title}: launches")
    launches = _launches(source.recording, view, chosen, pool, keep)
    progress.at(0.1, f"{view.title}: the verdict on it")
    verdict = _verdict(source.recording, view, pool, keep)
    found = {
        **graph_content(view, page, parts, {"graph": graph_id}),
        **asdict(first_folds(source.recording, view, keep)),
        "note": _note(source, view, chosen),
        "nothing": nothing,
        "memory_facts": memory,
        "nodes_a_blob": NODES_A_BLOB,
        "recording": source.library.file(source.file).path.name,
        **launches,
        **verdict,
        "headers": pool.headers,
        "strings": pool.strings,
    }
    yield f"graph-{graph_id}", to_json(found)
    yield f"arrays-{graph_id}", pool.data
    progress.at(0.3, f"{view.title}: its nodes, edges and folds")
    shown = {launch.launch_id: launch.ordinal for launch in chosen.single}
    yield f"dag-{graph_id}", whole_dag(source.recording, graph_id, shown, keep)
    yield f"table-{graph_id}", table_payload(view)
    progress.at(0.5, f"{view.title}: what is known of each node")
    yield from fact_blobs(graph)


def _note(source: Source, view: GraphView, chosen: Chosen) -> str:
    """Return where the file comes from, and what it cannot show."""
    content = chosen.to_text() + (", one eager iteration" if view.stream_launches else "")
    if source.partners:
        before = source.library.files()[-1].key
        content += f"; {before} has no graph like this one"
    return file_note(content, source.library.file(source.file).path.name)


def _launches(
    recording: Recording, view: GraphView, chosen: Chosen, pool: Pool, keep: Keep
) -> dict[str, Any]:
    """Add the payloads of timeline and memory; return where the page finds them."""
    graph_id = view.graph.graph_id
    launches = [launch.launch_id for launch in chosen.single]
    return {
        "timeline": _timelines(recording, view, chosen, pool, keep),
        "memory": _memories(recording, graph_id, launches, pool, keep),
    }


def _verdict(recording: Recording, view: GraphView, pool: Pool, keep: Keep) -> dict[str, Any]:
    """Add the breakdown; return its place and the verdict, None for what is not launched."""
    if not has_breakdown(view):
        return {"breakdown": None, "verdict": None}
    graph_id = view.graph.graph_id
    # One for both: of a large graph spans take seconds to be read.
    subject = GraphSubject(recording, view.graph, keep=keep)
    (run,) = analyze(recording, graph_id=graph_id, known=[subject]).runs
    found = read_breakdown(recording, graph_id, keep, subject)
    return {
        "breakdown": pool.add(breakdown_payload(recording, graph_id, keep)),
        "verdict": verdict_values(run, run.graphs[0], found, view.tree),
    }


def _timelines(
    recording: Recording, view: GraphView, chosen: Chosen, pool: Pool, keep: Keep
) -> dict[str, int]:
    """Add the timelines; return the place of each by the value of ``launch=``."""
    stream = typical_launch(view.stream_launches)
    stream_id = None if stream is None else stream.launch_id
    shown: dict[str, int | Launches | None] = {
        str(launch.launch_id): launch.launch_id for launch in chosen.single
    }
    shown |= {name: name for name in chosen.several}
    if not shown and stream is not None:
        shown = {"": None}
    return {
        name: pool.add(
            payload.timeline_payload(
                recording, view.graph.graph_id, launch, stream_id, keep=keep, whole=True
            )
        )
        for name, launch in shown.items()
    }


def _memories(
    recording: Recording,
    graph_id: int,
    launches: Sequence[int],
    pool: Pool,
    keep: Keep,
) -> dict[str, int]:
    """Add the memory along each launch; return the place of each, "" where there is none."""
    shown: dict[str, int | None] = {str(launch): launch for launch in launches} or {"": None}
    return {
        name: pool.add(payload.level_memory_payload(recording, graph_id, launch, keep))
        for name, launch in shown.items()
    }
