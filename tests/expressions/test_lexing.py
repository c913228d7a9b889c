r"""Where the words of an expression start and end."""

import pytest

from swf_temporal.expressions.compiled import BadExpression
from swf_temporal.expressions.lexing import tokens


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (".a  # more )\n| $b", ["field .a 0", "operator | 13", "variable $b 15"]),
        ("1.5e3 //= @base64", ["number 1.5e3 0", "operator //= 6", "format @base64 10"]),
        ("[{a}]", ["open [ 0", "open { 1", "name a 2", "close } 3", "close ] 4"]),
        ('"a" b', ['quote " 0', "text a 1", 'quote " 2', "name b 4"]),
        (r'"\")" .', ['quote " 0', r"escape \" 1", "text ) 3", 'quote " 4', "operator . 6"]),
        (
            r'"a\(f("b"))c"',
            [
                'quote " 0', "text a 1", r"open \( 2", "name f 4", "open ( 5", 'quote " 6', "text b 7", 'quote " 8',
                "close ) 9", "close ) 10", "text c 11", 'quote " 12',
            ],
        ),
    ],
)  # fmt: skip
def test_words_are_found_as_jq_finds_them(text: str, words: list[str]) -> None:
    """What stands in a string or a comment is none, but for what a string asks to be evaluated."""
    assert [f"{word.kind} {word.text} {word.offset}" for word in tokens(text)] == words


def test_words_are_found_from_somewhere_on() -> None:
    assert [word.offset for word in tokens("${ .a | .b", 2)] == [3, 6, 8]


@pytest.mark.parametrize(
    ("text", "message", "offset"),
    [
        ("(.a", "'(' is not closed", 0),
        (".a | [1, {b: 2}", "'[' is not closed", 5),
        ('. + "a', "this string is not closed", 4),
        (r'"a\(.b', "'(' is not closed", 2),
        (".a)", "')' closes nothing", 2),
        ("[.a)", "')' closes nothing", 3),
        ("{.a]", "']' closes nothing", 3),
        (r'"\(.a]"', "']' closes nothing", 5),
    ],
)
def test_brackets_and_strings_are_closed(text: str, message: str, offset: int) -> None:
    with pytest.raises(BadExpression) as told:
        list(tokens(text))
    assert (told.value.message, told.value.offset) == (message, offset)
