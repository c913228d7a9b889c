"""A workflow has one identity."""

from collections.abc import Callable

import pytest

STATES = "\nstates: [{name: Z, type: inject, data: {}, end: true}]\n"

CASES: dict[str, tuple[str, list[str]]] = {
    "an id that is an expression": (
        'id: "${ .x }"\nspecVersion: "0.8"',
        [("1:5 error the id '${ .x }' is an expression: a workflow is started by its id, before there is any data")],
    ),
    "id and key": (
        'id: a\nkey: b\nspecVersion: "0.8"',
        ["2:1 warning id and key exclude each other: the id 'a' is taken"],
    ),
    "a version of another form, in the later text": (
        'id: a\nversion: "1.0"\nspecVersion: "0.8"\nextensions: []',
        ["2:10 warning the version '1.0' is not one of semantic versioning, such as 1.0.0"],
    ),
    "the same in 0.8": ('id: a\nversion: "1.0"\nspecVersion: "0.8"', []),
    "a semantic version": ('id: a\nversion: 1.0.0-rc.1+b7\nspecVersion: "0.8"\nextensions: []', []),
    "a key alone": ('key: a\nspecVersion: "0.8"', []),
}


@pytest.mark.parametrize(("head", "expected"), CASES.values(), ids=CASES)
def test_identity(found: Callable[[str, str], list[str]], head: str, expected: list[str]) -> None:
    """An id that cannot be one, two identities, and an odd version are pointed out."""
    assert found("identity", head + STATES) == expected
