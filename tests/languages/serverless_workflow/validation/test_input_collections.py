"""What a foreach state goes through can be an array."""

from collections.abc import Callable

import pytest

DOCUMENT = """\
id: a
specVersion: "0.8"
states:
- name: A
  type: foreach
  inputCollection: {collection}
  actions: [{{subFlowRef: s}}]
  end: true
"""

CASES: dict[str, tuple[str, list[str]]] = {
    "a text": (
        "'\"items\"'",
        [
            (
                "6:20 error state 'A': inputCollection '\"items\"' cannot yield an array"
                " | it selects an array of the data, as '${ .orders }' does"
            )
        ],
    ),
    "an object": (
        '"{a: .b}"',
        [
            (
                "6:20 error state 'A': inputCollection '{a: .b}' cannot yield an array"
                " | it selects an array of the data, as '${ .orders }' does"
            )
        ],
    ),
    "a path": ('"${ .x }"', []),
    "what only jq knows": ("to_entries", []),
    "what does not compile, which another rule tells": ("items", []),
    "a list written out": ('"[1, 2]"', []),
}


@pytest.mark.parametrize(("collection", "expected"), CASES.values(), ids=CASES)
def test_input_collections(found: Callable[[str, str], list[str]], collection: str, expected: list[str]) -> None:
    """An inputCollection that can never be an array is refused."""
    assert found("input-collection", DOCUMENT.format(collection=collection)) == expected
