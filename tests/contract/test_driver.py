"""Behaviour of the driver and CUPTI without gviz: gviz is built on each of these facts.

The same class runs on the fake and on a real GPU, so the fake cannot drift.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from contract.backend import Backend
from contract.cases import GRAPH_SHAPES

from gviz.dag.contradicted import TOLERANCE_NS

KERNEL, MEMCPY, MEMSET = 10, 1, 2


def observed(backend: Backend, program: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run a program under the observer; return its facts and what was seen."""
    outcome = backend.run(program, "observer")
    assert outcome.returncode == 0, outcome.stderr
    return outcome.facts, outcome.seen()


def resources(seen: dict[str, Any], *names: str) -> list[dict[str, Any]]:
    """Return the resource callbacks of the given names."""
    return [e for e in seen["events"] if e.get("resource") in names]


def launches(seen: dict[str, Any]) -> list[int]:
    """Return the correlation ids of the graph launches, in order."""
    return [
        e["correlation_id"]
        for e in seen["events"]
        if e.get("call") == "cuGraphLaunch" and e["site"] == 0
    ]


def by_node(seen: dict[str, Any], correlation_id: int) -> dict[int, dict[str, Any]]:
    """Return the records of one launch by node id."""
    mine = [r for r in seen["records"] if r["correlation_id"] == correlation_id]
    return {r["node_id"]: r for r in mine}


