"""Texts in YAML and JSON: as data, with their places; and bodies by their media types."""

import json
from typing import Any

import pytest

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import Position
from swf_temporal.text.bodies import read_answer, read_error_answer
from swf_temporal.text.origin import Source, UnreadableText, plain, written
from swf_temporal.text.parsing import read_data, read_object
from swf_temporal.text.yaml_text import write_yaml


def read(text: str) -> Any:
    return read_object(Source(text))[0]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("on", "on"),
        ("yes", "yes"),
        ("no", "no"),
        ("true", True),
        ("False", False),
        ("~", None),
        ("", None),
        ("null", None),
        ("7", 7),
        ("-7", -7),
        ("007", "007"),
        ("0x1F", 31),
        ("0o17", 15),
        ("1.0", 1.0),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("1_000", "1_000"),
        ("12:30:45", "12:30:45"),
        ("2020-01-01", "2020-01-01"),
        ("2020-01-01T00:00:00Z", "2020-01-01T00:00:00Z"),
        (".inf", ".inf"),
        ("'7'", "7"),
        ('"true"', "true"),
        ("!!str 7", "7"),
        ("PT15M", "PT15M"),
        ("${ .a }", "${ .a }"),
        ('"\\ud83d\\ude00"', "😀"),
    ],
)
def test_yaml_scalars(written: str, meant: Any) -> None:
    """A scalar in YAML is what JSON has for it; what JSON has nothing for stays a text."""
    value = plain(read(f"a: {written}\n")["a"])
    assert value == meant
    assert type(value) is type(meant)


def test_what_is_written_again_is_the_same() -> None:
    """Numbers keep every digit, whichever of the two languages the text is in; as numbers they are those of JSON."""
    text = '{"a": [1.10, 2.50, 7.0, 1e3, 1.5, 2], "b": {"c": -0.0, "d": "\\u00e9", "e": null}}'
    assert written(read(text)) == written(read(f"# YAML\n{text}")) == text
    numbers = plain(read(text))["a"]
    assert [type(one) for one in numbers] == [float] * 5 + [int]
    assert numbers == json.loads(text)["a"]


@pytest.mark.parametrize(
    "text",
    ['{"a": [1, -2.5e1, true, false, null, "x"], "b": {"c": {}, "d": []}}',
     '\n\t{\t"a" :\t1 ,\r\n"b":\t"\\ud83d\\ude00 \\n \\/"}\n', '{"": "", "' + "k" * 2000 + '": 1}',
     '{"n": 123456789012345678901234567890}', '\ufeff{"a": 1}'],
)  # fmt: skip
def test_json_is_read_as_json(text: str) -> None:
    assert read(text) == json.loads(text.removeprefix("\ufeff"))


@pytest.mark.parametrize("text", ['{"a": 1,\n "b": [1,\n  {"c": 2}]}', "a: 1\nb:\n  - 1\n  - c: 2\n"])
def test_every_value_knows_its_place(text: str) -> None:
    root = read(text)
    lines = text.splitlines()

    def at(position: Position, written: str) -> bool:
        return lines[position.line - 1][position.column - 1 :].startswith(written)

    inner = root["b"][1]
    root_key = '"a"' if text[0] == "{" else "a"
    assert at(root.where.key("a"), root_key)
    assert at(root.where.value("a"), "1")
    assert at(root["b"].positions[0], "1")
    assert at(inner.where.value("c"), "2")
    assert inner.where.key("c").line == inner.where.position.line


def test_aliases_and_merge_keys() -> None:
    root = read("base: &b {x: 1, y: 2}\nlist: [*b]\nuse:\n  <<: *b\n  y: 3\n")
    assert root["list"] == [{"x": 1, "y": 2}]
    assert root["list"][0] is not root["base"]
    assert root["use"] == {"x": 1, "y": 3}
    assert root["use"].where.value("x") == Position(1, 14)


BOMB = "a0: &a0 [1, 2, 3, 4, 5, 6, 7, 8, 9]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9)
)


