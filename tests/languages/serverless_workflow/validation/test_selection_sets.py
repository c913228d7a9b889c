"""A call of a GraphQL function says which fields are wanted."""

from collections.abc import Callable

import pytest

DOCUMENT = """\
id: a
specVersion: "0.8"
functions: [{{name: f, type: {kind}, operation: "{operation}"}}]
states:
- {{name: A, type: operation, actions: [{{functionRef: {{refName: f{more}}}}}], end: true}}
"""
GRAPHQL = ("graphql", "https://example.com/graphql#query#pet")


@pytest.mark.parametrize(
    ("function", "more", "is_refused"),
    [
        (GRAPHQL, "", True),
        (GRAPHQL, ", selectionSet: '{ id }'", False),
        (GRAPHQL, ", selectionSet: ''", False),
        (("rest", "api.json#pet"), "", False),
    ],
)
def test_selection_sets(
    found: Callable[[str, str], list[str]],
    function: tuple[str, str],
    more: str,
    is_refused: bool,  # noqa: FBT001 - what is expected
) -> None:
    """Of a single value nothing can be selected, which is said by an empty one."""
    problems = found("selection-set", DOCUMENT.format(kind=function[0], operation=function[1], more=more))
    assert [one.partition(" | ")[0] for one in problems] == (
        ["5:64 error state 'A' calls the graphql function 'f' without a selectionSet"] if is_refused else []
    )
