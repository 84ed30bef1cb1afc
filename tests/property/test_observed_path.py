"""The observed critical path, its ledger and the model: what they promise for any launch."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest
from executed_graphs import Played, played_launches
from hypothesis import given, settings
from hypothesis import strategies as st

from gviz.analysis.launch.constraints import LaunchChange, launch_model
from gviz.analysis.launch.holds import CLOCK_SKEW_NS, HeldLaunch, Hold
from gviz.analysis.launch.ledger import gap_ledger, path_steps
from gviz.analysis.launch.observed import observed_path
from gviz.analysis.launch.side_by_side import Setting, SharedLaunch
from gviz.dag.critical_path import structural_path
from gviz.stats.idle import union

# Many made-up cases: these eight files would be a sixth of what the quick tests take.
pytestmark = pytest.mark.thorough


def direct_holds(played: Played, node: int) -> list[tuple[int, int, Hold]]:
    """Return (until, vertex, kind) of all that holds a node: by recursion, from the definition."""
    held = played.held
    start, end = held.start_ns.tolist(), held.end_ns.tolist()
    edges = list(
        zip(
            played.graph.edges.source.tolist(),
            played.graph.edges.target.tolist(),
            played.graph.edges.type.tolist(),
            strict=True,
        )
    )

    def timed_before(at: int) -> set[int]:
        found: set[int] = set()
        for a, b, _ in edges:
            if b == at:
                found |= {a} if held.timed[a] else timed_before(a)
        return found

    found = []
    for a, b, kind in edges:
        if b == node and held.timed[a]:
            until = max(start[a], min(end[a], start[node])) if kind else end[a]
            found.append((until, a, Hold.DEPENDENCY))
        elif b == node:
            found += [(end[x], x, Hold.DEPENDENCY) for x in timed_before(a)]
    queue = held.queue.tolist()
    behind = [
        (start[x], end[x], x)
        for x in range(len(start))
        if held.timed[x] and x != node and queue[x] == queue[node]
        and (start[x], end[x], x) < (start[node], end[node], node)
    ]  # fmt: skip
    if behind:
        _, until, x = max(behind)
        if until <= start[node] + CLOCK_SKEW_NS:
            found.append((until, x, Hold.QUEUE))
    return found


def every_step_leads_to_what_ended_last(played: Played) -> None:
    held = played.held
    path = observed_path(held).tolist()
    if not len(played.spans):
        assert path == []
        return
    assert held.end_ns[path[-1]] == held.end_ns[held.timed].max()
    for before, at in zip([None, *path], path, strict=False):
        holds = direct_holds(played, at)
        if before is None:
            assert holds == [] or any(x in path for _, x, _ in holds)
        else:
            until = max(h[0] for h in holds)
            kinds = {kind for end, x, kind in holds if end == until and x == before}
            assert held.held_by[at] in kinds
            assert until + held.gap_ns[at] == held.start_ns[at]


def ledger_adds_up_to_the_nanosecond(played: Played) -> None:
    held = played.held
    steps = path_steps(held, observed_path(held))
    ledger = gap_ledger(held, steps)
    parts = (
        ledger.node_ns,
        ledger.dependency_gap_ns,
        ledger.queue_wait_ns,
        ledger.late_start_ns,
    )
    assert sum(map(Fraction, parts)) == Fraction(ledger.total_ns)
    assert ledger.total_ns == played.spans.length_ns
    assert min(parts) >= 0
    gaps = sum(parts[1:])
    assert 0 <= ledger.busy_gap_ns <= gaps
    assert ledger.untimed_gap_ns <= ledger.dependency_gap_ns
    assert ledger.crossing_gap_ns <= ledger.dependency_gap_ns
    nodes = (held.end_ns - held.start_ns)[steps.vertex].sum()
    assert ledger.node_ns + ledger.hidden_ns == nodes


def gaps_in_which_nothing_ran_are_idle_time(played: Played) -> None:
    held = played.held
    ledger = gap_ledger(held, path_steps(held, observed_path(held)), returned_ns=10**9)
    busy = union(played.spans.start_ns, played.spans.end_ns).total_ns
    gaps = ledger.dependency_gap_ns + ledger.queue_wait_ns + ledger.late_start_ns
    assert gaps - ledger.busy_gap_ns == ledger.total_ns - busy
    # The call had not returned in the whole launch: all idle time is time of submitting.
    assert ledger.submitting_gap_ns == gaps - ledger.busy_gap_ns


def model_gives_the_times_it_was_made_of(played: Played) -> None:
    held = played.held
    model = launch_model(held)
    path = model.critical_path()
    assert path.length_ns == model.length_ns() == held.length_ns
    start = path.start_ns + model.gap_ns
    assert start[held.timed].tolist() == held.start_ns[held.timed].tolist()


def slack_is_zero_on_the_path_and_what_a_node_may_take_longer(played: Played) -> None:
    held = played.held
    model = launch_model(held)
    slack = model.critical_path().slack_ns
    assert (slack >= 0).all()
    assert slack[observed_path(held)].tolist() == [0.0] * len(observed_path(held))
    through = set(model.tail[model.lag_ns < 0].tolist())
    for vertex in np.flatnonzero(held.timed).tolist():
        longer = model.duration_ns.copy()
        longer[vertex] += slack[vertex]
        assert model.length_ns(LaunchChange(duration_ns=longer)) == held.length_ns
        longer[vertex] += 1
        # An end that reaches past its dependent's start may not be what the slack ends at.
        if vertex not in through:
            assert model.length_ns(LaunchChange(duration_ns=longer)) == held.length_ns + 1


def launch_without_a_vertex_is_as_long_as_with_its_duration_zero(played: Played) -> None:
    model = launch_model(played.held)
    vertices = np.arange(len(model.row))
    durations = np.where(np.eye(len(vertices), dtype=bool), 0.0, model.duration_ns)
    expected = [model.length_ns(LaunchChange(duration_ns=duration)) for duration in durations]
    assert model.lengths_without(model.critical_path(), vertices).tolist() == expected


def dropped_constraints_hold_no_longer(played: Played, random: Random) -> None:
    model = launch_model(played.held)
    for among in (model.is_queue, ~model.is_queue, np.ones(len(model.head), bool)):
        dropped = among & np.array([random.random() < 0.5 for _ in among], bool)
        start = [0.0] * len(model.row)
        for at in np.flatnonzero(~dropped).tolist():
            a, b = int(model.tail[at]), int(model.head[at])
            ends = start[a] + model.gap_ns[a] + model.duration_ns[a] + model.lag_ns[at]
            start[b] = max(start[b], float(ends))
        ends = np.array(start) + model.gap_ns + model.duration_ns
        assert model.length_ns(LaunchChange(dropped=dropped)) == ends.max(initial=0.0)


def launch_of_nodes_that_share_is_as_long_as_it_was(played: Played) -> None:
    model = launch_model(played.held)
    filled = np.random.default_rng(len(model.row)).random(len(model.row))
    # Clock readings of two queues differ: a node may start before what it waits for has begun.
    skew = float(-np.minimum(model.gap_ns, 0.0).sum())
    for memory_share in (0.0, 0.4, 1.0):
        shared = SharedLaunch(model, filled, Setting(memory_share, 1.0))
        assert shared.whole_ns == pytest.approx(played.held.length_ns, abs=1e-3 + 10 * skew)


@settings(deadline=None)
@given(played_launches(skew=False))
def test_structural_path_is_no_longer_than_the_launch(played: Played) -> None:
    held = played.held
    assert structural(held) <= held.length_ns


def clock_skew_is_all_that_can_make_the_structural_path_longer(played: Played) -> None:
    held = played.held
    assert structural(held) <= held.length_ns + 100 * len(played.graph.edges.source)


def structural(held: HeldLaunch) -> float:
    unrolled = held.unrolled
    kinds = unrolled.programmatic.astype(np.int64)
    return structural_path(
        len(unrolled), unrolled.tail, unrolled.head, kinds, held.duration_ns
    ).length_ns


#: What each launch is held to; a launch takes longer to make than to look at.
PROMISES = (
    every_step_leads_to_what_ended_last,
    ledger_adds_up_to_the_nanosecond,
    gaps_in_which_nothing_ran_are_idle_time,
    model_gives_the_times_it_was_made_of,
    slack_is_zero_on_the_path_and_what_a_node_may_take_longer,
    launch_without_a_vertex_is_as_long_as_with_its_duration_zero,
    launch_of_nodes_that_share_is_as_long_as_it_was,
    clock_skew_is_all_that_can_make_the_structural_path_longer,
)


@settings(deadline=None)
@given(played_launches(), st.randoms(use_true_random=False))
def test_path_ledger_and_model_hold_what_they_promise(played: Played, random: Random) -> None:
    for promise in PROMISES:
        promise(played)
    dropped_constraints_hold_no_longer(played, random)
