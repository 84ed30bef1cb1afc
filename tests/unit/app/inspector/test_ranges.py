"""NVTX ranges in the inspector: the node's own, or the capturing thread's."""

from __future__ import annotations

import pytest
from app_tree import texts
from places import ROOT

from gviz.app.components.addresses import Addresses
from gviz.app.files.library import Library
from gviz.app.inspector.inspector import render_inspector
from gviz.app.views.graph_data import graph_view


@pytest.mark.parametrize(("of_capture", "name"), [(True, "backward"), (False, "forward")])
def test_range_of_the_capturing_thread_is_marked(of_capture: bool, name: str) -> None:
    library = Library([ROOT / "assets" / "recordings" / "training_step.gviz"])
    view = graph_view(library, "training_step", 1)
    node = view.tree.has_range_of_capture.tolist().index(of_capture)
    addresses = Addresses("/")
    key = int(view.tree.key[node])
    shown = texts(render_inspector(library, "training_step", view, (key,), addresses))
    assert name in shown
    assert ("open on the capturing thread" in shown) == of_capture
