"""How texts become plain data: documents of services, inputs, configuration, secrets."""

from typing import Any

import pytest

from swf_temporal.text.parsing import read_data
from swf_temporal.text.yaml_text import write_yaml


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
    assert read_data(text) == expected


def test_an_alias_is_what_it_stands_for() -> None:
    value = read_data(b"a: &x {b: 1}\nc: [*x, *x]")

    assert value["a"] is value["c"][0] is value["c"][1]


@pytest.mark.parametrize(
    "text",
    [b"a: [", b"{", b"\xff", b'{"a":' * 100_000, b"[" * 100_000, b"- " * 100_000, b"- !!binary aGk=",
     b"a: 1\n---\nb: 2", b"a: *b", b"&a {b: *a}",
     b"- &a0 [x, x]\n" + b"".join(b"- &a%d [*a%d, *a%d]\n" % (n, n - 1, n - 1) for n in range(1, 40)), b"? [a]\n: b",
     b"<<: 1"],
)  # fmt: skip
def test_what_cannot_be_read(text: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_data(text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: 1\nb: [", "line 3, column 1: a value is missing here"),
        ("a: 1\nb: \x07", "line 2, column 4: the character U+0007 is not allowed in YAML or JSON"),
        ("a: 1\n---\nb: 2", "line 2, column 1: a second document starts here: a file holds one"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text: str, told: str) -> None:
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - its message is what is asked for
        read_data(text)

    assert str(raised.value) == told


def test_the_flow_style_of_yaml() -> None:
    assert read_data("{a: 1, b: [c]} # done") == {"a": 1, "b": ["c"]}


def test_what_is_written_can_be_read() -> None:
    """Keys keep their order; texts that YAML would take for something else get quotes."""
    value = {"z": ["1", True, None, "é\n"], "a": {}}

    assert list(read_data(write_yaml(value))) == ["z", "a"]
    assert read_data(write_yaml(value)) == value
    assert write_yaml("text") == "text\n"
