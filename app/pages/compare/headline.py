"""The head of a comparison: launch times in words, totals, and what else differs."""

from __future__ import annotations

from dash import html
from dash.development.base_component import Component

from gviz.app.components import sentence
from gviz.app.pages.compare.comparison import Comparison
from gviz.app.pages.report import ColumnHead, Content, how, number, table
from gviz.comparison import GraphDiff, RunRef, TimeChange
from gviz.stats import NotComputed
from gviz.text import MISSING, counted, duration, percent, signed_duration, signed_percent

#: Where a smaller share of the work is the same, graphs are hardly two versions of one.
HARDLY_ALIKE = 0.5
#: Circumstances told in the line under the headline.
_TOLD = 4
_REASONS = {
    "shape": "taken for the same by their shape",
    "name": "taken for the same by their name",
    "work": "taken for the same by their work",
    "asked": "compared as asked",
}


def headline(found: GraphDiff) -> Component:
    """Return how the launch changed, as one line."""
    launch = found.launch
    if launch.before_ns is None or launch.after_ns is None:
        return html.P(no_launch(launch), className="gv-compare-headline", role="status")
    words = [
        "A launch took ",
        html.Strong(duration(launch.before_ns)),
        " and takes ",
        html.Strong(duration(launch.after_ns)),
        ": ",
        html.Strong(f"{sign(launch)}{change(launch)}".strip()),
        f"; {noise(launch)}.",
    ]
    return html.P(words, className="gv-compare-headline", title=", ".join(launch.methods))


def no_launch(launch: TimeChange) -> str:
    """Return on which side there is no time of a launch, and what to do."""
    missing = [
        side
        for side, ns in (("before", launch.before_ns), ("after", launch.after_ns))
        if ns is None
    ]
    if len(missing) == 2:
        return (
            "No launch was timed on either side: graphs are compared, times are not. Record both "
            "again with gviz run while the graph is launched."
        )
    return (
        f"No launch was timed {missing[0]}: graphs are compared, times are not. Record that side "
        "again with gviz run while the graph is launched."
    )


def change(time: TimeChange) -> str:
    """Return by how much something changed, and by what share."""
    if time.change_ns is None:
        return MISSING
    share = f" ({signed_percent(time.change_ns / time.before_ns)})" if time.before_ns else ""
    return signed_duration(time.change_ns) + share


def sign(time: TimeChange) -> str:
    """Return the arrow of a change by more than noise; "" of others."""
    if not time.significant or not time.change_ns:
        return ""
    return "▲ " if time.change_ns > 0 else "▼ "


def interval(time: TimeChange) -> str:
    """Return the 95% interval of a change."""
    if time.low_ns is None or time.high_ns is None:
        return MISSING
    return f"{signed_duration(time.low_ns)} to {signed_duration(time.high_ns)}"


def verdict(time: TimeChange) -> str:
    """Return whether a change is more than noise, in a word or two."""
    if time.change_ns is None:
        return "not timed in both"
    if time.untested:
        return "not tested"
    if not time.significant or not time.change_ns:
        return "within noise"
    return "slower" if time.change_ns > 0 else "faster"


def noise(time: TimeChange) -> str:
    """Return what is known of noise, as the end of a sentence."""
    if time.untested:
        return f"whether that is noise was not tested: {time.untested}"
    found = verdict(time)
    if time.significant:
        found = f"{found}, by more than noise"
    return f"{found} (95% interval {interval(time)})"


