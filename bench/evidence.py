"""Evidence of every bundled and golden recording: contradictions, coverage, refused results.

One line a graph. "Launch" is the state that its time is of and of how many launches, "contradicted"
the contradictions in all of its node-timed launches and the worst of them, "covered" the share of
the nodes with times in the launch that has fewest. Refused are results that would be wrong, because
times contradict each other; missing are those whose records the recording does not have. At the end
times of one recording are exchanged between nodes of one name: what a match without regard to
dependencies gives must be refused.

Run: python -P bench/evidence.py
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from contradicted_recordings import exchange_times
from golden_recordings import bundled_recordings, golden_recordings

from gviz.analysis import NODE_RULES, GraphAnalysis, GraphSubject, analyze
from gviz.recording import Recording
from gviz.stats import Evidence, NotComputed

#: Results of a graph that need not be there.
PARTS = ("launch", "critical_path", "ledger", "dominance", "parallelism", "stream_comparison",
         "break_even", "expected_cost", "findings")  # fmt: skip


@dataclass(frozen=True, slots=True)
class GraphEvidence:
    """A line of the table.

    Attributes
    ----------
    launch
        State and number of the launches that the time of a launch is of; empty: none was timed.
    contradictions, worst_ns, coverage_fraction
        Of the launches with node times.
    refused, missing
        Results that are not computed.
    """

    recording: str
    graph_id: int
    launch: str
    contradictions: int
    worst_ns: float
    coverage_fraction: float
    refused: tuple[str, ...]
    missing: tuple[str, ...]


def evidence_of(name: str, path: Path) -> Iterator[GraphEvidence]:
    """Yield the evidence of each graph of a recording."""
    with Recording(path) as recording:
        for run in analyze(recording).runs:
            for graph in run.graphs:
                subject = GraphSubject(recording, recording.fetch_graph(graph.graph_id), ())
                yield _line(name, graph, subject.why_contradicted)


def _line(name: str, graph: GraphAnalysis, why_contradicted: str | None) -> GraphEvidence:
    reasons = {part: why for part in PARTS if (why := _why_not(graph, part))}
    refused = [part for part, why in reasons.items() if why == why_contradicted]
    spans, launch = graph.findings.evidence, graph.launch
    return GraphEvidence(
        recording=name,
        graph_id=graph.graph_id,
        launch="" if isinstance(launch, NotComputed) else _state(launch.evidence),
        contradictions=spans.contradiction_count,
        worst_ns=spans.worst_contradiction_ns,
        coverage_fraction=spans.coverage_fraction,
        refused=tuple(refused),
        missing=tuple(part for part in reasons if part not in refused),
    )


def _why_not(graph: GraphAnalysis, part: str) -> str:
    """Return why a result is not there; empty: it is."""
    found = getattr(graph, part)
    if part == "findings":
        checked = [why.partition(": ") for why in found.not_checked]
        return next((why for what, _, why in checked if what == NODE_RULES), "")
    return found.not_computed if isinstance(found, NotComputed) else ""


def _state(evidence: Evidence) -> str:
    return f"{evidence.state}, {evidence.n}"


def main() -> None:
    """Print a table and a JSON line."""
    print(f"{'recording':38}{'graph':>6}  {'launch':14}{'contradicted':>13}{'worst us':>10}"
          f"{'covered':>9}  refused; missing")  # fmt: skip
    lines: list[GraphEvidence] = []
    with tempfile.TemporaryDirectory() as folder:
        recordings = [*bundled_recordings(), *golden_recordings(Path(folder))]
        source = dict(recordings)["bundled/decode_step"]
        planted = exchange_times(source, Path(folder) / "exchanged.gviz")
        for name, path in [*recordings, ("times exchanged in decode_step", planted)]:
            for line in evidence_of(name, path):
                lines.append(line)
                print(f"{line.recording:38}{line.graph_id:>6}  {line.launch:14}"
                      f"{line.contradictions:>13,}{line.worst_ns / 1e3:>10.1f}"
                      f"{line.coverage_fraction:>9.1%}  {', '.join(line.refused) or 'nothing'}; "
                      f"{', '.join(line.missing) or 'nothing'}")  # fmt: skip
    print(json.dumps({"bench": "evidence", "graphs": [asdict(line) for line in lines]}))


if __name__ == "__main__":
    main()
