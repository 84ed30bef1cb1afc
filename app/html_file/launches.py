"""Launches of a graph that go into a file: some one by one, their median, all of them stacked."""

from __future__ import annotations

from collections.abc import Sequence

from gviz.app.components import Launches, parse_id, parse_launches
from gviz.app.pages import OfferedLaunches, eager_time, gpu_time
from gviz.app.views import SENT_WHOLE, GraphView, ShownLaunch, first_launch, typical_launch
from gviz.dataclass import dataclass
from gviz.errors import RecordingError, UsageError
from gviz.recording import Recording
from gviz.text import integer

#: Stretches of launches that an error names.
_MOST_NAMED = 8
#: A launch by the number that the viewer shows with a #, or several at once.
LaunchChoice = int | Launches


@dataclass(frozen=True, slots=True)
class Chosen:
    """The launches of one graph that a file holds.

    Attributes
    ----------
    single
        Those that can be looked at one by one; empty where none was recorded with node times.
    several
        Whether also the median launch, and all recorded launches stacked.
    recorded
        How many launches the recording has with node times.
    first
        What the page begins with: a launch_id, or several; None: no launch was recorded.
    """

    single: tuple[ShownLaunch, ...]
    several: tuple[Launches, ...]
    recorded: int
    first: LaunchChoice | None

    def options(self) -> list[dict[str, str]]:
        """Return what the choice of launches offers."""
        labels = {
            "median": f"median of {integer(self.recorded)}",
            "all": f"all {integer(self.recorded)}, stacked",
        }
        return [{"value": name, "label": labels[name]} for name in self.several] + [
            {"value": str(x.launch_id), "label": f"#{x.ordinal} · {gpu_time(x)}"}
            for x in self.single
        ]

    def to_text(self) -> str:
        """Return which launches these are."""
        if not self.single:
            return "no launch with node times"
        if self.recorded == 1:
            return "the one recorded launch"
        numbers = ", ".join(f"#{launch.ordinal}" for launch in self.single)
        parts = [f"launch{'es' if len(self.single) > 1 else ''} {numbers}"]
        words = {"median": "the median of", "all": "stacked all"}
        parts += [f"{words[name]} {integer(self.recorded)}" for name in self.several]
        return ", ".join(parts)


def offer(view: GraphView, chosen: Chosen) -> OfferedLaunches:
    """Return what a file's page offers of its launches, and the eager iteration beside them."""
    eager = typical_launch(view.stream_launches)
    words = None if eager is None else f"Eager #{eager.ordinal} · {eager_time(eager)}"
    shown = None if chosen.first is None else str(chosen.first)
    return OfferedLaunches(chosen.options() if chosen.single else (), shown, eager_words=words)


def parse_launch(text: str) -> LaunchChoice:
    """Return the meaning of an argument; UsageError where it has none."""
    found = parse_launches(text) or parse_id(text.removeprefix("#"))
    if found is None:
        raise UsageError(f"--launch {text}: give a launch's number, 'median' or 'all'")
    return found


def choose(view: GraphView, choices: Sequence[LaunchChoice]) -> Chosen:
    """Return the launches of a graph that were requested; else one of typical length.

    The median is always among them: it is small.
    """
    recorded = view.recorded_launches
    single = [x for x in recorded if x.ordinal in choices]
    first = single[0].launch_id if single else first_launch(view)
    typical = typical_launch(recorded)
    if not single and typical is not None:
        single = [typical]
    several: list[Launches] = []
    if len(recorded) > 1:
        several = ["median", "all"] if "all" in choices else ["median"]
    return Chosen(tuple(single), tuple(several), len(recorded), first)


def check_launches(
    recording: Recording, views: Sequence[GraphView], choices: Sequence[LaunchChoice]
) -> None:
    """Raise RecordingError unless every requested launch is there, and not too much."""
    known = {x.ordinal for view in views for x in view.recorded_launches}
    for number in choices:
        if isinstance(number, int) and number not in known:
            raise RecordingError(
                f"there is no launch #{number} with node times; {_which(sorted(known))}"
            )
    if "all" not in choices:
        return
    for view in {view.root.graph_id: view for view in views}.values():
        launches = recording.fetch_launches_with_spans(view.root.graph_id)
        spans = sum(x.span_count for x in launches if x.node_level)
        if spans > SENT_WHOLE:
            raise RecordingError(
                f"the launches of graph {view.root.graph_id} have {spans:,} spans, and a file "
                f"holds {SENT_WHOLE:,}; name some with --launch N"
            )


def _which(numbers: Sequence[int]) -> str:
    """Return which launches there are, as the next step."""
    if not numbers:
        return "none was recorded with them"
    starts = [n for n in numbers if n - 1 not in numbers]
    ends = [n for n in numbers if n + 1 not in numbers]
    spans = [f"#{a}" if a == b else f"#{a} to #{b}" for a, b in zip(starts, ends, strict=True)]
    return f"there are {', '.join(spans[:_MOST_NAMED])}" + (
        ", and more" if len(spans) > _MOST_NAMED else ""
    )
