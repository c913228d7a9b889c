"""Which media types are sent, and asked for."""

import pytest

from swf_temporal.base.data import JSON
from swf_temporal.functions.http.media_types import FORM, MULTIPART, accept, choose, closest, concrete

J, X, T, OCTETS = "application/json", "application/xml", "text/plain", "application/octet-stream"
PNG: JSON = {"mediaType": "image/png", "base64": "AAE="}


@pytest.mark.parametrize(("declared", "value", "expected"), [
    ([X, FORM, J], {"a": 1}, J),
    ([X, FORM, "application/vnd.a+json; v=1"], [1], "application/vnd.a+json; v=1"),
    ([MULTIPART, FORM], {"a": 1}, FORM),
    ([FORM, J, MULTIPART], {"a": PNG}, MULTIPART),
    ([FORM, J, MULTIPART], {"a": [PNG]}, MULTIPART),
    ([J, X], "<a/>", X),
    ([J, X], "a", J),
    ([J, T], "a", T),
    ([J, T], 5, J),
    ([J, FORM], "a=b", J),
    ([FORM, OCTETS], "a", OCTETS),
    ([J, "image/jpeg", "image/*", "image/png"], PNG, "image/png"),
    ([J, "image/*"], PNG, "image/*"),
    ([J, FORM, OCTETS], PNG, OCTETS),
    (["*/*", X], {"a": 1}, "*/*"),
    ([X], {"a": 1}, X),
])  # fmt: skip
def test_what_suits_a_value(declared: list[str], value: JSON, expected: str) -> None:
    """Objects go as JSON or as forms, files in parts, texts as texts, bytes as what they are."""
    assert choose(declared, value) == expected


@pytest.mark.parametrize(("declared", "value", "expected"), [
    (J, "a", J), ("image/*", PNG, "image/png"), ("*/*", {"base64": ""}, OCTETS), ("*/*", "a", T), ("*/*", {"a": 1}, J),
    ("application/*", "a", J), ("image/*", {"base64": ""}, OCTETS), ("application/*+json", "a", J),
    (OCTETS, PNG, OCTETS),
])  # fmt: skip
def test_a_range_is_not_sent(declared: str, value: JSON, expected: str) -> None:
    assert concrete(declared, value) == expected


@pytest.mark.parametrize(("declared", "media_type", "expected"), [
    (["*/*", "text/*", "text/plain"], "Text/Plain; charset=utf-8", "text/plain"),
    (["*/*", "text/*"], "text/html", "text/*"),
    (["*/*", "text/*"], "image/png", "*/*"),
    (["application/*+json"], "application/problem+json", "application/*+json"),
    (["text/*"], "image/png", None),
    ([J], "", None),
])  # fmt: skip
def test_the_narrowest_range_counts(declared: list[str], media_type: str, expected: str | None) -> None:
    """An entry that is exact goes before a range, and that before one that has everything."""
    assert closest(declared, media_type) == expected


@pytest.mark.parametrize(("declared", "expected"), [
    ([], None),
    ([J], "application/json, */*;q=0.1"),
    ([X, J, X], "application/json, application/xml;q=0.9, */*;q=0.1"),
    (["*/*"], "*/*"),
])  # fmt: skip
def test_what_is_asked_for(declared: list[str], expected: str | None) -> None:
    """JSON is asked for first, and everything else last: an error may be of any kind."""
    assert accept(declared) == expected
