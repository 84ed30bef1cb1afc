"""A saved SVG as its reader sees it: XML, shapes that stand for something, texts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from playwright.sync_api import Page

SVG = "{http://www.w3.org/2000/svg}"


@dataclass(frozen=True, slots=True)
class Picture:
    """A parsed SVG file."""

    root: ElementTree.Element

    @classmethod
    def read(cls, path: Path) -> Picture:
        """Return the picture of a file; ElementTree.ParseError if it is no XML."""
        return cls(ElementTree.parse(path).getroot())

    def tags(self) -> set[str]:
        """Return the names of all elements, without their namespace."""
        return {element.tag.removeprefix(SVG) for element in self.root.iter()}

    def titles(self) -> list[str]:
        """Return what the shapes that stand for a node or a span say they are."""
        return [title.text or "" for _, title in self._named()]

    def shapes(self) -> list[str]:
        """Return the elements of those shapes."""
        return [shape.tag.removeprefix(SVG) for shape, _ in self._named()]

    def texts(self) -> list[str]:
        """Return the texts that are drawn."""
        return [text.text or "" for text in self.root.iter(f"{SVG}text")]

    def values(self, attribute: str) -> set[str]:
        """Return the values of an attribute, wherever it stands."""
        found = (element.get(attribute) for element in self.root.iter())
        return {value for value in found if value is not None}

    def _named(self) -> Iterator[tuple[ElementTree.Element, ElementTree.Element]]:
        for shape in self.root.iter():
            title = shape.find(f"{SVG}title")
            if title is not None and shape is not self.root:
                yield shape, title


def save_view(page: Page, view: str, kind: str, folder: Path) -> Path:
    """Have a view save itself by the menu, or its own button; return the file."""
    with page.expect_download() as download:
        if page.locator("#share-menu").count():
            page.locator("#share-menu summary").click()
            page.locator(f"#share-menu [data-save='{view} {kind.lower()}']").click()
        else:
            page.locator(f"#{view}").get_by_role("button", name=f"as {kind}").click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path
