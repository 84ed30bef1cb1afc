"""Meanings of the columns that views of a data set compute, with how each comes about.

Other columns are as the tables have them.
"""

from __future__ import annotations

from collections.abc import Mapping

_GRAPH = {"graph": "name of the graph"}
_LAYER = {"layer": "name of its layer of the model; null: it is in none"}
_COLLECTIVE = _GRAPH | _LAYER | {"collective": "name of the collective's node"}

COMPUTED: Mapping[str, Mapping[str, str]] = {
    "slowest_ranks": _GRAPH
    | {
        "own_ns": "derived: sum of the medians of its nodes over launches (n: node_times.count)",
        "excess_ns": "derived: by how much layers take longer than on the middle of all ranks",
        "excess_fraction": "derived: that, as a share of what the middle rank takes",
        "deviations": "derived: excess_ns less the middle one, in standard deviations between "
        "ranks (1.4826 times the median absolute deviation)",
        "worst_layer": "name of the layer with most of the excess",
        "worst_layer_ns": "derived: the excess in it",
    },
    "executions": {
        "communicator": "estimated: ranks of one number leave it together; 0: there is one only"
    },
    "waits_for": _COLLECTIVE
    | {
        "last_count": "derived: executions in which it came last (n of the waits)",
        "execution_count": "measured: executions that several ranks recorded",
        "last_fraction": "derived: last_count over execution_count",
        "mean_wait_ns": "derived: mean over last_count executions of what the ranks took beyond "
        "the one that came last",
        "longest_wait_ns": "derived: the longest wait of a rank for it",
        "longest_waiting_rank": "the rank that waited so long",
        "rank_count": "measured: ranks of the communicator (n)",
    },
    "slow_links": _COLLECTIVE
    | {
        "rank_count": "measured: ranks of the communicator (n)",
        "first_rank": "the least number of a rank in it",
        "last_rank": "the greatest",
        "hosts": "machines of its ranks",
        "transfer_ns": "derived: median over executions of the shortest time of a rank",
        "usual_ns": "derived: median of that over communicators of as many ranks",
        "excess_fraction": "estimated: transfer_ns over usual_ns, less 1; that nobody is awaited "
        "in the shortest time is assumed",
    },
    "divergent_graphs": {
        "differs": "graphs: it launches others; order: the same in another order",
        "missing": "graphs of most ranks that it does not launch",
        "added": "graphs that it launches and most ranks do not",
    },
    "node_spread": _GRAPH
    | _LAYER
    | {
        "rank_count": "measured: ranks that timed it (n)",
        "low_ns": "derived: the least of the ranks' medians",
        "mean_ns": "derived: their mean",
        "high_ns": "derived: the greatest of them",
        "high_fraction": "derived: high_ns over mean_ns, less 1",
        "slowest_rank": "the rank with high_ns",
        "slowest_host": "its machine",
    },
    "build_changes": _GRAPH
    | _LAYER
    | {
        "before_build": "the build before, that has the graph",
        "rank_count": "measured: ranks of the build (n)",
        "before_rank_count": "measured: ranks of the build before (n)",
        "median_ns": "derived: median over the ranks of the layer's time",
        "before_ns": "derived: that of the build before",
        "change_fraction": "derived: median_ns over before_ns, less 1",
        "deviations": "derived: the change in standard errors of the difference of two medians",
    },
    "gpu_clocks": {
        "kind": "name of its GPUs",
        "usual_mhz": "derived: median of the clocks of ranks with GPUs of that name",
        "usual_celsius": "derived: median of their temperatures",
    },
}
