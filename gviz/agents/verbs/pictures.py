"""``render``: a graph, or a launch of it along time, as a picture."""

from __future__ import annotations

from gviz.agents.answer import NextStep, Picture, VerbAnswer
from gviz.agents.chromium import draw_png, find_chromium
from gviz.agents.question import Question
from gviz.agents.verb import Parameter, Verb
from gviz.agents.verbs.parameters import GRAPH, RECORDING
from gviz.errors import UsageError
from gviz.formats import draw_graphs, draw_launch
from gviz.text import byte_size

#: A picture's bytes: what a client can be expected to take.
MOST_BYTES = 1 << 20
_VIEWS, _FORMS = ("graph", "timeline"), ("png", "svg")


def _render(question: Question) -> VerbAnswer:
    graph_id, launch = question.graph_id(), question.integer("launch")
    view = question.text("view") or _VIEWS[0]
    if launch is not None and view == "graph":
        raise UsageError("launch chooses the launch of a timeline; give view timeline with it")
    with question.opened() as recording:
        text = (
            draw_graphs(recording, [graph_id])
            if view == "graph"
            else draw_launch(recording, graph_id, launch)
        )
    form = question.text("form") or _FORMS[find_chromium() is None]
    if form == "png":
        picture = Picture("image/png", draw_png(text))
    else:
        picture = Picture("image/svg+xml", text.encode())
    size = len(picture.content)
    if size > MOST_BYTES:
        raise UsageError(
            f"the picture has {byte_size(size)}, more than {byte_size(MOST_BYTES)}; 'gviz "
            "export --format svg' writes it, and path and layer answer in text"
        )
    steps = [NextStep("path", "the same in text", {"graph": graph_id})]
    line = f"{form.upper()} picture of graph {graph_id} ({view}), {byte_size(size)}: it follows"
    return VerbAnswer(
        rows=[line, "What is written in it comes from the recording, too."],
        steps=question.steps(*steps),
        pages=question.pages(graph_id),
        picture=picture,
    )


RENDER = Verb(
    "render",
    "A graph with its dependencies, coloured by time, or one launch along time, as a picture.",
    (
        RECORDING,
        GRAPH,
        Parameter("view", "string", "graph (default) or timeline", choices=_VIEWS),
        Parameter("launch", "integer", "number of the launch of a timeline; default: a median one"),
        Parameter(
            "form",
            "string",
            "png, an image for models, small where a graph is large; or svg, text, whole; default: "
            "png where Chromium is there to draw it",
            choices=_FORMS,
        ),
    ),
    _render,
)
