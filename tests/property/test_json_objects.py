"""Objects of JSON arrays, whatever is in them and however the file comes in pieces."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gviz.errors import ImportingError
from gviz.formats.kineto import json_objects
from gviz.formats.kineto.json_objects import ObjectReader

#: What could be taken for a place between objects.
TEXTS = st.text(st.sampled_from('{}[],:" \\\nae'), max_size=12)
VALUES = st.recursive(
    st.none() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.lists(st.dictionaries(TEXTS, VALUES, max_size=3), max_size=12)


class Strict:
    """Python's parser of JSON; refuses what does not parse."""

    def many(self, text: bytes) -> list[Any] | None:
        try:
            return list(json.loads(text))
        except ValueError:
            return None

    def one(self, text: bytes, offset: int) -> Any:
        try:
            return json.loads(text)
        except ValueError:
            raise ImportingError(f"at {offset}") from None


class OneByOne(Strict):
    """The same, where no array is taken at once."""

    def many(self, text: bytes) -> list[Any] | None:
        return None


def read(text: str, size: int, parser: Strict) -> list[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_objects, "PIECE_BYTES", size)
        reader = ObjectReader(io.BytesIO(text.encode()), "x.json", "events", parser)
        found = [each for several in reader.read() for each in several]
    json.loads(reader.outside)
    return found


@given(
    OBJECTS, st.dictionaries(TEXTS, VALUES, max_size=2), st.integers(1, 300),
    st.sampled_from([None, 1]), st.sampled_from([Strict(), OneByOne()]),
)  # fmt: skip
def test_objects_are_those_of_the_array(
    objects: list[Any], other: dict[str, Any], size: int, indent: int | None, parser: Strict
) -> None:
    whole = {"before": other, "events": objects, "behind": [other, other]}
    assert read(json.dumps(whole, indent=indent), size, parser) == objects
    assert read(json.dumps(objects, indent=indent), size, parser) == objects


@given(OBJECTS.filter(len), st.integers(1, 300), st.data())
def test_a_malformed_object_is_found_where_it_is(
    objects: list[Any], size: int, data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(objects) - 1))
    texts = [json.dumps(each) for each in objects]
    texts[at] = '{"a": ?}'
    text = '{"events": [' + ", ".join(texts) + "]}"
    offset = len('{"events": [' + "".join(f"{each}, " for each in texts[:at]))
    with pytest.raises(ImportingError, match=f"^at {offset}$"):
        read(text, size, Strict())