@pytest.mark.parametrize(
    ("text", "code", "place", "message"),
    [
        ("", "empty", (1, 1), "there is no definition here: the text is empty"),
        ("# nothing\n", "empty", (1, 1), "there is no definition here: the text holds only comments"),
        ("[1]", "type", (1, 1), "a definition is an object with keys such as id and states, but this is a list"),
        ("just words", "type", (1, 1), None),
        ("a: 1\n---\nb: 2\n", "syntax", (2, 1), "a second document starts here: a file holds one"),
        ("a: 1\nb: 2\na: 3\n", "duplicate-key", (3, 1), "the key 'a' is written twice"),
        ('{"a": 1,\n "a": 2}', "duplicate-key", (2, 2), "the key 'a' is written twice"),
        ("a:\n\tb: 1\n", "syntax", (2, 1), None),
        ("a: b: c\n", "syntax", (1, 5), "a colon cannot stand here"),
        ("a: [\n", "syntax", (2, 1), "a value is missing here"),
        ("a: [1,, 2]\n", "syntax", (1, 7), "a value is missing here"),
        ("a:\n  - b\n  c: d\n", "syntax", (3, 3), "an element of a list is expected here"),
        ("a: *b\n", "syntax", (1, 4), "the alias *b is before, or inside, what it refers to"),
        ("a: &a [*a]\n", "syntax", (1, 8), "the alias *a is before, or inside, what it refers to"),
        (BOMB, "syntax", None, "the aliases expand to more than 50,000 values"),
        ("a: !python/name:os.system x\n", "syntax", (1, 4), None),
        ("? [a]\n: b\n", "syntax", (1, 3), "a key must be a text"),
        ("<<: 1\na: {<<: [2]}\n", "syntax", (2, 5), None),
        ("a: \x00\n", "encoding", (1, 4), "the character U+0000 is not allowed in YAML or JSON"),
        ("a: " + "[" * 5000, "syntax", (1, 103), "nested deeper than 100 levels"),
        ("[" * 5000, "syntax", (1, 101), "nested deeper than 100 levels"),
        ("a: " + "{b: " * 5000, "syntax", (1, 400), "nested deeper than 100 levels"),
        ("\ufeffa: \U0001f600\nb: " + "[" * 1200 + "]" * 1200, "syntax", (2, 103), "nested deeper than 100 levels"),
        ('{"a": 1 "b": 2}', "syntax", (1, 9), "a comma or '}' is missing before this"),
        ('{"a" 1}', "syntax", (1, 6), "a colon is missing after the key 'a'"),
        ('{"a": [1, 2}', "syntax", (1, 12), "a comma or ']' is missing before this"),
        ('{"a": "x', "syntax", (1, 7), "this text has no closing quote"),
        ('{"a": "x\ny"}', "syntax", (1, 7), "this text has no closing quote"),
        ('{"a": "x,\n"b": 1}', "syntax", (1, 7), "this text has no closing quote"),
        ('{"a": "x, "b": 1}', "syntax", (1, 7), "this text has no closing quote"),
        ('{"a: "x"}', "syntax", (1, 2), "this text has no closing quote"),
        ('{"a": ["x, "y"]}', "syntax", (1, 8), "this text has no closing quote"),
        ('{"a": "x" y}', "syntax", (1, 11), "a comma or '}' is missing before this"),
        ('a: "x\nb: "y"\n', "syntax", (1, 4), "this text has no closing quote"),
        ("a: 'x\nb: 1\n", "syntax", (1, 4), "this text has no closing quote"),
        ('a: {b: "x, c: "y"}\n', "syntax", (1, 8), "this text has no closing quote"),
        ('a: "x\nb: [1]\nc: "y"\nd: "z"\n', "syntax", (1, 4), "this text has no closing quote"),
        ('a: {b: "x"y}\n', "syntax", (1, 11), "a comma or a closing bracket is missing"),
        ('{"a": "\\x"}', "syntax", (1, 8), "a backslash in a text must be doubled or start an escape such as \\n"),
        ('{"a": "\\ud800"}', "syntax", (1, 7), "this text holds half of a pair of \\u escapes"),
        ('{"a": }', "syntax", (1, 7), "a value is missing before '}'"),
        ('{"a": 1e999}', "syntax", (1, 7), "the number 1e999 is too large"),
        ("a: 1e999", "syntax", (1, 4), "the number 1e999 is too large"),
        (f'{{"a": {"9" * 5000}}}', "syntax", (1, 7), f"the number {'9' * 24}… is too large"),
        (f"a: {'9' * 5000}", "syntax", (1, 4), f"the number {'9' * 24}… is too large"),
        (f"a: 0x{'f' * 300}", "syntax", (1, 4), f"the number 0x{'f' * 22}… is too large"),
        ('a: "\\ud800"', "syntax", (1, 4), "this text holds half of a pair of \\u escapes"),
        ('"\\ud800": 1', "syntax", (1, 1), "this text holds half of a pair of \\u escapes"),
        ('{"a": 1', "syntax", (1, 7), "the text ends before the JSON is complete: '}' is missing"),
        ('{"a": ', "syntax", (1, 6), "the text ends before the JSON is complete"),
        ('{"a": 1}}', "syntax", (1, 9), "the JSON is complete before this"),
        ('{"a": {"b", 1}}', "syntax", (1, 11), "a colon is missing after the key 'b'"),
        ('{"a": 1 // one\n}', "syntax", (1, 9), "JSON has no comments"),
        ("{'a': 1", "syntax", (1, 2), "JSON texts stand in double quotes, not single ones"),
    ],
)
def test_unreadable_texts(text: str, code: str, place: tuple[int, int] | None, message: str | None) -> None:
    """A text that cannot be read gives one problem, at the place, that says what is wrong."""
    with pytest.raises(UnreadableText) as refused:
        read(text)
    (problem,) = refused.value.problems
    assert problem.code == code
    assert place is None or problem.position == Position(*place)
    assert message is None or problem.message == message


