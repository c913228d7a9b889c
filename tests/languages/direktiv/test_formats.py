"""The formats that a `validate` state checks."""

import pytest

from swf_temporal.expressions.schema_checking.formats import FORMATS, format_checker

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
