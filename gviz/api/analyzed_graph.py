"""The analysis of one graph as programs and notebooks show it."""

from __future__ import annotations

import shutil
from dataclasses import fields

from gviz.analysis import GraphAnalysis, RunAnalysis
from gviz.report import Document, render_html, render_text, run_document


class AnalyzedGraph(GraphAnalysis):
    """The results about one graph: printed they are the text of ``gviz analyze``."""

    __slots__ = ("_document",)

    _document: Document

    @classmethod
    def of(cls, run: RunAnalysis) -> AnalyzedGraph:
        """Return the results about the only graph of a run that was looked at."""
        (graph,) = run.graphs
        found = cls(**{field.name: getattr(graph, field.name) for field in fields(graph)})
        object.__setattr__(found, "_document", run_document(run, ""))
        return found

    def __str__(self) -> str:
        return render_text(self._document, shutil.get_terminal_size((100, 24)).columns)

    def __repr__(self) -> str:
        return f"<analysis of graph {self.graph_id}: {self.title}; print() gives its text>"

    def _repr_html_(self) -> str:
        """Return the page that notebooks show."""
        return render_html(self._document)
