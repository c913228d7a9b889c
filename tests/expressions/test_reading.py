"""What is known of an expression without evaluating it."""

import pytest

from swf_temporal.base.data import JSON, kind_of
from swf_temporal.base.errors import ExpressionFailed
from swf_temporal.expressions.compiled import ANY, NOTHING, BadExpression
from swf_temporal.expressions.early import EarlyExpressions
from swf_temporal.expressions.early_paths import BracedPaths
from swf_temporal.expressions.evaluation import Expressions
from swf_temporal.expressions.lexing import tokens
from swf_temporal.expressions.parsing import kinds_of, parsed
from swf_temporal.expressions.structured import EmbeddedQuery, StructuredJq, split
from swf_temporal.expressions.targets import elements, makes, members, reads


@pytest.mark.parametrize(("text", "fields"), [
    (".a", "a"), (".a.b", "a"), ('.["a"]', "a"), (".[0]", ""), (".", ""), (".a[.b]", "a"), (".a // .b", ""),
    (".a == null", ""), ("null == .a", ""), (".a == .b", "a b"), (".a and (.b > 1)", "a b"), (".a | .b", "a"),
    ("if .a then .b else .c end", "a"), ("{x: .a, y: .b.c}", "a b"), ("[.a, .b]", "a b"), (".a | length", "a"),
    ("$CONST.a", ""), ("for ${ .a } and ${ .b }", "a b"), ("[range(.a)]", ""), ("[range(${ .a })] ${ .b }", "a b"),
    (".a |", ""), ("${ | } ${ .b }", "b"), ("${ .a", ""),
])  # fmt: skip
def test_the_fields_that_an_expression_cannot_do_without(text: str, fields: str) -> None:
    """One that may be missing does not count, nor does one of other data; what is not simple tells nothing."""
    assert reads(text, ["CONST"]) == frozenset(fields.split())


@pytest.mark.parametrize(("text", "fields"), [
    ("{a: 1, b: .c}", {"a", "b"}), ("${ {a: 1} }", {"a"}), ("{}", set()), (".a", None), ("[1]", None),
    ("${ {a: 1} } and ${ {b: 1} }", None), ("{a: range(3)}", None),
])  # fmt: skip
def test_the_fields_that_an_expression_makes(text: str, fields: set[str] | None) -> None:
    assert makes(text, ()) == fields


@pytest.mark.parametrize(("text", "names"), [
    ("$CONST.rate", ["rate"]), ('$CONST["rate"]', ["rate"]), ('$CONST."rate"', ["rate"]),
    ("$CONST.a * $CONST.b.c", ["a", "b"]), ("for ${ $CONST.a } and ${ $CONST.b }", ["a", "b"]), ("$CONST", []),
    ("$CONST[.a]", []), ('$CONST["a" + "b"]', []), (r'$CONST["a\(1)"]', []), ('$CONST | "a"', []), ("$OTHER.a", []),
    ('$CONST["a"', []), ("$CONST.a )", []), ("${ $CONST.a", []),
])  # fmt: skip
def test_the_members_of_a_variable_that_an_expression_names(text: str, names: list[str]) -> None:
    assert list(members(text, "CONST")) == names


@pytest.mark.parametrize(("text", "kinds"), [
    ("null", "null"), ("true", "boolean"), ('"a"', "string"), ("1.5", "number"), ("[.a]", "array"),
    ("{a: .a}", "object"), ("length", "number"), ("not", "boolean"), (".a == 1", "boolean"), (".a and .b", "boolean"),
    (".a | 1", "number"), (".a // 1", "boolean number string array object"), ("null // 1", "number"),
    ('1 // "a"', "number string"), ('if .a then 1 else "b" end', "number string"), ("1 + 2", "number"),
    ("1 + null", "number"), ("null + {}", "object"), ("null + null", "null"), ('"a" + "b"', "string"),
    ("[1] + [2]", "array"), (".a + 1", "number"), (".a + .b", "number string array object null"), ("1 - 1", "number"),
    ("[1] - [1]", "array"), (".a - 1", "number"), (".a - .b", "number array"), ("2 * 3", "number"),
    ("{} * {}", "object"), ('"a" * 2', "string null"), ('2 * "a"', "string null"), (".a * 2", "number string null"),
    ("2 * .a", "number string null"), (".a * {}", "object"), ("1 / 2", "number"), ('"a,b" / ","', "array"),
    (".a / .b", "number array"), (".a / 2", "number"),
])  # fmt: skip
def test_what_an_expression_can_yield(text: str, kinds: str) -> None:
    tree = parsed(text, ())
    assert tree is not None
    assert kinds_of(tree) == frozenset(kinds.split())


