"""How the text of a document is read."""

from typing import Any

import pytest

from swf_temporal.functions.documents.texts import read_text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b'{"a": [1, null]}', {"a": [1, None]}),
        (b"200: {a: 1}", {"200": {"a": 1}}),
        (b"[no, on, Yes, true, False]", ["no", "on", "Yes", True, False]),
        (b"[2026-01-31, 12:30, 1_000, 007]", ["2026-01-31", "12:30", "1_000", "007"]),
        (b"[1, -2, 1.5, 1e3, .5, ~, null]", [1, -2, 1.5, 1000.0, 0.5, None, None]),
        (b"a: &x {b: 1}\nc: *x\nd: {<<: *x, e: 2}", {"a": {"b": 1}, "c": {"b": 1}, "d": {"b": 1, "e": 2}}),
        (b"null: {true: 1, 1.5: 2}", {"null": {"true": 1, "1.5": 2}}),
        (b"a:\nb: ''", {"a": None, "b": ""}),
        (b"# nothing", None),
        (b"- !!str 12\n- ! 12\n- !!int '12'\n- '12'\n- '<<'\n- |\n  a\n  b\n", ["12", "12", 12, "12", "<<", "a\nb\n"]),
        (b"a: {<<: [{b: 1, c: 2}, {b: 3}], c: 4}", {"a": {"b": 1, "c": 4}}),
    ],
)
def test_yaml_is_read_as_json_would_be(text: bytes, expected: Any) -> None:
    """What older YAML takes for a truth, a date or a time is a text, and so is every name."""
    assert read_text(text) == expected


def test_an_alias_is_what_it_stands_for() -> None:
    """It is read once, however often it is named."""
    value = read_text(b"a: &x {b: 1}\nc: [*x, *x]")

    assert value["a"] is value["c"][0] is value["c"][1]


@pytest.mark.parametrize(
    "text",
    [
        b"a: [",
        b"{",
        b"\xff",
        b'{"a":' * 100_000,
        b"[" * 100_000,
        b"- " * 100_000,
        b"- !!binary aGk=",
        b"a: 1\n---\nb: 2",
        b"a: *b",
        b"&a {b: *a}",
        b"- &a0 [x, x]\n" + b"".join(b"- &a%d [*a%d, *a%d]\n" % (n, n - 1, n - 1) for n in range(1, 40)),
        b"? [a]\n: b",
        b"<<: 1",
    ],
)
def test_what_cannot_be_read(text: bytes) -> None:
    """What is neither JSON nor YAML raises an error, whatever it is."""
    with pytest.raises(ValueError, match=r"."):
        read_text(text)
