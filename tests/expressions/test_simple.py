"""What is evaluated without jq yields what jq yields, sign by sign and kind by kind, and is evaluated without jq."""

import json
import re
from itertools import product
from typing import Any

import pytest

from swf_temporal.expressions import paths
from swf_temporal.expressions.compiled import Constant
from swf_temporal.expressions.guarding.guard import guard
from swf_temporal.expressions.parsing import parsed
from swf_temporal.expressions.paths import SIGNS, NotSupported, index, length, total

LARGE = 2**53 - 1
NUMBERS: list[Any] = [0, 1, -1, 3, 2.5, -2.5, 2.0, 0.5, LARGE, -LARGE, 10**15 - 1, 10**15]
VALUES: list[Any] = [*NUMBERS, None, False, True, "", "a", "b", [], [1], {}, {"a": 1}, {"a": 2, "b": 3}]
DOUBTFUL: list[Any] = [2**53, -(2**53), float("inf"), float("nan"), 10**15 + 0.5]
FAILED = "fails"


def _of_jq(program: str, inputs: list[Any]) -> list[Any]:
    answer = guard().run(f'[.[] | try ({program}) catch "{FAILED}"] | tojson', json.dumps(inputs))
    found: list[Any] = json.loads(answer.text)
    return found


def _text(value: Any) -> str:
    return json.dumps(value)


@pytest.mark.parametrize("sign", SIGNS)
def test_signs_agree_with_jq(sign: str) -> None:
    """Of any two values a sign yields what jq does, in jq's own writing of numbers, or leaves it to jq."""
    pairs = [list(pair) for pair in product(VALUES, VALUES)]
    for (left, right), expected in zip(pairs, _of_jq(f".[0] as $l | .[1] as $r | $l {sign} $r", pairs), strict=True):
        try:
            found = SIGNS[sign](left, right)
        except NotSupported:
            continue
        assert _text(found) == _text(expected), f"{left!r} {sign} {right!r}"


@pytest.mark.parametrize(("sign", "left", "right", "yields"), [
    ("+", 1, 2, 3), ("+", LARGE, 0, LARGE), ("+", 0, -LARGE, -LARGE), ("+", "a", "b", "ab"), ("+", [1], [1], [1, 1]),
    ("+", {"a": 1, "b": 1}, {"b": 2}, {"a": 1, "b": 2}), ("+", None, None, None), ("+", None, 5, 5),
    ("+", "a", None, "a"), ("+", 2.5, 0.5, 3), ("-", 1, 2.5, -1.5), ("*", 2.5, 2, 5),
    ("*", 999_999_999_999_999.0, 1, 999_999_999_999_999), ("/", 1, 4, 0.25), ("/", 4, 2, 2), ("==", None, None, True),
    ("==", True, 1, False), ("<", None, False, True), ("<", False, True, True), ("<", True, 0, True),
    ("<", 5, "", True), ("<", "z", [], True), ("<", [9], {}, True), ("<=", "a", "a", True), (">", 2, 1.5, True),
    (">=", 1.5, 1.5, True), ("!=", {}, [], True),
])  # fmt: skip
def test_what_signs_yield_without_jq(sign: str, left: Any, right: Any, yields: Any) -> None:
    found = SIGNS[sign](left, right)
    assert (found, type(found)) == (yields, type(yields))


@pytest.mark.parametrize("sign", ["+", "-", "*", "/", "==", "<"])
def test_large_numbers_are_left_to_jq(sign: str) -> None:
    """From 2^53 on jq rounds, and infinities are none of JSON: neither side of a sign may be one."""
    for value in DOUBTFUL[:4]:
        for pair in ((value, 1), (1, value)):
            with pytest.raises(NotSupported):
                SIGNS[sign](*pair)


@pytest.mark.parametrize(("sign", "left", "right"), [
    ("+", LARGE, 1), ("*", 10.0**15, 1), ("*", -(10.0**15), 1), ("/", 1, 0), ("-", "a", "a"), ("==", [], []),
    ("<", {}, {}),
])  # fmt: skip
def test_what_only_jq_can_tell(sign: str, left: Any, right: Any) -> None:
    """Results that jq would write in a way of its own, errors, and arrays and objects beside one another."""
    with pytest.raises(NotSupported):
        SIGNS[sign](left, right)


