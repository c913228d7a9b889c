"""How large data may be for which an expression of jq is evaluated where a run goes on."""

import pytest

from swf_temporal.expressions.jq import jq_bound
from swf_temporal.expressions.lexing import tokens

NEVER = 0
LINEAR = 260_000
"""Characters of data on which something is done for each element once."""
QUADRATIC = 1_000
CUBIC = 150


@pytest.mark.parametrize(("expression", "largest"), [
    (".a.b", LINEAR),
    ("[.x, 3] | add", LINEAR // 2),
    ("map(.price) | add", LINEAR),
    (".items | map(select(.x > 3)) | length", LINEAR),
    (".a[].b[]", QUADRATIC),
    (".a[] | .b[]", LINEAR),
    ("map({a: .a, b: .b, total: .c}) | sort_by(.a)", LINEAR),
    ("map({a, b, range: .c})", LINEAR),
    ("to_entries | map(select(.value)) | from_entries", LINEAR),
    ('"\\(.a) and \\(.b)"', LINEAR),
    ("map(.a * 2)", LINEAR // 2),
    (".a |= . + 1", LINEAR // 2),
    ("if .a then .b elif .c then .d else .e end", LINEAR),
    ("[.a[], .b[]]", QUADRATIC // 2),
    (".[] as $x | $list[] | . + $x", CUBIC * 2 // 3),
    ("map(.x) - $all", CUBIC),
    ("$all | map(.x)", LINEAR),
    ("map({x: ., y: $y})", QUADRATIC // 2),
    (". as $all | map(. / ($all | add))", QUADRATIC // 2),
    ("$known as $k | map(select($k | all(. != 1)))", CUBIC),
    (".a - .b", QUADRATIC),
    (".a -= .b", QUADRATIC),
    ("keys - .b", QUADRATIC),
    ("[keys[] | keys[]]", QUADRATIC),
    ("if .a then [] else [] end", LINEAR),
    ("[(.a | add) + .b[]]", QUADRATIC),
    ("[{y: .b[], x: (.a | add)}]", QUADRATIC),
    ('["\\(.a | add) \\(.b[])"]', QUADRATIC),
    ("[if .b[] | . > 3 then (.a | add) else 0 end]", QUADRATIC // 2),
    ("[pow((.a | add); .b[])]", QUADRATIC),
    ("[.a[.b[]] | add]", QUADRATIC),
    ("[getpath(.b[]) | add]", QUADRATIC),
    ("select((.b[])) | add", QUADRATIC),
    ("map(.a + .b)", QUADRATIC),
    (".a[] > 0", LINEAR),
    ("first(.a[] | select(.b == null))", LINEAR),
    ('map({a: "\\(.a) of \\(.b)"})', LINEAR),
    ("[.items[] | select(.price > 10) | {id, price: (.price + 1)}]", LINEAR),
    ("any(.items[]; .price > 10)", LINEAR),
    ('map(.a) | join(", ")', LINEAR),
    ("join(.[0])", QUADRATIC),
    ("map_values(.x)", LINEAR // 4),
    ("map(map(map(.)))", CUBIC),
    ("map(contains([1]))", CUBIC),
    ("(. + .) | (. + .)", LINEAR // 4),
    (" | ".join(["(. + .)"] * 20), NEVER),
    (" | ".join(["(1, 2)"] * 20), NEVER),
    (" | ".join(["tojson"] * 20), NEVER),
    ("[.a, .b, .c, .d]", LINEAR // 4),
    ("map(.a * .b) | add", NEVER),
    (".a * 2 * .b", NEVER),
    (".a *= .b", NEVER),
    (".a? - .b", QUADRATIC),
    ("walk([., .])", NEVER),
    ('"a" * 1000000000', NEVER),
    (".[1000000000] = 1", NEVER),
    (".[.n] |= 1", NEVER),
    ('.["a"] |= 1', LINEAR),
    ('.["a" | 1000000000] = 1', NEVER),
    ("getpath(.place) = 1", NEVER),
    ("[range(600000)] | length < 0", NEVER),
    ("[recurse]", NEVER),
    ("reduce .[] as $x (0; . + .)", NEVER),
    ("[limit(3; repeat(1))]", NEVER),
    ("until(. > 100; . + 1)", NEVER),
    ("def f: f; f", NEVER),
    ('test("(a+)+$")', NEVER),
    ('gsub("a"; "b")', NEVER),
    ("a_function_that_is_new", NEVER),
    (".a as [$x] ?// $x | $x", NEVER),
])  # fmt: skip
def test_the_largest_data(expression: str, largest: int) -> None:
    """It shrinks with what goes through them again, or multiplies them; what is not known to be bounded has none."""
    bound = jq_bound(list(tokens(expression)))
    assert bound.holds(largest) is bool(largest)
    assert not bound.holds(3 * largest + 8)
