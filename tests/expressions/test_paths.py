"""Does the fast path say exactly what jq says?"""

import json
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from swf_temporal.base.errors import ExpressionFailed
from swf_temporal.expressions import paths
from swf_temporal.expressions.evaluation import NOTHING, Constant
from swf_temporal.expressions.jq import JqProgram

DECLARED = frozenset({"CONST", "item"})
NAMES = ["a", "b", "c", "and", "if"]
KEYS = [*NAMES, "a b", "", "é", "😀", "0"]

numbers = st.one_of(
    st.integers(-5, 5),
    st.integers(),
    st.sampled_from([2**53 - 1, 2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1, 10**20, 0.0, -0.0, 1.0, 1e16, 1e-7, 0.1]),
    st.floats(allow_nan=False, allow_infinity=False),
)
texts = st.one_of(
    st.sampled_from(["", "a", "b", "é", "😀", "\uffff", "\x00", 'q"']),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
)
scalars = st.one_of(st.none(), st.booleans(), numbers, texts)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=8,
)
objects = st.dictionaries(st.sampled_from(KEYS), values, min_size=1, max_size=6)

quoted = st.sampled_from(["a", "b", "a b", "", "é", "😀", "0"]).map(lambda key: f'"{key}"')
literals = st.one_of(
    st.sampled_from(["0", "1", "-1", "-2", "1.5", "1.0", "0.10", "12345678901234567", "1e3", "true", "false", "null"]),
    st.integers(0, 3).map(str),
    quoted,
)
steps = st.one_of(
    st.sampled_from(NAMES).map(lambda name: f".{name}"),
    quoted.map(lambda key: f"[{key}]"),
    quoted.map(lambda key: f".[{key}]"),
    quoted.map(lambda key: f".{key}"),
    st.integers(-3, 3).map(lambda at: f"[{at}]"),
    st.sampled_from(["[.a]", "[$item]", " .b"]),
)
starts = st.sampled_from([".", ".a", ".b", ".and", "$CONST", "$item", '."a b"', '.["é"]'])
lookups = (
    st.tuples(starts, st.lists(steps, max_size=3).map("".join)).map("".join).map(lambda text: text.replace("..", "."))
)


def _compound(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    signs = ["==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "//", "and", "or", "|"]
    keys = st.sampled_from(["a", "b", '"a b"', '"é"', "and"])
    member = st.one_of(
        st.tuples(keys, inner).map(lambda pair: f"{pair[0]}: ({pair[1]})"),
        st.tuples(keys, lookups | literals).map(": ".join),
        st.sampled_from(["a", "$item", '"a b"']),
    )
    return st.one_of(
        st.tuples(inner, st.sampled_from(signs), inner).map(" ".join),
        inner.map(lambda text: f"({text})"),
        inner.map(lambda text: f"{text} | length"),
        inner.map(lambda text: f"{text} | not"),
        st.tuples(inner, st.sampled_from(["objects", "values", "tostring"])).map(" | ".join),
        st.tuples(st.sampled_from(["objects", "values", "{a: values}", "[objects]"]), inner).map(" // ".join),
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
        st.lists(member, max_size=3).map(lambda members: "{" + ", ".join(members) + "}"),
        st.tuples(inner, inner, inner).map(lambda parts: "if {} then {} else {} end".format(*parts)),
        st.tuples(inner, inner).map(lambda parts: "if {} then {} end".format(*parts)),
        st.tuples(inner, steps).map("".join),
    )


expressions = st.recursive(st.one_of(lookups, lookups, literals), _compound, max_leaves=5)


def outcome(expression: Any, data: Any, variables: dict[str, Any]) -> str:
    """Return what an expression yields, order of members and kinds of numbers included, or its message."""
    try:
        value = expression(data, variables)
    except ExpressionFailed as fault:
        return str(fault)
    return "NOTHING" if value is NOTHING else json.dumps(written(value), ensure_ascii=False)


def written(value: Any) -> Any:
    """Return a value with those floats as integers that jq writes so, of 17 digits: the same numbers."""
    if isinstance(value, float) and 1e16 <= abs(value) < 1e17:
        return int(value)
    if isinstance(value, list):
        return [written(item) for item in value]
    if isinstance(value, dict):
        return {key: written(item) for key, item in value.items()}
    return value


@given(expressions, objects | values, values)
@example(".a == .b", {"a": 2**53, "b": 2**53 + 1}, None)
@example(".a + .b", {"a": 0.1, "b": 0.2}, None)
@example(".a * .b", {"a": 1.5, "b": 2}, None)
@example(".a < .b", {"a": "\uffff", "b": "😀"}, None)
@example("{b: .a, a: .b, b: 1}", {"a": 1, "b": 2}, None)
@example(".[-3]", [1, 2], None)
@example(".a // .b", {"a": False, "b": 1.0}, None)
@example("[.a | .b]", {"a": {"b": 3}}, None)
@example(".a - .b", {"a": 0, "b": 0.0}, None)
@example("1 == 1 == 1", None, None)
@example("$item * (objects // {response: values} // {})", {"a": {"b": 1}}, {"a": {"c": 2}, "d": 1})
@example("$item * (objects // {response: values} // {})", [1], {"a": 1})
@example("$item * ({price: (.a | values)} // {})", {"a": None}, {"b": 1})
@example(".a * .b", {"a": {"x": {"y": 1}, "z": 1}, "b": {"x": {"w": 2}, "z": {"q": 1}}}, None)
@example("[objects] // 1", 1, None)
@example("false and objects", 1, None)
@example("-1.a", None, None)
def test_agrees_with_jq(text: str, data: Any, item: Any) -> None:
    fast = paths.compiled(text, DECLARED)
    if fast is None:
        return
    variables = {"item": item, "CONST": {"a": 1, "b": {"a": "x"}}}
    reference = JqProgram(text, DECLARED)
    assert outcome(fast, data, variables) == outcome(reference, data, variables)
    if not isinstance(fast, Constant):
        assert fast.mentions == reference.mentions
