"""The verbs that a server has, by what its user allows."""

from __future__ import annotations

from gviz.agents.recorder import Recorder
from gviz.agents.verb import Verb
from gviz.agents.verbs.changes import COMPARE, VERIFY_FIX
from gviz.agents.verbs.edits import WHAT_IF
from gviz.agents.verbs.explain import EXPLAIN
from gviz.agents.verbs.fleets import fleet_verbs
from gviz.agents.verbs.nodes import LAYER, LOCATE, NEIGHBOURS, PATH
from gviz.agents.verbs.overview import FINDINGS, OVERVIEW
from gviz.agents.verbs.pictures import RENDER
from gviz.agents.verbs.ranks import RANKS
from gviz.agents.verbs.recorded import record_verb
from gviz.agents.verbs.rows import QUERY
from gviz.agents.verbs.values import VALUES
from gviz.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Allowed:
    """Permission to do more than answer.

    Attributes
    ----------
    recorder
        Runs programs for clients; None: they may not be run.
    fleet
        Data set of a fleet that they may ask about, a folder or an address; None: none.
    """

    recorder: Recorder | None = None
    fleet: str | None = None


def all_verbs(allowed: Allowed) -> tuple[Verb, ...]:
    """Return the verbs of a server, in the order in which clients list them."""
    recorder = allowed.recorder
    return (
        OVERVIEW, FINDINGS, EXPLAIN, PATH, NEIGHBOURS, LAYER, LOCATE, WHAT_IF, COMPARE,
        VERIFY_FIX, RANKS, VALUES, RENDER, QUERY,
        *([] if allowed.fleet is None else fleet_verbs(allowed.fleet)),
        *([] if recorder is None else [record_verb(recorder)]),
    )  # fmt: skip
