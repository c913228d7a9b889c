"""Of which arrays do expressions read elements?"""

import pytest

from swf_temporal.expressions.targets import elements


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ('${ .group.tasks[0].state == "done" }', [("group", "tasks")]),
        (".a.b[-1]", [("a", "b")]),
        ("any(.a[]; .ready) and .b[1].c[2] == 3", [("a",), ("b",)]),
        (".a.b | all(.ready)", [("a", "b")]),
        ("$.a[*].b", [("a",)]),
        ("$.a[?(@.b == 1)]", [("a",)]),
        ('.a["b"].c | length', []),
        ("$item.a[0] + (.b).c[0]", []),
        (".a == [1]", []),
        ('"text .a[0]" == .a', []),
        ("${ .a[", []),
    ],
)
def test_elements(text: str, paths: list[tuple[str, ...]]) -> None:
    assert list(elements(text)) == paths
