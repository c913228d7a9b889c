"""JSONPath as the drafts of 2019 and 2020 spell it."""

import pytest

from swf_temporal.base.data import JSON
from swf_temporal.expressions.compiled import NOTHING, BadExpression
from swf_temporal.expressions.early_paths import EarlyPath, early_text, place_of

DATA: JSON = {
    "order": {"line-items": [{"id": 1, "ok": True}, {"id": 2, "ok": False}]},
    "exit-code": 3,
    "event": {"type": "exec"},
}


@pytest.mark.parametrize(
    ("text", "found", "key"),
    [
        ("$", [DATA], None),
        ("$.", [DATA], None),
        ("$.exit-code", [3], "exit-code"),
        ("$['exit-code']", [3], "exit-code"),
        ("$['order'].line-items[1].id", [2], "id"),
        ("$event.type", ["exec"], "type"),
        ("$.order.line-items[1].id", [2], "id"),
        ("$.order.line-items[-1]['id']", [2], "id"),
        ("$.order.line-items[?(@.ok == true)].id", [1], "id"),
        ("$.order.line-items.[?(@.ok)]", [{"id": 1, "ok": True}], "line-items"),
        ("$..line-items[*].id", [1, 2], "id"),
        ("$.order.nothing.here", [], "here"),
        ("$.exit-code.within", [], "within"),
        ("$.order.line-items[7]", [], "line-items"),
    ],
)
def test_finds(text: str, found: list[JSON], key: str | None) -> None:
    """A path finds what it leads to, and knows the key that this is known by."""
    path = EarlyPath(text)
    assert path.found(DATA) == found
    assert path.last_key == key


def test_yields() -> None:
    """A path to one place yields the value there or nothing, any other an array of all that it finds."""
    assert EarlyPath("$.exit-code")(DATA, {}) == 3
    assert EarlyPath("$.nothing")(DATA, {}) is NOTHING
    assert EarlyPath("$..id")(DATA, {}) == [1, 2]
    assert EarlyPath("$..nothing")(DATA, {}) == []


@pytest.mark.parametrize("text", ["it was heads", "$.people[?(", "$$", "$.a b", ""])
def test_refuses(text: str) -> None:
    with pytest.raises(BadExpression, match="is not a JSONPath") as refused:
        EarlyPath(text)
    assert f"'{text}'" in refused.value.message


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("$..id", "does not name a single place in the data"),
        ("$.items[1000000000]", "names the element 1000000000 of an array"),
    ],
)
def test_refuses_what_names_no_place(text: str, why: str) -> None:
    """The whole path is at fault, from where it begins."""
    with pytest.raises(BadExpression, match=why) as told:
        place_of(EarlyPath(text))
    assert told.value.offset == 0


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("no path", "no path"),
        ("$.order.line-items[0].id", 1),
        ("code $.exit-code of $event.type.", "code 3 of exec."),
        ("it costs $5 or 5 $USD", "it costs $5 or 5 $USD"),
        ("[$.nothing]", "[]"),
        ("$.order.line-items[?(@.id == 2)].ok", [False]),
        ("all: $.order.line-items[0]", 'all: {"id":1,"ok":true}'),
    ],
)
def test_fills_texts(text: str, filled: JSON) -> None:
    """A text that is a path becomes what that finds; one that has paths in it stays a text."""
    assert early_text(text)(DATA, {}) == filled


def test_synonyms() -> None:
    """A name that data has not finds what stands under another; one that it has is itself."""
    path = EarlyPath("$.exception.name", {"exception": "error"})
    assert path.found({"error": {"name": "x"}}) == ["x"]
    assert path.found({"error": {"name": "x"}, "exception": {}}) == []
    assert early_text("Caught $.exception.name", {"exception": "error"})({"error": {"name": "x"}}, {}) == "Caught x"
