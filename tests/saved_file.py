"""An exported HTML file as a parser sees it: its scripts, its policy, its data."""

from __future__ import annotations

import base64
import gzip
import json
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

DATA = "application/gzip"
WORKER = "text/plain"


@dataclass
class Element:
    """A script or style element."""

    attributes: dict[str, str]
    text: str = ""


@dataclass
class SavedFile(HTMLParser):
    """Content of an HTML file."""

    scripts: list[Element] = field(default_factory=list)
    styles: list[Element] = field(default_factory=list)
    tags: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    title: str = ""
    text: str = ""
    _in: str = ""

    @classmethod
    def read(cls, path: Path) -> SavedFile:
        """Return the parsed file."""
        found = cls()
        HTMLParser.__init__(found)
        found.text = path.read_text(encoding="utf-8")
        found.feed(found.text)
        found.close()
        return found

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        attributes = {name: value or "" for name, value in attrs}
        self.tags.append((tag, attributes))
        self._in = tag
        if tag == "script":
            self.scripts.append(Element(attributes))
        elif tag == "style":
            self.styles.append(Element(attributes))

    def handle_endtag(self, tag: str) -> None:
        """Leave an element."""
        self._in = ""

    def handle_data(self, data: str) -> None:
        """Keep the text of scripts, styles and the title."""
        if self._in == "script":
            self.scripts[-1].text += data
        elif self._in == "style":
            self.styles[-1].text += data
        elif self._in == "title":
            self.title += data

    @property
    def code(self) -> list[str]:
        """The texts of scripts that run."""
        return [s.text for s in self.scripts if s.attributes.get("type") not in (DATA, WORKER)]

    @property
    def worker(self) -> str:
        """The text of what a worker runs."""
        (found,) = [s.text for s in self.scripts if s.attributes.get("type") == WORKER]
        return found

    def blobs(self) -> dict[str, bytes]:
        """Return the data by name."""
        return {
            s.attributes["id"].removeprefix("blob-"): gzip.decompress(base64.b64decode(s.text))
            for s in self.scripts
            if s.attributes.get("type") == DATA
        }

    def json(self, name: str) -> Any:
        """Return a blob of JSON."""
        return json.loads(self.blobs()[name])

    def policy(self) -> dict[str, str]:
        """Return the directives of the Content-Security-Policy."""
        (content,) = (
            attributes["content"]
            for tag, attributes in self.tags
            if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
        )
        parts = (directive.strip().partition(" ") for directive in content.split(";"))
        return {name: value for name, _, value in parts}


def part_text(parts: list[list[Any]], place: int) -> str:
    """Return the text of a part with all that is in it."""
    _, _, *children = parts[place]
    return " ".join(c if isinstance(c, str) else part_text(parts, place - c) for c in children)
