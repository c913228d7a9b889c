"""Formats, globs and codes of errors."""

import re
from pathlib import Path

import pytest

from swf_temporal.expressions.schema_checking import FORMATS, format_checker
from swf_temporal.languages.direktiv import codes
from swf_temporal.languages.direktiv.globs import is_glob_of

EXAMPLES = {
    "date": (["2024-02-29"], ["2023-02-29", "24-02-01", "2024-2-1", "٢٠٢٤-02-01"]),
    "time": (["09:30:00", "09:30:00.5Z", "23:59:59+02:00"], ["24:00:00", "9:30", "09:30:00 Z"]),
    "date-time": (["2024-01-01T00:00:00Z", "2024-01-01T00:00:00.123+01:00", "2024-01-01", "00:00:00"],
                  ["2024-01-01T00:00:00", "2024-01-01 00:00:00Z", "2024-13-01T00:00:00Z", "now"]),
    "hostname": (["a", "a-1.example.com"], ["-a", "a..b", "a_b", "", "a." + "b" * 64]),
    "email": (["a@b.example", "Ann <a@b.example>"], ["a", "@b", "a@", "a@b@c", "a b@c", "a@b, c@d", "a@b\nx: y", ""]),
    "ipv4": (["127.0.0.1"], ["127.0.0", "256.0.0.1", "::1", "1"]),
    "ipv6": (["::1", "fe80::1"], ["127.0.0.1", "fe80::1%eth0", ":::"]),
    "uri": (["https://example.com/a?b#c", "urn:x"], ["/a", "a b", "http://a:b", "1a:b", "http://a\\b", "http://a/%zz"]),
    "uri-reference": (["/a", "", "a/b:c", "urn:x"], ["1a:b", "a\\b", "%", "http://a b/", "a\tb"]),
    "uri-template": (["/a/{b}"], ["/a/{b", "/a/b}", "/{{a}}"]),
    "uuid": (["123e4567-e89b-12d3-a456-426614174000"], ["123E4567-e89b-12d3-a456-426614174000", "123e4567"]),
    "regex": (["^a+$", ""], ["(", "a{2,1}"]),
    "json-pointer": (["", "/a/0", "/a~1b~0"], ["a", "/a~2"]),
    "relative-json-pointer": (["0", "1/a", "2#"], ["/a", "01", "-1"]),
}  # fmt: skip
SAME = {"idn-email": "email", "iri": "uri", "iri-reference": "uri-reference"}


def test_every_format_has_examples() -> None:
    assert FORMATS.keys() == EXAMPLES.keys() | SAME.keys()


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_tells_texts_apart(name: str) -> None:
    checker = format_checker()
    fits, refused = EXAMPLES[SAME.get(name, name)]
    assert [text for text in fits if not checker.conforms(text, name)] == []
    assert [text for text in refused if checker.conforms(text, name)] == []
    assert checker.conforms(7, name)


def test_an_unknown_format_says_nothing() -> None:
    assert format_checker().conforms("anything", "colour")


FITTING = [
    ("*", ""), ("a*c", "abc"), ("a*c", "ac"), ("a?c", "abc"), ("[a-c]x", "bx"), ("[!a]x", "bx"), ("[^a]x", "bx"),
    ("[]]", "]"), ("[-a]", "-"), ("{a,b*}z", "bqz"), ("{a,{b,c}d}", "cd"), ("{,x}y", "y"), (r"\*", "*"),
    (r"\{a\}", "{a}"), ("[", "["), ("{a", "{a"), ("a\\", "a\\"), ("com.*.failed", "com.pay.failed"), ("", ""),
]  # fmt: skip
OTHERS = [
    ("c*", "direktiv.x"), ("abc", "abcd"), ("bc", "abc"), ("a?c", "ac"), ("[a-c]x", "dx"), ("[!a]x", "ax"),
    ("[!a]x", "x"), ("{a,b}", "ab"), ("{a,b}", "{a,b}"), (r"\*", "a"), ("e.r", "eXr"), ("A", "a"),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "text"), FITTING)
def test_matches(pattern: str, text: str) -> None:
    assert is_glob_of(pattern, text)


@pytest.mark.parametrize(("pattern", "text"), OTHERS)
def test_does_not_match(pattern: str, text: str) -> None:
    assert not is_glob_of(pattern, text)


@pytest.mark.timeout(60)
def test_a_hostile_glob_takes_little_work() -> None:
    assert not is_glob_of("*a" * 200 + "b", "a" * 5000)
    assert is_glob_of("{a*,b*," * 15 + "x" + "}" * 15 + "*", "a" * 3000)


ROOT = Path(__file__).parents[3]
CODES = {value for name, value in vars(codes).items() if name.isupper() and str(value).startswith("direktiv.")}
SHOWN_ELSEWHERE = {codes.CANCELLED_BY_PARENT: "tests/languages/direktiv/test_simulating.py"}
"""A scenario sees the end of its main instance alone, and this is how sub-workflows end."""


UNCATCHABLE = {
    codes.HARD_TIMEOUT, codes.CANCELLED_BY_API, codes.CANCELLED_BY_PARENT, codes.BAD_EVENT,
    codes.SECRET_NOT_FOUND, codes.WORKFLOW_NOT_FOUND, codes.WORKFLOW_UNPARSABLE, codes.INTERNAL,
}  # fmt: skip
ROWS = ("| Can be caught |", "| Cannot be caught |")


def test_every_code_is_in_a_scenario() -> None:
    """Each is expected of a run, or in what it caught, or is in a test of its own."""
    text = "".join(path.read_text("utf-8") for path in (ROOT / "tests/scenarios/direktiv").rglob("*.yaml"))
    expected = set(re.findall(r"\bcode: '?(direktiv(?:\.\w+)+)", text))
    assert CODES - expected == set(SHOWN_ELSEWHERE)
    for code, file in SHOWN_ELSEWHERE.items():
        assert code in (ROOT / file).read_text("utf-8")


def test_every_code_of_a_scenario_is_known() -> None:
    text = "".join(path.read_text("utf-8") for path in (ROOT / "tests/scenarios/direktiv").rglob("*.yaml"))
    assert set(re.findall(r"\bcode: '?(direktiv(?:\.\w+)+)", text)) <= CODES


def test_the_page_has_all_of_them() -> None:
    page = (ROOT / "docs/direktiv-semantics.md").read_text("utf-8")
    rows = {row: set(re.findall(r"`([^`]+)`", line)) for line in page.splitlines() for row in ROWS if row in line}
    assert rows == {ROWS[0]: CODES - UNCATCHABLE, ROWS[1]: UNCATCHABLE}
