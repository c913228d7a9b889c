"""Where the queries of a text begin and end, and how they are shown where something is wrong with them."""

import pytest

from swf_temporal.base.errors import ExpressionFailed
from swf_temporal.expressions.compiled import BadExpression
from swf_temporal.expressions.structured import EmbeddedQuery, StructuredJq, split


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("a jq(.b[(1)]) c", ["a ", EmbeddedQuery(".b[(1)]", 5), " c"]),
        ('jq(")" | f(1)) c', [EmbeddedQuery('")" | f(1)', 3), " c"]),
        ('jq("(1) ) c', [EmbeddedQuery('"(1) ', 3), " c"]),
        ('js("(1) ) c', [EmbeddedQuery('"(1) ', 3, "js"), " c"]),
    ],
    ids=["brackets", "a bracket in a string", "a string that is not closed", "JavaScript"],
)
def test_a_query_ends_with_its_bracket(text: str, pieces: list[str | EmbeddedQuery]) -> None:
    """Brackets in strings do not count, unless a query cannot be read: then all do, wherever they stand."""
    assert split(text) == pieces


@pytest.mark.parametrize("word", ["jq", "js"])
def test_a_query_that_is_not_closed(word: str) -> None:
    with pytest.raises(BadExpression, match=rf"'{word}\(' is not closed") as told:
        split(f'a {word}("(1) b')
    assert told.value.offset == 2


def test_a_long_query_is_shown_in_part() -> None:
    fits, long = (f"jq({'1, 2':{length}})" for length in (196, 197))
    for query, shown in ((fits, fits), (long, f"{long[:200]}…")):
        with pytest.raises(ExpressionFailed) as told:
            StructuredJq().evaluate(query, {}, 0.0)
        assert told.value.message == f"the query has 2 results, and can have one here: {shown}"
