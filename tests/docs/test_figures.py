"""Figures in the prose of documents: they are those that the code has."""

from __future__ import annotations

import re

import pytest
from places import ROOT

from gviz.analysis import model_layers
from gviz.analysis.advice import RUN_NOISE_NS
from gviz.analysis.launch import node_memory, waits
from gviz.analysis.results import parallel_work
from gviz.app.components import node_list
from gviz.app.files import background
from gviz.app.pages.report import node_links
from gviz.app.views.timeline import side_arrays
from gviz.dag import contradicted, reachability, width
from gviz.fleet import build, mapped
from gviz.fleet.answers import heat_map, questions
from gviz.stats import bootstrap

_WORDS = {0.25: "quarter", 2: "two", 3: "three"}
_SLICE = int(
    re.findall(r"slice_limit = (\d+);", (ROOT / "collectors/csrc/events/watch.c").read_text())[0]
)
FIGURES = [
    ("analysis", f"more than {contradicted.TOLERANCE_NS / 1e3:g} µs before a dependency has ended"),
    ("analysis", f"in at least {_WORDS[model_layers._LEAST_REPEATS]} equal ones"),
    ("analysis", f"Layers of less than a {_WORDS[model_layers._LEAST_SHARE]} of the nodes"),
    ("analysis", f"stops after {width.MOST_STEPS / 1e6:g} million visited edges"),
    ("analysis", f"times chains exceed {reachability.MOST_ENTRIES / 1e6:g} million"),
    ("analysis", f"Waits below {waits.LEAST_NS / 1e3:g} µs are ignored"),
    ("analysis", f"{bootstrap.RESAMPLES:,} resamples, percentiles, seed {bootstrap.SEED}"),
    ("analysis", f"beyond {bootstrap.MOST_RESAMPLED:,} values a normal distribution"),
    ("analysis", f"for whole runs {RUN_NOISE_NS / 1e3:g} µs"),
    ("analysis", f"graphs of more than {node_memory.MOST_NODES:,} nodes"),
    ("report", f"({node_list.MOST_CHARACTERS:,} characters;"),
    ("report", f"opens up to {node_links.MOST_OPENED} bodies"),
    ("report", f"Analyses name {parallel_work.NAMED} nodes"),
    ("report", f"{_WORDS[background._AT_ONCE]} analyses run at a time"),
    ("timeline", f"of more than {_SLICE:,} nodes each copy times a slice"),
    ("timeline", f"Up to {side_arrays.SENT_WHOLE:,} spans are sent"),
    ("fleet", f"a part of up to {build.PER_PART} recordings"),
    ("fleet", f"the first {mapped.MOST_LAUNCHES} launches with node times"),
    ("fleet", f"(at most {mapped.MOST_TIMED}, evenly, in up to {mapped.MOST_BINS} groups)"),
    ("fleet", f"More than {heat_map.MOST_ROWS} ranks or {heat_map.MOST_COLUMNS} layers share"),
    ("fleet", f"with {questions.MOST_MEMORY.replace('GB', ' GB')} of memory"),
]


@pytest.mark.parametrize(("document", "stated"), FIGURES)
def test_figure_is_that_of_the_code(document: str, stated: str) -> None:
    text = " ".join((ROOT / "docs" / f"{document}.md").read_text().split())
    assert stated in text
