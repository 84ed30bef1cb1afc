"""The analysis of one graph as programs and notebooks show it."""

from __future__ import annotations

import shutil
from dataclasses import fields, replace

from gviz.analysis import GraphAnalysis, RunAnalysis
from gviz.report import Document, render_html, render_text, run_document
from gviz.text import wrapped

#: Sections that are printed: what to change, what was recorded, where a launch's time goes.
_ON_A_PAGE = 3


class AnalyzedGraph(GraphAnalysis):
    """The results about one graph: printed they are a page, the beginning of its report."""

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
        document = self._document
        rest = ", ".join(section.heading for section in document.sections[_ON_A_PAGE:])
        page = _text(replace(document, sections=document.sections[:_ON_A_PAGE]))
        return page + ("\n\n" + _lines(f"full_text() also has: {rest}.") if rest else "")

    def full_text(self) -> str:
        """Return all of the report as text, as ``gviz analyze`` prints it."""
        return _text(self._document)

    def __repr__(self) -> str:
        return f"<analysis of graph {self.graph_id}: {self.title}; print() gives its text>"

    def _repr_html_(self) -> str:
        """Return the page that notebooks show."""
        return render_html(self._document)


def _text(document: Document) -> str:
    return render_text(document, _width())


def _lines(sentence: str) -> str:
    return "\n".join(wrapped(sentence, _width(), indent=0))


def _width() -> int:
    return shutil.get_terminal_size((100, 24)).columns
