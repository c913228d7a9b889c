"""Authentication is of a scheme that is known."""

from collections.abc import Callable

import pytest

DEFINITION = """\
id: a
specVersion: "0.8"
auth: [{{name: me, {scheme}properties: shop}}]
functions: [{{name: f, operation: "a.json#b", authRef: me}}]
states: [{{name: Z, type: operation, actions: [{{functionRef: f}}], end: true}}]
"""


@pytest.mark.parametrize("scheme", ["", "scheme: basic, ", "scheme: bearer, ", "scheme: oauth2, ", "scheme: apiKey, "])
def test_those_that_are_known(found: Callable[[str, str], list[str]], scheme: str) -> None:
    """The three of the specification, of which basic need not be named, and keys."""
    assert found("auth-scheme", DEFINITION.format(scheme=scheme)) == []


def test_others(found: Callable[[str, str], list[str]]) -> None:
    """One that could only fail when a function is called; what was perhaps meant is said."""
    listed = "which is not one of basic, bearer, oauth2, apiKey"
    assert found("auth-scheme", DEFINITION.format(scheme="scheme: oauth, ")) == [
        f"3:27 error auth 'me' has the scheme 'oauth', {listed} | did you mean 'oauth2'?"
    ]
    assert found("auth-scheme", DEFINITION.format(scheme="scheme: kerberos, ")) == [
        f"3:27 error auth 'me' has the scheme 'kerberos', {listed}"
    ]