def totals(found: GraphDiff) -> Component:
    """Return the times of whole launches as a table."""
    each = (
        ("Launch on the GPU", found.launch),
        ("Launch call on the host", found.host),
        ("First to last node", found.first_to_last),
        ("Critical path", found.critical_path),
    )
    columns = [ColumnHead("Time"), number("Before"), number("After"), number("Change"),
               number("95% interval"), ColumnHead("Verdict"), ColumnHead("How")]  # fmt: skip
    rows: list[list[Content]] = []
    for name, time in each:
        if isinstance(time, NotComputed):
            rows.append([name, MISSING, MISSING, MISSING, MISSING, f"not computed: "
                         f"{time.not_computed}", ""])  # fmt: skip
            continue
        rows.append([
            name, duration(time.before_ns), duration(time.after_ns), change(time),
            interval(time), f"{sign(time)}{verdict(time)}", how("derived"),
        ])  # fmt: skip
    return table(columns, rows, "Times of whole launches before and after")


def pairing(found: GraphDiff) -> Component:
    """Return why two graphs are compared, with a warning where they hardly can be."""
    share = percent(round(found.likeness_fraction, 2))
    said = f"{sentence(_REASONS[found.how])}; {share} of their work in common."
    if found.likeness_fraction >= HARDLY_ALIKE:
        return html.P(said, className="gv-muted")
    warning = html.Span("hardly alike", className="gv-note gv-note-warning")
    return html.P([warning, f" {said} These are hardly two versions of one graph."])


def counts(found: Comparison) -> Component:
    """Return what came, went and changed, in numbers over all levels."""
    levels = found.graph.levels
    sums = {
        name: sum(len(getattr(level, name)) for level in levels)
        for name in ("removed", "added", "changed", "moved", "only_addresses",
                     "edges_removed", "edges_added")
    }  # fmt: skip
    lone = {"removed": found.graph.bodies_removed, "added": found.graph.bodies_added}
    alone = {name: sum(len(body.nodes) for body in bodies) for name, bodies in lone.items()}
    for name, count in alone.items():
        sums[name] += count
    before = sum(level.node_count_before for level in levels) + alone["removed"]
    after = sum(level.node_count_after for level in levels) + alone["added"]
    text = (
        f"{counted(before, 'node')} before, {counted(after, 'node')} after: {sums['removed']:,} "
        f"removed, {sums['added']:,} added, {sums['changed']:,} changed, {sums['moved']:,} moved "
        f"to another lane, {sums['only_addresses']:,} only at other addresses. "
    )
    if all(level.edges_known for level in levels):
        text += f"Edges: {sums['edges_removed']:,} removed, {sums['edges_added']:,} added."
    else:
        text += "Edges are not known on both sides."
    if any(lone.values()):
        told = (f"{counted(len(bodies), 'body', 'bodies')} {name}, {counted(alone[name], 'node')}"
                for name, bodies in lone.items() if bodies)  # fmt: skip
        text += f" Bodies that one side only has: {'; '.join(told)}."
    return html.P(text)


def other_circumstances(found: Comparison) -> Component | None:
    """Return in a line what differs besides the program; None: nothing known does."""
    if not found.run.circumstances:
        return None
    told = [
        f"{c.what} {c.before or '?'} → {c.after or '?'}" for c in found.run.circumstances[:_TOLD]
    ]
    more = len(found.run.circumstances) - len(told)
    words = "; ".join([*told, f"{more} more below"] if more else told)
    warning = html.Span("besides the program", className="gv-note gv-note-warning")
    return html.P([warning, f" {words}: it may explain a change."], className="gv-compare-besides")


def circumstances(found: Comparison) -> Component:
    """Return what differs besides the program."""
    if not found.run.circumstances:
        return html.P("Nothing known differs besides the program.", className="gv-muted")
    columns = [ColumnHead("Besides the program"), ColumnHead("Before"), ColumnHead("After")]
    rows = [[sentence(c.what), c.before or MISSING, c.after or MISSING]
            for c in found.run.circumstances]  # fmt: skip
    return table(columns, rows, "What differs besides the program")


def commit(run: RunRef) -> str:
    """Return the commit a run was made at; "" where it is not known."""
    if run.git_revision is None:
        return ""
    return f"commit {run.git_revision[:10]}" + (" with changes" if run.git_dirty else "")
