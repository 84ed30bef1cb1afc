"""The report of a fleet as a document: verdict, slow ranks, waits, other graphs, clocks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from gviz.families import kernel_label
from gviz.fleet import (
    AwaitedRank,
    DivergentRank,
    FleetRank,
    FleetReport,
    GpuOutlier,
    HostClock,
    LayerChange,
    SlowLink,
    SlowRank,
)
from gviz.report.document import (
    Content,
    Document,
    RunLink,
    Section,
    Sentence,
    TableBlock,
    Verdict,
    capitalized,
    column,
    joined,
    ns,
    number,
    numbers,
    say,
    section,
    share,
    table,
)
from gviz.stats import fields_of
from gviz.text import MISSING, counted

#: Ranks that a table lists unless all are requested.
MOST_RANKS = 20
#: Ranges of ranks that a row of it names.
_MOST_RANGES = 8


def fleet_document(report: FleetReport, most: int | None = MOST_RANKS) -> Document:
    """Return the document of a fleet.

    Parameters
    ----------
    most
        Ranks and machines that a table lists; None: all.
    """
    title = f"{counted(report.rank_count, 'rank')} on {counted(report.host_count, 'machine')}"
    verdict = Verdict(
        title,
        (
            _slow_sentence(report),
            _awaited_sentence(report),
            _divergent_sentence(report),
            *_gpu_sentences(report),
        ),
        tuple(_caveats(report)),
    )
    return Document("", (verdict,), tuple(_sections(report, most)))


def _slow_sentence(report: FleetReport) -> Sentence:
    if report.compared_count < 2:
        return say("Fewer than two ranks have node times: none can be compared.")
    if not report.slow:
        return say(
            f"None of {counted(report.compared_count, 'compared rank')} is slower than the others "
            "beyond what they vary by."
        )
    worst = report.slow[0]
    slow = counted(len({one.rank for one in report.slow}), "rank")
    others = f"{slow} of {report.compared_count:,} slower than the others: first "
    return say(
        others, _name(worst.rank), ", whose own work in a launch takes ",
        share(worst.excess_fraction), " longer (", ns(worst.excess_ns), ")",
        f", most of it in {worst.layer}" if worst.layer else "",
        f", since launch {worst.since_launch:,}." if worst.since_launch is not None else ".",
    )  # fmt: skip


def _awaited_sentence(report: FleetReport) -> Sentence:
    if not report.awaited:
        return say("In no collective one rank comes last most of the time.")
    worst = report.awaited[0]
    return say(
        "In collectives the others wait for ", _name(worst.rank), ", which comes last in ",
        share(worst.last_fraction, "estimated"), " of the executions of one: ",
        ns(worst.wait_ns, "estimated"), " a launch.",
    )  # fmt: skip


def _divergent_sentence(report: FleetReport) -> Sentence:
    if not report.divergent:
        return say("All ranks launch the same graphs in the same order.")
    names = [_name(one.rank) for one in report.divergent[:3]]
    more = len(report.divergent) - len(names)
    rest = f" and {more:,} more" if more else ""
    verb = "launches" if len(report.divergent) == 1 else "launch"
    most = "the other rank" if report.rank_count == 2 else "most"
    other = f"other graphs than {most}, or in another order"
    return say(capitalized(", ".join(names)), f"{rest} {verb} {other}.")


def _gpu_sentences(report: FleetReport) -> Iterator[Sentence]:
    if not report.clocked_count:
        return
    if not report.gpu_outliers:
        yield say("No GPU is hotter or clocked lower than others of its kind vary by.")
        return
    lower = sum(one.is_lower for one in report.gpu_outliers)
    hotter = sum(one.is_hotter for one in report.gpu_outliers)
    first = report.gpu_outliers[0].rank
    yield say(
        f"{counted(lower, 'GPU')} clocked lower and {hotter:,} hotter than others of the kind: "
        f"first that of {_name(first)}."
    )


def _caveats(report: FleetReport) -> Iterator[str]:
    if report.compared_count < report.rank_count:
        missing = report.rank_count - report.compared_count
        yield f"{counted(missing, 'rank')} without node times: not compared"
    if report.failure_count:
        yield f"{counted(report.failure_count, 'recording')} left out when it was built"
    if report.slow and not report.awaited:
        yield "collectives of the slow ranks are not recorded, or nobody waits in them"
    if report.clocked_count < report.rank_count:
        missing = report.rank_count - report.clocked_count
        yield f"{counted(missing, 'rank')} without clocks of GPUs"


def _sections(report: FleetReport, most: int | None) -> Iterator[Section]:
    if report.slow:
        yield section("slow", "Slow ranks", _slow_table(report.slow, most), _hosts(report))
    if report.awaited:
        yield section("awaited", "Waits for ranks", _awaited_table(report.awaited, most))
    if report.slow_links:
        yield section("links", "Slow links", _link_table(report.slow_links, most), say(
            "Ranks of a communicator leave its collectives together; what these take when nobody "
            "is awaited is the links'."
        ))  # fmt: skip
    if report.gpu_outliers:
        yield section("gpus", "GPUs that are hotter or clocked lower",
                      _gpu_table(report.gpu_outliers, most))  # fmt: skip
    if report.divergent:
        yield section("divergent", "Other graphs", _divergent_table(report.divergent, most))
    if report.layer_changes or report.version_changes:
        yield section("builds", "Changes since the build before",
                      _change_table(report.layer_changes, most), _versions(report))  # fmt: skip
    if report.clocks:
        yield section("clocks", "Clocks of machines", _clock_table(report.clocks, most),
                      _clock_note(report.clocks))  # fmt: skip


def _hosts(report: FleetReport) -> Sentence | None:
    """Return a sentence where slow ranks share a machine."""
    found = Counter(one.rank.host for one in report.slow if one.rank.host is not None)
    together = [(host, count) for host, count in found.most_common(3) if count > 1]
    if not together:
        return None
    return say(joined(f"{count} of them are on {host}" for host, count in together), ".")


def _slow_table(found: Sequence[SlowRank], most: int | None) -> TableBlock:
    meaning = {name: capitalized(doc) for name, _, doc in fields_of(SlowRank)}
    columns = [
        column("Rank"), column("Host"), column("GPU"), column("Graph"),
        numbers("Own work", meaning["own_ns"]), numbers("More", meaning["excess_ns"]),
        numbers("Share", meaning["excess_fraction"]), column("Where", meaning["layer"]),
        numbers("Since launch", meaning["since_launch"]), column("Slowest node", meaning["nodes"]),
    ]  # fmt: skip
    rows: list[list[Content]] = [
        [
            _link(one.rank), one.rank.host or MISSING, one.rank.gpus or MISSING, one.graph,
            ns(one.own_ns), ns(one.excess_ns), share(one.excess_fraction), _where(one),
            number(one.since_launch, "estimated"),
            kernel_label(one.nodes[0].name) if one.nodes else MISSING,
        ]
        for one in found[:most]
    ]  # fmt: skip
    return table("Ranks that are slower", columns, rows, left_out=len(found) - len(rows))


def _where(one: SlowRank) -> str:
    if one.is_even:
        return "everywhere alike: look at the GPU's clock"
    return one.layer or MISSING


def _awaited_table(found: Sequence[AwaitedRank], most: int | None) -> TableBlock:
    meaning = {name: capitalized(doc) for name, _, doc in fields_of(AwaitedRank)}
    columns = [
        column("Rank"), column("Host"), column("Graph"),
        numbers("Last in", meaning["last_fraction"]), numbers("Wait", meaning["wait_ns"]),
    ]  # fmt: skip
    rows: list[list[Content]] = [
        [
            _link(one.rank), one.rank.host or MISSING, one.graph,
            share(one.last_fraction, "estimated"), ns(one.wait_ns, "estimated"),
        ]
        for one in found[:most]
    ]  # fmt: skip
    return table("Ranks that others wait for", columns, rows, left_out=len(found) - len(rows))


def _link_table(found: Sequence[SlowLink], most: int | None) -> TableBlock:
    meaning = {name: capitalized(doc) for name, _, doc in fields_of(SlowLink)}
    columns = [
        column("Ranks"), numbers("Number", meaning["rank_count"]), column("Hosts"), column("Graph"),
        numbers("Collectives", meaning["transfer_ns"]), numbers("More", meaning["excess_ns"]),
        numbers("Share", meaning["excess_fraction"]),
    ]  # fmt: skip
    rows: list[list[Content]] = [
        [
            MISSING if one.first_rank is None else f"{one.first_rank} to {one.last_rank}",
            number(one.rank_count, "estimated"),
            ", ".join(one.hosts[:_MOST_RANGES]) or MISSING, one.graph,
            ns(one.transfer_ns, "estimated"), ns(one.excess_ns, "estimated"),
            share(one.excess_fraction, "estimated"),
        ]
        for one in found[:most]
    ]  # fmt: skip
    label = "Communicators whose collectives take longer"
    return table(label, columns, rows, left_out=len(found) - len(rows))


def _gpu_table(found: Sequence[GpuOutlier], most: int | None) -> TableBlock:
    meaning = {name: capitalized(doc) for name, _, doc in fields_of(GpuOutlier)}
    columns = [
        column("Rank"), column("Host"), column("GPU"), numbers("MHz", meaning["sm_clock_mhz"]),
        numbers("Usual MHz"), numbers("°C", meaning["temperature_celsius"]), numbers("Usual °C"),
        column("Lowered by", meaning["slowed_by"]),
    ]  # fmt: skip
    rows: list[list[Content]] = [
        [
            _link(one.rank), one.rank.host or MISSING, one.rank.gpus or MISSING,
            number(one.sm_clock_mhz), number(one.usual_mhz), number(one.temperature_celsius),
            number(one.usual_celsius), one.slowed_by or MISSING,
        ]
        for one in found[:most]
    ]  # fmt: skip
    label = "GPUs beside the middle one of their kind"
    return table(label, columns, rows, left_out=len(found) - len(rows))


def _change_table(found: Sequence[LayerChange], most: int | None) -> TableBlock:
    columns = [
        column("Graph"), column("Layer"), numbers("Before"), numbers("Now"), numbers("Change"),
        numbers("Ranks before"), numbers("Ranks now"),
    ]  # fmt: skip
    rows: list[list[Content]] = [
        [
            one.graph, one.layer or MISSING, ns(one.before_ns), ns(one.time_ns),
            share(one.change_fraction), number(one.before_rank_count), number(one.rank_count),
        ]
        for one in found[:most]
    ]  # fmt: skip
    label = "Layers whose work changed"
    return table(label, columns, rows, left_out=len(found) - len(rows))


def _versions(report: FleetReport) -> Sentence | None:
    if not report.version_changes:
        return None
    changes = (
        f"{one.name}: {', '.join(one.before[:3]) or MISSING} before, "
        f"{', '.join(one.after[:3]) or MISSING} now"
        for one in report.version_changes
    )
    return say(joined(changes, "; "), ".")


def _divergent_table(found: Sequence[DivergentRank], most: int | None) -> TableBlock:
    meaning = {name: capitalized(doc) for name, _, doc in fields_of(DivergentRank)}
    columns = [
        column("Ranks"), numbers("Number", "Ranks that differ alike"), column("Differ in"),
        column("Lack", meaning["missing"]), column("Have", meaning["added"]),
    ]  # fmt: skip
    alike: dict[tuple[object, ...], list[DivergentRank]] = {}
    for one in found:
        alike.setdefault((one.differs, one.missing, one.added), []).append(one)
    groups = sorted(alike.values(), key=len, reverse=True)
    rows: list[list[Content]] = [
        [
            _ranks_text([one.rank for one in group]), number(len(group)), group[0].differs,
            ", ".join(group[0].missing) or MISSING, ", ".join(group[0].added) or MISSING,
        ]
        for group in groups[:most]
    ]  # fmt: skip
    label = "Ranks that launch something else"
    return table(label, columns, rows, left_out=len(groups) - len(rows))


def _ranks_text(ranks: Sequence[FleetRank]) -> str:
    """Return ranks as ranges of their numbers, the first of them where there are many."""
    numbered = sorted({one.rank for one in ranks if one.rank is not None})
    parts: list[list[int]] = []
    for rank in numbered:
        if parts and rank == parts[-1][1] + 1:
            parts[-1][1] = rank
        else:
            parts.append([rank, rank])
    named = [f"{a}" if a == b else f"{a}–{b}" for a, b in parts]
    named += [one.name for one in ranks if one.rank is None]
    more = len(named) - _MOST_RANGES
    return ", ".join(named[:_MOST_RANGES]) + (f", … {more:,} more" if more > 0 else "")


def _clock_table(found: Sequence[HostClock], most: int | None) -> TableBlock:
    meaning = {name: capitalized(doc) for name, _, doc in fields_of(HostClock)}
    columns = [
        column("Host"), numbers("Ahead", meaning["offset_ns"]),
        numbers("Drift, ppm", meaning["drift_ppm"]), numbers("Error", meaning["residual_ns"]),
    ]  # fmt: skip
    apart = sorted(found, key=lambda one: -abs(one.offset_ns or 0.0))
    rows: list[list[Content]] = [
        [
            one.host, ns(one.offset_ns, "estimated"), number(one.drift_ppm, "estimated"),
            ns(one.residual_ns, "estimated"),
        ]
        for one in apart[:most]
    ]  # fmt: skip
    label = "Clocks beside that of the first machine"
    return table(label, columns, rows, left_out=len(found) - len(rows))


def _clock_note(found: Sequence[HostClock]) -> Sentence:
    errors = [one.residual_ns for one in found if one.residual_ns is not None]
    worst = max(errors, default=None)
    if worst is None:
        return say("Too few collectives were timed on two machines to put their clocks together.")
    return say(
        "Found where ranks leave collectives together; times of two machines can be compared to ",
        ns(worst, "estimated"), ".",
    )  # fmt: skip


def _link(rank: FleetRank) -> RunLink:
    return RunLink(rank.name, rank.run_id, path=rank.url)


def _name(rank: FleetRank) -> str:
    host = f" on {rank.host}" if rank.host else ""
    return f"rank {rank.name}{host}"