def test_a_tab_is_told() -> None:
    with pytest.raises(UnreadableText, match="replace the tab"):
        read("a:\n\tb: 1\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1,}', "there is a comma too many before '}'"),
        ("{a: 1}", "a key must stand in double quotes: a"),
        ('{"a": b}', "a text must stand in double quotes: b"),
        ("{'a': 1}", "JSON texts stand in double quotes, not single ones"),
        ('{"a": 1 # one\n}', "JSON has no comments"),
        ('{# one\n"a": 1}', "JSON has no comments"),
    ],
)
def test_not_quite_json(text: str, message: str) -> None:
    """What is not quite JSON but means the same in YAML is read, with a warning that says what JSON misses."""
    root, (warning,) = read_object(Source(text))
    assert list(root) == ["a"]
    assert warning.message == f"this is not JSON, and was read as YAML: {message}"


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


@pytest.mark.parametrize(
    ("content", "content_type", "expected"),
    [
        (b'{"a": 1}', "application/json", {"a": 1}),
        (b'{"a": 1}', "application/problem+json; charset=utf-8", {"a": 1}),
        (b"", "application/json", None),
        (b"hello", "text/plain", "hello"),
        ("gr\u00fc\u00df".encode("latin-1"), "text/plain; charset=ISO-8859-1", "gr\u00fc\u00df"),
        (b"hello", "text/plain; charset=klingon", "hello"),
        (b"gr\xfc", "text/plain", {"mediaType": "text/plain", "base64": "Z3L8"}),
        (b"gr\xfc", "text/plain; charset=klingon", {"mediaType": "text/plain", "base64": "Z3L8"}),
        (b"\xef\xbb\xbfhello", "text/plain", "hello"),
        (b"\xef\xbb\xbfhello", "", "hello"),
        ("\ufeffhello".encode("utf-16-le"), "text/plain; charset=UTF-16LE", "hello"),
        (b'\xef\xbb\xbf{"a": 1}', "application/json; charset=utf-8", {"a": 1}),
        (b'{"a": "gr\xfc"}', "application/json; charset=ISO-8859-1", {"a": "gr\u00fc"}),
        ('{"a": "gr\u00fc"}'.encode("utf-16"), "application/json", {"a": "gr\u00fc"}),
        (b"hello..", "text/plain; charset=idna", "hello.."),
        (b"hello-x", "text/plain; charset=punycode", "hello-x"),
        (b"<a/>", "application/xml", "<a/>"),
        (b"\x00\x01", "image/png", {"mediaType": "image/png", "base64": "AAE="}),
        (b"[1]", "", [1]),
        (b"plain", "", "plain"),
        (b"\xff", "", {"mediaType": "application/octet-stream", "base64": "/w=="}),
    ],
)
def test_the_media_type_decides(content: bytes, content_type: str, expected: JSON) -> None:
    assert read_answer(content, content_type) == expected


@pytest.mark.parametrize("content", [b"{", b"NaN", b"-1e999", b"\xff\xfe\xff", b"[" * 100_000, b"[" * 300 + b"]" * 300])
def test_broken_json_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_answer(content, "application/json")


def test_broken_json_of_an_error_is_shown_as_text() -> None:
    assert read_error_answer(b"<html>", "application/json") == "<html>"
    assert read_error_answer(b"gr\xfc", "application/json") == {"mediaType": "application/json", "base64": "Z3L8"}
