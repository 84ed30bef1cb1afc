"""Recordings that belong into a data set, and the sentence about each that does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gviz.fleet.heads import RecordingHead, RunHead, choose
from gviz.fleet.sources import RecordingSource

RUN = RunHead(1, "train", 0, "node01", 100, 1_000, 2_000, "python train.py --local-rank=0 --of 8")


def head(url: str, *runs: RunHead, reason: str | None = None) -> RecordingHead:
    return RecordingHead(RecordingSource(url, 1, "now"), runs, reason)


def rank(number: int) -> RunHead:
    command = f"python train.py --local-rank={number} --of 8"
    return replace(RUN, rank=number, process_id=100 + number, command=command)


def test_ranks_of_a_job_are_chosen_in_order() -> None:
    heads = [head(f"{number}.gviz", rank(number)) for number in range(12)]
    chosen, refused, job = choose(heads, {}, None)
    assert (chosen, refused) == (heads, [])
    assert job == "python train.py --local-rank=# --of #"


@pytest.mark.parametrize(
    ("other", "says"),
    [
        (head("9.gviz", reason="it is truncated"), "it is truncated"),
        (head("9.gviz", replace(rank(1), command="python serve.py")), "python serve.py"),
        (head("9.gviz", rank(0)), "0.gviz holds the same run (train); leave one of them out"),
        (head("9.gviz", replace(rank(0), process_id=9, host="b")), "0.gviz is of rank 0 too"),
        # It was killed: nobody knows until when it ran.
        (head("9.gviz", replace(rank(0), process_id=9, ended_ns=None)), "0.gviz is of rank 0 too"),
    ],
)  # fmt: skip
def test_one_that_does_not_belong_is_left_out_and_the_rest_stays(
    other: RecordingHead, says: str
) -> None:
    heads = [head("0.gviz", rank(0)), head("1.gviz", rank(1)), other, head("2.gviz", rank(2))]
    chosen, refused, _ = choose(heads, {}, None)
    assert [one.source.url for one in chosen] == ["0.gviz", "1.gviz", "2.gviz"]
    (failure,) = refused
    assert says in failure.reason


def test_a_rank_that_ran_again_later_is_another_run() -> None:
    again = replace(rank(0), process_id=7, started_ns=3_000, ended_ns=4_000)
    chosen, refused, _ = choose([head("again.gviz", again)], {"0.gviz": [rank(0)]}, None)
    assert (len(chosen), refused) == (1, [])


def test_runs_of_earlier_builds_count() -> None:
    known = {"old/0.gviz": [rank(0)]}
    _, refused, _ = choose([head("0.gviz", rank(0))], known, None)
    assert "old/0.gviz holds the same run" in refused[0].reason
    _, refused, _ = choose([head("1.gviz", rank(1))], known, "python other.py")
    assert "another job" in refused[0].reason


def test_runs_without_rank_and_command_are_taken() -> None:
    imported = [
        head(f"{n}.gviz", RunHead(1, "trace", None, None, None, None, None, None)) for n in range(3)
    ]
    chosen, refused, job = choose(imported, {}, None)
    assert (chosen, refused, job) == (imported, [], None)