@pytest.mark.parametrize(("container", "key", "yields"), [
    ({"a": 1}, "a", 1), ({"a": 1}, "b", None), (None, "a", None), (None, 0, None), ([5, 6], 0, 5), ([5, 6], 1, 6),
    ([5, 6], 2, None), ([5, 6], -1, 6), ([5, 6], -2, 5), ([5, 6], -3, None),
])  # fmt: skip
def test_looking_up(container: Any, key: Any, yields: Any) -> None:
    assert index(container, key) == yields


@pytest.mark.parametrize(
    ("container", "key"), [([5], "a"), ({"a": 1}, 0), ("text", "a"), (7, 0), ([5], True), ([5], 0.0), ([5], None)]
)
def test_looking_up_what_is_no_name_or_place(container: Any, key: Any) -> None:
    with pytest.raises(NotSupported):
        index(container, key)


def test_length() -> None:
    """Of a number it is the absolute value, which is jq's to tell; of a boolean an error."""
    values: list[Any] = [None, "aé", [1, 2, 3], {"a": 1}]
    assert [length(value) for value in values] == [0, 2, 3, 1]
    for value in (0, 1.5, True, False):
        with pytest.raises(NotSupported):
            length(value)


@pytest.mark.parametrize("parts", [
    [], [None], [7], [None, {"a": 1}], ["a", "", "é"], [[1], [], [2, [3]]],
    [{"a": 1, "b": 2}, {"b": 3}, {"c": 1, "a": 4}], [1, 2, 3],
    [0.5, None, 1.5], [2.5, -2.5, 10**15 - 1], [None, "a", None, "b"], [[1], None], [True], [{}, {}],
])  # fmt: skip
def test_sums_agree_with_jq(parts: list[Any]) -> None:
    assert _text(total(parts)) == _text(_of_jq("add", [parts])[0])


@pytest.mark.parametrize("value", [
    None, "ab", 5, {"a": 1}, ["a", 1], [[1], {}], [True, True], [LARGE, 1], [10**15, 0.5], ["x" * 50_000_000] * 2,
])  # fmt: skip
def test_what_cannot_be_added_is_left_to_jq(value: Any) -> None:
    """Errors, numbers that jq would round, the values of an object, and what would be too large."""
    with pytest.raises(NotSupported):
        total(value)


def _listed(texts: str) -> list[str]:
    """Return expressions that stand three spaces apart, or in a line of their own."""
    return re.split(r" {3}|\n", texts.strip())


SIMPLE = _listed("""
.   .a   .a.b   ."a b"   .["a"]   .a[0]   .a[-1]   .a[.n]   .a.[0]   .a."b"   .a."b".c   .a[0][$item.x]
.a[2].b.c   $item.none // 1   .none // .n   .n and .name   .n or .f   $item   $item.x   $CONST.b.a
$CONST[$item.k]   1   -1   0   0.5   1.50   123456789012345   "text"   ""   "]"   true   false   null   []   {}
[1, .a]   [$item, .none // 1]   [.none // 1, .n]   [.a | .b]   [.a | .b | .c]   {a: 1, b: .n}   {a}   {"a b"}
{"a": .n}   {$item}   {a: -1}   {a: .a.b}   {a: $item}   (.n)   (.a).b   .n + 1   .n - 1 - 1   1 - (2 - 3)
.n * 2 + 1   1 + 2 * .n   8 / 4 / 2   .n == 3   .n != 3   .n < 3   .n <= 3   .n > 3   .n >= 3
.n > 1 and .n < 5   .none or .n   .n == 3 and .none or true   true or .n and false   $item.x and $CONST.a
$item.none or $CONST.a   .none // 1   .none // .f // 2   .none // $item   .n // 1 | . + 1   .a | length
.none | not   length   not   if .n then 1 else 2 end   if .none then 1 else 2 end
if .none then 1 elif .n then 2 else 3 end   if .n then 1 elif .none then 2 else 3 end   if .none then 1 end
if .n == 3 then .a else .b end   if $item.x then $item.k else 2 end   if $item.none then 1 else $item.k end
[if .n then 1 else 2 end]   .n | . + 1 | . * 2   .f   .n # words   .a | .b   $item | .x + $CONST.a
{a: (.n | . + 1)}   {a: [1, {b: 2}]}   .n + -1   [1] + [.n]   "a" + .name   {a: 1} + {b: .n}   .name == "Ada"
.n | tostring   [true, null, "a"] | .[1] | tostring   objects // 1   {a: (.none | values)} // {}   .a // 1 | values
$item * (objects // {response: values} // {})   $item * .   {a: {b: 1}} * {a: .a}   .none | values // 2
$item.x + $CONST.a   .a.x | add   [.a.b, {n}] | add   [.name, "b"] | add
""")
DATA: list[Any] = [
    {"a": {"b": {"c": 1}, "x": [1, 2, 3]}, "a b": 5, "n": 3, "none": None, "f": False, "name": "Ada"},
    {"a": [[7, 8], 9, {"b": {"c": 5}}], "n": 1},
    {},
]
GIVEN: dict[str, Any] = {"item": {"x": 1, "k": "a"}, "CONST": {"a": 1, "b": {"a": "x"}}}