@pytest.mark.parametrize("text", [".a", '1 + "a"', '"a" - 1', "[1] * 2", "{} / 2", '"a" / 1', "null * null"])
def test_nothing_is_known_of_what_can_only_fail(text: str) -> None:
    tree = parsed(text, ())
    assert tree is not None
    assert kinds_of(tree) == ANY


def test_kinds_have_the_names_of_jq() -> None:
    values: list[JSON] = [None, False, 0, 0.5, "", [], {}]
    kinds = ["null", "boolean", "number", "number", "string", "array", "object"]
    assert [kind_of(value) for value in values] == kinds


@pytest.mark.parametrize(("text", "words"), [
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
])  # fmt: skip
def test_words_are_found_as_jq_finds_them(text: str, words: list[str]) -> None:
    """What stands in a string or a comment is none, but for what a string asks to be evaluated."""
    assert [f"{word.kind} {word.text} {word.offset}" for word in tokens(text)] == words


def test_words_are_found_from_somewhere_on() -> None:
    assert [word.offset for word in tokens("${ .a | .b", 2)] == [3, 6, 8]


@pytest.mark.parametrize(("text", "message", "offset"), [
    ("(.a", "'(' is not closed", 0), (".a | [1, {b: 2}", "'[' is not closed", 5),
    ('. + "a', "this string is not closed", 4), (r'"a\(.b', "'(' is not closed", 2), (".a)", "')' closes nothing", 2),
    ("[.a)", "')' closes nothing", 3), ("{.a]", "']' closes nothing", 3), (r'"\(.a]"', "']' closes nothing", 5),
])  # fmt: skip
def test_brackets_and_strings_are_closed(text: str, message: str, offset: int) -> None:
    with pytest.raises(BadExpression) as told:
        list(tokens(text))
    assert (told.value.message, told.value.offset) == (message, offset)


@pytest.mark.parametrize(("text", "paths"), [
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
])  # fmt: skip
def test_elements(text: str, paths: list[tuple[str, ...]]) -> None:
    assert list(elements(text)) == paths


def test_nothing_says_so() -> None:
    assert (repr(NOTHING), bool(NOTHING)) == ("NOTHING", False)


def test_a_complaint_reads_as_its_message() -> None:
    complaint = BadExpression("no", 3)
    moved = complaint.moved(4)
    assert [(str(one), one.message, one.offset) for one in (complaint, moved)] == [("no", "no", 3), ("no", "no", 7)]
    assert BadExpression("no").moved(4).offset is None


@pytest.mark.parametrize("kind", [Expressions, BracedPaths, EarlyExpressions])
def test_objects_made_while_running_are_forgotten(kind: type[Expressions], monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as the attributes of an event, which are put together each time that it is produced."""
    monkeypatch.setattr("swf_temporal.expressions.evaluation._MAX_STRUCTURES", 10)
    expressions = kind()
    for number in range(100):
        assert expressions.template({"number": number})({}, {}) == {"number": number}
    assert max(len(kept) for kept in vars(expressions).values() if isinstance(kept, dict)) <= 10


@pytest.mark.parametrize("kind", [Expressions, BracedPaths, EarlyExpressions])
def test_an_object_is_compiled_once(kind: type[Expressions]) -> None:
    expressions = kind()
    value: JSON = {"text": "hello"}
    assert expressions.template(value) is expressions.template(value)


@pytest.mark.parametrize(("text", "pieces"), [
    ("a jq(.b[(1)]) c", ["a ", EmbeddedQuery(".b[(1)]", 5), " c"]),
    ('jq(")" | f(1)) c', [EmbeddedQuery('")" | f(1)', 3), " c"]),
    ('jq("(1) ) c', [EmbeddedQuery('"(1) ', 3), " c"]),
    ('js("(1) ) c', [EmbeddedQuery('"(1) ', 3, "js"), " c"]),
], ids=["brackets", "a bracket in a string", "a string that is not closed", "JavaScript"])  # fmt: skip
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
