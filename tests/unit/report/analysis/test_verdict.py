"""The verdict on a graph: three sentences, whatever the recording has, and one on its data."""

from __future__ import annotations

from dataclasses import replace
from math import nan
from pathlib import Path

import pytest
from valued_recordings import Ran, write_values

from gviz.analysis import AlternateGain, Gain, GraphAnalysis, analyze
from gviz.assets import recordings as bundled
from gviz.recording.reader import Recording
from gviz.report.analysis.headline import headline_of
from gviz.report.analysis.verdict import NO_FINDING, verdict_of
from gviz.report.document import marked, plain
from gviz.stats import CuptiState, Evidence, Interval, NotComputed

ASSETS = Path(next(iter(bundled.__path__)))


@pytest.fixture(scope="module")
def decode() -> GraphAnalysis:
    with Recording(ASSETS / "decode_step.gviz") as recording:
        return analyze(recording).runs[0].graphs[0]


def sentences(graph: GraphAnalysis) -> list[str]:
    return [plain(marked(sentence.content)) for sentence in verdict_of(graph).sentences]


def test_graph_is_held_against_eager_then_its_time_then_the_best_finding(
    decode: GraphAnalysis,
) -> None:
    eager, time, finding = sentences(decode)
    assert eager.startswith(
        "The graph saves at most 7.62 ms per launch (at most 6.53× faster than eager"
    )
    assert (
        "2 eager iterations, both sides recorded, 95% interval 5.80 ms to 9.44 ms, 3.64 ms wide"
    ) in eager
    assert time.startswith(
        "A launch takes 1.15 ms (CUPTI attached, median of 11, 1.11 ms to 1.33 ms) [measured]; "
        "1.08 ms from its first node to its last (recorded, median of 24, ±1.10 µs), of which "
        "158 µs (14.7%) are gaps on its critical path; most node time: GEMM f16/f32 64x8 "
        "(128 nodes, 59.8%)"
    )
    assert finding == (
        "Best finding: at most 326 µs per launch (30.3%) [estimated]: 125 kernels have fewer "
        "blocks than half of the 132 multiprocessors."
    )


@pytest.mark.parametrize(
    ("mean", "interval", "start"),
    [
        (-2_000.0, Interval(-3_000.0, -1_000.0), "The graph costs at least 2.00 µs per launch ("),
        (
            2_000.0,
            Interval(-1_000.0, 5_000.0),
            "The graph saves at most 2.00 µs per launch, which is noise",
        ),
        (2_000.0, Interval(None, None), "The graph saves at most 2.00 µs per launch ("),
    ],
)
def test_saving_that_is_none_is_not_called_one(
    decode: GraphAnalysis, mean: float, interval: Interval, start: str
) -> None:
    compared = decode.stream_comparison
    assert not isinstance(compared, NotComputed)
    saved = replace(compared.saved, mean_ns=mean, interval=interval)
    graph = replace(decode, stream_comparison=replace(compared, saved=saved))
    assert sentences(graph)[0].startswith(start)


def test_gain_without_node_times_is_said_first_where_it_was_measured(
    decode: GraphAnalysis,
) -> None:
    compared = decode.stream_comparison
    assert not isinstance(compared, NotComputed)
    gain = Gain(5_760_000.0, Interval(5_700_000.0, 5_820_000.0))
    alternate = AlternateGain(
        graph_ns=830_000.0,
        eager_ns=6_590_000.0,
        saved=gain,
        saved_width_ns=gain.width_ns,
        graph_host_ns=10_000.0,
        eager_host_ns=6_500_000.0,
        host_saved=gain,
        host_saved_width_ns=gain.width_ns,
        evidence=Evidence("measured", 20, state=CuptiState.PLAIN),
    )
    graph = replace(decode, stream_comparison=replace(compared, alternate=alternate))
    assert sentences(graph)[0] == (
        "The graph saves 5.76 ms per launch (7.94× faster than eager; 20 launches and eager "
        "iterations timed alternately in one process, plain, 95% interval 5.70 ms to 5.82 ms, "
        "120 µs wide) [derived]."
    )


def test_what_was_not_computed_says_why(decode: GraphAnalysis) -> None:
    none = NotComputed("nothing was recorded")
    advice = replace(decode.findings, findings=())
    bare = replace(decode, stream_comparison=none, ledger=none, findings=advice, launch=none)
    eager, time, finding = sentences(bare)
    assert eager == "Not compared with eager: nothing was recorded."
    assert time.startswith("Most node time of a launch: GEMM f16/f32 64x8 (")
    assert finding == NO_FINDING
    unknown = sentences(replace(bare, dominance=none))[1]
    assert unknown == "Where the time of a launch goes: not computed: nothing was recorded."


def of_values(path: Path, last: Ran) -> GraphAnalysis:
    ran = (Ran("f", "CAB"), Ran("g", "DCA"), last)
    with Recording(write_values(path, ran)) as recording:
        return analyze(recording).runs[0].graphs[0]


def test_first_node_with_nan_stands_in_verdict_and_headline(tmp_path: Path) -> None:
    graph = of_values(tmp_path / "x.gviz", Ran("h", "EDD", (1.0, nan, 2.0, nan), varies=True))
    said = (
        "Its data: node 2 (h) outputs 2 NaN of 4 elements (argument 0), and all that it is given "
        "is free of them (1 more in 'gviz values')."
    )
    assert sentences(graph)[3:] == [said]
    headline = headline_of(graph, NotComputed("no breakdown"))
    assert headline.text.endswith(f" {said}")
    assert headline.parts[-1].places == (2, 2)


def test_verdict_on_sound_data_says_nothing_of_it(tmp_path: Path) -> None:
    assert len(sentences(of_values(tmp_path / "x.gviz", Ran("h", "EDD")))) == 3