@pytest.mark.parametrize("text", SIMPLE)
def test_needs_no_jq(text: str) -> None:
    fast = paths.compiled(text, GIVEN)
    assert fast is not None
    evaluate = fast if isinstance(fast, Constant) else fast._evaluate  # type: ignore[attr-defined]  # of a closure
    names = " | ".join(f"{_text(value)} as ${name}" for name, value in GIVEN.items())
    evaluated = 0
    for data, expected in zip(DATA, _of_jq(f"{names} | {text}\n", DATA), strict=True):
        try:
            yields = evaluate(data, GIVEN)
        except NotSupported:
            continue
        assert _text(yields) == _text(expected)
        evaluated += 1
    assert evaluated


@pytest.mark.parametrize("text", [".a", ".a.b", ".a.b.c", ".a[0]", '.["a"].b'])
def test_what_is_not_there_is_null_without_jq(text: str) -> None:
    """A look-up in what is not there, or is null, needs no jq; one in what has nothing inside does."""
    fast: Any = paths.compiled(text, GIVEN)
    assert [fast._evaluate(data, {}) for data in ({}, {"a": None}, None)] == [None, None, None]
    for data in (7, "a", True, [1]):
        with pytest.raises(NotSupported):
            fast._evaluate(data, {})


NOT_SIMPLE = _listed("""
.[]   .a?   ..   $other   .a[0:1]   .a[]   1e3   01   1234567890123456   -(1)   -.a   -1.5   -0   -   -1.a
-1 .a   -1?   -1 [0]   1 == 1 == 1   a   keys   length(1)   map(.a)   "a\\nb"   "\\(.a)"   @text   .a as $x | $x
{(.a): 1}   {if: 1}   {and}   {a::b}   {@text: 1}   {$other}   [1, 2 | 3]   .a, .b   .a.   .a.1   .a +
if . then 1   if . then 1 else 2 end.a   if . then 1 else 2 end[0]   if . then 1 else 2 end?
if . then 1 end . a   .n % 2   .a |= 1   def f: 1; f   reduce . as $x (0; 1)   try .a   1 2   .a .b .c 1   {a 1}
[1 2]   true(1)   .a //   length.a.
""")


@pytest.mark.parametrize("text", ["", *NOT_SIMPLE])
def test_is_left_to_jq(text: str) -> None:
    """Whatever may have several outputs, or none, or prints numbers in a way of jq's, or is an error there."""
    assert parsed(text, GIVEN) is None


def test_constants_are_known() -> None:
    """What holds no look-up is the same whatever the data; what could fail is none, though it names no data."""
    texts = ("[1, {a: [true]}]", '"a"', "1 + 1", "{a: .n}", "[.]", "$item")
    assert [type(paths.compiled(text, GIVEN)) is Constant for text in texts] == [True, True, *[False] * 4]


@pytest.mark.parametrize(("text", "mentions"), [
    ("[.a, $item]", {"item"}), ("{a: $item, b: [$CONST]}", {"item", "CONST"}), ("if $item then 1 else 2 end", {"item"}),
    ("if .a then $item else 2 end", {"item"}), ("if .a then 1 else $item end", {"item"}),
    ("if $item then $CONST else 2 end", {"item", "CONST"}), ("if .a then $CONST else $item end", {"item", "CONST"}),
    (".a[$item.x] + $CONST.a", {"item", "CONST"}), (".a | length", set()), ("add | $item", {"item"}),
])  # fmt: skip
def test_knows_which_variables_it_reads(text: str, mentions: set[str]) -> None:
    fast = paths.compiled(text, GIVEN)
    assert fast is not None
    assert fast.mentions == mentions
