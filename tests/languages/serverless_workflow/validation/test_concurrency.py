"""What a definition says of how many instances run at once can be had."""

from collections.abc import Callable

import pytest

from swf_temporal.languages.loading import load
from swf_temporal.languages.port import Concurrency

DEFINITION = """
id: a
specVersion: "0.8"
metadata: {{concurrency: {asked}}}
states:
- {{name: A, type: inject, data: {{}}, end: true}}
"""

Found = Callable[[str, str], list[str]]


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("3", Concurrency(3)),
        ('" 3"', Concurrency(3)),
        ("{limit: 1000}", Concurrency(1000)),
        ('{limit: "2", key: "${ .customer }"}', Concurrency(2, "${ .customer }")),
    ],
)
def test_what_can_be_had(found: Found, asked: str, meant: Concurrency) -> None:
    """Numbers may be texts, as metadata are in the specification."""
    text = DEFINITION.format(asked=asked).lstrip()
    assert found("concurrency", text) == []
    assert load(text).concurrency == meant


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("0", "is 0, and must be"),
        ("true", "is True, and must be"),
        ("1001", "is 1001, and must be a whole number from 1 to 1,000"),
        ("[2]", "is [2], and must be"),
        ("{key: '${ .a }'}", "metadata.concurrency has no limit"),
        ("{limit: 1.5}", "the limit of metadata.concurrency is 1.5, and must be"),
        ("{limit: 1, key: customer}", "is 'customer', and must be an expression over the input"),
        ("{limit: 1, key: 5}", "is 5, and must be an expression"),
        ("{limit: 1, keys: 5}", "metadata.concurrency has no 'keys'"),
    ],
)
def test_what_cannot(found: Found, asked: str, told: str) -> None:
    [problem] = found("concurrency", DEFINITION.format(asked=asked).lstrip())
    assert told in problem


def test_secrets_make_no_key(found: Found) -> None:
    text = DEFINITION.format(asked="{limit: 1, key: '${ $SECRETS.a }'}").lstrip() + "secrets: [a]\n"
    [problem] = found("secrets-in-expression", text)
    assert "metadata.concurrency.key uses $SECRETS" in problem
