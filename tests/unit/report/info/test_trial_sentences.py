"""Sentences on what was tried of a graph."""

from __future__ import annotations

from dataclasses import replace

from gviz.model.trials import TrialSummary
from gviz.recording.rows.trials import GraphTrial
from gviz.report.document import Document, Section
from gviz.report.info.trial_sentences import trial_sentences
from gviz.report.renderers.text_form import render_text


def made(kind: str, gain_ns: float, *, results: str = "equal") -> GraphTrial:
    return GraphTrial(
        trial_id=1, run_id=1, graph_id=1, graph_exec_id=1, kind=kind, count=40,
        unedited_ns=400_000.0, edited_ns=400_000.0 - gain_ns, gain_ns=gain_ns,
        low_ns=gain_ns - 3_000, high_ns=gain_ns + 2_000, results=results,
    )  # fmt: skip


def refused(why: str) -> GraphTrial:
    return GraphTrial(trial_id=2, run_id=1, graph_id=1, graph_exec_id=1, kind="any", refusal=why)


def stated(*trials: TrialSummary) -> str:
    section = Section("graph", "Graph", tuple(trial_sentences(trials)))
    text = render_text(Document("x", (), (section,)), 1000)
    return text.partition("Graph")[2].strip()


def plain(trial: GraphTrial, edits: int = 0) -> TrialSummary:
    return TrialSummary(trial, edits, None, None, None)


def test_graph_without_trials_has_no_sentence() -> None:
    assert stated() == ""


def test_measured_gain_has_interval_and_results() -> None:
    text = stated(plain(made("control", 300.0)), plain(made("implied", 41_000.0), 48))
    assert text == (
        "Tried without 48 dependencies that others imply: measured −41.0 µs (−43.0 to −38.0 µs) "
        "per launch, results equal."
    )


def test_results_of_a_graph_that_does_not_repeat_itself_are_not_compared() -> None:
    text = stated(plain(made("implied", 10.0, results="not tested"), 1))
    assert "without 1 dependency" in text
    assert "results not compared, for the graph does not repeat its own" in text


def test_kernels_have_their_labels() -> None:
    name = "vectorized_elementwise_kernel<CUDAFunctor_add<Half>>"
    kinds = {"delay": "A saving in add f16 (3 nodes)", "off": "Without add f16 (3 nodes)",
             "layer": "A saving in the layer that begins with add f16 (3 nodes)"}  # fmt: skip
    for kind, said in kinds.items():
        slope = None if kind == "off" else 0.1
        assert said in stated(TrialSummary(made(kind, -2_000.0), 3, name, 20_000, slope))


def test_delays_say_what_a_saving_brings_most_telling_first() -> None:
    small = TrialSummary(made("delay", -2_000.0), 3, "norm", 20_000, 0.1)
    large = TrialSummary(made("delay", -16_600.0), 80, "gemm", 20_000, 0.83)
    text = stated(small, large)
    assert "A saving in gemm (80 nodes) brings 83.0% of itself: delays of 20.0 µs" in text
    assert "made the launch longer by 16.6 µs" in text
    assert text.index("gemm") < text.index("norm")


def test_kernels_left_out_are_named_with_what_a_launch_saves() -> None:
    off = TrialSummary(made("off", 16_000.0, results="not tested"), 80, "gemm", None, None)
    half = TrialSummary(made("half", 9_000.0, results="not tested"), 80, "gemm", None, None)
    text = stated(half, off)
    assert (
        "Without gemm (80 nodes): measured −16.0 µs (−18.0 to −13.0 µs) per launch, tried" in text
    )
    assert "With pauses of half the time that gemm (80 nodes) saved: measured −9.00 µs" in text
    assert text.index("Without") < text.index("With pauses")
    assert "results" not in text


def test_copies_that_differ_from_each_other_or_the_executable_are_named() -> None:
    quiet = stated(plain(made("control", 3_000.0)), plain(made("executable", 12_000.0)))
    assert quiet == ""
    text = stated(plain(made("control", -9_000.0)), plain(made("executable", -40_000.0)))
    assert "Two copies that are equal take times 2.3% apart [derived]: gains below that" in text
    assert "A copy takes 10.0% longer or shorter than the executable" in text


def test_refusals_are_given_once_with_what_was_tried_before() -> None:
    why = "it holds a collective"
    assert stated(plain(refused(why)), plain(refused(why))) == f"Not tried: {why}."
    text = stated(plain(made("control", 0.0)), plain(refused("its budget was spent")))
    assert text == "Not tried further: its budget was spent."


def test_other_edits_are_named() -> None:
    text = stated(plain(made("order", 5_000.0), 3), plain(made("priority", -2_000.0), 1))
    assert "Tried with nodes on the longest ways created first: measured −5.00 µs" in text
    assert "Tried with the priorities of 1 node: measured +2.00 µs" in text


def test_delays_of_a_layer_are_named_by_its_first_kernel() -> None:
    text = stated(TrialSummary(made("layer", -2_000.0), 9, "norm", 20_000, 0.1))
    assert "A saving in the layer that begins with norm (9 nodes) brings 10.0% of itself" in text


def test_of_many_delays_those_that_tell_most_are_named_and_the_rest_is_counted() -> None:
    tried = [
        TrialSummary(made("delay", -1_000.0 * i), 2, f"kernel_{i}", 20_000, 0.05 * i)
        for i in range(1, 16)
    ]
    text = stated(*tried)
    named = [i for i in range(1, 16) if f"A saving in kernel_{i} (2 nodes)" in text]
    assert named == list(range(11, 16))
    assert "10 more delays made less of a difference: they stand in table trial." in text


def test_of_much_that_the_budget_did_not_reach_the_first_is_named() -> None:
    why = "three quarters of its budget (--trial-budget) were spent before delays behind"
    late = [replace(refused(f"{why} kernel_{i}"), kind="delay") for i in range(10)]
    text = stated(*map(plain, late))
    assert "delays behind kernel_7 and 2 more; 'gviz run" in text
    assert "kernel_8" not in text


def test_what_the_budget_did_not_reach_is_named_with_the_command_that_tries_it() -> None:
    spent = "its budget (--trial-budget) was spent"
    late = [
        replace(refused(spent), kind="serial"),
        replace(refused(f"{spent} before delays behind gemm"), kind="delay"),
    ]
    text = stated(plain(made("control", 0.0)), *(plain(trial) for trial in late))
    assert text.endswith(
        "Not tried, for its budget was spent: all nodes in one chain, delays behind gemm; 'gviz "
        "run --trials --trial-budget 10 PROGRAM' goes on."
    )
