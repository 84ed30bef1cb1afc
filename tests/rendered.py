"""The words of documents in every form that a reader has them in."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gviz.report.document import Document
from gviz.report.renderers.html_form import render_html
from gviz.report.renderers.markdown_form import render_markdown
from gviz.report.renderers.text_form import render_texts


def rendered_words(documents: Sequence[Document]) -> list[str]:
    """Return the words for a terminal, in Markdown and in HTML, a space between each two."""
    texts = (
        render_texts(documents, 100),
        "".join(map(render_markdown, documents)),
        "".join(map(render_html, documents)),
    )
    # A number and its unit stand in an element of their own, which no line breaks.
    return [" ".join(re.sub("</?span[^>]*>", "", text).split()) for text in texts]
