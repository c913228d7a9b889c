"""Definitions are remembered as long as their texts are not too long together."""

import gc
import json
import weakref
from collections.abc import Iterator
from typing import Any

import pytest

from swf_temporal.languages import loading
from swf_temporal.languages.loading import load
from swf_temporal.temporal.records import Pinned, catalogue_of, program_of


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(loading, "MAX_TEXT", 10_000)
    monkeypatch.setattr(loading, "_read", 0)
    loading.forget()
    yield
    loading.forget()


def _text(name: str, length: int = 1_000) -> str:
    start = {"id": name, "version": "1.0.0", "specVersion": "0.8"}
    text = json.dumps({**start, "states": [{"name": "A", "type": "inject", "data": {}, "end": True}]})
    return text + " " * (length - len(text))


def test_what_was_read_lately_is_remembered() -> None:
    first = load(_text("first"))
    for number in range(9):
        load(_text(f"other {number}"))
    assert load(_text("first")) is first


def test_what_is_remembered_cannot_be_changed() -> None:
    """All who load the text have the same definition."""
    definition = load(_text("first"))
    with pytest.raises(AttributeError, match="a definition cannot be changed"):
        definition.id = "another"
    assert load(_text("first")).id == "first"
    text = _text("with a schema").replace('"states"', '"dataInputSchema": {"schema": {"type": "object"}}, "states"')
    schema: Any = load(text).input_schema
    schema["required"] = ["n"]
    assert load(text).input_schema == {"type": "object"}
    assert load(text).refusal_of({}) is None


def test_what_would_be_too_much_is_forgotten() -> None:
    """Nothing of a definition stays in memory, whatever was made of it for the instances that brought it along."""
    carried = (Pinned(_text("first"), "first.json", "0" * 64),)
    definition, program = program_of(carried, "first", None, 1)
    left = [weakref.ref(one) for one in (definition, program, catalogue_of(carried))]
    del definition, program
    for number in range(10):
        load(_text(f"other {number}"))
    gc.collect()
    assert [one() for one in left] == [None, None, None]


def test_one_that_is_too_long_by_itself() -> None:
    long = load(_text("long", 20_000))
    assert load(_text("long", 20_000)) is long
    load(_text("short"))
    assert load(_text("long", 20_000)) is not long