class TestDriver:
    """Callbacks, ids and records of CUPTI 13.0."""

    def test_instantiation_shows_of_every_template_node_once(self, backend: Backend) -> None:
        _, seen = observed(backend, "repeated")
        (created,) = resources(seen, "GRAPHEXEC_CREATED")
        template = created["graph_id"]
        before = seen["events"].index(resources(seen, "GRAPHEXEC_CREATE_STARTING")[0])
        nodes = [
            e["node_id"]
            for e in seen["events"][:before]
            if e.get("resource") == "GRAPHNODE_CREATED" and e["node_id"] >> 32 == template
        ]
        assert nodes == [template << 32 | i for i in range(4)]

    def test_instantiation_clones_each_template_node(self, backend: Backend) -> None:
        _, seen = observed(backend, "repeated")
        (created,) = resources(seen, "GRAPHEXEC_CREATED")
        cloned = resources(seen, "GRAPHNODE_CLONED")
        assert [e["original_node_id"] for e in cloned] == [
            created["graph_id"] << 32 | i for i in range(4)
        ]
        assert [e["node_id"] & 0xFFFFFFFF for e in cloned] == [0, 1, 2, 3]

    def test_executable_created_names_template_and_executable(self, backend: Backend) -> None:
        _, seen = observed(backend, "repeated")
        (created,) = resources(seen, "GRAPHEXEC_CREATED")
        assert created["exec_id"] > created["graph_id"] > 0
        assert {r["exec_id"] for r in seen["records"]} == {created["exec_id"]}

    def test_dependencies_are_reported(self, backend: Backend) -> None:
        _, seen = observed(backend, "queued")
        (created,) = resources(seen, "GRAPHEXEC_CREATED")
        found = {
            (e["dependency_id"] & 0xFFFFFFFF, e["node_id"] & 0xFFFFFFFF)
            for e in resources(seen, "GRAPHNODE_DEPENDENCY_CREATED")
            if e["node_id"] >> 32 == created["graph_id"]
        }
        # Which end of the edge is called the node is not documented.
        assert {frozenset(pair) for pair in found} == {
            frozenset(edge) for edge in GRAPH_SHAPES["diamond"].edges
        }

    def test_each_launch_records_each_node_once(self, backend: Backend) -> None:
        facts, seen = observed(backend, "queued")
        count = Counter((r["correlation_id"], r["node_id"]) for r in seen["records"])
        calls = launches(seen)
        assert len(calls) == facts["launches"]
        assert count == {(c, n): 1 for c in calls for n in range(facts["nodes"])}

    def test_node_id_of_record_is_position_in_template(self, backend: Backend) -> None:
        _, seen = observed(backend, "shapes")
        assert seen["records"]
        for record in seen["records"]:
            assert record["grid"] == [record["node_id"] + 1, 1, 1]
            assert record["graph_id"] == record["exec_id"]

    def test_records_keep_dependencies_in_order(self, backend: Backend) -> None:
        _, seen = observed(backend, "queued")
        for correlation_id in launches(seen):
            mine = {
                r["node_id"]: r for r in seen["records"] if r["correlation_id"] == correlation_id
            }
            for start, end in GRAPH_SHAPES["diamond"].edges:
                assert mine[start]["end_ns"] <= mine[end]["start_ns"] + TOLERANCE_NS

    def test_launches_of_a_stream_do_not_overlap(self, backend: Backend) -> None:
        _, seen = observed(backend, "queued")
        bounds = []
        for correlation_id in launches(seen):
            mine = [r for r in seen["records"] if r["correlation_id"] == correlation_id]
            bounds.append((min(r["start_ns"] for r in mine), max(r["end_ns"] for r in mine)))
        assert all(first[1] <= second[0] + TOLERANCE_NS for first, second in pairwise(bounds))

    def test_times_are_on_the_clock_of_the_host(self, backend: Backend) -> None:
        facts, seen = observed(backend, "captured")
        for record in seen["records"]:
            assert facts["started_ns"] < record["start_ns"] <= record["end_ns"] < facts["ended_ns"]

    def test_chain_runs_on_the_launch_stream(self, backend: Backend) -> None:
        _, seen = observed(backend, "repeated")
        assert len({r["stream_id"] for r in seen["records"]}) == 1

    def test_branches_run_on_two_streams_and_overlap(self, backend: Backend) -> None:
        _, seen = observed(backend, "fork_join")
        for correlation_id in launches(seen):
            mine = {
                r["node_id"]: r for r in seen["records"] if r["correlation_id"] == correlation_id
            }
            assert mine[1]["stream_id"] != mine[2]["stream_id"]
            assert mine[1]["start_ns"] < mine[2]["end_ns"]
            assert mine[2]["start_ns"] < mine[1]["end_ns"]

    def test_eager_work_has_no_node(self, backend: Backend) -> None:
        facts, seen = observed(backend, "warm_up")
        eager = [r for r in seen["records"] if r["exec_id"] == 0]
        kinds = [r["kind"] for r in sorted(eager, key=lambda r: r["start_ns"])]
        assert kinds == [MEMSET, KERNEL, KERNEL, MEMCPY] * facts["iterations"]
        assert len({r["correlation_id"] for r in eager}) == len(eager)
        in_graph = [r for r in seen["records"] if r["exec_id"] != 0]
        assert len(in_graph) == 4 * facts["launches"]

    def test_child_graph_nodes_are_numbered_after_the_top_level(self, backend: Backend) -> None:
        facts, seen = observed(backend, "children")
        node_of = {r["grid"][0]: r["node_id"] for r in seen["records"]}
        # Top level 0-3, then the first child's three nodes, the child inside it, the sibling.
        assert node_of == {1: 0, 2: 3, 3: 4, 4: 6, 5: 7, 6: 8}
        assert len(seen["records"]) == len(facts["grids"]) * facts["launches"]
        assert {r["correlation_id"] for r in seen["records"]} == set(launches(seen))

    def test_conditional_body_records_carry_no_correlation(self, backend: Backend) -> None:
        facts, seen = observed(backend, "branches")
        found = Counter(
            (r["grid"][0], r["node_id"], r["correlation_id"] == 0) for r in seen["records"]
        )
        assert found == {(1, 0, False): facts["launches"], (12, 4, True): facts["launches"]}

    def test_launch_into_a_capture_is_refused_and_breaks_it(self, backend: Backend) -> None:
        facts, seen = observed(backend, "captured_launch")
        assert (facts["launch"], facts["end"]) == (900, 901)
        assert len(seen["records"]) == facts["launches"]

    def test_failed_captures_return_the_drivers_codes(self, backend: Backend) -> None:
        facts, _ = observed(backend, "failed_capture")
        assert facts["codes"] == {
            "legacy stream": 906,
            "end after that": 901,
            "allocate": 900,
            "end after that too": 901,
            "synchronize": 900,
            "end a third time": 901,
            "unjoined": 904,
            "end without begin": 401,
        }

    def test_refused_graphs_return_the_drivers_codes(self, backend: Backend) -> None:
        facts, _ = observed(backend, "refused")
        codes = facts["codes"]
        assert codes.pop("alloc twice") != 0
        assert codes == {
            "clone plain": 0,
            "clone alloc": 801,
            "clone conditional": 801,
            "event in body": 1,
            "alloc once": 0,
        }

    def test_update_of_another_topology_is_refused(self, backend: Backend) -> None:
        facts, seen = observed(backend, "updated")
        assert (facts["accepted"], facts["refused"]) == (0, 2)
        assert len(resources(seen, "GRAPH_NODE_SET_PARAMS")) == 2

    def test_late_subscription_gets_records_with_node_ids(self, backend: Backend) -> None:
        facts, seen = observed(backend, "late")
        assert len(seen["records"]) == facts["launches"] * facts["nodes"]
        assert {r["node_id"] for r in seen["records"]} == set(range(facts["nodes"]))


@pytest.mark.parametrize("program", ["captured", "warm_up", "failed_capture"])
def test_observing_changes_no_result(backend: Backend, program: str) -> None:
    plain = backend.run(program, "none").facts
    seen, _ = observed(backend, program)
    assert seen["result"] == plain["result"] == [0.0, 6.0, 12.0, 18.0]
