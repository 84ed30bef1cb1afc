"""The inspector against a baseline: of a node, of several, of the whole graph."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from dash import dcc
from dash.development.base_component import Component

from gviz.app.components import Addresses, Baseline, facts
from gviz.app.components import elements as html
from gviz.app.inspector.node_facts import Fact
from gviz.app.inspector.picks import LISTED, pick_buttons, section
from gviz.app.views import GraphView, TreeComparison, Verdict, node_times, node_verdicts
from gviz.comparison import Difference, GraphComparison
from gviz.families import kernel_label
from gviz.model import LaunchTimes
from gviz.stats import FALSE_DISCOVERIES, shift_interval
from gviz.text import (
    counted,
    duration,
    integer,
    percent,
    rounded,
    signed_duration,
    signed_percent,
)

#: Where a smaller share of the nodes is the same, graphs are hardly two versions of one.
HARDLY_ALIKE = 0.5
_WIDE = "gv-facts gv-facts-wide"
#: Nodes listed that changed most.
_MOST = 8
_SENTENCES: dict[Verdict, str] = {
    "added": "no counterpart: added",
    "untimed": "not timed in both",
    "untested": "not tested",
    "noise": "within noise",
    "slower": "slower, by more than noise",
    "faster": "faster, by more than noise",
    "uncompared": "not compared",
    "removed": "no counterpart: removed",
}


class Against:
    """A graph level beside its baseline, for the inspector.

    Parameters
    ----------
    view
        The level shown.
    compared
        What became of the baseline in it.
    addresses
        Builds links to it.
    """

    def __init__(self, view: GraphView, compared: TreeComparison, addresses: Addresses) -> None:
        self._view, self._compared, self._addresses = view, compared, addresses
        self._baseline = compared.baseline
        self._found = compared.top
        self._before, self._change = node_times(self._found)
        self._verdicts = node_verdicts(self._found)
        #: Of the level shown: node ids are its nodes' numbers on the page.
        self._ids: list[int] = self._found.second.node_id.tolist()

    def counterpart(self, at: int) -> Baseline | None:
        """Return the baseline of a level of the tree; None: it is not compared."""
        return self._compared.counterpart(at)

    @property
    def _title(self) -> str:
        return f"Against {self._baseline.file}"

    # -- one node ----------------------------------------------------------------------

    def node(self, index: int) -> Component | None:
        """Return what became of a node of the tree."""
        tree = self._compared.tree
        at = int(tree.level[index])
        there, found = self._compared.counterpart(at), self._compared.level(at)
        if there is None or found is None:
            text = (
                "Not compared: the body it is in has no counterpart, or is too large for it here."
            )
            return section(self._title, html.P(text))
        node = index - tree.levels[at].first
        place = np.flatnonzero(found.pairs[:, 1] == node)
        if not len(place):
            text = "No counterpart: this node is not in the baseline."
            return section(self._title, html.P(text))
        pair = int(place[0])
        other = int(found.first.node_id[found.pairs[pair, 0]])
        href = self._addresses.graph(there.file, there.graph_id, [other])
        link = dcc.Link(f"node {other} of {there.file}", href=href)
        return section(
            self._title,
            html.Div(
                [
                    facts(_time_facts(found, pair, bool(tree.bodies(index))), className=_WIDE),
                    difference_table(found.differences[pair]),
                    *(html.P(text, className="gv-muted") for text in pair_remarks(found, pair)),
                    html.P(["Counterpart: ", link]),
                ]
            ),
        )

    # -- several, and all --------------------------------------------------------------

    def sums(self, nodes: Sequence[int]) -> list[Fact]:
        """Return what became of several nodes of the tree together, those in bodies left out."""
        end = self._compared.tree.levels[0].end
        known = [i for i in nodes if i < end and not np.isnan(self._change[i])]
        if not known:
            return []
        before, change = float(self._before[known].sum()), float(self._change[known].sum())
        text = signed_duration(change) + (f", {_relative(change, before)}" if before else "")
        method = f"Derived: medians of {counted(len(known), 'node')} of this level, timed in both"
        return [(self._title, text, method)]

    def graph(self) -> Component:
        """Return what became of the graph."""
        found = self._found
        slower, faster = (self._most(verdict) for verdict in ("slower", "faster"))
        added = [self._ids[i] for i in found.added.tolist()]
        return html.Div(
            [
                section(
                    self._title,
                    html.Div([*self._warnings(), facts(self._graph_facts(), className=_WIDE)]),
                ),
                self._listed("Slower by more than noise", slower),
                self._listed("Faster by more than noise", faster),
                section(f"Added ({len(added)})", pick_buttons(self._compared.tree, added))
                if added
                else None,
                section(f"Gone ({len(found.removed)})", self._gone())
                if len(found.removed)
                else None,
            ]
        )

    def _warnings(self) -> list[Component]:
        found = []
        share = self._found.common_fraction
        if share < HARDLY_ALIKE:
            text = f"Only {percent(share)} of the nodes run the same work: other graphs, perhaps."
            found.append(html.P(text, className="gv-warning"))
        if self._found.times.untested:
            text = f"Changes were not tested: {self._found.times.untested}."
            found.append(html.P(text, className="gv-muted"))
        return found

    def _graph_facts(self) -> list[Fact]:
        found = self._found
        known = ~np.isnan(self._change)
        before, after = self._before[known].sum(), (self._before + self._change)[known].sum()
        counts = {verdict: self._verdicts.count(verdict) for verdict in _SENTENCES}
        edges = found.edges
        return [
            *_launch_fact(self._compared.launch_times, self._view.launch_times),
            *_sum_fact(float(before), float(after), int(known.sum())),
            *(
                (name, integer(count), method)
                for name, count, method in (
                    ("Slower", counts["slower"], "By more than noise"),
                    ("Faster", counts["faster"], "By more than noise"),
                    ("Within noise", counts["noise"], "Not distinguishable from no change"),
                    ("Added", counts["added"], "Not in the baseline"),
                    ("Gone", len(found.removed), "Only in the baseline"),
                    ("Changed", int(found.changed.sum()), "Kernel, launch shape, values, sizes"),
                    ("Only addresses", int(found.only_addresses.sum()), "Or padding"),
                    ("Other lane", int(found.moved.sum()), "Behind other nodes, or beside them"),
                    ("Edges added", len(edges.added), "Also those of added nodes"),
                    ("Edges gone", len(edges.removed), "Also those of gone nodes"),
                )
                if count
            ),
        ]

    def _most(self, verdict: Verdict) -> list[int]:
        nodes = [i for i, v in enumerate(self._verdicts) if v == verdict]
        return sorted(nodes, key=lambda i: -abs(float(self._change[i])))

    def _listed(self, title: str, nodes: list[int]) -> Component | None:
        if not nodes:
            return None
        ids = [self._ids[i] for i in nodes[:_MOST]]
        values = {self._ids[i]: signed_duration(float(self._change[i])) for i in nodes[:_MOST]}
        buttons = pick_buttons(self._compared.tree, ids, values)
        return section(f"{title} ({len(nodes)})", buttons)

    def _gone(self) -> Component:
        """Return the nodes of the baseline without a counterpart, by name, as links to them."""
        names: dict[str, list[int]] = defaultdict(list)
        for i in self._found.removed.tolist():
            names[self._found.first.title[i]].append(int(self._found.first.node_id[i]))
        base = self._baseline
        lines = [
            html.Li(
                [
                    dcc.Link(
                        kernel_label(name),
                        href=self._addresses.graph(base.file, base.graph_id, ids[:100]),
                        className="gv-ellipsis",
                        title=f"Show them in {base.file}: {name}",
                    ),
                    html.Span(f" × {len(ids)}" if len(ids) > 1 else ""),
                ]
            )
            for name, ids in sorted(names.items(), key=lambda item: -len(item[1]))[:LISTED]
        ]
        more = len(names) - len(lines)
        if more > 0:
            lines.append(html.Li(f"and {counted(more, 'more name')}", className="gv-muted"))
        return html.Ul(lines, className="gv-gone")


def _time_facts(found: GraphComparison, pair: int, holds_bodies: bool) -> list[Fact]:
    """Return both times of partners, the change, and whether it is more than noise."""
    before, change = float(found.times.before_ns[pair]), float(found.times.change_ns[pair])
    verdict = node_verdicts(found)[int(found.pairs[pair, 1])]
    what = "Mean of a launch inside it" if holds_bodies else "Median"
    facts: list[Fact] = []
    if not np.isnan(before):
        launches = counted(found.times.launches_before, "launch", "launches")
        facts.append(("Baseline", duration(before), f"{what}, over {launches} there"))
    if not np.isnan(change):
        relative = f", {_relative(change, before)}" if before else ""
        method = f"Derived: {what.lower()} here less that there"
        facts.append(("Change", f"{signed_duration(change)}{relative}", method))
    facts.append(("Verdict", _SENTENCES[verdict], _method(found, pair)))
    if verdict in ("slower", "faster"):
        low, high = (signed_duration(ns) for ns in _interval(found, pair))
        method = "95% interval of the change, by rank over launches (Hodges and Lehmann)"
        facts.append(("95% interval", f"{low} to {high}", method))
    return facts


def _method(found: GraphComparison, pair: int) -> str:
    times = found.times
    if times.untested:
        return f"Not tested: {times.untested}"
    if np.isnan(times.rate[pair]):
        return "Not tested: too few launches have a time of it"
    return (
        "By rank over launches (Mann and Whitney), against a change of 32 ns or 1%; adjusted "
        f"for the number of nodes: {rounded(float(times.rate[pair]))}. Called changed up "
        f"to {FALSE_DISCOVERIES}: of those about {percent(FALSE_DISCOVERIES)} did not"
    )


def _interval(found: GraphComparison, pair: int) -> tuple[float, float]:
    one, two = found.pairs[pair].tolist()
    before, after = found.before.launches[:, one], found.after.launches[:, two]
    return shift_interval(before[~np.isnan(before)], after[~np.isnan(after)])


def pair_remarks(found: GraphComparison, pair: int) -> list[str]:
    """Return what is to be known of partners besides values, in sentences."""
    kinds = [d.kind for d in found.differences[pair]]
    texts = []
    if found.moved[pair]:
        texts.append("Moved to another lane: it runs behind other nodes now, or beside them.")
    if "address" in kinds:
        texts.append(f"{counted(kinds.count('address'), 'address', 'addresses')} differ.")
    if "unknown" in kinds:
        count = counted(kinds.count("unknown"), "argument")
        texts.append(f"In {count} bytes differ that may be padding.")
    return texts


def _launch_fact(before: LaunchTimes, after: LaunchTimes) -> list[Fact]:
    if before.median_ns is None or after.median_ns is None:
        return []
    text = _change_text(before.median_ns, after.median_ns)
    method = f"Medians of {integer(before.count)} and {integer(after.count)} launches; "
    same = before.method == after.method
    return [
        (
            "Launch GPU time",
            text,
            method + (before.method if same else f"there {before.method}, here {after.method}"),
        )
    ]


def _change_text(before: float, after: float) -> str:
    """Return two times and the change in percent."""
    times = " → ".join(_unbroken(duration(ns)) for ns in (before, after))
    return f"{times}, {_relative(after - before, before)}" if before else times


def _relative(change: float, before: float) -> str:
    return _unbroken(signed_percent(change / before))


def _unbroken(text: str) -> str:
    """Return a number whose unit stays on its line."""
    return text.replace(" ", "\u00a0")


def _sum_fact(before: float, after: float, count: int) -> list[Fact]:
    if not count:
        return []
    method = f"Derived: sum of medians of {counted(count, 'node')} timed in both"
    return [("Nodes of both", _change_text(before, after), method)]


def difference_table(differences: Sequence[Difference]) -> Component | None:
    """Return the values that differ between partners; None: none does."""
    values = [d for d in differences if d.kind == "value"]
    if not values:
        return None
    head = html.Tr([html.Th("Changed"), html.Th("Before"), html.Th("Now")])
    lines = [
        html.Tr(
            [
                html.Td(d.what),
                html.Td(d.before, className="gv-mono gv-break"),
                html.Td(d.after, className="gv-mono gv-break"),
            ]
        )
        for d in values
    ]
    return html.Table([html.Thead(head), html.Tbody(lines)], className="gv-table gv-table-tight")
